"""What a model's rounds will cost: expected, and at worst."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from routecanary.domain.names import FILTERING, INTEGRITY, LATENCY, STRUCTURED, Locale, ModelId, RouteId
from routecanary.domain.operation import Settled
from routecanary.domain.route import Listing, Route
from routecanary.domain.settings import (
    ContractSettings,
    ModelSettings,
    ProbeSettings,
    ProductionSettings,
    Settings,
)
from routecanary.rounds.estimate import Basis, Estimate, estimate
from tests.unit.probe.test_plan import CATALOG

AT = datetime(2026, 1, 5, tzinfo=UTC)
MODEL = ModelId("acme/chat")
SETTINGS = Settings(
    store_path="nowhere", snapshot_path="nowhere", probes=ProbeSettings(locales=(Locale("en"),))
)
DECLARED = frozenset({"max_tokens", "structured_outputs", "reasoning"})


def a_route(tag: str, completion: str | None = "0.000001", **fields: object) -> Route:
    price = None if completion is None else Decimal(completion)
    values = {"parameters": DECLARED, "price_prompt": Decimal(0), "price_completion": price} | fields
    return Route(tag=RouteId(tag), provider_names=frozenset(), **values)  # type: ignore[arg-type]


def of(
    *routes: Route,
    settings: Settings = SETTINGS,
    settled: tuple[Settled, ...] = (),
    production: ProductionSettings | None = None,
) -> Estimate:
    return estimate(
        settings,
        ModelSettings(model=MODEL, production=production or ProductionSettings()),
        Listing(model=MODEL, at=AT, routes=routes),
        CATALOG,
        settled,
    )


def settled(usd: str, asked: int, again: int = 0, name: str = f"{MODEL} 1") -> Settled:
    return Settled(at=AT, model=MODEL, round_id=name, usd=Decimal(usd), asked=asked, again=again)


def test_the_worst_round_is_every_answer_as_long_as_it_may_be_three_times() -> None:
    """900, 700 and 300 tokens, each asked once and confirmed twice."""
    found = of(a_route("alpha"))
    assert found.probes == 3
    assert found.worst == Decimal("0.000001") * (900 + 700 + 300) * 3
    assert (found.dearest, found.dearest_route) == (found.worst, "alpha")
    assert found.expected < found.worst / 3


def test_confirmations_and_contracts_decide_what_the_worst_round_asks() -> None:
    """What is switched off is not asked; without confirmations nothing is asked again."""
    contracts = dict(SETTINGS.contracts)
    contracts[STRUCTURED] = contracts[FILTERING] = ContractSettings(enabled=False)
    chat = of(a_route("alpha"), settings=replace(SETTINGS, contracts=contracts))
    assert (chat.probes, chat.worst) == (1, Decimal("0.000001") * 900 * 3)
    once = {name: ContractSettings(confirmations=0) for name in SETTINGS.contracts}
    assert of(a_route("alpha"), settings=replace(SETTINGS, contracts=once)).worst == Decimal("0.0019")
    once[INTEGRITY] = ContractSettings(confirmations=4)
    assert of(a_route("alpha"), settings=replace(SETTINGS, contracts=once)).worst == Decimal("0.0095")
    assert LATENCY in once


def test_an_expectation_by_the_texts_is_for_answers_of_the_usual_length() -> None:
    """A third more than the least length asked, two tokens a word; else a third of the room."""
    found = of(a_route("alpha"))
    assert found.basis is Basis.TEXTS
    assert found.expected == Decimal("0.000001") * (400 + 400 + 100)
    thinking = of(a_route("alpha", parameters=DECLARED - {"reasoning"}))
    assert thinking.expected == found.expected + Decimal("0.000001") * 3 * 1_000


def test_an_expectation_is_measured_where_rounds_were_settled() -> None:
    """By what a first asking has cost with its confirmations, for the routes that are listed now."""
    rounds = (settled("0.010", asked=10, again=1), settled("0.008", asked=9))
    found = of(a_route("alpha"), a_route("beta"), settled=rounds)
    assert (found.basis, found.rounds) == (Basis.MEASURED, 2)
    assert found.expected == Decimal("0.018") / 18 * 6


@pytest.mark.parametrize("rounds", [(), (settled("0", asked=0),), (settled("9", asked=1, name="check 1"),)])
def test_nothing_is_measured_by_what_was_no_round(rounds: tuple[Settled, ...]) -> None:
    """A round that asked nobody, or a question of `check`, says nothing of a round's cost."""
    assert of(a_route("alpha"), settled=rounds).basis is Basis.TEXTS


def test_routes_without_a_price_are_counted_at_the_dearest() -> None:
    """And are told of."""
    found = of(a_route("alpha"), a_route("silent", completion=None), a_route("dear", "0.00002"))
    assert found.unpriced == ("silent",)
    assert found.worst == Decimal("0.000001") * 41 * 1_900 * 3
    assert found.dearest_route in {"silent", "dear"}


def test_opt_in_tiers_cost_nothing_unless_production_names_them() -> None:
    """As in a round."""
    tier = a_route("alpha/priority", tier="priority")
    assert of(a_route("alpha"), tier).probes == 3
    assert of(a_route("alpha"), tier, production=ProductionSettings(only=("alpha/priority",))).probes == 6


def test_nobody_listed_costs_nothing() -> None:
    """An empty listing is no error here."""
    found = of()
    assert (found.probes, found.expected, found.worst, found.dearest_route) == (0, 0, 0, None)
