"""What the audit takes for excluded is what a client would have merged: at any time of any story."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.names import RouteId
from routecanary.domain.policy import Policy
from routecanary.domain.round import Lift, Mode, Pause, Resume, SwitchMode
from routecanary.rounds.act import exclude, readmit
from routecanary.rounds.exclusion_history import exclusion_history
from routecanary.rounds.publish import snapshot
from routecanary.rounds.records import Records
from routecanary.routing.reading import read_snapshot
from routecanary.routing.view import view_of
from tests.records import decide, some_records, tell_round
from tests.story import HEALTHY, MODEL, START, a_round

POLICY = Policy(
    ladder=(timedelta(minutes=40), timedelta(hours=2)),
    min_round_gap=timedelta(0),
    floor=1,
    rounds_to_suspend=1,
)
FOR_EVER = timedelta(days=400)
GRACE = timedelta(0)
A_WHILE = timedelta(hours=30)

Deed = Callable[[Records], object]


def a_round_of(*failing: str) -> Deed:
    def do(records: Records) -> None:
        routes = {**HEALTHY, **{name: "structured:fail" if name in failing else "ok" for name in "ab"}}
        now = records.clock.now()
        runtime = [entry.target for entry in records.ledger.runtime(now)]
        decide(records, replace(a_round("0s", routes, runtime=runtime), at=now))

    return do


def lift(name: str) -> Deed:
    return lambda records: decide(records, Lift(at=records.clock.now(), model=MODEL, route=RouteId(name)))


def mode(to: Mode) -> Deed:
    return lambda records: decide(records, SwitchMode(at=records.clock.now(), model=MODEL, mode=to))


def pause(records: Records) -> None:
    decide(records, Pause(at=records.clock.now(), model=MODEL))


def resume(records: Records) -> None:
    decide(records, Resume(at=records.clock.now(), model=MODEL))


def by_hand(name: str, lasts: timedelta | None) -> Deed:
    def do(records: Records) -> None:
        now = records.clock.now()
        expires = None if lasts is None else now + lasts
        exclude(
            records,
            RuntimeEntry(target=name, models=None, reason="r", actor="o", created=now, expires=expires),
        )

    return do


def back(name: str) -> Deed:
    return lambda records: readmit(records, name, None, actor="o", reason="r")


deeds = st.one_of(
    st.sampled_from([a_round_of(), a_round_of("a"), a_round_of("b"), a_round_of("a", "b")]),
    st.sampled_from([a_round_of("a"), a_round_of("a", "b"), lift("a"), pause, resume]),
    st.sampled_from([mode(Mode.OBSERVE), mode(Mode.ENFORCE)]),
    st.sampled_from(
        [by_hand("h1", None), by_hand("h1", timedelta(minutes=25)), by_hand("a", None), back("h1"), back("a")]
    ),
)
gaps = st.sampled_from([timedelta(minutes=minutes) for minutes in (1, 7, 30, 50, 200)])


def merged(records: Records, known: object, at: datetime) -> set[str]:
    """List what a client merges at a time, of a document that was published before."""
    read = read_snapshot(known)
    return set(view_of(read, MODEL, read.models.get(MODEL), at.timestamp(), None).ignore)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(st.tuples(gaps, deeds), max_size=16))
def test_the_audit_knows_what_a_client_would_have_merged(steps: list[tuple[timedelta, Deed]]) -> None:
    """Between any two deeds, also where an end by the clock lies between them."""
    records = some_records(policy=POLICY, max_snapshot_age=FOR_EVER)
    tell_round(records, "0s", {**HEALTHY, "a": "ok", "b": "ok"})
    seen: list[tuple[datetime, set[str]]] = []

    def look(length: timedelta) -> None:
        now = records.clock.now()
        known = snapshot(records.ledger, (), now=now, max_age=FOR_EVER)
        moments = [now + length * part / 7 for part in range(1, 7)]
        seen.extend((at, merged(records, known, at)) for at in moments)

    for gap, deed in steps:
        look(gap)
        records.clock.advance(gap)  # type: ignore[attr-defined]
        deed(records)
    look(A_WHILE)
    history = exclusion_history(records.store, MODEL, since=START)
    for at, names in seen:
        found = {
            name for name, spans in history.spans.items() if any(span.covers(at, GRACE) for span in spans)
        }
        assert found == names, at
