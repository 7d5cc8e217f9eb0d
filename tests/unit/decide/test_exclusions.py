"""Which names must a caller of this model ignore?"""

from __future__ import annotations

import pytest

from routecanary.decide.exclusions import canary_merged, exclusions
from tests.story import HEALTHY, Story, a_story_with_suspended, moment

FAIL = "structured:fail"


def test_layers_are_merged_sorted_without_duplicates() -> None:
    """Built-in, runtime and canary entries in one list; a name stands once."""
    story = a_story_with_suspended("a")
    told = story.round("1h", {"a": FAIL, **HEALTHY}, builtin=["z", "b", "a"], runtime=["b", "c"])
    assert told.ignore == ("a", "b", "c", "z")


def test_each_round_states_the_other_layers_anew() -> None:
    """An entry that a round does not name is gone; acts keep the last round's."""
    story = Story()
    story.round("0m", HEALTHY, builtin=["x"], runtime=["y"])
    assert story.pause("10m").ignore == ("x", "y")
    assert story.round("30m", HEALTHY).ignore == ()


def test_observe_merges_the_other_layers_only() -> None:
    """Shadow suspensions keep nobody away."""
    story = Story()
    story.mode("0m", "observe")
    for at in ("0m", "30m"):
        told = story.round(at, {"a": FAIL, **HEALTHY}, builtin=["x"], runtime=["y"])
    assert story.suspended == ["a"]
    assert told.ignore == ("x", "y")


def test_suspension_of_an_absent_route_stays_in_the_list() -> None:
    """The route may come back before its suspension ends."""
    story = a_story_with_suspended("a")
    assert story.round("1h", HEALTHY).ignore == ("a",)


def test_newer_entries_take_the_place_of_the_last_rounds() -> None:
    """A caller who knows what is in force now hands it in."""
    story = a_story_with_suspended("a")
    story.round("1h", {"a": FAIL, **HEALTHY}, builtin=["x"], runtime=["y"])
    assert exclusions(story.state) == ("a", "x", "y")
    assert exclusions(story.state, runtime=[]) == ("a", "x")
    assert exclusions(story.state, builtin=["w"], runtime=["v"]) == ("a", "v", "w")


@pytest.mark.parametrize(
    ("until", "at", "merged"),
    [("3h", None, False), ("3h", "2h59m59s", False), ("3h", "3h", True), (None, "9d", False)],
)
def test_a_pause_that_is_over_counts_for_whoever_keeps_the_clock(
    until: str | None, at: str | None, *, merged: bool
) -> None:
    """A replay knows no ends of pauses, and a client heeds them."""
    story = a_story_with_suspended("a")
    story.pause("1h", until=until)
    assert canary_merged(story.state, None if at is None else moment(at)) is merged
    assert exclusions(story.state) == ()
