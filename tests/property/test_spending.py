"""No order of rounds, crashes and answers spends beyond the budget of a day."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from routecanary.domain.answer import read_answer
from routecanary.domain.money import Extent, Price, charged
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.operating import OperatingState, evolve_operating
from routecanary.domain.operation import Reserved, Settled
from routecanary.domain.settings import BudgetSettings
from routecanary.rounds.spending import general_part, in_order, ration
from tests.answers import DONE, a_frame, a_transcript, as_event

MIDNIGHT = datetime(2026, 1, 5, tzinfo=UTC)
MODEL = ModelId("acme/chat")

amounts = st.integers(0, 6_000_000).map(lambda micros: Decimal(micros) / 1_000_000)
budgets = st.builds(
    BudgetSettings,
    per_day_usd=st.integers(0, 500).map(lambda cents: Decimal(cents) / 100),
    recovery_share=st.integers(0, 100).map(lambda percent: Decimal(percent) / 100),
)


@st.composite
def rounds(draw: st.DrawFn) -> list[tuple[int, dict[RouteId, Decimal], frozenset[RouteId], int | None]]:
    """Minutes since the last, the routes' costs, the suspended ones, and the share (%) really spent."""
    made = []
    for _ in range(draw(st.integers(1, 12))):
        routes = draw(st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8))
        costs = {RouteId(route): draw(amounts) for route in routes}
        suspended = draw(st.frozensets(st.sampled_from(routes), max_size=3)) if routes else frozenset()
        cost = draw(st.none() | st.integers(0, 100))  # None: killed before it was settled
        made.append((draw(st.integers(1, 600)), costs, frozenset(map(RouteId, suspended)), cost))
    return made


@settings(max_examples=60)
@given(budgets, rounds(), st.integers(0, 2**32))
def test_the_count_of_a_day_never_passes_its_budget(
    budget: BudgetSettings,
    made: list[tuple[int, dict[RouteId, Decimal], frozenset[RouteId], int | None]],
    seed: int,
) -> None:
    """Nor do routes that are not suspended ever touch the share of those that are."""
    state, at, rng = OperatingState(), MIDNIGHT, Random(seed)
    for number, (minutes, costs, suspended, cost) in enumerate(made):
        at += timedelta(minutes=minutes)
        left_out = state.model(MODEL).left_out
        wishes = in_order(costs, suspended=suspended, controls=(), targets=(), left_out=left_out, rng=rng)
        before = state.committed(at.date())
        outcome = ration(wishes, committed=before, budget=budget)
        state = evolve_operating(
            state,
            Reserved(
                at=at,
                model=MODEL,
                round_id=str(number),
                usd=outcome.usd,
                left_out=frozenset(outcome.refused),
            ),
        )
        assert state.committed(at.date()) <= budget.per_day_usd
        ordinary = sum((costs[route] for route in outcome.granted if route not in suspended), Decimal())
        assert not ordinary or before + ordinary <= general_part(budget)
        for route in set(outcome.refused) & suspended:
            assert before + outcome.usd + costs[route] > budget.per_day_usd
        if cost is not None:
            usd = outcome.usd * cost / 100
            state = evolve_operating(state, Settled(at=at, model=MODEL, round_id=str(number), usd=usd))
            assert state.committed(at.date()) == before + usd
    assert state.committed(date(2026, 6, 1)) == 0


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=8), children, max_size=3)
    ),
    max_leaves=6,
)
usages = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "cost": json_values,
        "prompt_tokens": json_values,
        "completion_tokens": json_values,
        "is_byok": json_values,
        "cost_details": json_values,
    },
)


@given(usages, st.text(max_size=200), amounts, amounts)
def test_no_usage_makes_a_count_that_cannot_be(
    usage: dict[str, object] | None, text: str, prompt: Decimal, completion: Decimal
) -> None:
    """Whatever an answer says of its cost, the count is at least what its text cost, and bounded."""
    price = Price(prompt=prompt / 1000, completion=completion / 1000)
    most = Extent(prompt=500, completion=900)
    transcript = a_transcript(as_event(a_frame({"content": text})), DONE)
    answer = replace(read_answer(transcript), usage=usage)
    counted = charged(answer, price, most)
    shown = len(answer.text.encode("utf-8", "replace")) // 16
    assert counted >= price.completion * shown
    assert counted <= max(Decimal(1), 10 * price.of(most), price.of(Extent(prompt=500, completion=100_000)))
    if usage is None:
        assert counted == max(price.of(most), counted)
