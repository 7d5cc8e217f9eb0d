"""Do all attempts of a route, added up, speak of a fault?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from routecanary.decide.evolve import fold
from routecanary.domain.event import Reinstated, Renewed, Suspended, SuspensionBlocked, Why
from routecanary.domain.names import ContractName, RouteId
from routecanary.domain.policy import Policy, Trigger
from routecanary.domain.round import RouteReport
from routecanary.domain.verdict import VerdictKind
from tests.story import HEALTHY, MODEL, Story, Told, a_report

LANGUAGE = ContractName("language")
EVIDENCE = Policy(trigger=Trigger.EVIDENCE, p0_prior=(1e6, 99e6), p0_min=0.01)
"""The peers' rate is held at 1 %: a fail multiplies M by 20, a pass by 0.81."""


def tried(*attempts: int, contract: str = "language", locale: str | None = None) -> RouteReport:
    """A route's round by its attempts at one contract; the verdict is the majority's."""
    fails = sum(attempts) * 2 > len(attempts)
    told = a_report(f"{contract}:fail" if fails else "ok", locale=locale)
    return replace(told, attempts={ContractName(contract): tuple(one == 1 for one in attempts)})


def rounds(
    story: Story, attempts: Sequence[Sequence[int]], *, begin: int = 0, others: Mapping[str, str] = HEALTHY
) -> list[Told]:
    """Tell one round every half hour."""
    return [
        story.round(f"{30 * (begin + k)}m", {**others, "a": tried(*one)}) for k, one in enumerate(attempts)
    ]


def counted(story: Story, route: str, contract: str = "language") -> tuple[int, int]:
    """The attempts and fails of a contract that are remembered of a route."""
    days = story.route(route).days
    name = ContractName(contract)
    return (days[-1].attempts.get(name, 0), days[-1].fails.get(name, 0)) if days else (0, 0)


def test_fails_that_never_come_in_a_row_add_up() -> None:
    """One fail in three attempts, again and again: no streak, and yet a suspension by evidence."""
    told = rounds(Story(EVIDENCE), [[1, 0, 0], [0]] * 10)
    assert not any(one.all(Suspended) for one in rounds(Story(), [[1, 0, 0], [0]] * 10))
    suspended = next(event for one in told for event in one.all(Suspended))
    assert suspended.contracts == {"language"}
    earned = suspended.evidence[LANGUAGE]
    assert (earned.attempts, earned.fails) == (17, 5)
    assert (earned.p0, earned.p1) == (pytest.approx(0.01, abs=0.0006), 0.2)
    assert earned.log_m >= earned.log_threshold
    assert earned.exact


def test_persistent_fault_is_suspended_in_the_second_round() -> None:
    """Six fails in two rounds are enough; the three of one round never are, whatever the budget."""
    told = rounds(Story(EVIDENCE), [[1, 1, 1], [1, 1, 1]])
    assert [bool(one.all(Suspended)) for one in told] == [False, True]
    generous = replace(EVIDENCE, false_suspensions_per_year=1000.0)
    told = rounds(Story(generous), [[1, 1, 1, 1, 1, 1], [0], [0]])
    assert not any(one.all(Suspended) for one in told)


def test_no_budget_does_without_a_second_round() -> None:
    """One round a month and a thousand false suspensions a year: any ratio will do, one round will not."""
    lavish = replace(EVIDENCE, false_suspensions_per_year=1000.0, round_period=timedelta(days=30))
    told = rounds(Story(lavish), [[1, 1, 1], [0], [1, 0, 0]])
    assert [bool(one.all(Suspended)) for one in told] == [False, False, True]


def test_one_bad_attempt_in_two_rounds_is_not_enough() -> None:
    """What a sound route does once in a while suspends nobody."""
    assert not any(one.all(Suspended) for one in rounds(Story(EVIDENCE), [[1, 0, 0], [1, 0, 0], [0], [0]]))


