"""What does an administrator's act change?"""

from __future__ import annotations

import pytest

from routecanary.domain.event import (
    CanaryLayerPaused,
    CanaryLayerReleased,
    CanaryLayerResumed,
    ClosedByMode,
    Exclusions,
    Expired,
    LadderReset,
    Lifted,
    ModeChanged,
    PauseEndMoved,
    Suspended,
    SuspicionCleared,
)
from tests.story import HEALTHY, Story, a_story_with_suspended, moment

FAIL = "structured:fail"


def test_lift_ends_a_suspension_and_its_streaks() -> None:
    """The offence stays remembered; what the route has proved stays too."""
    story = a_story_with_suspended("a")
    told = story.lift("1h", "a")
    assert told.one(Lifted).route == "a"
    assert told.ignore == ()
    route = story.route("a")
    assert (route.suspension, route.offences, route.ended_at) == (None, 1, moment("1h"))
    assert (route.streak.failed, route.streak.clean, route.streak.suspicion) == (0, 0, frozenset())
    assert route.streak.last_at == moment("30m")


def test_lifted_route_needs_the_whole_streak_again() -> None:
    """One more failed round does not suspend, the second does, as a second offence."""
    story = a_story_with_suspended("a")
    story.lift("1h", "a")
    assert not story.round("90m", {"a": FAIL, **HEALTHY}).all(Suspended)
    assert story.round("2h", {"a": FAIL, **HEALTHY}).one(Suspended).offence == 2


def test_lift_as_false_positive_removes_one_offence() -> None:
    """The next suspension is a first one again; after two, it is a second one again."""
    story = a_story_with_suspended("a")
    story.lift("1h", "a", false_positive=True)
    assert story.route("a").offences == 0
    for at in ("2h", "3h"):
        story.round(at, {"a": FAIL, **HEALTHY})
    story.lift("4h", "a")
    for at in ("5h", "6h"):
        told = story.round(at, {"a": FAIL, **HEALTHY})
    assert told.one(Suspended).offence == 2
    story.lift("7h", "a", false_positive=True)
    assert story.route("a").offences == 1


@pytest.mark.parametrize("route", ["h1", "nobody"])
def test_lift_of_a_route_that_is_not_suspended_does_nothing(route: str) -> None:
    """No event, no hold, no change of streaks."""
    story = Story()
    for at in ("0m", "30m"):
        story.round(at, {"a": "structured:fail", "h1": FAIL, "h2": "ok", "h3": "ok"})
    before = story.state.routes
    told = story.lift("40m", route, hold_until="9d")
    if route == "nobody":
        assert [type(event) for event in told.events] == [Exclusions]
        assert story.state.routes == before


def test_lift_of_an_unsuspended_failing_route_keeps_its_streak_and_sets_no_hold() -> None:
    """The route is suspended at its second failed round all the same."""
    story = Story()
    story.round("0m", {"a": FAIL, **HEALTHY})
    assert [type(event) for event in story.lift("10m", "a", hold_until="9d").events] == [Exclusions]
    assert story.round("30m", {"a": FAIL, **HEALTHY}).all(Suspended)


def test_lift_at_until_comes_after_the_expiry() -> None:
    """The suspension has ended by time: there is nothing to lift and no hold is set."""
    story = a_story_with_suspended("a")
    told = story.lift("1d30m", "a", hold_until="9d")
    assert told.all(Expired)
    assert not told.all(Lifted)
    assert story.route("a").hold_until is None


def test_pause_takes_the_canary_layer_out_and_resume_brings_it_back() -> None:
    """Everything else goes on; the same act twice says nothing."""
    story = a_story_with_suspended("a")
    told = story.pause("1h")
    assert told.all(CanaryLayerPaused)
    assert told.ignore == ()
    again = story.pause("2h")
    assert not again.all(CanaryLayerPaused)
    assert again.ignore == ()
    back = story.resume("3h")
    assert back.all(CanaryLayerResumed)
    assert back.ignore == ("a",)
    assert not story.resume("4h").all(CanaryLayerResumed)


@pytest.mark.parametrize(("old", "new"), [("enforce", "observe"), ("observe", "enforce")])
def test_switch_of_mode_begins_anew(old: str, new: str) -> None:
    """Suspensions end, offences and clean streaks go, fail streaks and suspicion stay."""
    story = Story()
    story.mode("0m", old)
    for at in ("0m", "30m"):
        story.round(at, {"a": FAIL, **HEALTHY})
    told = story.mode("1h", new)
    assert told.routes(ClosedByMode) == ["a"]
    assert told.one(ModeChanged).mode == new
    route = story.route("a")
    assert (route.suspension, route.offences) == (None, 0)
    assert (route.streak.failed, route.streak.suspicion) == (2, {"structured"})
    assert story.route("h1").streak.clean == 0
    assert not story.pause("30d").all(LadderReset)


def test_route_that_still_fails_is_suspended_at_its_next_failed_round_after_a_switch() -> None:
    """The fail streak stands, and the offence is a first one."""
    story = a_story_with_suspended("a")
    story.mode("1h", "observe")
    told = story.round("90m", {"a": FAIL, **HEALTHY}).one(Suspended)
    assert (told.offence, told.shadow) == (1, True)


