"""Which verdicts of a round may be believed?"""

from __future__ import annotations

from fractions import Fraction

import pytest

from routecanary.domain.event import CommonCause, GatewayOutage, ProbeRecovered, ProbeWeak
from routecanary.domain.policy import Policy
from routecanary.domain.round import RoundClass
from tests.story import HEALTHY, Story, a_report, a_story_with_suspended

FAIL = "structured:fail"


def a_control(said: str, contract: str = "filtering"):
    return a_report(f"only {contract}:{said}" if said != "none" else "none", control_for=[contract])


def test_passing_control_makes_every_pass_of_its_contract_inconclusive() -> None:
    """A weak probe clears nobody: the suspect's round is frozen, other contracts still count."""
    story = Story()
    story.round("0m", {"a": "filtering:fail", "h1": "ok", "h2": "ok", "c": a_control("fail")})
    told = story.round("30m", {"a": "ok", "h1": "ok", "h2": "ok", "c": a_control("pass")})
    assert told.one(ProbeWeak).contract == "filtering"
    assert told.outcome("a").round_class is RoundClass.FROZEN
    assert told.outcome("h1").round_class is RoundClass.CLEAN


def test_fail_stands_under_a_weak_probe() -> None:
    """Only passes are doubted when a control passes."""
    story = Story()
    told = story.round(
        "0m", {"a": "language:fail", "h1": "ok", "h2": "none", "c": a_control("pass", "language")}
    )
    assert told.all(ProbeWeak)
    assert told.outcome("a").failing == {"language"}


CONTROLS = [
    ("fails as it should", ["fail"], [], []),
    ("passes", ["pass"], [ProbeWeak], []),
    ("weak is said once", ["pass", "pass"], [ProbeWeak], []),
    ("recovers", ["pass", "fail"], [ProbeWeak], [ProbeRecovered]),
    ("recovery is said once", ["pass", "fail", "fail"], [ProbeWeak], [ProbeRecovered]),
    (
        "silence does not recover",
        ["pass", "transport", "inconclusive", "account", "skipped", "none"],
        [ProbeWeak],
        [],
    ),
    ("silence does not weaken", ["fail", "transport", "none"], [], []),
    ("weak again after recovery", ["pass", "fail", "pass"], [ProbeWeak, ProbeWeak], [ProbeRecovered]),
]


@pytest.mark.parametrize(
    ("said", "weak", "recovered"), [row[1:] for row in CONTROLS], ids=[row[0] for row in CONTROLS]
)
def test_probe_is_weak_and_recovers_on_change_only(
    said: list[str], weak: list[type], recovered: list[type]
) -> None:
    """A pass of a control makes the probe weak, its fail makes it well, anything else changes nothing."""
    story = Story()
    for number, word in enumerate(said):
        story.round(f"{30 * number}m", {"h1": "ok", "h2": "ok", "c": a_control(word)})
    assert [type(event) for event in story.log if isinstance(event, ProbeWeak)] == weak
    assert [type(event) for event in story.log if isinstance(event, ProbeRecovered)] == recovered


def test_one_passing_control_of_several_makes_the_probe_weak() -> None:
    """It recovers when none of the controls passes and one fails."""
    story = Story()
    told = story.round("0m", {"h1": "ok", "c": a_control("fail"), "d": a_control("pass")})
    assert told.all(ProbeWeak)
    told = story.round("30m", {"h1": "ok", "c": a_control("fail"), "d": a_control("pass")})
    assert not told.all(ProbeRecovered)
    told = story.round("1h", {"h1": "ok", "c": a_control("fail"), "d": a_control("transport")})
    assert told.all(ProbeRecovered)


def test_only_rounds_in_which_a_control_passes_doubt_passes() -> None:
    """While a probe is known to be weak, a round with silent controls still clears routes."""
    story = Story()
    story.round("0m", {"h1": "ok", "c": a_control("pass")})
    told = story.round("30m", {"h1": "only filtering:pass", "c": a_control("transport")})
    assert told.outcome("h1").round_class is RoundClass.CLEAN
    assert story.state.weak == {"filtering"}


HOST_OR_WEIGHTS = [
    ("another route passes", {"b": "ok"}, True),
    ("nobody else was asked", {}, False),
    ("the others say nothing", {"b": "filtering:inconclusive", "d": "filtering:transport"}, False),
    ("only a control passes", {"b": "filtering:skipped", "c": a_control("pass")}, False),
    ("a control of another contract passes", {"b": a_report("ok", control_for=["language"])}, True),
    ("the pass is doubted for a weak probe", {"b": "ok", "c": a_control("pass")}, True),
]


@pytest.mark.parametrize(
    ("others", "stands"), [row[1:] for row in HOST_OR_WEIGHTS], ids=[row[0] for row in HOST_OR_WEIGHTS]
)
def test_filtering_fail_needs_another_route_that_continues_the_scene(others: dict, stands: bool) -> None:
    """When nobody else passes, the model or the prompt refuses, not the host."""
    told = Story().round("0m", {"a": "filtering:fail", **others})
    assert (told.outcome("a").round_class is RoundClass.FAILED) is stands


def test_other_contracts_need_no_witness() -> None:
    """Host or weights is asked of filtering only."""
    told = Story().round("0m", {"a": "language:fail"})
    assert told.outcome("a").round_class is RoundClass.FAILED


def cause(failing: int, passing: int, silent: int = 0) -> dict[str, str]:
    names = iter("abcdefgh")
    return {
        **{next(names): FAIL for _ in range(failing)},
        **{next(names): "ok" for _ in range(passing)},
        **{next(names): "structured:inconclusive" for _ in range(silent)},
    }