def test_passes_take_the_ratio_back_to_one() -> None:
    """Then the fails before them are no longer of the two rounds that are needed."""
    story = Story(EVIDENCE)
    rounds(story, [[1, 0, 0], *[[0]] * 20])
    assert LANGUAGE not in story.route("a").evidence
    assert counted(story, "a") == (23, 1)
    rounds(story, [[1, 0, 0]], begin=21)
    evidence = story.route("a").evidence[LANGUAGE]
    assert (evidence.rounds, evidence.attempts, evidence.fails) == (1, 3, 1)


def test_the_ratio_begins_anew_within_a_round_too() -> None:
    """Passes that take it below 1 leave it at 1, and what was counted before them counts no more."""
    story = Story(EVIDENCE)
    rounds(story, [[1, 0, 0], [*[0] * 20, 1]])
    evidence = story.route("a").evidence[LANGUAGE]
    assert evidence.log_m == pytest.approx(math.log(20), rel=0.02)
    assert (evidence.rounds, evidence.attempts, evidence.fails) == (1, 1, 1)


def test_a_fail_and_a_pass_move_the_ratio_by_their_odds() -> None:
    """ln(p1/p0) up, ln((1-p0)/(1-p1)) down, never below 0."""
    story = Story(replace(EVIDENCE, p0_min=0.05, p0_prior=(1.0, 99.0)))
    rounds(story, [[0, 0], [1, 0, 0]])
    assert story.route("a").evidence[LANGUAGE].log_m == pytest.approx(
        math.log(0.2 / 0.05) - 2 * math.log(0.95 / 0.8)
    )


def test_absent_attempts_mean_one_for_each_verdict() -> None:
    """Two fails of one attempt each weigh as stated ones do."""
    by_verdict, stated = Story(EVIDENCE), Story(EVIDENCE)
    for k in range(2):
        by_verdict.round(f"{30 * k}m", {**HEALTHY, "a": "language:fail"})
        stated.round(f"{30 * k}m", {**HEALTHY, "a": tried(1)})
    assert by_verdict.route("a").evidence[LANGUAGE].log_m == stated.route("a").evidence[LANGUAGE].log_m > 5


def test_streak_asks_only_where_it_is_a_trigger() -> None:
    """Two failed rounds of one attempt: the streak's suspension, not the evidence's."""
    faults = [[1], [1]]
    assert not any(one.all(Suspended) for one in rounds(Story(EVIDENCE), faults))
    told = rounds(Story(replace(EVIDENCE, trigger=Trigger.BOTH)), faults)
    suspended = told[-1].one(Suspended)
    assert (suspended.contracts, suspended.evidence) == ({"language"}, {})


def test_peers_that_fail_as_often_excuse() -> None:
    """When every host fails one attempt in four, a host that does so is no worse than its peers."""
    policy = replace(EVIDENCE, p0_min=0.005, p0_prior=(1.0, 99.0))
    story = Story(policy)
    names = ["a", "b", "c", "d", "e", "f"]
    for k in range(60):
        told = story.round(f"{30 * k}m", {name: tried(int((k + i) % 4 == 0)) for i, name in enumerate(names)})
        if k > 20:
            assert not told.all(Suspended), k
    assert not story.suspended


def test_known_offenders_do_not_excuse() -> None:
    """A route suspended for the contract is no peer: p0 stays that of the sound ones."""
    policy = replace(EVIDENCE, p0_min=0.005, p0_prior=(1.0, 99.0))
    story = Story(policy)
    bad = {"b": tried(1, 1, 1), "c": tried(1, 1, 1)}
    for k in range(8):
        story.round(f"{30 * k}m", {**HEALTHY, "h5": "ok", "h6": "ok", **bad, "a": tried(0)})
    assert set(story.suspended) == {"b", "c"}
    for k in range(8, 10):
        told = story.round(f"{30 * k}m", {**HEALTHY, "h5": "ok", "h6": "ok", **bad, "a": tried(1, 1, 1)})
    assert told.one(Suspended).evidence[LANGUAGE].p0 < 0.02


