"""Was a round good or bad for a route, or does it say nothing?"""

from __future__ import annotations

import pytest

from routecanary.decide.classify import classify
from routecanary.domain.names import ContractName
from routecanary.domain.round import RoundClass
from tests.story import Story, a_report, verdicts

CLASSES = [
    ("one fail", "structured:fail", "", RoundClass.FAILED),
    ("a fail beside a transport error", "structured:fail latency:transport", "", RoundClass.FAILED),
    ("a fail beside an account error", "structured:fail latency:account", "", RoundClass.FAILED),
    ("all pass", "ok", "", RoundClass.CLEAN),
    ("one pass is enough", "only latency:pass", "", RoundClass.CLEAN),
    ("inconclusive beside a pass", "language:inconclusive", "", RoundClass.CLEAN),
    ("skipped beside a pass", "structured:skipped", "", RoundClass.CLEAN),
    ("transport beside passes", "language:transport", "", RoundClass.FROZEN),
    ("account beside passes", "language:account", "", RoundClass.FROZEN),
    ("no pass at all", "only language:inconclusive", "", RoundClass.FROZEN),
    ("nothing but skipped", "skipped", "", RoundClass.FROZEN),
    ("no verdicts", "none", "", RoundClass.FROZEN),
    ("the suspect passes", "ok", "structured", RoundClass.CLEAN),
    ("the suspect is unsure", "structured:inconclusive", "structured", RoundClass.FROZEN),
    ("the suspect is skipped", "structured:skipped", "structured", RoundClass.FROZEN),
    ("the suspect is not asked", "only latency:pass", "structured", RoundClass.FROZEN),
    ("one of two suspects is unsure", "language:inconclusive", "language structured", RoundClass.FROZEN),
    ("both suspects pass", "ok", "language structured", RoundClass.CLEAN),
]


@pytest.mark.parametrize(
    ("said", "suspects", "expected"), [row[1:] for row in CLASSES], ids=[row[0] for row in CLASSES]
)
def test_class_of_a_round(said: str, suspects: str, expected: RoundClass) -> None:
    """Any fail is failed; clean needs a pass, a whole answer and every suspect heard; else frozen."""
    assert classify(verdicts(said), frozenset(map(ContractName, suspects.split()))) is expected


def test_control_is_not_classified_for_its_contract() -> None:
    """What a control fails as it should does not class it; the rest of its verdicts do."""
    story = Story()
    told = story.round(
        "0m",
        {
            "c": a_report("filtering:fail", control_for=["filtering"]),
            "d": a_report("only filtering:fail", control_for=["filtering"]),
            "e": a_report("filtering:transport", control_for=["filtering"]),
            "f": a_report("filtering:fail language:fail", control_for=["filtering"]),
            "h": "ok",
        },
    )
    classes = {name: told.outcome(name).round_class for name in "cdef"}
    assert classes == {
        "c": RoundClass.CLEAN,
        "d": RoundClass.FROZEN,
        "e": RoundClass.CLEAN,
        "f": RoundClass.FAILED,
    }
    assert story.route("f").streak.suspicion == {"language"}


def test_suspect_that_the_route_is_now_control_for_has_not_passed() -> None:
    """A route made control for the contract it is suspected of is frozen by a round without fails."""
    story = Story()
    story.round("0m", {"a": "structured:fail", "h": "ok"})
    told = story.round("30m", {"a": a_report("ok", control_for=["structured"]), "h": "ok"})
    assert told.outcome("a").round_class is RoundClass.FROZEN
    assert story.route("a").streak.failed == 1


def test_contract_of_the_suspension_stays_a_suspect_when_its_streak_has_aged() -> None:
    """A suspended route is cleared only by a pass of what it is suspended for."""
    story = Story()
    for at in ("0m", "30m"):
        story.round(at, {"a": "structured:fail", "h1": "ok", "h2": "ok", "h3": "ok"})
    assert story.suspended == ["a"]
    later = story.round("10h", {"a": "structured:skipped", "h1": "ok", "h2": "ok", "h3": "ok"})
    assert story.route("a").streak.suspicion == frozenset()
    assert later.outcome("a").round_class is RoundClass.FROZEN
