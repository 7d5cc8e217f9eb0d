"""What is left to serve with?"""

from __future__ import annotations

import pytest

from routecanary.decide.capacity import production, proven
from routecanary.domain.event import (
    CanaryLayerReleased,
    CanaryLayerRestored,
    CapacityLow,
    CapacityRestored,
)
from routecanary.domain.policy import Policy
from tests.story import HEALTHY, Story, a_report, a_story_with_suspended, moment

FAIL = "structured:fail"


PRODUCTION = [
    ("all", {"a": "ok", "b": "ok"}, {}, "a b"),
    ("silent and failing routes too", {"a": "none", "b": FAIL}, {}, "a b"),
    ("not one that is not admitted", {"a": a_report(admitted=False), "b": "ok"}, {}, "b"),
    ("not a control", {"a": a_report(control_for=["language"]), "b": "ok"}, {}, "b"),
    ("not a built-in route", {"a": "ok", "b": "ok"}, {"builtin": ["a"]}, "b"),
    ("not a runtime route", {"a": "ok", "b": "ok"}, {"runtime": ["a"]}, "b"),
    ("not one that a built-in swallows", {"a": a_report(swallows=["b"]), "b": "ok"}, {"builtin": ["a"]}, ""),
    ("not what an entry swallows", {"a": "ok", "b": "ok"}, {"runtime": ["p"], "swallows": {"p": ["b"]}}, "a"),
    ("swallowing is not transitive", {
        "a": a_report(swallows=["b"]), "b": a_report(swallows=["d"]), "d": "ok"}, {"builtin": ["a"]}, "d"),
    ("an unstated entry swallows nothing", {"p/x": "ok"}, {"builtin": ["p"]}, "p/x"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("routes", "facts", "left"), [row[1:] for row in PRODUCTION], ids=[row[0] for row in PRODUCTION]
)
def test_production_routes(routes: dict, facts: dict, left: str) -> None:
    """Named and admitted, minus what a layer names or swallows, minus controls."""
    story = Story()
    story.round("0m", routes, **facts)
    assert sorted(production(story.state)) == left.split()


@pytest.mark.parametrize("mode", ["enforce", "observe"])
def test_suspended_route_is_no_production_route_in_any_mode(mode: str) -> None:
    """The canary layer counts whether or not it is merged."""
    story = Story()
    story.mode("0m", mode)
    for at in ("0m", "30m"):
        story.round(at, {"a": a_report(FAIL, swallows=["h4"]), **HEALTHY})
    assert sorted(production(story.state)) == ["h1", "h2", "h3"]
    story.pause("1h")
    assert sorted(production(story.state)) == ["h1", "h2", "h3"]


def test_suspension_of_an_absent_route_still_swallows() -> None:
    """What it names stays ignored, and so does what that swallows, as last stated."""
    story = Story()
    for at in ("0m", "30m"):
        story.round(at, {"a": a_report(FAIL, swallows=["h4"]), **HEALTHY})
    story.round("1h", HEALTHY)
    assert sorted(production(story.state)) == ["h1", "h2", "h3"]
    story.round("2h", {"a": "none", **HEALTHY})
    assert sorted(production(story.state)) == ["h1", "h2", "h3", "h4"]


def test_statement_of_a_route_goes_before_one_of_an_entry() -> None:
    """Also when the route states nothing, and also while it is absent."""
    story = Story()
    story.round("0m", {"a": "ok", "b": "ok"}, builtin=["a"], swallows={"a": ["b"]})
    assert sorted(production(story.state)) == ["b"]
    story.round("1h", {"b": "ok"}, builtin=["a"], swallows={"a": ["b"]})
    assert sorted(production(story.state)) == ["b"]


def test_entry_keeps_what_it_was_last_said_to_swallow() -> None:
    """A later round that does not state an entry's list leaves it; one that states it replaces it."""
    story = Story()
    story.round("0m", {"a": "ok", "b": "ok"}, builtin=["p"], swallows={"p": ["a"]})
    story.round("1h", {"a": "ok", "b": "ok"}, builtin=["p"])
    assert sorted(production(story.state)) == ["b"]
    story.round("2h", {"a": "ok", "b": "ok"}, builtin=["p"], swallows={"p": ["b"]})
    assert sorted(production(story.state)) == ["a"]


PROVEN = [
    ("clean just now", [("0m", "ok")], "0m", True),
    ("never asked", [("0m", "none")], "0m", False),
    ("only failed", [("0m", FAIL)], "0m", False),
    ("clean, then failed", [("0m", "ok"), ("30m", FAIL)], "30m", True),
    ("clean, then silent up to the edge", [("0m", "ok"), ("30m", "transport")], "6h", True),
    ("clean, then silent past the edge", [("0m", "ok"), ("30m", "transport")], "6h1s", False),
    ("a failed round keeps it fresh", [("0m", "ok"), ("5h", FAIL)], "11h", True),
    ("a round too soon does not", [("0m", "ok"), ("19m", "ok")], "6h1s", False),
]


@pytest.mark.parametrize(
    ("rounds", "now", "expected"), [row[1:] for row in PROVEN], ids=[row[0] for row in PROVEN]
)
def test_proven_routes(rounds: list[tuple[str, str]], now: str, expected: bool) -> None:
    """Clean once, and counted within six hours of now, the edge included."""
    story = Story()
    for at, said in rounds:
        story.round(at, {"a": said, "b": "ok"})
    assert ("a" in proven(story.state, moment(now), Policy())) is expected


def test_low_capacity_is_said_once_until_it_is_restored() -> None:
    """Below the floor: low; at the floor again: restored; nothing in between."""
    story = Story()
    said = [
        [type(event) for event in story.round(at, dict.fromkeys(routes, "none")).events[2:-1]]
        for at, routes in [("0m", "ab"), ("1m", "a"), ("2m", "a"), ("3m", "ab"), ("4m", "ab"), ("5m", "")]
    ]
    assert said == [[], [CapacityLow], [], [CapacityRestored], [], [CapacityLow]]


def test_acts_before_the_first_round_say_nothing_of_capacity() -> None:
    """Nothing is known of the routes yet; a first round that names none is low."""
    story = Story()
    assert not story.mode("0m", "observe").all(CapacityLow)
    assert story.round("1m", {}).all(CapacityLow)


def released_story(policy: Policy | None = None, mode: str = "enforce") -> Story:
    """Suspend `a` beside four healthy routes that then all vanish."""
    story = Story(policy or Policy())
    story.mode("0m", mode)
    for at in ("0m", "30m"):
        story.round(at, {"a": FAIL, **HEALTHY})
    story.round("1h", {"a": FAIL})
    return story


def test_canary_layer_is_released_when_no_production_route_is_left() -> None:
    """A doubtful answer beats none; the layer comes back when production is at the floor again."""
    story = released_story()
    assert [type(event) for event in story.log if isinstance(event, CanaryLayerReleased)] == [
        CanaryLayerReleased
    ]
    assert story.round("2h", {"a": FAIL}).ignore == ()
    one = story.round("3h", {"a": FAIL, "h1": "ok"})
    assert (one.ignore, one.all(CanaryLayerRestored)) == ((), [])
    two = story.round("4h", {"a": FAIL, "h1": "ok", "h2": "ok"})
    assert two.all(CanaryLayerRestored)
    assert two.ignore == ("a",)


@pytest.mark.parametrize(
    "story",
    [released_story(mode="observe"), released_story(Policy(release_when_empty=False))],
    ids=["in observe", "switched off"],
)
def test_canary_layer_is_not_released(story: Story) -> None:
    """Only in enforce, and only where it is on."""
    assert not [event for event in story.log if isinstance(event, CanaryLayerReleased)]


def test_release_needs_a_suspended_route_that_is_named() -> None:
    """Leaving out the layer would give back no listed route otherwise."""
    story = a_story_with_suspended("a")
    assert not story.round("1h", {}).all(CanaryLayerReleased)
    assert not story.round("2h", {"x": "none"}, builtin=["x"]).all(CanaryLayerReleased)
    assert story.round("3h", {"x": "none", "a": "none"}, builtin=["x"]).all(CanaryLayerReleased)


def test_one_production_route_left_releases_nothing() -> None:
    """Low is not empty."""
    story = a_story_with_suspended("a")
    told = story.round("1h", {"a": FAIL, "h1": "ok"})
    assert told.all(CapacityLow)
    assert not told.all(CanaryLayerReleased)


def test_release_counts_a_paused_layer_too() -> None:
    """A pause is no reason to stay silent about an empty model."""
    story = a_story_with_suspended("a")
    story.pause("1h")
    assert story.round("2h", {"a": FAIL}).all(CanaryLayerReleased)