SILENT = [
    ("common cause", {**{f"h{k}": "language:fail" for k in range(1, 5)}}, {}),
    ("control for the contract", HEALTHY, {"control_for": frozenset({LANGUAGE})}),
]


@pytest.mark.parametrize(("others", "facts"), [row[1:] for row in SILENT], ids=[row[0] for row in SILENT])
def test_attempts_that_a_brake_set_aside_do_not_count(others: dict, facts: dict) -> None:
    """Neither fails nor passes of that contract in that round."""
    story = Story(EVIDENCE)
    for k in range(4):
        story.round(f"{30 * k}m", {**others, "a": replace(tried(1, 1, 1), **facts)})
    assert counted(story, "a") == (0, 0)
    assert not story.suspended


def test_filtering_attempts_count_only_where_somebody_continues_the_scene() -> None:
    """Host or weights: with no pass in the round, nothing of filtering is evidence."""
    refused = tried(1, 1, 1, contract="filtering")
    story = Story(EVIDENCE)
    for k in range(3):
        story.round(
            f"{30 * k}m", {"h1": "filtering:inconclusive", "h2": "filtering:inconclusive", "a": refused}
        )
    assert counted(story, "a", "filtering") == (0, 0)
    assert counted(story, "a", "structured") == (3, 0)


def test_round_too_soon_or_touched_by_an_act_does_not_count() -> None:
    """Two rounds started by hand are not two rounds."""
    story = Story(EVIDENCE)
    story.round("0m", {**HEALTHY, "a": tried(1, 1, 1)})
    before = story.route("a").evidence[LANGUAGE]
    story.round("19m", {**HEALTHY, "a": tried(1, 1, 1)})
    story.round("40m", {**HEALTHY, "a": tried(1, 1, 1)}, acted=["a"])
    assert story.route("a").evidence[LANGUAGE].log_m == before.log_m
    assert story.round("50m", {**HEALTHY, "a": tried(1, 1, 1)}).all(Suspended)


def test_frozen_round_counts() -> None:
    """A pass beside a transport error is a pass: leaving it out would keep only the fails."""
    story = Story(EVIDENCE)
    story.round("0m", {**HEALTHY, "a": tried(1, 0, 0)})
    before = story.route("a").evidence[LANGUAGE].log_m
    story.round("30m", {**HEALTHY, "a": "structured:transport"})
    assert story.route("a").evidence[LANGUAGE].log_m < before


def test_weak_probe_lowers_m_and_does_nothing_for_r() -> None:
    """A pass that a control puts in doubt accuses nobody and clears nobody."""
    control = {"c": a_report("ok", control_for=["language"])}
    story = Story(EVIDENCE)
    rounds(story, [[1, 1, 1], [1, 1, 1]])
    assert story.suspended == ["a"]
    rounds(story, [[0]] * 4, begin=2, others={**HEALTHY, **control})  # type: ignore[dict-item]
    suspension = story.route("a").suspension
    assert suspension is not None
    assert suspension.log_r[LANGUAGE] == 0.0


def test_two_clean_rounds_do_not_clear_what_evidence_suspended() -> None:
    """R must reach 20 too: at one pass of 0.99/0.8 a round that takes fifteen rounds."""
    story = Story(EVIDENCE)
    rounds(story, [[1, 1, 1], [1, 1, 1]])
    told = rounds(story, [[0]] * 20, begin=2)
    first = next(k for k, one in enumerate(told, start=1) if one.all(Reinstated))
    assert first == math.ceil(math.log(20) / math.log(0.99 / 0.8))
    assert LANGUAGE not in story.route("a").evidence


