"""What do applications need to know, and in which shape?

The daemon lays the facts of every model into one JSON document at each change. It holds ends, not
conclusions, so that a reader can go on without the daemon. It holds no secret, and neither the reasons nor
the names of the people behind a runtime entry: every user of the machine may read it.

Source: policy.md §8; docs/routing.md, "The snapshot file".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from routecanary.domain.exclusion import BuiltinEntry, RuntimeEntry
from routecanary.domain.gateway import GatewayKind
from routecanary.domain.names import ContractName, Locale, ModelId, RouteId
from routecanary.domain.probe import Json
from routecanary.domain.round import Mode
from routecanary.domain.route import Route
from routecanary.routing.reading import FORMAT, VERSION, is_name, is_target

MAX_SNAPSHOT_AGE = timedelta(hours=6)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRoute:
    """A route that the last round named, as far as the emptiness rule needs it."""

    tag: RouteId
    swallows: frozenset[RouteId] = frozenset()
    tier: bool = False  # an opt-in service tier: a bare slug does not name it
    providers: frozenset[str] = frozenset()  # display names, as callers may write them

    @classmethod
    def of(cls, route: Route) -> ListedRoute:
        """Take from a listing's route what is needed here."""
        return cls(
            tag=route.tag,
            swallows=route.swallows,
            tier=route.tier is not None,
            providers=route.provider_names,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspendedRoute:
    """A suspension in force, shadow or not: the mode decides whether it is merged."""

    route: RouteId
    since: datetime
    until: datetime
    contracts: frozenset[ContractName]
    locales: frozenset[Locale] = frozenset()  # in which `language` failed


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRouting:
    """All that routing needs to know of one model."""

    model: ModelId
    mode: Mode
    names: frozenset[str] = frozenset()  # dated slugs and aliases that mean this model
    routes: tuple[ListedRoute, ...] = ()  # named in the last round
    swallows: Mapping[str, frozenset[RouteId]] = field(default_factory=dict)  # of entries that are no routes
    suspensions: tuple[SuspendedRoute, ...] = ()
    released: bool = False
    paused: bool = False
    paused_until: datetime | None = None  # None while paused: until resumed


def snapshot_of(
    models: Iterable[ModelRouting],
    *,
    builtin: Iterable[BuiltinEntry],
    runtime: Iterable[RuntimeEntry],
    written_at: datetime,
    max_age: timedelta = MAX_SNAPSHOT_AGE,
    gateway: GatewayKind = GatewayKind.OPENROUTER,
) -> dict[str, Json]:
    """Lay the facts into the document of the snapshot file.

    Args:
        models: Each model once, in any order.
        builtin: All entries, of all models.
        runtime: Likewise; those that have expired are left out.
        written_at: The time of the change, aware.
        max_age: After it a reader no longer believes the canary layer.
        gateway: Which one the models are asked through; the document is silent about the usual one.
    Returns:
        Plain JSON values, sorted, so that equal facts give an equal document. What the reader would refuse (a
        name from the gateway that is not printable, say) is left out: it must not blind every application.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        **({} if gateway is GatewayKind.OPENROUTER else {"gateway": gateway.value}),
        "written_at": _instant(written_at),
        "max_snapshot_age_seconds": max_age.total_seconds(),
        "builtin": _sorted(
            {"target": entry.target, "models": _models(entry.models)}
            for entry in builtin
            if is_target(entry.target)
        ),
        "runtime": _sorted(
            {
                "target": entry.target,
                "models": _models(entry.models),
                "expires": None if entry.expires is None else _instant(entry.expires),
            }
            for entry in runtime
            if entry.in_force(written_at) and is_target(entry.target)
        ),
        "models": {
            facts.model: _model(facts)
            for facts in sorted(models, key=lambda facts: facts.model)
            if is_name(facts.model)
        },
    }


def _model(facts: ModelRouting) -> dict[str, Json]:
    return {
        "names": _names(facts.names),
        "mode": facts.mode.value,
        "released": facts.released,
        "paused": facts.paused,
        "paused_until": None if facts.paused_until is None else _instant(facts.paused_until),
        "routes": [
            {
                "tag": route.tag,
                "swallows": _names(route.swallows),
                "tier": route.tier,
                "providers": _names(route.providers),
            }
            for route in sorted(facts.routes, key=lambda route: route.tag)
            if is_target(route.tag)
        ],
        "swallows": {name: _names(tags) for name, tags in sorted(facts.swallows.items()) if is_target(name)},
        "suspensions": [
            {
                "route": suspension.route,
                "since": _instant(suspension.since),
                "until": _instant(suspension.until),
                "contracts": _names(suspension.contracts),
                "locales": _names(suspension.locales),
            }
            for suspension in sorted(facts.suspensions, key=lambda suspension: suspension.route)
            if is_target(suspension.route)
        ],
    }


def _instant(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _names(names: Iterable[str]) -> list[Json]:
    return sorted(name for name in names if is_name(name))


def _models(models: frozenset[ModelId] | None) -> Json:
    return None if models is None else _names(models)


def _sorted(entries: Iterable[dict[str, Json]]) -> list[Json]:
    return sorted(entries, key=lambda entry: tuple(map(str, entry.values())))
