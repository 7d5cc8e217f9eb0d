"""Which routes are suspended, and what stands in the way: covered, hold, floor, share?"""

from __future__ import annotations

from fractions import Fraction

import pytest

from routecanary.domain.event import Suspended, SuspensionBlocked
from routecanary.domain.policy import Policy
from tests.story import HEALTHY, Story, a_report, a_story_with_suspended, moment

FAIL = "structured:fail"


def test_second_counted_failed_round_suspends() -> None:
    """Two failed rounds: one day, first offence, with everything suspected so far."""
    story = Story()
    assert not story.round("0m", {"a": FAIL, **HEALTHY}).all(Suspended)
    told = story.round("30m", {"a": "language:fail", **HEALTHY})
    suspended = told.one(Suspended)
    assert suspended.route == "a"
    assert suspended.contracts == {"structured", "language"}
    assert suspended.until == moment("1d30m")
    assert suspended.offence == 1
    assert (suspended.collateral, suspended.redundant, suspended.shadow) == (frozenset(), False, False)
    assert told.ignore == ("a",)


@pytest.mark.parametrize("needed", [1, 2, 3])
def test_rounds_to_suspend_is_the_policys(needed: int) -> None:
    """Neither a round before nor a round after."""
    story = Story(Policy(rounds_to_suspend=needed))
    rounds = [bool(story.round(f"{30 * k}m", {"a": FAIL, **HEALTHY}).all(Suspended)) for k in range(4)]
    assert rounds == [k + 1 == needed for k in range(4)]


def test_suspended_route_is_not_suspended_again_and_its_contracts_do_not_grow() -> None:
    """Another contract's fail during a suspension is suspected, not added."""
    story = a_story_with_suspended("a")
    assert not story.round("2h", {"a": "language:fail", **HEALTHY}).all(Suspended)
    suspension = story.route("a").suspension
    assert suspension is not None
    assert suspension.contracts == {"structured"}
    assert story.route("a").streak.suspicion == {"structured", "language"}


COVERED = [
    ("built-in", "a", {"builtin": ["a"]}),
    ("runtime", "a", {"runtime": ["a"]}),
    ("swallowed by a built-in route", "a", {"builtin": ["w"]}),
    ("swallowed by a runtime entry", "a", {"runtime": ["p"], "swallows": {"p": ["a"]}}),
    ("control", "c", {}),
]


@pytest.mark.parametrize(("failing", "facts"), [row[1:] for row in COVERED], ids=[row[0] for row in COVERED])
def test_route_that_is_out_already_is_not_suspended(failing: str, facts: dict) -> None:
    """Not suspended and not said to be blocked; its streak is there when the entry goes."""
    others = {"w": a_report(swallows=["a"]), **HEALTHY}
    story = Story()
    reports = {"a": FAIL, "c": a_report(FAIL, control_for=["language"])}
    for at in ("0m", "30m"):
        told = story.round(at, {failing: reports[failing], **others}, **facts)
    assert not told.all(Suspended)
    assert not told.all(SuspensionBlocked)
    gone = story.round("1h", {failing: FAIL, **others}, swallows=facts.get("swallows"))
    assert gone.routes(Suspended) == [failing]


def test_hold_blocks_until_its_time() -> None:
    """A held route is not suspended before `hold_until`; at it, it is."""
    for at, blocked in (("3h59m59s", True), ("4h", False), ("4h1s", False)):
        story = a_story_with_suspended("a")
        story.lift("1h", "a", hold_until="4h")
        story.round("2h", {"a": FAIL, **HEALTHY})
        told = story.round(at, {"a": FAIL, **HEALTHY})
        assert [event.why for event in told.all(SuspensionBlocked)] == (["hold"] if blocked else [])
        assert bool(told.all(Suspended)) is not blocked