def test_a_fail_during_the_suspension_throws_the_reverse_ratio_back() -> None:
    """One fail outweighs a dozen passes."""
    story = Story(EVIDENCE)
    rounds(story, [[1, 1, 1], [1, 1, 1]])
    rounds(story, [[0]] * 10, begin=2)
    suspension = story.route("a").suspension
    assert suspension is not None
    assert suspension.log_r[LANGUAGE] > 2
    rounds(story, [[1, 0, 0]], begin=12)
    suspension = story.route("a").suspension
    assert suspension is not None
    assert suspension.log_r[LANGUAGE] < 0.5


def test_blocked_by_the_floor_it_asks_again_at_the_next_fail() -> None:
    """M stands; a round that only passes does not ask."""
    story = Story(EVIDENCE)
    company = {"h1": "ok"}
    told = rounds(story, [[1, 1, 1], [1, 1, 1], [0], [1, 0, 0]], others=company)
    assert [one.why for t in told for one in t.all(SuspensionBlocked)] == [Why.FLOOR, Why.FLOOR]
    assert told[1].one(SuspensionBlocked).evidence[LANGUAGE].fails == 6
    assert not told[2].all(SuspensionBlocked)


@pytest.mark.parametrize("end", ["lift", "mode"])
def test_every_end_and_a_mode_switch_begin_at_one(end: str) -> None:
    """The attempts that p0 is estimated from stay."""
    story = Story(EVIDENCE)
    rounds(story, [[1, 1, 1], [1, 1, 1], [1, 1, 1]])
    assert story.route("a").evidence[LANGUAGE].log_m > 8
    story.lift("2h", "a") if end == "lift" else story.mode("2h", "observe")
    assert LANGUAGE not in story.route("a").evidence
    assert counted(story, "a") == (9, 9)


def test_new_version_of_a_judge_forgets_its_evidence() -> None:
    """Also the attempts: the new one's rate on sound routes is not known."""
    story = Story(EVIDENCE)
    rounds(story, [[1, 0, 0]])
    story.requalify("10m", "language")
    assert LANGUAGE not in story.route("a").evidence
    assert counted(story, "a") == counted(story, "h1") == (0, 0)
    assert counted(story, "h1", "latency") == (1, 0)


def test_still_failing_at_its_end_is_renewed_by_the_streak_alone() -> None:
    """The renewal is earned by the streak: its early end asks for no reverse ratio."""
    story = Story(EVIDENCE)
    rounds(story, [[1, 1, 1]] * 49)
    told = rounds(story, [[1, 1, 1]], begin=49)
    assert told[0].one(Renewed).offence == 2
    suspension = story.route("a").suspension
    assert suspension is not None
    assert suspension.evidence == {}


def failing_beside(failing: int, others: int) -> float:
    """What one fail of `a` weighs while so many of so many others fail one attempt of the same round."""
    policy = replace(EVIDENCE, p0_min=0.005, p0_prior=(1.0, 199.0))
    story = Story(policy)
    bad = {f"b{i}": tried(1, 0, 0) for i in range(failing)}
    good = {f"g{i}": tried(0) for i in range(others - failing)}
    story.round("0m", {**good, **bad, "a": tried(1)})
    return story.route("a").evidence[LANGUAGE].log_m


RATES_NOW = [
    ("one of twelve may be chance", 1, 12, 0.2 / 0.005),
    ("two of twelve are not", 2, 12, 3.5),
    ("a third fails", 4, 12, 2 / 3 / (1 / 3 + 0.0002)),
    ("one of four", 1, 4, 0.625 / 0.25),
    ("three others are too few to tell", 1, 3, 0.2 / 0.005),
]


@pytest.mark.parametrize(
    ("failing", "others", "odds"), [row[1:] for row in RATES_NOW], ids=[row[0] for row in RATES_NOW]
)
def test_others_that_fail_in_the_same_round_excuse(failing: int, others: int, odds: float) -> None:
    """More of them than the week's rate explains: a fail is weighed by this round's rate."""
    assert failing_beside(failing, others) == pytest.approx(math.log(odds), rel=0.003)


