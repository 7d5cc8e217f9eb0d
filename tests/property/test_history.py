"""The log read back to its lines: whatever was told, deciding it again gives the same events."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from routecanary.decide.step import decided
from routecanary.domain.event import EVENT_NAMES, Event, event_from_json, event_to_json
from routecanary.domain.names import LANGUAGE, ContractName, Locale, RouteId
from routecanary.domain.policy import Policy, Trigger
from routecanary.domain.round import (
    Lift,
    Line,
    Mode,
    Pause,
    Requalify,
    Resume,
    Round,
    RouteReport,
    SwitchMode,
)
from routecanary.domain.state import ModelState
from routecanary.rounds.backtest import Change, decide_again
from routecanary.rounds.history import lines_of
from routecanary.rounds.incidents import Incident, IncidentFold
from tests.story import MODEL, START, a_round, verdicts

ROUTES = tuple(map(RouteId, "abcdef"))
SAID = (
    *["ok"] * 5, "structured:fail", "structured:fail", "structured:fail", "language:fail", "filtering:fail",
    "structured:fail language:fail", "transport", "skipped", "none", "structured:inconclusive",
)  # fmt: skip
GAPS = tuple(timedelta(minutes=minutes) for minutes in (1, 20, 30, 30, 30, 30, 120, 361, 1_500, 30_000))
PRIOR = (30_000.0, 970_000.0)  # so heavy that few thresholds have to be worked out
POLICIES = {
    "default": Policy(),
    "both": Policy(
        trigger=Trigger.BOTH,
        floor=1,
        max_suspended_share=Fraction(9, 10),
        common_cause_min_routes=6,
        common_cause_share=Fraction(9, 10),
        ladder=(timedelta(hours=2), timedelta(days=1)),
        false_suspensions_per_year=1_000.0,
        evidence_to_recover=2.0,
        p0_prior=PRIOR,
    ),
    "evidence": Policy(trigger=Trigger.EVIDENCE, floor=1, false_suspensions_per_year=1_000.0, p0_prior=PRIOR),
}

tags = st.sampled_from(ROUTES)
few = st.frozensets(tags, max_size=2)
attempts = st.lists(st.booleans(), max_size=5).map(tuple)
contracts = st.frozensets(st.sampled_from((LANGUAGE, ContractName("structured"))), max_size=2)
reports = st.builds(
    RouteReport,
    verdicts=st.sampled_from(SAID).map(verdicts),
    attempts=st.dictionaries(st.sampled_from((LANGUAGE, ContractName("structured"))), attempts, max_size=2),
    swallows=st.one_of(st.none(), st.none(), few),
    control_for=st.one_of(*[st.just(frozenset[ContractName]())] * 5, contracts),
    admitted=st.sampled_from([True] * 9 + [False]),
    locale=st.sampled_from([None, Locale("th"), Locale("pt-BR")]),
)
rounds = st.builds(
    lambda routes, absent, locale, builtin, runtime, entry, acted: Round(
        at=START,
        model=MODEL,
        routes={tag: report for tag, report in zip(ROUTES, routes, strict=True) if tag not in absent},
        locale=locale,
        out_of_turn=locale is not None,
        builtin=builtin,
        runtime=runtime,
        swallows=entry,
        acted=acted - absent,
    ),
    st.lists(reports, min_size=len(ROUTES), max_size=len(ROUTES)),
    st.one_of(st.just(frozenset[RouteId]()), few),
    st.sampled_from([None, Locale("th")]),
    st.sampled_from([frozenset[str]()] * 3 + [frozenset({"a"}), frozenset({"p"})]),
    st.sampled_from([frozenset[str]()] * 3 + [frozenset({"b"})]),
    st.sampled_from([{}, {"p": frozenset({ROUTES[2]})}]),
    st.sampled_from([frozenset[RouteId]()] * 4 + [frozenset({ROUTES[0]})]),
)
habits = st.builds(
    lambda said, acted: replace(
        a_round("0m", dict(zip(ROUTES, said, strict=True))), acted=acted, locale=Locale("en")
    ),
    st.one_of(
        st.lists(st.sampled_from(SAID), min_size=len(ROUTES), max_size=len(ROUTES)),
        st.sampled_from(["ok", "transport"]).map(lambda said: [said] * len(ROUTES)),
    ),
    st.sampled_from([frozenset[RouteId]()] * 4 + [frozenset({ROUTES[1]})]),
)
ends = st.one_of(st.none(), st.sampled_from(GAPS).map(lambda gap: START + timedelta(days=1) + gap))
of_the_model = {"at": st.just(START), "model": st.just(MODEL)}
acts = st.one_of(
    st.builds(Lift, **of_the_model, route=tags, false_positive=st.booleans(), hold_until=ends),
    st.builds(SwitchMode, **of_the_model, mode=st.sampled_from(Mode)),
    st.builds(Pause, **of_the_model, until=ends),
    st.builds(Resume, **of_the_model, scheduled=st.booleans()),
    st.builds(Requalify, **of_the_model, contracts=contracts),
)
told = st.one_of(  # a habit several times, so that streaks arise; acts one upon another
    st.tuples(habits, st.integers(2, 5)).map(lambda habit: [habit[0]] * habit[1]),
    st.lists(rounds, min_size=1, max_size=2),
    st.lists(acts, min_size=1, max_size=4),
)
stories = st.lists(st.tuples(told, st.sampled_from(GAPS), st.booleans()), min_size=4, max_size=14)
Stories = Sequence[tuple[Sequence[Line], timedelta, bool]]

FEW = settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def lines(story: Stories) -> list[Line]:
    """Date a story; an act is dated back now and then."""
    found: list[Line] = []
    now = START
    for some, gap, back in story:
        for number, line in enumerate(some):
            now += gap if number == 0 else timedelta(minutes=30)
            act_at = now - timedelta(hours=1) if back else now
            found.append(replace(line, at=now if isinstance(line, Round) else act_at))
    return found


def logged(state: ModelState, told_lines: Iterable[Line], policy: Policy) -> list[tuple[Event, ...]]:
    """Decide line by line; the events of each, as the log gives them back."""
    found = []
    for line in told_lines:
        events, state = decided(state, line, policy)
        found.append(tuple(event_from_json(json.loads(json.dumps(event_to_json(event)))) for event in events))
    return found


def read_back(events: Iterable[Event]) -> list[Line]:
    past = list(lines_of(events))
    assert all(each.in_full for each in past)
    return [each.line for each in past]


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@given(story=stories, cut=st.integers(0, 40))
@FEW
def test_the_lines_of_a_log_lead_to_the_same_log(policy: Policy, story: Stories, cut: int) -> None:
    """From its beginning, and from any state in its middle on."""
    log = logged(ModelState.empty(MODEL), lines(story), policy)
    flat = [event for events in log for event in events]
    again = read_back(flat)
    assert [line.at for line in again] == [events[-1].at for events in log]
    assert logged(ModelState.empty(MODEL), again, policy) == log
    cut = min(cut, len(log))
    state = ModelState.empty(MODEL)
    for line in again[:cut]:
        state = decided(state, line, policy).state
    rest = [event for events in log[cut:] for event in events]
    assert logged(state, read_back(rest), policy) == log[cut:]


def test_the_stories_hold_what_there_is_to_read_back() -> None:
    """The property would be worth little if nobody were ever suspended, lifted or switched."""
    seen: Counter[str] = Counter()

    @given(story=stories, policy=st.sampled_from(list(POLICIES.values())))
    @settings(FEW, max_examples=150)
    def look(story: Stories, policy: Policy) -> None:
        state = ModelState.empty(MODEL)
        for line in lines(story):
            events, state = decided(state, line, policy)
            seen.update({EVENT_NAMES[type(event)] for event in events})

    look()
    unseen = set(EVENT_NAMES.values()) - set(seen) - {"checkpoint"}
    assert not unseen


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@given(story=stories, cut=st.integers(0, 40))
@FEW
def test_a_policy_that_is_not_changed_changes_nothing(policy: Policy, story: Stories, cut: int) -> None:
    """Decided again from any time on, every suspension begins and ends as it did."""
    log = [event for events in logged(ModelState.empty(MODEL), lines(story), policy) for event in events]
    fold = IncidentFold()
    for number, event in enumerate(log, start=1):
        fold.take_in(event, number)
    since = log[min(cut, len(log) - 1)].at
    result = decide_again(ModelState.empty(MODEL), log, fold.incidents(), policy, since=since)
    for pair in result.pairs:
        assert pair.change is Change.SAME
        assert outline(pair.was) == outline(pair.would_be)
    assert result.time_out(would_be=False) == result.time_out(would_be=True)


def outline(incident: Incident | None) -> Incident | None:
    return None if incident is None else replace(incident, id=0, ended_seq=None, label=None)
