"""The policy's eight invariants, over random rounds and acts (docs/policy.md, Invariants).

A state machine tells one model's story; what it checks is computed here from the events and the raw
verdicts, not by the rules under test.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
)

from routecanary.decide.evolve import evolve, fold
from routecanary.decide.step import step
from routecanary.domain.event import (
    Checkpoint,
    ClosedByMode,
    Event,
    Exclusions,
    Expired,
    Lifted,
    ModeChanged,
    Reinstated,
    Renewed,
    RoundClosed,
    RoutesNamed,
    Suspended,
    event_from_json,
    event_to_json,
)
from routecanary.domain.names import ContractName, RouteId
from routecanary.domain.policy import Policy, Trigger
from routecanary.domain.round import (
    Lift,
    Line,
    Mode,
    Pause,
    Requalify,
    Resume,
    Round,
    RoundClass,
    RouteReport,
    SwitchMode,
)
from routecanary.domain.state import ModelState
from routecanary.domain.verdict import VerdictKind
from routecanary.errors import ClockError
from tests.story import MODEL, START, a_round, verdicts

ROUTES = ("a", "b", "c", "d", "e", "f", "g")
STEPS = ("1s", "19m59s", "20m", "30m", "30m", "30m", "30m", "2h", "6h", "6h1s", "1d", "3d", "14d")
SPANS = {
    text: timedelta(seconds=seconds)
    for text, seconds in {
        "1s": 1, "19m59s": 1199, "20m": 1200, "30m": 1800, "2h": 7200, "6h": 21600, "6h1s": 21601,
        "1d": 86400, "3d": 3 * 86400, "14d": 14 * 86400,
    }.items()
}  # fmt: skip
HABITS = (
    *["ok"] * 7, "structured:fail", "structured:fail", "language:fail", "filtering:fail", "transport",
    "structured:fail language:fail",
)  # fmt: skip
SAID = (
    "ok", "ok", "ok", "structured:fail", "structured:fail", "structured:fail", "language:fail",
    "filtering:fail", "structured:fail language:fail", "transport", "account", "skipped", "none",
    "inconclusive", "structured:inconclusive", "latency:transport", "only language:pass",
    "only structured:transport",
)  # fmt: skip
ENTRIES = ("a", "b", "p")
CONTRACT_NAMES = tuple(map(ContractName, ("structured", "language", "filtering")))

POLICIES = {
    "default": Policy(),
    "eager": Policy(
        floor=1,
        max_suspended_share=Fraction(9, 10),
        rounds_to_recover=(1, 3),
        ladder=(timedelta(hours=2), timedelta(days=1)),
        common_cause_min_routes=7,
        common_cause_share=Fraction(9, 10),
    ),
    "timid": Policy(
        rounds_to_suspend=3, floor=3, max_suspended_share=Fraction(3, 10), release_when_empty=False
    ),
    "evidence": Policy(trigger=Trigger.EVIDENCE, false_suspensions_per_year=1000.0),
    "evidence at any ratio": Policy(
        trigger=Trigger.EVIDENCE,
        false_suspensions_per_year=1000.0,
        round_period=timedelta(days=30),
        floor=1,
        max_suspended_share=Fraction(9, 10),
        common_cause_min_routes=7,
        common_cause_share=Fraction(9, 10),
        evidence_to_recover=2.0,
    ),
    "both": Policy(
        trigger=Trigger.BOTH, false_suspensions_per_year=1000.0, floor=1, p0_window=timedelta(days=2)
    ),
}
TRIED = ((False,), (True,), (True, False, False), (True, True, False), (True, True, True), (False,) * 3, ())

names = st.sampled_from(ROUTES).map(RouteId)
few_names = st.frozensets(names, max_size=2)
tried = st.dictionaries(st.sampled_from(CONTRACT_NAMES), st.sampled_from(TRIED), max_size=2)
reports = st.builds(
    RouteReport,
    verdicts=st.sampled_from(SAID).map(verdicts),
    attempts=st.one_of(st.just({}), tried),
    swallows=st.one_of(st.none(), st.none(), few_names),
    control_for=st.one_of(
        *[st.just(frozenset[ContractName]())] * 6, st.frozensets(st.sampled_from(CONTRACT_NAMES), max_size=1)
    ),
    admitted=st.sampled_from([True] * 9 + [False]),
)
rarely = st.sampled_from([frozenset[str]()] * 4 + [frozenset({entry}) for entry in ENTRIES])


class PolicyMachine(RuleBasedStateMachine):
    """One model; a dimension for each thing that a line may say."""

    policy = Policy()
    habits = Bundle("habits")

    def __init__(self) -> None:
        super().__init__()
        self.state = ModelState.empty(MODEL)
        self.log: list[Event] = []
        self.now = START
        self.last_round: datetime | None = None
        self.counted: dict[str, list[tuple[datetime, RoundClass]]] = defaultdict(list)
        self.failed: dict[tuple[str, str], set[datetime]] = defaultdict(set)  # rounds with a failed attempt
        self.passed: dict[tuple[str, str], set[datetime]] = defaultdict(set)  # likewise
        self.layers: frozenset[str] = frozenset()
        self.last: tuple[Event, ...] = ()

    # Telling

    def tell(self, line: Line) -> None:
        before = self.state
        self.last = step(before, line, self.policy)
        for event in self.last:
            self.check_event(event)
            self.state = evolve(self.state, event)
            self.check_after(event)
        self.log += self.last
        self.now = max(self.now, line.at)

    @initialize(
        target=habits, said=st.lists(st.sampled_from(SAID), min_size=len(ROUTES), max_size=len(ROUTES))
    )
    def settle_habits(self, said: list[str]) -> MultipleResults[list[str]]:
        """Give each route a behaviour to keep in most rounds, so that streaks arise, and health at times."""
        return multiple(said, said, ["ok"] * len(ROUTES))

    @rule(
        habits=habits,
        times=st.integers(1, 4),
        absent=st.one_of(few_names, few_names, st.frozensets(names)),
        odd=st.dictionaries(names, reports, max_size=2),
        after=st.sampled_from(STEPS),
        builtin=rarely,
        runtime=rarely,
        entry=st.one_of(st.none(), st.none(), few_names),
        acted=st.sampled_from([frozenset[RouteId]()] * 5 + [frozenset({RouteId("a")})]),
        shuffled=st.permutations(ROUTES),
        tries=st.dictionaries(names, tried, max_size=3),
    )
    def close_rounds(
        self,
        *,
        habits: list[str],
        times: int,
        absent: frozenset[RouteId],
        odd: dict[RouteId, RouteReport],
        after: str,
        builtin: frozenset[str],
        runtime: frozenset[str],
        entry: frozenset[RouteId] | None,
        acted: frozenset[RouteId],
        shuffled: list[str],
        tries: dict[RouteId, dict[ContractName, tuple[bool, ...]]],
    ) -> None:
        """Close one round that is out of the ordinary, then some of the ordinary ones."""
        for number in range(times):
            told = {
                name: said for name, said in zip(ROUTES, habits, strict=True) if number or name not in absent
            }
            line = a_round("0s", told, builtin=builtin, runtime=runtime, acted=acted)
            at = self.now + SPANS[after if number == 0 else "30m"]
            line = replace(line, at=at, swallows={} if entry is None else {"p": entry})
            line = replace(
                line,
                routes={
                    name: replace(report, attempts=tries.get(name, {}))
                    for name, report in line.routes.items()
                },
            )
            if number == 0:
                routes = {
                    **line.routes,
                    **{name: report for name, report in odd.items() if name not in absent},
                }
                line = replace(line, routes=routes)
            self.close_round(line, shuffled)

    def close_round(self, line: Round, shuffled: list[str]) -> None:
        self.layers = line.builtin | line.runtime
        self.last_round = line.at
        for name, report in line.routes.items():
            for contract, kind in report.verdicts.items():
                attempts = report.attempts.get(
                    contract, (kind is VerdictKind.FAIL,) if kind.conclusive else ()
                )
                for fail in attempts:
                    (self.failed if fail else self.passed)[name, contract].add(line.at)
        reordered = {RouteId(name): line.routes[RouteId(name)] for name in shuffled if name in line.routes}
        other = step(self.state, replace(line, routes=reordered), self.policy)
        self.tell(line)
        assert self.last == other, "7: the order of routes changes nothing"
        for back in (timedelta(), timedelta(seconds=1)):
            with pytest.raises(ClockError):
                step(self.state, replace(line, at=line.at - back), self.policy)

    @rule(
        kind=st.sampled_from(
            ["lift", "lift", "lift", "pause", "resume", "requalify", "observe", "enforce", "enforce"]
        ),
        route=names,
        false_positive=st.booleans(),
        hold=st.sampled_from([None, "30m", "1d"]),
        after=st.sampled_from(["-1h", *STEPS]),
    )
    def act(self, kind: str, route: RouteId, false_positive: bool, hold: str | None, after: str) -> None:
        """Act as an administrator: now and then dated back, and mostly on a route that is suspended."""
        at = self.now + SPANS.get(after, -timedelta(hours=1))
        match kind:
            case "lift":
                suspended = sorted(suspended_names(self.state))
                self.tell(
                    Lift(
                        at=at,
                        model=MODEL,
                        route=RouteId(suspended[0]) if suspended else route,
                        false_positive=false_positive,
                        hold_until=None if hold is None else at + SPANS[hold],
                    )
                )
            case "pause":
                self.tell(Pause(at=at, model=MODEL, until=None if hold is None else at + SPANS[hold]))
            case "resume":
                self.tell(Resume(at=at, model=MODEL, scheduled=false_positive))
            case "requalify":
                contract = CONTRACT_NAMES[false_positive]
                self.tell(Requalify(at=at, model=MODEL, contracts=frozenset({contract})))
                assert not any(contract in known.streak.suspicion for known in self.state.routes.values())
            case _:
                self.tell(SwitchMode(at=at, model=MODEL, mode=Mode(kind)))

    # Checking each event in its place

    def check_event(self, event: Event) -> None:
        match event:
            case RoundClosed():
                self.check_round(event)
            case Suspended():
                self.check_grounds(event)
                self.check_floor_and_share(event)
                assert event.until - event.at <= max(self.policy.ladder), "4: until"
                assert event.shadow is (self.state.mode is Mode.OBSERVE)
                assert self.state.routes[event.route].suspension is None
            case Renewed():
                self.check_evidence(event.route)
                assert event.until - event.at <= max(self.policy.ladder), "4: until"
                assert event.due <= event.at
            case Expired() | Reinstated() | Lifted() | ClosedByMode():
                held = self.state.routes[event.route].suspension
                assert held is not None
                if isinstance(event, Reinstated):
                    for contract in held.evidence:
                        assert max(self.passed[event.route, contract]) > held.start, "nothing cleared it"
            case _:
                pass

    def check_round(self, event: RoundClosed) -> None:
        for name, outcome in event.outcomes.items():
            before, after = self.state.routes[name].streak, outcome.streak
            kinds = set(outcome.verdicts.values())
            if not kinds & {VerdictKind.PASS, VerdictKind.FAIL}:
                old = before.last_at is not None and event.at - before.last_at > self.policy.streak_ttl
                assert after.failed == (0 if old else before.failed), "2: no evidence moves no fail streak"
                assert after.clean == before.clean
            if outcome.counted:
                if self.counted[name]:
                    assert event.at - self.counted[name][-1][0] >= self.policy.min_round_gap
                self.counted[name].append((event.at, outcome.round_class))
                if outcome.round_class is RoundClass.FAILED:
                    assert VerdictKind.FAIL in kinds
                    assert all(outcome.verdicts[contract] is VerdictKind.FAIL for contract in outcome.failing)

    def check_grounds(self, event: Suspended) -> None:
        """1: what asked is a trigger, and stands on two rounds at least."""
        trigger = self.policy.trigger
        assert not event.evidence or trigger is not Trigger.STREAK
        assert event.evidence.keys() <= event.contracts
        for contract in event.evidence:
            fails = {at for at in self.failed[event.route, contract] if at > self.began_anew(event.route)}
            assert len(fails) >= 2, "1: evidence of one round"
        if not event.evidence or event.contracts != event.evidence.keys():
            assert trigger is not Trigger.EVIDENCE
            self.check_evidence(event.route)

    def began_anew(self, route: RouteId) -> datetime:
        """When all ratios of a route last stood at 1: at a suspension's end, or a change of mode."""
        for event in reversed(self.log):
            ended = isinstance(event, Reinstated | Lifted | ClosedByMode | Expired) and event.route == route
            if ended or isinstance(event, ModeChanged):
                return event.at
        return START - timedelta(days=1)

    def check_evidence(self, route: RouteId) -> None:
        """1: enough counted failed rounds with no counted clean round between them."""
        since_clean = 0
        for _, round_class in reversed(self.counted[route]):
            if round_class is RoundClass.CLEAN:
                break
            since_clean += 1
        assert since_clean >= self.policy.rounds_to_suspend >= 2

    def check_floor_and_share(self, event: Suspended) -> None:
        """3: what a suspension takes away leaves the floor, what it adds stays within the share."""
        before, after = self.state, evolve(self.state, event)
        lost = serving(before) - serving(after)
        assert event.redundant is not bool(lost)
        assert event.collateral == lost - {event.route}
        if lost:
            assert len(serving(after, at=event.at, policy=self.policy)) >= self.policy.floor
        counted, out = share_of(after)
        if out != share_of(before)[1]:
            assert len(out) <= self.policy.max_suspended_share * len(counted)

    def check_after(self, event: Event) -> None:
        match event:
            case RoutesNamed():
                assert self.state.named == set(event.routes)
            case Suspended() | Renewed() | Reinstated() | Lifted() | ClosedByMode() | Expired():
                assert self.state.routes[event.route].evidence == {}, "begun anew"
            case ModeChanged():
                assert not any(route.evidence for route in self.state.routes.values())
            case _:
                pass

    # After every line

    @invariant()
    def lines_end_with_their_exclusions(self) -> None:
        if not self.last:
            return
        exclusions = self.last[-1]
        assert isinstance(exclusions, Exclusions)
        assert sum(isinstance(event, Exclusions) for event in self.last) == 1
        suspended = {name for name, route in self.state.routes.items() if route.suspension}
        ignore = set(exclusions.ignore)
        assert list(exclusions.ignore) == sorted(ignore)
        assert self.layers <= ignore, "8: the other layers are always in"
        assert ignore <= self.layers | suspended
        if self.state.mode is Mode.OBSERVE:
            assert ignore == self.layers, "5: observe contributes nothing"

    @invariant()
    def no_fail_streak_is_without_a_suspicion(self) -> None:
        for route in self.state.routes.values():
            assert bool(route.streak.failed) is bool(route.streak.suspicion)

    @invariant()
    def ratios_are_above_one_and_rest_on_fails(self) -> None:
        for route in self.state.routes.values():
            for evidence in route.evidence.values():
                assert evidence.log_m > 0
                assert 1 <= evidence.rounds <= evidence.fails <= evidence.attempts
            for before, after in pairwise(route.days):
                assert after.start - before.start >= timedelta(days=1)
                assert all(after.attempts[contract] >= n for contract, n in before.attempts.items())
            assert all(day.fails[c] <= day.attempts[c] for day in route.days for c in day.fails)
            assert self.policy.trigger is not Trigger.STREAK or not route.days

    @invariant()
    def nothing_outlives_its_time(self) -> None:
        for route in self.state.routes.values():
            if route.suspension is not None:
                assert route.suspension.until > self.now, "4: ended or renewed in time"
                assert route.suspension.until - route.suspension.start <= max(self.policy.ladder)
                assert route.offences >= 1

    def teardown(self) -> None:
        """6: the log folded is the state, from empty or a checkpoint on. 4: silence ends every suspension."""
        assert fold(MODEL, self.log) == self.state
        middle = len(self.log) // 2
        checkpoint = Checkpoint(at=self.now, model=MODEL, state=fold(MODEL, self.log[:middle]))
        texts = [json.dumps(event_to_json(event)) for event in (checkpoint, *self.log[middle:])]
        assert fold(MODEL, (event_from_json(json.loads(text)) for text in texts)) == self.state
        self.tell(Pause(at=self.now + max(self.policy.ladder) + self.policy.streak_ttl, model=MODEL))
        self.tell(Pause(at=self.now + max(self.policy.ladder), model=MODEL))
        assert not [name for name, route in self.state.routes.items() if route.suspension]