def test_naming_the_mode_in_force_changes_nothing() -> None:
    """No event, no suspension ended, no pause ended."""
    story = a_story_with_suspended("a")
    story.pause("1h")
    assert [type(event) for event in story.mode("2h", "enforce").events] == [Exclusions]
    assert story.suspended == ["a"]
    assert story.state.paused


def test_switch_ends_pause_and_release_silently_and_touches_no_hold() -> None:
    """Neither is said to have ended."""
    story = a_story_with_suspended("a", "b")
    story.lift("3h", "b", hold_until="9d")
    story.pause("3h")
    assert story.round("4h", {"a": FAIL}).all(CanaryLayerReleased)
    told = story.mode("5h", "observe")
    assert {type(event) for event in told.events} == {ClosedByMode, ModeChanged, Exclusions}
    assert (story.state.paused, story.state.released) == (False, False)
    assert story.route("b").hold_until == moment("9d")


def test_act_dated_back_is_taken_at_the_last_lines_time() -> None:
    """Acts are never rejected; time does not run backwards for them."""
    story = a_story_with_suspended("a")
    told = story.lift("10m", "a")
    assert told.one(Lifted).at == moment("30m")
    assert told.events[-1].at == moment("30m")
    assert story.state.last_line_at == moment("30m")


def test_a_pause_in_force_only_gets_another_end() -> None:
    """Its end moves, to a later or an earlier time or to none; the same end says nothing."""
    story = a_story_with_suspended("a")
    assert story.pause("1h", until="3h").one(CanaryLayerPaused).until == moment("3h")
    assert story.state.paused_until == moment("3h")
    moved = story.pause("2h", until="5h")
    assert moved.one(PauseEndMoved).until == moment("5h")
    assert not moved.all(CanaryLayerPaused)
    assert [type(event) for event in story.pause("2h", until="5h").events] == [Exclusions]
    assert story.pause("2h").one(PauseEndMoved).until is None
    assert (story.state.paused, story.state.paused_until) == (True, None)


@pytest.mark.parametrize(
    ("until", "at", "resumed"),
    [("3h", "2h59m59s", False), ("3h", "3h", True), ("3h", "4h", True), (None, "9d", False)],
)
def test_the_clock_resumes_a_pause_at_its_end_only(until: str | None, at: str, *, resumed: bool) -> None:
    """A pause without an end waits for a person, and one that was moved meanwhile for its new end."""
    story = a_story_with_suspended("a")
    story.pause("1h", until=until)
    assert bool(story.resume(at, scheduled=True).all(CanaryLayerResumed)) is resumed
    assert story.state.paused is not resumed


def test_a_person_resumes_a_pause_before_its_end() -> None:
    """And the end is forgotten with it."""
    story = a_story_with_suspended("a")
    story.pause("1h", until="3h")
    assert story.resume("2h").ignore == ("a",)
    assert (story.state.paused, story.state.paused_until) == (False, None)


def test_a_switch_of_mode_forgets_the_end_of_a_pause() -> None:
    """The next pause has its own."""
    story = a_story_with_suspended("a")
    story.pause("1h", until="3h")
    story.mode("2h", "observe")
    assert (story.state.paused, story.state.paused_until) == (False, None)


def test_requalifying_ends_a_streak_that_nothing_else_supports() -> None:
    """One failed round under the old judge and one under the new do not add up."""
    story = Story()
    story.round("0m", {"a": "language:fail", **HEALTHY}, locale="th")
    assert story.route("a").streak.retry_locale == "th"
    told = story.requalify("10m", "language", "structured")
    assert told.one(SuspicionCleared).streaks.keys() == {"a"}
    streak = story.route("a").streak
    assert (streak.failed, streak.suspicion, streak.retry_locale) == (0, frozenset(), None)
    assert streak.last_at == moment("0m")
    assert not story.round("30m", {"a": FAIL, **HEALTHY}).all(Suspended)


def test_requalifying_leaves_what_other_contracts_saw() -> None:
    """The streak stands under the suspicion that is left."""
    story = Story()
    story.round("0m", {"a": "language:fail structured:fail", **HEALTHY}, locale="th")
    story.requalify("10m", "language")
    streak = story.route("a").streak
    assert (streak.failed, streak.suspicion, streak.retry_locale) == (1, {"structured"}, None)
    assert story.round("30m", {"a": FAIL, **HEALTHY}).one(Suspended).contracts == {"structured"}


def test_requalifying_a_contract_keeps_the_locale_that_another_left_open() -> None:
    """Only the language contract's own question is dropped."""
    story = Story()
    story.round("0m", {"a": "language:fail structured:fail", **HEALTHY}, locale="th")
    story.requalify("10m", "structured")
    assert story.route("a").streak.retry_locale == "th"


def test_requalifying_what_nobody_is_suspected_of_changes_nothing() -> None:
    """Suspensions in force go on, and end by time at the latest: their streak renews nothing."""
    story = a_story_with_suspended("a")
    assert [type(event) for event in story.requalify("1h", "language").events] == [Exclusions]
    story.round("1d", {"a": FAIL, **HEALTHY})
    assert story.requalify("1d10m", "structured").all(SuspicionCleared)
    assert story.suspended == ["a"]
    assert story.pause("1d30m").routes(Expired) == ["a"]
