"""When it is said that the day's budget is reached, and when that it is restored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from routecanary.domain.operating import OperatingState, evolve_operating
from routecanary.domain.operation import BudgetReached, BudgetRestored, Operation
from routecanary.domain.settings import BudgetSettings
from routecanary.rounds.purse import tidings

LATE = datetime(2026, 1, 5, 23, 30, tzinfo=UTC)
NEXT_DAY = LATE + timedelta(minutes=30)
FIVE = BudgetSettings()
TEN = BudgetSettings(per_day_usd=Decimal(10))


def said(state: OperatingState, at: datetime, *, short: bool, budget: BudgetSettings = FIVE) -> list[type]:
    return [type(operation) for operation in tidings(state, at, budget, short=short)]


def reached(at: datetime = LATE) -> OperatingState:
    event: Operation = BudgetReached(at=at, spent_usd=Decimal("4.4"), budget_usd=Decimal(5))
    return evolve_operating(OperatingState(), event)


@pytest.mark.parametrize(
    ("state", "at", "short", "budget", "expected"),
    [
        (OperatingState(), LATE, False, FIVE, []),
        (OperatingState(), LATE, True, FIVE, [BudgetReached]),
        (reached(), LATE, True, FIVE, []),
        (reached(), LATE, False, FIVE, []),  # a cheaper model may still fit: the day is not over
        (reached(), NEXT_DAY, False, FIVE, [BudgetRestored]),
        (reached(), NEXT_DAY, True, FIVE, [BudgetRestored, BudgetReached]),
        (reached(), NEXT_DAY - timedelta(seconds=1), False, FIVE, []),
        (reached(NEXT_DAY), LATE, False, FIVE, []),  # the clock stepped back over midnight
        (reached(), LATE, False, TEN, [BudgetRestored]),  # the budget was raised
        (reached(), LATE, True, TEN, [BudgetRestored, BudgetReached]),
    ],
)
def test_tidings_are_told_on_change_only(
    state: OperatingState,
    at: datetime,
    short: bool,
    budget: BudgetSettings,
    expected: list[type],
) -> None:
    """Once a day, whatever is asked meanwhile; restored by a new day or by a larger budget."""
    assert said(state, at, short=short, budget=budget) == expected


def test_what_was_reached_is_told_with_its_numbers() -> None:
    """What the day has committed, and its budget."""
    (event,) = tidings(OperatingState(settled={"2026-01-05": Decimal("4.4")}), LATE, FIVE, short=True)
    assert event == BudgetReached(at=LATE, spent_usd=Decimal("4.4"), budget_usd=Decimal(5))
    again = evolve_operating(evolve_operating(OperatingState(), event), BudgetRestored(at=NEXT_DAY))
    assert (again.budget_reached_at, again.budget_reached_usd) == (None, None)
