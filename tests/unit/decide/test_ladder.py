"""How long does a suspension last, and when are old ones forgotten?"""

from __future__ import annotations

from datetime import timedelta

import pytest

from routecanary.decide.ladder import suspension_length
from routecanary.domain.event import Expired, LadderReset, Suspended
from routecanary.domain.policy import Policy
from tests.story import HEALTHY, Story, a_story_with_suspended, moment

FAIL = "structured:fail"


@pytest.mark.parametrize(("offences", "days"), [(0, 1), (1, 3), (2, 7), (3, 7), (50, 7)])
def test_length_grows_by_remembered_offences(offences: int, days: int) -> None:
    """1, 3, 7 days; the last step for every later offence."""
    assert suspension_length(offences, Policy()) == timedelta(days=days)


def test_ladder_of_one_step() -> None:
    """Every offence takes the only step."""
    policy = Policy(ladder=(timedelta(hours=2),))
    assert [suspension_length(offences, policy) for offences in (0, 1, 7)] == [timedelta(hours=2)] * 3


def test_suspensions_climb_the_ladder() -> None:
    """Each suspension is itself remembered: 1 d, then 3 d, 7 d and 7 d again."""
    story = Story()
    lengths = []
    start = 0
    for _ in range(4):
        story.round(f"{start}h", {"a": FAIL, **HEALTHY})
        told = story.round(f"{start + 1}h", {"a": FAIL, **HEALTHY}).one(Suspended)
        lengths.append((told.offence, (told.until - told.at).days))
        start += 24 * lengths[-1][1] + 2
    assert lengths == [(1, 1), (2, 3), (3, 7), (4, 7)]


@pytest.mark.parametrize(("at", "forgotten"), [("15d29m59s", False), ("15d30m", True), ("15d30m1s", True)])
def test_offences_are_forgotten_after_fourteen_days_in_freedom(at: str, forgotten: bool) -> None:
    """Suspended at 30 min for a day; fourteen days after that end, and not before."""
    story = a_story_with_suspended("a")
    story.round("1d30m", HEALTHY)
    told = story.round(at, HEALTHY)
    assert told.routes(LadderReset) == (["a"] if forgotten else [])
    assert story.route("a").offences == (0 if forgotten else 1)
    assert not story.round("30d", HEALTHY).all(LadderReset) or not forgotten


def test_expiry_and_reset_may_share_a_line() -> None:
    """A suspension ended at its `until`, however late that is seen."""
    story = a_story_with_suspended("a")
    told = story.pause("15d30m")
    assert told.one(Expired).due == moment("1d30m")
    assert told.routes(LadderReset) == ["a"]


def test_new_suspension_stops_the_clock() -> None:
    """The fourteen days run from the end of the last suspension there was."""
    story = a_story_with_suspended("a")
    for at in ("10d", "10d1h"):
        story.round(at, {"a": FAIL, **HEALTHY})
    assert story.suspended == ["a"]
    assert not story.pause("13d").all(LadderReset)  # still suspended, until 13d1h
    assert not story.pause("27d59m59s").all(LadderReset)
    assert story.pause("27d1h").routes(LadderReset) == ["a"]


def test_lift_ends_a_suspension_for_the_clock() -> None:
    """Fourteen days after the lift the offence is forgotten; with none remembered there is no reset."""
    story = a_story_with_suspended("a")
    story.lift("1h", "a")
    assert story.pause("14d1h").routes(LadderReset) == ["a"]
    other = a_story_with_suspended("a")
    other.lift("1h", "a", false_positive=True)
    assert not other.pause("14d1h").all(LadderReset)
