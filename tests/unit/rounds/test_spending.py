"""Whom the day's budget allows to be asked, at its edges."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random

import pytest

from routecanary.domain.names import RouteId
from routecanary.domain.settings import BudgetSettings
from routecanary.rounds.spending import Wish, general_part, in_order, left_today, ration

AT = datetime(2026, 1, 5, tzinfo=UTC)
FIVE = BudgetSettings()  # 5 USD, of which 0.5 for recovery


def wish(route: str, usd: str, *, recovers: bool = False) -> Wish:
    return Wish(route=RouteId(route), usd=Decimal(usd), recovers=recovers)


@pytest.mark.parametrize(
    ("committed", "wishes", "granted"),
    [
        ("0", [wish("a", "4.5")], "a"),  # the general part, exactly
        ("0", [wish("a", "4.500000001")], ""),
        ("4.5", [wish("a", "0.000000001"), wish("s", "0.5", recovers=True)], "s"),  # the reserve, exactly
        ("4.5", [wish("s", "0.500000001", recovers=True)], ""),
        ("4.4", [wish("a", "0.2"), wish("b", "0.1"), wish("s", "0.3", recovers=True)], "b s"),
        ("4.0", [wish("s", "0.9", recovers=True), wish("a", "0.1")], "s"),  # recovery may go beyond
        ("5", [wish("s", "0.1", recovers=True), wish("free", "0")], "free"),
        ("7", [wish("a", "0.1"), wish("s", "0.1", recovers=True)], ""),  # overrun by dear answers
        ("0", [], ""),
    ],
)
def test_wishes_are_granted_as_far_as_the_budget_goes(
    committed: str, wishes: list[Wish], granted: str
) -> None:
    """The last share is for suspended routes alone; a dear wish does not stand in a cheap one's way."""
    outcome = ration(wishes, committed=Decimal(committed), budget=FIVE)
    assert list(outcome.granted) == granted.split()
    assert {*outcome.granted, *outcome.refused} == {wish.route for wish in wishes}
    assert outcome.usd == sum(wish.usd for wish in wishes if wish.route in outcome.granted)


@pytest.mark.parametrize(("share", "general"), [("0", "5"), ("0.1", "4.5"), ("1", "0")])
def test_the_general_part_is_what_recovery_leaves(share: str, general: str) -> None:
    """A share of 1 asks nobody but suspended routes."""
    budget = BudgetSettings(recovery_share=Decimal(share))
    assert general_part(budget) == Decimal(general)


def test_what_is_left_is_never_less_than_nothing() -> None:
    """An answer may cost more than was set aside for it."""
    assert left_today(FIVE, Decimal("1.25")) == Decimal("3.75")
    assert left_today(FIVE, Decimal(6)) == 0


def order(
    routes: str,
    *,
    suspended: str = "",
    controls: str = "",
    targets: str = "",
    left_out: Mapping[str, timedelta] | None = None,
    seed: int = 0,
) -> str:
    wishes = in_order(
        {RouteId(route): Decimal(1) for route in routes},
        suspended={RouteId(route) for route in suspended},
        controls={RouteId(route) for route in controls},
        targets={RouteId(route) for route in targets},
        left_out={RouteId(route): AT + since for route, since in (left_out or {}).items()},
        rng=Random(seed),
    )
    assert {wish.route for wish in wishes if wish.recovers} == set(suspended)
    return "".join(wish.route for wish in wishes)


def test_recovery_goes_before_controls_before_targets_before_the_rest() -> None:
    """A suspended route that is a control too counts as suspended."""
    found = order("abcdefgh", suspended="hg", controls="gc", targets="ae")
    assert [set(found[:2]), found[2], set(found[3:5]), set(found[5:])] == [
        {"g", "h"},
        "c",
        {"a", "e"},
        {"b", "d", "f"},
    ]


def test_whoever_was_left_out_first_comes_first() -> None:
    """Then whoever was left out later, then those that were asked."""
    hours = {"b": timedelta(hours=2), "d": timedelta(hours=1), "c": timedelta(hours=3)}
    assert order("abcd", left_out=hours) == "dbca"


def test_equals_are_drawn() -> None:
    """No route always loses for its name."""
    assert len({order("abcd", seed=seed) for seed in range(50)}) > 10


def test_over_rounds_every_route_gets_its_turn() -> None:
    """Of seven routes, of which a round can ask three, each is asked in three rounds of any seven."""
    rng = Random(5)
    costs = {RouteId(route): Decimal(1) for route in "abcdefg"}
    budget = BudgetSettings(per_day_usd=Decimal(3), recovery_share=Decimal(0))
    left_out: dict[RouteId, datetime] = {}
    asked: list[tuple[RouteId, ...]] = []
    for number in range(70):
        wishes = in_order(costs, suspended=(), controls=(), targets=(), left_out=left_out, rng=rng)
        outcome = ration(wishes, committed=Decimal(0), budget=budget)
        asked.append(outcome.granted)
        now = AT + number * timedelta(minutes=30)
        left_out = {route: left_out.get(route, now) for route in outcome.refused}
    for start in range(0, 70, 7):
        turns = [route for granted in asked[start : start + 7] for route in granted]
        assert all(2 <= turns.count(route) <= 4 for route in costs), turns
