"""What happens at the end of a suspension: does the route return, or is it still failing?"""

from __future__ import annotations

from fractions import Fraction

import pytest

from routecanary.domain.event import Expired, Renewed, Suspended, SuspensionBlocked
from routecanary.domain.policy import Policy
from tests.story import HEALTHY, Story, a_report, a_story_with_suspended, moment

FAIL = "structured:fail"


@pytest.mark.parametrize(("at", "ended"), [("1d29m59s", False), ("1d30m", True), ("1d30m1s", True)])
def test_route_returns_at_until(at: str, ended: bool) -> None:
    """Suspended at 30 min for a day; the event says when it was due."""
    story = a_story_with_suspended("a")
    told = story.round(at, {"a": "transport", **HEALTHY})
    assert [event.due for event in told.all(Expired)] == ([moment("1d30m")] if ended else [])
    assert told.ignore == (() if ended else ("a",))


def test_expiry_changes_no_streak() -> None:
    """Streak and suspicion stay: one more failed round suspends again."""
    story = a_story_with_suspended("a")
    story.round("23h", {"a": FAIL, **HEALTHY})
    before = story.route("a").streak
    told = story.round("1d5h1s", HEALTHY)
    assert told.one(Expired).why is None
    assert story.route("a").streak == before


STILL_FAILING = [
    ("failed just within the streak's life", [("18h30m1s", FAIL), ("19h", FAIL)], True),
    ("failed as long ago as allowed", [("18h", FAIL), ("18h30m", FAIL)], True),
    ("failed too long ago", [("18h", FAIL), ("18h29m59s", FAIL)], False),
    ("a streak of one", [("19h", FAIL)], False),
    ("clean since", [("18h", FAIL), ("19h", FAIL), ("20h", "ok")], False),
    ("frozen since", [("18h", FAIL), ("19h", FAIL), ("20h", "transport")], True),
    ("clean too soon to count", [("18h", FAIL), ("19h", FAIL), ("19h10m", "ok")], True),
]


@pytest.mark.parametrize(
    ("rounds", "renewed"), [row[1:] for row in STILL_FAILING], ids=[row[0] for row in STILL_FAILING]
)
def test_still_failing_at_until_is_renewed(rounds: list[tuple[str, str]], renewed: bool) -> None:
    """Last non-frozen round failed, not too long ago, with the streak: the next step of the ladder."""
    story = a_story_with_suspended("a")
    for at, said in rounds:
        story.round(at, {"a": said, **HEALTHY})
    told = story.pause("1d30m")
    assert bool(told.all(Renewed)) is renewed
    assert bool(told.all(Expired)) is not renewed


def test_renewal_starts_when_it_is_evaluated() -> None:
    """An offence of its own, with what is suspected by then; the route does not return in between."""
    story = a_story_with_suspended("a")
    story.round("22h", {"a": "language:fail", **HEALTHY})
    story.round("23h", {"a": "language:fail", **HEALTHY})
    told = story.round("1d2h", {"a": "transport", **HEALTHY})
    renewed = told.one(Renewed)
    assert (renewed.due, renewed.until, renewed.offence) == (moment("1d30m"), moment("4d2h"), 2)
    suspension = story.route("a").suspension
    assert suspension is not None
    assert suspension.contracts == {"language"}
    assert told.ignore == ("a",)


def test_round_that_fails_at_until_renews() -> None:
    """The line's own round is heard before its expiries."""
    story = a_story_with_suspended("a")
    story.round("1d", {"a": FAIL, **HEALTHY})
    assert story.round("1d30m", {"a": FAIL, **HEALTHY}).all(Renewed)


def failing_until_due(policy: Policy | None = None) -> Story:
    story = a_story_with_suspended("a", policy=policy)
    for at in ("20h", "21h"):
        story.round(at, {"a": FAIL, **HEALTHY})
    return story


REFUSED = [
    ("built-in", {"a": FAIL, **HEALTHY}, {"builtin": ["a"]}, "covered"),
    (
        "swallowed by a runtime entry",
        {"a": FAIL, **HEALTHY},
        {"runtime": ["p"], "swallows": {"p": ["a"]}},
        "covered",
    ),
    ("control by now", {"a": a_report(FAIL, control_for=["language"]), **HEALTHY}, {}, "covered"),
    ("too few proven routes", {"a": FAIL, "h1": "ok", "h2": "none"}, {"runtime": ["h2"]}, "floor"),
    ("covered before floor", {"a": FAIL, "h1": "ok"}, {"runtime": ["a"]}, "covered"),
]


@pytest.mark.parametrize(
    ("routes", "facts", "why"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_renewal_is_refused_when_it_could_not_be_suspended(routes: dict, facts: dict, why: str) -> None:
    """Then it expires and says why; no offence is added."""
    story = failing_until_due()
    told = story.round("1d30m", routes, **facts)
    assert [(event.why, event.due) for event in told.all(Expired)] == [(why, moment("1d30m"))]
    assert not told.all(Renewed)
    assert story.route("a").offences == 1


def test_refused_renewal_may_be_blocked_in_the_same_line() -> None:
    """The round failed and the streak stands: the question comes again at once, and now it is new."""
    story = failing_until_due()
    told = story.round("1d30m", {"a": FAIL, "h1": "ok"})
    assert told.one(Expired).why == "floor"
    assert told.one(SuspensionBlocked).why == "floor"


def test_renewal_is_asked_as_if_the_route_had_returned() -> None:
    """It counts as capacity that would be lost again, and not as one more in the share."""
    story = failing_until_due(Policy(max_suspended_share=Fraction(1, 5)))
    assert story.pause("1d30m").all(Renewed)


def test_share_refuses_a_renewal() -> None:
    """One of four routes is past a share of a fifth."""
    story = failing_until_due(Policy(max_suspended_share=Fraction(1, 5)))
    told = story.round("1d30m", {"a": FAIL, "h1": "ok", "h2": "ok", "h3": "ok"})
    assert told.one(Expired).why == "share"


def test_due_routes_are_asked_by_id_and_see_what_those_before_left() -> None:
    """With room for one of six: `a` is refused while `b` is out, and has returned when `b` is asked."""
    story = a_story_with_suspended("b", "a")
    for at in ("23h", "1d"):
        story.round(at, {"a": FAIL, "b": FAIL, **HEALTHY})
    story.policy = Policy(max_suspended_share=Fraction(1, 5))
    told = story.pause("1d2h")
    assert [(event.route, event.why) for event in told.all(Expired)] == [("a", "share")]
    assert told.routes(Renewed) == ["b"]


def test_nothing_returns_before_its_time_in_observe_either() -> None:
    """Shadow suspensions end and renew like real ones, marked as shadows."""
    story = Story()
    story.mode("0m", "observe")
    for at in ("0m", "30m", "20h", "21h"):
        story.round(at, {"a": FAIL, **HEALTHY})
    assert story.pause("1d30m").one(Renewed).shadow
    assert story.pause("5d").one(Expired).shadow
    assert not [event for event in story.log if isinstance(event, Suspended) and not event.shadow]