COMMON = [
    ("one alone fails", cause(1, 0), False),
    ("one alone fails beside silent ones", cause(1, 0, 5), False),
    ("both of two fail", cause(2, 0), True),
    ("both of two fail beside silent ones", cause(2, 0, 4), True),
    ("one of two fails", cause(1, 1), False),
    ("two of three fail", cause(2, 1), False),
    ("all of three fail", cause(3, 0), True),
    ("half of four fail", cause(2, 2), False),
    ("three of four fail", cause(3, 1), True),
    ("three of five fail", cause(3, 2), True),
    ("half of six fail", cause(3, 3), False),
    ("silent routes do not make up four", cause(2, 1, 1), False),
]


@pytest.mark.parametrize(("routes", "common"), [row[1:] for row in COMMON], ids=[row[0] for row in COMMON])
def test_fails_together_have_a_common_cause(routes: dict[str, str], common: bool) -> None:
    """More than half of at least four, or all of at least two, fail for a reason that is no route's."""
    told = Story().round("0m", routes)
    assert bool(told.all(CommonCause)) is common
    classes = {told.outcome(name).round_class for name, said in routes.items() if said == FAIL}
    assert classes == {RoundClass.CLEAN if common else RoundClass.FAILED}


def test_common_cause_is_found_contract_by_contract() -> None:
    """One event a contract, and only that contract's fails are set aside."""
    told = Story().round(
        "0m",
        {"a": "structured:fail latency:fail", "b": "structured:fail", "d": "structured:fail", "e": "ok"},
    )
    assert [event.contract for event in told.all(CommonCause)] == ["structured"]
    assert told.outcome("a").failing == {"latency"}


UNCOUNTED = [
    ("a control for the contract", {"x": a_report(FAIL, control_for=["structured"])}, {}),
    ("a built-in route", {"x": FAIL}, {"builtin": ["x"]}),
    ("a route that a built-in entry swallows", {"x": FAIL}, {"builtin": ["p"], "swallows": {"p": ["x"]}}),
]


@pytest.mark.parametrize(
    ("extra", "facts"), [row[1:] for row in UNCOUNTED], ids=[row[0] for row in UNCOUNTED]
)
def test_known_offenders_do_not_count_for_a_common_cause(extra: dict, facts: dict) -> None:
    """Beside one failing route they make no two that fail together, and their own fails stand."""
    told = Story().round("0m", {"a": FAIL, **extra}, **facts)
    assert not told.all(CommonCause)
    assert told.outcome("a").failing == {"structured"}


def test_runtime_route_counts_for_a_common_cause() -> None:
    """A person's exclusion says nothing of the probe: the route counts like any other."""
    told = Story().round("0m", {"a": FAIL, "x": FAIL}, runtime=["x"])
    assert told.one(CommonCause).routes == {"a", "x"}


def test_route_suspended_for_the_contract_does_not_count_and_its_fail_stands() -> None:
    """Known offenders do not excuse others, and a common cause does not excuse them."""
    story = a_story_with_suspended("a")
    told = story.round("2h", {**dict.fromkeys(HEALTHY, "none"), "a": FAIL, "h1": FAIL})
    assert not told.all(CommonCause)
    told = story.round("3h", {**dict.fromkeys(HEALTHY, FAIL), "a": FAIL})
    assert told.one(CommonCause).routes == set(HEALTHY)
    assert told.outcome("a").failing == {"structured"}


def test_route_suspended_for_another_contract_counts() -> None:
    """A suspension for language does not put a route out of the count for latency."""
    story = a_story_with_suspended("a", fault="language:fail")
    told = story.round(
        "2h", {**dict.fromkeys(HEALTHY, "none"), "a": "only latency:fail", "h1": "only latency:fail"}
    )
    assert told.one(CommonCause).routes == {"a", "h1"}


def test_suspension_that_ends_in_this_line_still_keeps_its_route_out_of_the_count() -> None:
    """In force before the expiries of the line is what counts."""
    story = a_story_with_suspended("a")
    told = story.round("1d30m", {**dict.fromkeys(HEALTHY, "none"), "a": FAIL, "h1": FAIL})
    assert story.suspended == []
    assert not told.all(CommonCause)


def test_share_and_least_number_are_the_policys() -> None:
    """With 3 routes and a third as the limit, two of three failing is common, one of three is not."""
    policy = Policy(common_cause_min_routes=3, common_cause_share=Fraction(1, 3))
    assert Story(policy).round("0m", cause(2, 1)).all(CommonCause)
    assert not Story(policy).round("0m", cause(1, 2)).all(CommonCause)


OUTAGES = [
    ("all transport", {"a": "transport", "b": "transport"}, True),
    ("transport and account", {"a": "transport", "b": "account"}, True),
    ("skipped aside", {"a": "only latency:transport language:skipped", "b": "skipped"}, True),
    ("one pass", {"a": "transport", "b": "only latency:pass"}, False),
    ("one unsure", {"a": "transport", "b": "only latency:inconclusive"}, False),
    ("only skipped", {"a": "skipped"}, False),
    ("no verdicts", {"a": "none"}, False),
    ("no routes", {}, False),
]


@pytest.mark.parametrize(("routes", "outage"), [row[1:] for row in OUTAGES], ids=[row[0] for row in OUTAGES])
def test_outage_is_nothing_but_transport_and_account(routes: dict[str, str], outage: bool) -> None:
    """The gateway, not the routes, is at fault when no answer came from anyone."""
    story = Story()
    assert bool(story.round("0m", routes).all(GatewayOutage)) is outage
    assert bool(story.round("30m", routes).all(GatewayOutage)) is outage
