"""What do the rounds of a route add up to?"""

from __future__ import annotations

import pytest

from routecanary.domain.round import RoundClass
from tests.story import Story, a_report, moment

FAIL = "structured:fail"
COMPANY = {"h1": "ok", "h2": "ok", "h3": "ok"}


def told_streak(*rounds: tuple[str, str]) -> Story:
    """Tell one route's rounds beside three healthy routes; `absent` leaves it out."""
    story = Story()
    for at, said in rounds:
        story.round(at, COMPANY if said == "absent" else {**COMPANY, "a": said})
    return story


STREAKS = [
    ("two fails", [("0m", FAIL), ("30m", FAIL)], 2, 0),
    ("clean in between", [("0m", FAIL), ("30m", "ok"), ("1h", FAIL)], 1, 0),
    ("transport in between", [("0m", FAIL), ("30m", "transport"), ("1h", FAIL)], 2, 0),
    ("account in between", [("0m", FAIL), ("30m", "account"), ("1h", FAIL)], 2, 0),
    ("unsure in between", [("0m", FAIL), ("30m", "structured:inconclusive"), ("1h", FAIL)], 2, 0),
    ("skipped in between", [("0m", FAIL), ("30m", "skipped"), ("1h", FAIL)], 2, 0),
    ("absent in between", [("0m", FAIL), ("30m", "absent"), ("1h", FAIL)], 2, 0),
    ("clean rounds add up", [("0m", "ok"), ("30m", "ok"), ("1h", "ok")], 0, 3),
    ("frozen keeps a clean streak", [("0m", "ok"), ("30m", "transport"), ("1h", "ok")], 0, 2),
    ("a fail ends a clean streak", [("0m", "ok"), ("30m", FAIL)], 1, 0),
    ("second fail just too soon", [("0m", FAIL), ("19m59s", FAIL)], 1, 0),
    ("second fail at the gap", [("0m", FAIL), ("20m", FAIL)], 2, 0),
    ("second fail after the gap", [("0m", FAIL), ("20m1s", FAIL)], 2, 0),
    ("gap runs from what counted", [("0m", FAIL), ("19m", FAIL), ("20m", FAIL)], 2, 0),
    ("gap runs from a clean round too", [("0m", "ok"), ("19m59s", FAIL)], 0, 0),
    ("gap does not run from a frozen round", [("0m", FAIL), ("20m", "transport"), ("21m", FAIL)], 2, 0),
    ("clean too soon clears nothing", [("0m", FAIL), ("19m59s", "ok")], 1, 0),
    ("fail too soon ends a clean streak", [("0m", "ok"), ("30m", "ok"), ("49m59s", FAIL)], 0, 0),
    ("clean too soon adds nothing", [("0m", "ok"), ("30m", "ok"), ("49m59s", "ok")], 0, 2),
    ("fail just before the streak is old", [("0m", FAIL), ("5h59m59s", FAIL)], 2, 0),
    ("fail when the streak is as old as allowed", [("0m", FAIL), ("6h", FAIL)], 2, 0),
    ("fail when the streak is too old", [("0m", FAIL), ("6h1s", FAIL)], 1, 0),
    ("age runs from the last fail", [("0m", FAIL), ("5h", FAIL), ("11h", FAIL)], 3, 0),
    ("too soon does not make younger", [("0m", FAIL), ("19m", FAIL), ("6h1s", FAIL)], 1, 0),
]


@pytest.mark.parametrize(
    ("rounds", "failed", "clean"), [row[1:] for row in STREAKS], ids=[row[0] for row in STREAKS]
)
def test_streaks(rounds: list[tuple[str, str]], failed: int, clean: int) -> None:
    """Counted fails and cleans add up; frozen, absent and too early rounds leave them."""
    streak = told_streak(*rounds).route("a").streak
    assert (streak.failed, streak.clean) == (failed, clean)


def test_suspicion_collects_the_contracts_of_the_streak_and_a_clean_round_empties_it() -> None:
    """What failed in the fail streak is suspected until a counted clean round."""
    story = told_streak(("0m", FAIL), ("30m", "language:fail"))
    assert story.route("a").streak.suspicion == {"structured", "language"}
    story.round("1h", {"a": "ok", **COMPANY})
    assert story.route("a").streak.suspicion == frozenset()


def test_round_that_does_not_count_adds_no_suspicion_and_no_proof() -> None:
    """A failed round too soon suspects nothing new; a clean one too soon proves nothing."""
    story = told_streak(("0m", FAIL), ("10m", "language:fail"), ("15m", "ok"))
    streak = story.route("a").streak
    assert streak.suspicion == {"structured"}
    assert streak.last_at == moment("0m")
    assert not streak.was_clean


def test_old_suspicion_is_forgotten_before_the_round_is_classified() -> None:
    """After the streak's life a round that skips the former suspect is clean."""
    at_edge = told_streak(("0m", FAIL), ("6h", "structured:skipped")).route("a").streak
    assert (at_edge.failed, at_edge.clean) == (1, 0)
    after = told_streak(("0m", FAIL), ("6h1s", "structured:skipped")).route("a").streak
    assert (after.failed, after.clean) == (0, 1)


def test_route_touched_by_an_act_is_frozen_in_that_round() -> None:
    """A round that a person overtook neither fails nor clears the route."""
    story = Story()
    story.round("0m", {**COMPANY, "a": FAIL})
    told = story.round("30m", {**COMPANY, "a": FAIL}, acted=["a", "nobody"])
    assert told.outcome("a").round_class is RoundClass.FROZEN
    assert story.route("a").streak.failed == 1
    assert told.outcome("h1").round_class is RoundClass.CLEAN


def test_order_of_routes_changes_nothing() -> None:
    """The same round told in another order gives the same events and state."""
    routes = {
        "a": FAIL,
        "b": "language:fail",
        "h1": "ok",
        "h2": a_report("ok", swallows=["h2/us"]),
        "h3": "ok",
    }
    there, back = Story(), Story()
    for at in ("0m", "30m"):
        there.round(at, routes)
        back.round(at, dict(reversed(routes.items())))
    assert there.log == back.log
    assert there.state == back.state
