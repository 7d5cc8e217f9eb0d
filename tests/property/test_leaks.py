"""The leak audit: in whatever order generations come and however they are split, each counts once."""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from routecanary.domain.operation import (
    ExclusionLeaked,
    ExclusionLeakPossible,
    TrafficAudited,
    operation_from_json,
)
from routecanary.rounds.leaks import LeakAudit
from routecanary.rounds.records import Records
from tests.records import some_records, tell_round, wait_until
from tests.story import HEALTHY, moment
from tests.traffic import served

BAD = {**HEALTHY, "a": "latency:fail", "b": "ok"}
Told = tuple[str, str, str | None]

asked = st.tuples(
    st.sampled_from(["a", "h1", "a b", "b", ""]),
    st.sampled_from(["10m", "30m4s", "30m5s", "50m"]),
    st.sampled_from([None, "preset", "stale", "merge_would_empty"]),
)


def audited(told: list[Told], splits: set[int], restarts: set[int]) -> tuple[Counter[object], int]:
    """Tell of generations piece by piece, with an audit now and then that may be a new one; add all up."""
    records = some_records()
    tell_round(records, "0m", BAD)
    tell_round(records, "30m", BAD)
    audit = LeakAudit(records)
    minutes, batch = 60, list[Told]()
    for number, each in enumerate(told):
        batch.append(each)
        if number in splits:
            minutes = _look(records, audit, batch, minutes)
            batch = []
        if number in restarts:
            audit = LeakAudit(records)
    minutes = _look(records, audit, batch, minutes)
    _look(records, audit, [], minutes + 60)
    sums: Counter[object] = Counter()
    total = 0
    for stored in records.store.read():
        if stored.kind not in {"exclusion_leaked", "exclusion_leak_possible", "traffic_audited"}:
            continue
        event = operation_from_json(stored.body)
        if isinstance(event, ExclusionLeaked | ExclusionLeakPossible):
            sums[type(event), event.routes, event.reason] += event.count
        elif isinstance(event, TrafficAudited):
            total += event.generations
    return sums, total


def _look(records: Records, audit: LeakAudit, batch: list[Told], minutes: int) -> int:
    wait_until(records, f"{minutes}m")
    generations = [
        served(by, at, unchanged=unchanged, list_written_at=moment("40m")) for by, at, unchanged in batch
    ]
    records.store.keep_generations(generations, at=records.clock.now())
    wait_until(records, f"{minutes + 2}m")
    audit.look()
    return minutes + 3


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    told=st.lists(asked, max_size=25),
    splits=st.sets(st.integers(0, 24)),
    restarts=st.sets(st.integers(0, 24)),
    order=st.randoms(use_true_random=False),
)
def test_order_splits_and_restarts_change_no_sum(
    told: list[Told], splits: set[int], restarts: set[int], order: object
) -> None:
    """The sums are those of one look at all of them."""
    shuffled = list(told)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    at_once = audited(told, set(), set())
    assert audited(shuffled, splits, restarts) == at_once
    assert at_once[1] == len(told)