def test_floor_blocks_when_too_few_proven_routes_would_be_left() -> None:
    """With two routes in all neither goes; the question comes again at the next failed round."""
    story = Story()
    story.round("0m", {"a": "ok", "b": "ok"})
    story.round("30m", {"a": FAIL, "b": "ok"})
    blocked = story.round("1h", {"a": FAIL, "b": "ok"}).one(SuspensionBlocked)
    assert (blocked.route, blocked.why, blocked.contracts) == ("a", "floor", {"structured"})
    assert story.round("2h", {"a": FAIL, "b": "ok"}).all(SuspensionBlocked)
    assert not story.round("3h", {"a": "none", "b": "ok"}).all(SuspensionBlocked)
    assert story.round("4h", {"a": FAIL, "b": "ok", "c": "ok"}).all(Suspended)


def test_floor_counts_proven_routes_only() -> None:
    """A listed route that never had a clean round is no capacity."""
    routes = {"a": FAIL, "b": "ok", "c": "none", "d": "only latency:inconclusive"}
    story = Story()
    story.round("0m", routes)
    assert story.round("30m", routes).one(SuspensionBlocked).why == "floor"


def test_floor_counts_out_what_would_be_swallowed() -> None:
    """Naming the route takes its swallowed ones along."""
    for below, why in ((["h3"], []), (["h3", "h2"], ["floor"])):
        story = Story(Policy(max_suspended_share=Fraction(1)))
        routes = {"a": a_report(FAIL, swallows=below), "h1": "ok", "h2": "ok", "h3": "ok"}
        story.round("0m", routes)
        told = story.round("30m", routes)
        assert [event.why for event in told.all(SuspensionBlocked)] == why


def test_floor_does_not_hold_what_takes_no_production_route_away() -> None:
    """A route that is not admitted may go at any capacity, and is marked redundant."""
    routes = {"a": a_report(FAIL, admitted=False), "b": "ok"}
    story = Story()
    story.round("0m", routes)
    assert story.round("30m", routes).one(Suspended).redundant


def test_failing_route_that_is_not_suspended_counts_as_capacity() -> None:
    """Two hosts of which one is bad still serve."""
    story = Story(Policy(floor=2, max_suspended_share=Fraction(1)))
    story.round("0m", {"a": "ok", "b": "ok", "c": "ok"})
    story.round("30m", {"a": FAIL, "b": "language:fail", "c": "ok"})
    told = story.round("1h", {"a": FAIL, "b": "language:fail", "c": "ok"})
    assert told.routes(Suspended) == ["a"]
    assert told.routes(SuspensionBlocked) == ["b"]


ORDERS = [
    ("by route id", {"b": FAIL, "a": "language:fail"}, [], ["a", "b"]),
    (
        "more failing contracts first",
        {"a": "language:fail", "b": "structured:fail latency:fail"},
        [],
        ["b", "a"],
    ),
    ("then the longer streak", {"a": "language:fail", "b": FAIL}, ["b"], ["b", "a"]),
    ("contracts before streak", {"a": "language:fail latency:fail", "b": FAIL}, ["b"], ["a", "b"]),
]


@pytest.mark.parametrize(
    ("failing", "longer", "order"), [row[1:] for row in ORDERS], ids=[row[0] for row in ORDERS]
)
def test_order_of_candidates(failing: dict[str, str], longer: list[str], order: list[str]) -> None:
    """With room for one, the worst goes and the next is blocked by the floor."""
    story = Story(Policy(floor=3, max_suspended_share=Fraction(1)))
    story.round("0m", dict.fromkeys("abcd", "ok"))
    if longer:
        story.round("30m", {**dict.fromkeys("abcd", "none"), **{name: failing[name] for name in longer}})
    story.round("1h", {**failing, "c": "ok", "d": "ok"}, runtime=["a", "b"])
    told = story.round("90m", {**failing, "c": "ok", "d": "ok"})
    assert told.routes(Suspended) + told.routes(SuspensionBlocked) == order
    assert told.routes(Suspended) == order[:1]


SHARES = [
    ("below the share", 5, 1, True),
    ("reaches the share", 4, 1, True),
    ("past the share", 3, 1, False),
    ("past the share by one route in five", 5, 2, False),
]


