"""The fixed order within one line, and the time of a line."""

from __future__ import annotations

from fractions import Fraction

import pytest

from routecanary.decide.step import step
from routecanary.domain.event import (
    Event,
    Exclusions,
    Expired,
    Reinstated,
    RoundClosed,
    RoutesNamed,
    Suspended,
    SuspensionBlocked,
)
from routecanary.domain.policy import Policy
from routecanary.domain.state import ModelState
from routecanary.errors import ClockError
from tests.story import HEALTHY, MODEL, Story, a_report, a_round, a_story_with_suspended, moment

FAIL = "structured:fail"


def test_every_line_ends_with_its_exclusions() -> None:
    """Also one that changes nothing."""
    story = Story()
    for told in (story.pause("0m"), story.pause("0m"), story.round("1m", {}), story.lift("2m", "a")):
        assert [type(event) for event in told.events].count(Exclusions) == 1
        assert isinstance(told.events[-1], Exclusions)


TIMES = [
    ("first round", [], "0m", True),
    ("later than the last round", ["r30m"], "30m1s", True),
    ("at the last round", ["r30m"], "30m", False),
    ("before the last round", ["r30m"], "29m59s", False),
    ("after the last act", ["r30m", "p40m"], "41m", True),
    ("at the last act", ["r30m", "p40m"], "40m", True),
    ("before the last act", ["r30m", "p40m"], "39m59s", False),
    ("after a dated-back act", ["r30m", "p10m"], "30m1s", True),
]


@pytest.mark.parametrize(
    ("before", "at", "accepted"), [row[1:] for row in TIMES], ids=[row[0] for row in TIMES]
)
def test_time_never_runs_backwards_for_rounds(before: list[str], at: str, accepted: bool) -> None:
    """A round comes after the last round and not before the last line; rejected, it changes nothing."""
    story = Story()
    for line in before:
        if line[0] == "r":
            story.round(line[1:], HEALTHY)
        else:
            story.pause(line[1:])
    state = story.state
    if accepted:
        story.round(at, HEALTHY)
        assert story.state.last_round_at == moment(at)
    else:
        with pytest.raises(ClockError):
            story.round(at, HEALTHY)
        assert story.state is state


def test_reinstatement_makes_room_for_a_suspension_in_the_same_round() -> None:
    """Reinstatements (d) come before suspensions (e): the share sees the recovered route as back."""
    policy = Policy(max_suspended_share=Fraction(1, 5))
    story = a_story_with_suspended("a", policy=policy)
    story.round("1h", {"a": "ok", "h1": FAIL, "h2": "ok", "h3": "ok", "h4": "ok"})
    told = story.round("90m", {"a": "ok", "h1": FAIL, "h2": "ok", "h3": "ok", "h4": "ok"})
    assert told.routes(Reinstated) == ["a"]
    assert told.routes(Suspended) == ["h1"]


def test_expiry_makes_room_for_a_suspension_in_the_same_round() -> None:
    """Expiries (b) come before suspensions (e)."""
    policy = Policy(max_suspended_share=Fraction(1, 5))
    story = a_story_with_suspended("a", policy=policy)
    routes = {"a": "none", "h1": FAIL, "h2": "ok", "h3": "ok", "h4": "ok"}
    story.round("1d", routes)
    assert story.round("1d29m59s", routes).one(SuspensionBlocked).why == "share"
    told = story.round("1d1h", routes)
    assert told.routes(Expired) == ["a"]
    assert told.routes(Suspended) == ["h1"]


def test_step_touches_nothing() -> None:
    """The state that was handed in is the state that was handed in."""
    state = ModelState.empty(MODEL)
    events = step(state, a_round("0m", {"a": FAIL, "h": a_report(swallows=["h/us"])}), Policy())
    assert state == ModelState.empty(MODEL)
    assert events == step(state, a_round("0m", {"a": FAIL, "h": a_report(swallows=["h/us"])}), Policy())


def test_targeted_round_changes_nothing_for_routes_that_were_not_asked() -> None:
    """A round names all routes; `skipped` for every contract leaves a route as it was."""
    story = Story()
    story.round("0m", {"a": FAIL, **HEALTHY})
    before = {name: story.route(name) for name in ("h3", "h4")}
    told = story.round("30m", {"a": FAIL, "h1": "ok", "h2": "ok", "h3": "skipped", "h4": "skipped"})
    assert told.routes(Suspended) == ["a"]
    assert {name: story.route(name) for name in before} == before


def test_round_keeps_what_was_judged_and_what_was_believed() -> None:
    """The log shows a fail that a brake set aside as judged, and not among the failing ones."""
    told = Story().round("0m", {"a": FAIL, "b": FAIL})
    outcome = told.outcome("a")
    assert outcome.verdicts["structured"] == "fail"
    assert outcome.failing == frozenset()


def test_events_of_a_round_begin_with_what_it_names() -> None:
    """Facts first, classes before what follows from them."""
    story = a_story_with_suspended("a")
    kinds: list[type[Event]] = [type(event) for event in story.log if event.at == moment("30m")]
    assert kinds == [RoutesNamed, RoundClosed, Suspended, Exclusions]
