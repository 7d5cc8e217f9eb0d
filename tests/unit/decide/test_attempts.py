"""Are attempts counted on the day that they belong to, and forgotten when their window has passed?"""

from __future__ import annotations

from datetime import timedelta

import pytest

from routecanary.decide.attempts import attempts_of, days_after, days_without, window_of
from routecanary.domain.evidence import Day, Evidence, Weighed
from routecanary.domain.names import ContractName
from routecanary.domain.round import RouteReport
from routecanary.domain.verdict import VerdictKind
from tests.story import START

A, B = ContractName("a"), ContractName("b")
A_DAY = timedelta(days=1)


def brought(attempts: int, fails: int = 0) -> Weighed:
    return Weighed(attempts=attempts, fails=fails, after=Evidence())


@pytest.mark.parametrize(
    ("stated", "kind", "attempts"),
    [
        ((True, False, True), VerdictKind.FAIL, (True, False, True)),
        ((), VerdictKind.FAIL, ()),
        (None, VerdictKind.FAIL, (True,)),
        (None, VerdictKind.PASS, (False,)),
        (None, VerdictKind.INCONCLUSIVE, ()),
        (None, VerdictKind.TRANSPORT, ()),
    ],
)
def test_attempts_are_those_stated_or_one_for_a_verdict(
    stated: tuple[bool, ...] | None, kind: VerdictKind, attempts: tuple[bool, ...]
) -> None:
    """What tells nothing is no attempt."""
    report = RouteReport(verdicts={A: kind}, attempts={} if stated is None else {A: stated})
    assert attempts_of(report, A) == attempts


def test_totals_run_on_from_day_to_day() -> None:
    """Rounds of one day are one entry; the next begins a whole day after its first round, and no sooner."""
    days: tuple[Day, ...] = ()
    for hours, added in ((0, {A: brought(3, 1)}), (23, {A: brought(1), B: brought(1, 1)})):
        days = days_after(days, added, START + timedelta(hours=hours))
    days = days_after(days, {A: brought(1)}, START + A_DAY - timedelta(microseconds=1))
    assert days == (Day(start=START, attempts={A: 5, B: 1}, fails={A: 1, B: 1}),)
    days = days_after(days, {A: brought(2, 2)}, START + A_DAY)
    assert days[1:] == (Day(start=START + A_DAY, attempts={A: 7, B: 1}, fails={A: 3, B: 1}),)


def test_a_window_holds_the_days_that_began_within_it() -> None:
    """A day that began at its edge is in it."""
    days: tuple[Day, ...] = ()
    for number in range(5):
        days = days_after(days, {A: brought(10 + number, number)}, START + number * A_DAY)

    def within(since: timedelta) -> tuple[int, int]:
        window = window_of(days, START + since)
        return (
            window.attempts[A] - window.attempts_before.get(A, 0),
            window.fails.get(A, 0) - window.fails_before.get(A, 0),
        )

    assert within(-A_DAY) == (60, 10)
    assert within(3 * A_DAY) == (27, 7)
    assert within(3 * A_DAY + timedelta(seconds=1)) == (14, 4)
    assert within(5 * A_DAY) == (0, 0)
    assert window_of((), START).attempts == {}


def test_no_more_days_are_kept_than_a_window_can_have() -> None:
    """Thirty-two: a window of thirty days never needs an older one."""
    days: tuple[Day, ...] = ()
    for number in range(60):
        days = days_after(days, {A: brought(1)}, START + number * A_DAY)
    assert len(days) == 32
    assert days[0].start <= START + 59 * A_DAY - timedelta(days=30)


def test_contracts_can_be_forgotten() -> None:
    """Their totals begin anew; the others stay."""
    days = days_after((), {A: brought(3, 1), B: brought(2, 1)}, START)
    days = days_without(days_after(days, {A: brought(1)}, START + A_DAY), frozenset({A}))
    assert [(day.attempts, day.fails) for day in days] == [({B: 2}, {B: 1})] * 2
    (_, last) = days_after(days, {A: brought(5, 2)}, START + A_DAY)
    assert (last.attempts[A], last.fails[A]) == (5, 2)