@pytest.mark.parametrize(
    ("routes", "already", "allowed"), [row[1:] for row in SHARES], ids=[row[0] for row in SHARES]
)
def test_share_of_suspended_routes(routes: int, already: int, allowed: bool) -> None:
    """At most half of the routes may be out at once, the new one included."""
    names = [f"r{number}" for number in range(routes)]
    story = Story(Policy(floor=1))
    for number in range(already + 1):
        for half in (0, 30):
            out = names[: number + 1]
            told = story.round(
                f"{number}h{half}m",
                {name: FAIL if name in out else "ok" for name in names},
            )
    assert bool(told.all(Suspended)) is allowed
    assert [event.why for event in told.all(SuspensionBlocked)] == ([] if allowed else ["share"])


def test_share_is_exact() -> None:
    """29 of 100 routes are at a share of 0.29, not beyond it."""
    names = [f"r{number:02}" for number in range(100)]
    story = Story(Policy(max_suspended_share=Fraction("0.29")))
    for at in ("0m", "30m"):
        told = story.round(at, {name: FAIL if name < "r30" else "ok" for name in names})
    assert len(told.all(Suspended)) == 29
    assert [(event.route, event.why) for event in told.all(SuspensionBlocked)] == [("r29", "share")]


def test_share_leaves_out_covered_routes_and_controls() -> None:
    """Three routes and a built-in, a swallowed and a control route beside them: two are past a half."""
    routes = {"a": FAIL, "b": "ok", "c": "ok", "x": a_report(swallows=["y"]), "y": "ok",
              "z": a_report(control_for=["latency"])}  # fmt: skip
    story = Story(Policy(floor=1))
    for at in ("0m", "30m"):
        story.round(at, routes, builtin=["x"])
    for at in ("1h", "90m"):
        told = story.round(at, {**routes, "b": FAIL}, builtin=["x"])
    assert told.one(SuspensionBlocked).why == "share"


def test_share_counts_swallowed_routes() -> None:
    """Two of three routes would be out with one suspension."""
    routes = {"a": a_report(FAIL, swallows=["b"]), "b": "ok", "c": "ok"}
    story = Story(Policy(floor=1))
    story.round("0m", routes)
    assert story.round("30m", routes).one(SuspensionBlocked).why == "share"


def test_share_does_not_hold_what_adds_nothing_to_it() -> None:
    """A route that another suspension swallows already may be suspended beyond the share."""
    routes = {"a": a_report(FAIL, swallows=["b"]), "b": "ok", "c": "ok", "d": "ok"}
    story = Story(Policy(floor=1))
    for at in ("0m", "30m"):
        story.round(at, routes)
    assert story.suspended == ["a"]
    for at in ("1h", "90m"):
        told = story.round(at, {"a": a_report(FAIL, swallows=["b"]), "b": FAIL, "c": "ok"})
    suspended = told.one(Suspended)
    assert (suspended.route, suspended.redundant) == ("b", True)


def test_hold_is_asked_before_floor_and_floor_before_share() -> None:
    """The reason given is the first that stands in the way."""
    story = a_story_with_suspended("a", policy=Policy(max_suspended_share=Fraction(1, 5)))
    story.lift("1h", "a", hold_until="10h")
    for at in ("2h", "3h"):
        told = story.round(at, {"a": FAIL, "h1": "ok"})
    assert told.one(SuspensionBlocked).why == "hold"
    for at in ("10h", "11h"):
        told = story.round(at, {"a": FAIL, "h1": "ok"})
    assert told.one(SuspensionBlocked).why == "floor"


def test_collateral_names_the_production_routes_lost_with_it() -> None:
    """Sorted, without the route itself and without what is out for another reason."""
    routes = {"a": a_report(FAIL, swallows=["a", "x", "h4", "h3", "gone"]), "x": "ok", **HEALTHY}
    story = Story(Policy(max_suspended_share=Fraction(1)))
    for at in ("0m", "30m"):
        told = story.round(at, routes, runtime=["x"])
    assert told.one(Suspended).collateral == {"h3", "h4"}
    assert not told.one(Suspended).redundant


def test_shadow_in_observe() -> None:
    """The same machine, marked as a shadow and not merged."""
    story = Story()
    story.mode("0m", "observe")
    for at in ("0m", "30m"):
        told = story.round(at, {"a": FAIL, **HEALTHY})
    assert told.one(Suspended).shadow
    assert told.ignore == ()
