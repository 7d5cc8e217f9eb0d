"""What can be learnt of the gateway before anything is spent?

At OpenRouter a request that names nobody in `order` and allows no fallbacks is refused before a provider is
called. The refusal costs nothing and shows which routes the account withholds, and which plugins run unasked.
The Vercel AI Gateway tells nothing of the kind; its listing says what becomes of a request.

Source: openrouter-wire.md §1.6; docs/money.md, "The preflight".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

from routecanary.discover.withheld import Untold, Withheld, withheld_from_listing, withheld_from_refusal
from routecanary.domain.answer import read_answer
from routecanary.domain.gateway import GatewayKind
from routecanary.domain.names import Locale, ModelId, RouteId
from routecanary.domain.operation import RoutesWithheld, operation_draft
from routecanary.domain.probe import Json, Probe, ProbeKind, Scene
from routecanary.domain.route import Listing
from routecanary.domain.router import Routing, routing_of
from routecanary.domain.settings import ProductionSettings
from routecanary.domain.verdict import VerdictKind
from routecanary.judge.contract import printable
from routecanary.judge.gateway_errors import classify_error
from routecanary.probe.fields import routed
from routecanary.probe.pin import Users
from routecanary.rounds.ports import Gateway
from routecanary.rounds.world import World

OF_ONE_REQUEST: Final = frozenset({"config", "region"})
"""Reason codes of `account` that speak of one request: the other routes' requests may be fine.

Source: openrouter-wire.md §4.5, where `config` does not stop the round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """What one refusal told."""

    told: Withheld | Untold
    routing: Routing | None
    fault: str | None = None  # what is wrong with the account as a whole; None = nothing that showed

    @property
    def withheld(self) -> frozenset[RouteId]:
        """List the routes that are known to be withheld."""
        return self.told.routes if isinstance(self.told, Withheld) else frozenset()


async def preflight(
    gateway: Gateway,
    listing: Listing,
    *,
    users: Users,
    rng: Random,
    deny: bool = False,
    zdr: bool = False,
) -> Preflight:
    """Ask for nobody, and read the refusal; or the listing, where refusals tell nothing. Costs nothing.

    Args:
        deny: Also withhold what `data_collection: "deny"` does. The gateway then names no guardrail, so that
            both have to be asked about apart.
        zdr: Also withhold what keeps data.
    """
    if listing.gateway is GatewayKind.VERCEL:
        return Preflight(told=withheld_from_listing(listing, deny=deny, zdr=zdr), routing=None)
    provider: dict[str, Json] = {"order": [f"none-{rng.getrandbits(64):016x}"], "allow_fallbacks": False}
    if deny:
        provider["data_collection"] = "deny"
    if zdr:
        provider["zdr"] = True
    transcript = await gateway.ask(short_probe(listing.model, routed(provider), users=users, max_tokens=1))
    answer = read_answer(transcript)
    fault = classify_error(answer)
    blamed = fault is not None and fault.kind is VerdictKind.ACCOUNT and fault.code not in OF_ONE_REQUEST
    return Preflight(
        told=withheld_from_refusal(transcript.status, answer.error, listing),
        routing=routing_of(transcript),
        fault=printable(fault.detail) if fault is not None and blamed else None,
    )


def short_probe(
    model: ModelId, routing: Mapping[str, Json], *, users: Users, max_tokens: int, route: str = "none"
) -> Probe:
    """Make a request of a few words that no contract judges.

    Args:
        routing: The keys of the body that say who serves it.
        route: Under which name its transcript goes.
    """
    text = "Hello."
    return Probe(
        model=model,
        route=RouteId(route),
        kind=ProbeKind.ANY,
        locale=Locale("en"),
        scene=Scene(id="hello", prompt=text),
        spec_version=1,
        attempt=0,
        body={
            "model": model,
            "stream": True,
            "max_tokens": max_tokens,
            "messages": [{"role": "user", "content": text}],
            **routing,
            "user": users.chat,
        },
        provider_names=frozenset(),
        accepted_models=frozenset(),
    )


def filters_unseen(production: ProductionSettings) -> bool:
    """Say whether the product's requests carry a filter that the listing does not show."""
    return production.data_collection == "deny" or production.zdr


async def withheld_routes(world: World, listing: Listing) -> frozenset[RouteId]:
    """Look up which routes the gateway keeps from the product's requests, asking it where that is long ago.

    Only where those requests carry a filter that the listing does not show. Where the gateway does not tell,
    what it told last stands.

    Raises:
        StoreError: What it told could not be kept.
    """
    production = world.model(listing.model).production
    if not filters_unseen(production):
        return frozenset()
    known = world.ledger.operating().model(listing.model)
    now = world.clock.now()
    if known.withheld_at is not None and now - known.withheld_at < world.settings.gateway.preflight_max_age:
        return known.withheld
    answer = await preflight(
        world.gateway,
        listing,
        users=world.users,
        rng=world.rng,
        deny=production.data_collection == "deny",
        zdr=production.zdr,
    )
    if isinstance(answer.told, Untold):
        return known.withheld
    routes = answer.told.routes
    world.ledger.note(operation_draft(RoutesWithheld(at=now, model=listing.model, routes=routes)))
    return routes
