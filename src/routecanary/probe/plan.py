"""Which probes does a round ask, and which one asks again?

Routes × enabled contracts × the round's locale → probes. A route that cannot be asked something (it declares
no way to ask for structured output, say) gets no probe of that kind: the contracts that only that probe feeds
are `skipped` for it.

Source: policy.md §1, §2.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from random import Random
from typing import Final

from routecanary.domain.names import (
    FILTERING,
    INTEGRITY,
    LANGUAGE,
    LATENCY,
    STRUCTURED,
    ContractName,
    Locale,
    RouteId,
)
from routecanary.domain.probe import Probe, ProbeKind
from routecanary.domain.route import Listing
from routecanary.domain.settings import ProbeSettings
from routecanary.errors import ConfigError
from routecanary.probe.catalog import ASKED_KINDS, Catalog, next_scene, scene_for_round
from routecanary.probe.pin import Users, probe_for

CONTRACTS_FED: Final[Mapping[ProbeKind, frozenset[ContractName]]] = {
    ProbeKind.CHAT: frozenset({LATENCY, LANGUAGE, INTEGRITY}),
    ProbeKind.FILTER: frozenset({FILTERING, INTEGRITY}),
    ProbeKind.STRUCTURED: frozenset({STRUCTURED, INTEGRITY}),
}
"""Kind of probe → the contracts that judge its answer."""


def kinds_asked(enabled: Collection[ContractName]) -> tuple[ProbeKind, ...]:
    """List the probes that the enabled contracts need, in the order in which a route is asked.

    `integrity` judges every answer there is, but asks by itself only the chat probe: whoever switches
    `filtering` off does not want the filter probe sent.
    """
    owners = {ProbeKind.FILTER: {FILTERING}, ProbeKind.STRUCTURED: {STRUCTURED}}
    return tuple(
        kind for kind in ASKED_KINDS if owners.get(kind, CONTRACTS_FED[ProbeKind.CHAT]) & set(enabled)
    )


def plan_round(
    listing: Listing,
    catalog: Catalog,
    *,
    number: int,
    locale_of: Mapping[RouteId, Locale],
    contracts_enabled: Collection[ContractName],
    settings: ProbeSettings,
    asked: Collection[RouteId],
    users: Users,
    rng: Random,
) -> tuple[Probe, ...]:
    """Make the first probes of one round over one model.

    Args:
        listing: The routes as discovered now.
        catalog: The texts.
        number: Of the model's finished rounds (0-based); it rotates the scenes.
        locale_of: The locale in which each asked route is asked, by the rotation of policy.md §2.
        contracts_enabled: Those that are not switched off.
        settings: The rotation's locales and the sampling parameters.
        asked: The routes to ask; one that the listing does not name is left out.
        users: The opaque end-user ids.
        rng: Draws the nonces.
    Returns:
        At most one probe per (route, kind), sorted by tag, then in the order of asking. The filter and the
        structured probe are asked in English where their text does not exist in the route's locale.
    Raises:
        ConfigError: A route is to be asked in a locale that has no chat text.
    """
    kinds = kinds_asked(contracts_enabled)
    probes: list[Probe] = []
    for route in sorted(listing.routes, key=lambda route: route.tag):
        if route.tag not in asked:
            continue
        locale = locale_of[route.tag]
        for kind in kinds:
            spec = catalog.find_or_fallback(kind, locale)
            if spec is None:
                raise ConfigError(f"no {kind} text for this locale", key="probes.locales", value=str(locale))
            probe = probe_for(
                listing,
                route,
                spec,
                scene_for_round(spec, number, len(settings.locales)),
                attempt=0,
                sampling=settings.sampling,
                users=users,
                rng=rng,
                reasoning_room=settings.reasoning_room,
            )
            if probe is not None:
                probes.append(probe)
    return tuple(probes)


def confirmation(
    probe: Probe,
    listing: Listing,
    catalog: Catalog,
    *,
    settings: ProbeSettings,
    users: Users,
    rng: Random,
) -> Probe | None:
    """Make the probe that asks a failed one's question again: same spec and locale, next scene, new nonce.

    Args:
        probe: The attempt before this one; its answer failed at least one contract.
        listing: The listing that `probe` was planned from; a scene too long for the route is passed over.
    Returns:
        None: No scene leaves the route room for an answer, so the fail cannot be confirmed.
    Raises:
        LookupError: `listing` or `catalog` is not the one that `probe` was planned from.
    """
    spec = catalog.find(probe.kind, probe.locale)
    route = next((route for route in listing.routes if route.tag == probe.route), None)
    if spec is None or route is None:
        raise LookupError(f"{probe.route} was not planned from this listing and catalog")
    scene = probe.scene
    for _ in spec.scenes:
        scene = next_scene(spec, scene)
        again = probe_for(
            listing,
            route,
            spec,
            scene,
            attempt=probe.attempt + 1,
            sampling=settings.sampling,
            users=users,
            rng=rng,
            reasoning_room=settings.reasoning_room,
        )
        if again is not None:
            return again
    return None
