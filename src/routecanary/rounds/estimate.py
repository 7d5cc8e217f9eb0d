"""What will a model's rounds cost, before anything is spent?

Two numbers: the most that a round can cost, which is what is set aside for it, and what it is expected to
cost. The latter is measured where rounds have been settled, and otherwise worked out from the texts.

Source: docs/money.md, "What check says".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from random import Random
from typing import Final

from routecanary.domain.money import NOTHING, Extent, is_priced, price_of
from routecanary.domain.names import RouteId
from routecanary.domain.operation import Settled
from routecanary.domain.probe import Probe, ProbeSpec
from routecanary.domain.route import Listing, Route
from routecanary.domain.settings import ModelSettings, Settings
from routecanary.probe.catalog import Catalog
from routecanary.probe.pin import Users, reasons
from routecanary.probe.plan import plan_round
from routecanary.rounds.asked import usual_routes
from routecanary.rounds.purse import bounds_of, is_of_a_round, most_of_routes

ROUNDS_MEASURED: Final = 48
"""Settled rounds that an expectation rests on at most, the last ones."""

BYTES_PER_TOKEN: Final = 3  # of a prompt, low enough to overstate the tokens of most languages
TOKENS_PER_WORD: Final = 2  # of an answer, likewise
USUAL_EXCESS: Final = Fraction(1, 3)  # by which an answer is longer than the least length asked
USUAL_SHARE: Final = Fraction(1, 3)  # of the room that an answer takes whose text states no least length
REASONING_SHARE: Final = Fraction(1, 2)  # of the room for reasoning, where that cannot be switched off


class Basis(StrEnum):
    """What an expectation rests on."""

    MEASURED = "measured"  # what settled rounds of this model have cost
    TEXTS = "texts"  # the usual length of an answer; no probe fails


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a round over everybody costs, in USD."""

    probes: int  # first askings
    expected: Decimal
    basis: Basis
    rounds: int  # that were measured
    worst: Decimal  # every answer as long as it may be, every probe confirmed as often as it may be
    dearest: Decimal  # the most that any one route can cost in a round
    dearest_route: RouteId | None  # None: nobody is asked
    unpriced: tuple[RouteId, ...]  # routes that state no price: counted at an assumed one


def estimate(
    settings: Settings,
    model: ModelSettings,
    listing: Listing,
    catalog: Catalog,
    settled: Sequence[Settled],
) -> Estimate:
    """Estimate the rounds of a model from its listing.

    Args:
        settled: What was lately settled for it.
    Raises:
        ConfigError: A locale of the rotation has no text.
    """
    rng = Random(0)  # noqa: S311 - only lengths are looked at
    asked = usual_routes(listing, model.production)
    worst: dict[RouteId, Decimal] = {}
    usual, probes = NOTHING, 0
    for locale in settings.probes.locales:
        plan = plan_round(
            listing,
            catalog,
            number=0,
            locale_of={route.tag: locale for route in listing.routes},
            contracts_enabled=settings.enabled_contracts(),
            settings=settings.probes,
            asked=asked,
            users=Users.drawn(rng),
            rng=rng,
        )
        probes = max(probes, len(plan))
        usual += usual_cost(settings, listing, catalog, plan)
        most = most_of_routes(plan, bounds_of(settings, catalog, listing, plan), settings)
        worst = {route: max(cost, worst.get(route, NOTHING)) for route, cost in most.items()}
    rounds = [each for each in settled if is_of_a_round(each.round_id, model.model)]
    measured = _measured(rounds)
    dearest = max(worst, key=lambda route: (worst[route], route), default=None)
    return Estimate(
        probes=probes,
        expected=usual / len(settings.probes.locales) if measured is None else measured * probes,
        basis=Basis.TEXTS if measured is None else Basis.MEASURED,
        rounds=len(rounds),
        worst=sum(worst.values(), NOTHING),
        dearest=NOTHING if dearest is None else worst[dearest],
        dearest_route=dearest,
        unpriced=tuple(route.tag for route in listing.routes if route.tag in asked and not is_priced(route)),
    )


def _measured(settled: Sequence[Settled]) -> Decimal | None:
    """Work out what a first asking has cost with the confirmations that followed; None where none was."""
    first = sum(each.asked - each.again for each in settled)
    return sum((each.usd for each in settled), NOTHING) / first if first > 0 else None


def usual_cost(settings: Settings, listing: Listing, catalog: Catalog, plan: Sequence[Probe]) -> Decimal:
    """Work out what a plan usually costs, in USD, if no probe of it fails.

    Raises:
        LookupError: The plan was not made from this catalog.
    """
    routes = {route.tag: route for route in listing.routes}
    total = NOTHING
    for probe in plan:
        spec = catalog.find(probe.kind, probe.locale)
        if spec is None:
            raise LookupError(f"{probe.kind} in {probe.locale} was not planned from this catalog")
        route = routes[probe.route]
        prompt = sum(len(message["content"].encode()) for message in probe.body["messages"])
        room: int = probe.body.get("max_tokens") or probe.body["max_completion_tokens"]
        extent = Extent(
            prompt=prompt // BYTES_PER_TOKEN,
            completion=min(room, _usual_answer(settings, listing, route, spec)),
        )
        total += price_of(route, listing, settings.budget.assumed_price).of(extent)
    return total


def _usual_answer(settings: Settings, listing: Listing, route: Route, spec: ProbeSpec) -> int:
    """State how long an answer usually is, in tokens.

    Example: for scenes that ask for at least 150 words, 400.
    """
    words = [scene.min_words for scene in spec.scenes if scene.min_words is not None]
    if words:
        tokens = Fraction(sum(words), len(words)) * TOKENS_PER_WORD * (1 + USUAL_EXCESS)
    else:
        tokens = spec.max_tokens * USUAL_SHARE
    if reasons(listing, route):
        tokens += settings.probes.reasoning_room * REASONING_SHARE
    return int(tokens)