def named_or_swallowed(state: ModelState, entries: set[str]) -> set[str]:
    reached = set(entries)
    for entry in entries:
        route = state.routes.get(RouteId(entry))
        reached |= set(state.entry_swallows.get(entry, ()) if route is None else route.swallows)
    return reached


def suspended_names(state: ModelState) -> set[str]:
    return {name for name, route in state.routes.items() if route.suspension is not None}


def serving(state: ModelState, *, at: datetime | None = None, policy: Policy | None = None) -> set[RouteId]:
    """Production routes by the page's words; with a time, the proven ones."""
    out = named_or_swallowed(state, {*state.builtin, *state.runtime, *suspended_names(state)})
    found = set()
    for name in state.named:
        route = state.routes[name]
        if name in out or not route.admitted or route.control_for:
            continue
        if at is not None and policy is not None:
            streak = route.streak
            if not streak.was_clean or streak.last_at is None or streak.last_at < at - policy.stale_after:
                continue
        found.add(name)
    return found


def share_of(state: ModelState) -> tuple[set[str], set[str]]:
    """The routes that the share is of, and those of them that suspensions keep out."""
    covered = named_or_swallowed(state, {*state.builtin, *state.runtime})
    counted = {name for name in state.named if name not in covered and not state.routes[name].control_for}
    return set(counted), counted & named_or_swallowed(state, suspended_names(state))


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_invariants_hold_over_rounds_and_acts(policy: Policy) -> None:
    """Whatever is told, in any order, the eight invariants hold."""
    machine = type("Machine", (PolicyMachine,), {"policy": policy})
    case = machine.TestCase
    case.settings = settings(
        max_examples=25,
        stateful_step_count=30,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    case("runTest").runTest()