def test_a_judge_that_goes_wrong_suspends_nobody() -> None:
    """A third of all first attempts fails, and of the confirmations, of every route, for a day."""
    story = Story(replace(EVIDENCE, p0_min=0.005, p0_prior=(1.0, 99.0)))
    rng, names = Random(3), [f"r{i}" for i in range(30)]

    def told(rate: float) -> RouteReport:
        if rng.random() >= rate:
            return tried(0)
        return tried(1, int(rng.random() < rate), int(rng.random() < rate))

    for k in range(96):
        story.round(f"{30 * k}m", {name: told(0.01 if k < 48 else 0.33) for name in names})
        assert not story.suspended, k


def test_p0_looks_back_so_far_and_no_further() -> None:
    """Attempts of a week ago no longer count."""
    policy = replace(EVIDENCE, p0_min=0.005, p0_prior=(1.0, 99.0), p0_window=timedelta(days=7))
    story = Story(policy)
    for k in range(20):
        story.round(f"{30 * k}m", {**{f"h{i}": tried(1, 0) for i in range(1, 3)}, "h3": "ok", "a": tried(0)})
    story.round("9d", {**HEALTHY, "a": tried(1)})
    story.round("9d30m", {**HEALTHY, "a": tried(1)})
    gain = story.route("a").evidence[LANGUAGE].log_m / 2
    assert gain == pytest.approx(math.log(0.2 / 0.01), rel=0.02)


def test_p0_of_a_long_life_is_that_of_the_window() -> None:
    """Fails of two months ago are gone, and no more days are kept than a window can have."""
    policy = replace(EVIDENCE, p0_min=0.005, p0_prior=(1.0, 99.0), p0_window=timedelta(days=30))
    story = Story(policy)
    for k in range(70):
        bad = tried(1, 0) if k < 35 else tried(0, 0)
        story.round(f"{k}d", {**{f"h{i}": bad for i in range(1, 3)}, "h3": "ok", "a": tried(0)})
    assert len(story.route("h1").days) == 32
    story.round("70d", {**HEALTHY, "a": tried(1)})
    assert story.route("a").evidence[LANGUAGE].log_m == pytest.approx(math.log(0.2 / 0.005))


def test_locales_in_which_it_failed_are_remembered() -> None:
    """A suspension for language names the locales of its evidence."""
    story = Story(EVIDENCE)
    for k, locale in enumerate(["th", "pt-BR"]):
        told = story.round(f"{30 * k}m", {**HEALTHY, "a": tried(1, 1, 1, locale=locale)}, locale="en")
    assert told.one(Suspended).locales == {"th", "pt-BR"}
    suspension = story.route("a").suspension
    assert suspension is not None
    assert suspension.locales == {"th", "pt-BR"}


def test_log_folded_is_the_state_with_evidence_too() -> None:
    """What is weighed is in the events."""
    story = Story(replace(EVIDENCE, trigger=Trigger.BOTH))
    rounds(story, [[1, 0, 0], [0], [1, 1, 0], [1, 1, 1], [0], [0], [0]])
    assert fold(MODEL, story.log) == story.state


def test_order_of_routes_changes_nothing() -> None:
    """The same round told backwards gives the same events."""
    forward, backward = Story(EVIDENCE), Story(EVIDENCE)
    for k in range(6):
        told = {**HEALTHY, "a": tried(1, 1, 0), "b": tried(int(k % 2 == 0), 0, 0)}
        forward.round(f"{30 * k}m", told)
        backward.round(f"{30 * k}m", dict(reversed(told.items())))
    assert forward.log == backward.log


def test_nothing_is_weighed_without_the_trigger() -> None:
    """Events of the streak alone are what they were."""
    story = Story()
    told = story.round("0m", {**HEALTHY, "a": tried(1, 1, 1)})
    assert told.outcome("a").evidence == {}
    assert story.state.routes[RouteId("a")].evidence == {}
    assert VerdictKind.FAIL in told.outcome("a").verdicts.values()
