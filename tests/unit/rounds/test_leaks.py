"""The audit of what users were served: each generation once, each kind of leak once an interval."""

from __future__ import annotations

from typing import Any

import pytest

from routecanary.adapters.store.memory import MemoryStore
from routecanary.clock import ScaledClock
from routecanary.domain.generation import Source
from routecanary.domain.names import ModelId
from routecanary.domain.operation import (
    ExclusionLeaked,
    ExclusionLeakEnded,
    ExclusionLeakPossible,
    Operation,
    TrafficAudited,
    operation_from_json,
)
from routecanary.errors import StoreError
from routecanary.rounds import leaks
from routecanary.rounds.leak_report import leak_document, leak_report
from routecanary.rounds.leaks import LeakAudit
from routecanary.rounds.records import Records
from tests.records import some_records, tell_round, wait_until
from tests.story import HEALTHY, MODEL, moment
from tests.traffic import served, tags

BAD = {**HEALTHY, "a": "latency:fail"}
KINDS = {"exclusion_leaked", "exclusion_leak_possible", "exclusion_leak_ended", "traffic_audited"}


class Brittle(MemoryStore):
    """A store that appends nothing while `broken`."""

    broken = False

    def append(self, *arguments: Any, **facts: Any) -> Any:
        if self.broken:
            raise StoreError("no room left")
        return super().append(*arguments, **facts)


@pytest.fixture
def records() -> Records:
    """A route that is suspended from half an hour on; the clock stands at one hour."""
    made = some_records(Brittle())
    tell_round(made, "0m", BAD)
    tell_round(made, "30m", BAD)
    wait_until(made, "1h")
    return made


def keep(records: Records, *by: str, at: str = "50m", **facts: Any) -> None:
    generations = [served(name, at, list_written_at=moment("40m"), **facts) for name in by]
    records.store.keep_generations(generations, at=records.clock.now())


def told(records: Records) -> list[Operation]:
    return [operation_from_json(stored.body) for stored in records.store.read(kinds=KINDS)]


def look(records: Records, audit: LeakAudit, at: str) -> list[Operation]:
    """Let the audit look at a time of the story; returns what it then says."""
    before = len(told(records))
    wait_until(records, at)
    audit.look()
    return told(records)[before:]


def test_a_generation_is_looked_at_when_it_has_settled(records: Records) -> None:
    """A minute after it was told, and then told at once, with an example."""
    keep(records, "a", "h1", "", key=None)
    audit = LeakAudit(records)
    assert look(records, audit, "1h55s") == []
    leaked, audited = look(records, audit, "1h1m1s")
    assert isinstance(leaked, ExclusionLeaked)
    assert (leaked.routes, leaked.reason, leaked.count) == (tags("a"), "not_carried", 1)
    assert leaked.first_at == leaked.last_at == moment("50m")
    assert leaked.examples[0].startswith("gen-")
    assert isinstance(audited, TrafficAudited)
    assert (audited.through, audited.generations, audited.unplaced) == (3, 3, 1)


def test_a_storm_is_one_event_in_ten_minutes(records: Records) -> None:
    """Each kind for itself; what came meanwhile is counted in the next one."""
    audit = LeakAudit(records)
    minutes = range(2, 33)
    for minute in minutes:
        keep(records, "a", "a", "a")
        look(records, audit, f"1h{minute}m")
    events = [event for event in told(records) if isinstance(event, ExclusionLeaked)]
    assert 3 <= len(events) <= 4
    audited = sum(event.generations for event in told(records) if isinstance(event, TrafficAudited))
    assert sum(event.count for event in events) == audited
    assert all(len(event.examples) == 5 for event in events[1:])


def test_another_kind_need_not_wait_for_the_first(records: Records) -> None:
    """But never more than one append a minute."""
    audit = LeakAudit(records)
    keep(records, "a")
    assert len(look(records, audit, "1h2m")) == 2
    keep(records, "a", unchanged="preset")
    assert look(records, audit, "1h2m30s") == []
    preset, _ = look(records, audit, "1h3m40s")
    assert isinstance(preset, ExclusionLeaked)
    assert preset.reason == "preset"


def test_a_restart_counts_nothing_twice_and_loses_nothing(records: Records) -> None:
    """Whether what was found was told before it or not."""
    audit = LeakAudit(records)
    keep(records, "a", "a")
    look(records, audit, "1h2m")
    keep(records, "a")
    assert look(records, audit, "1h4m") == []  # found, and not told yet
    again = LeakAudit(records)
    leaked, audited = look(records, again, "1h5m")
    assert isinstance(leaked, ExclusionLeaked)
    assert isinstance(audited, TrafficAudited)
    assert (leaked.count, audited.through) == (1, 3)
    assert look(records, LeakAudit(records), "1h30m") == []


def test_what_another_process_told_is_not_told_again(records: Records) -> None:
    """The place in the log decides, not what this one remembers."""
    first, second = LeakAudit(records), LeakAudit(records)
    assert look(records, first, "1h0m1s") == look(records, second, "1h0m1s") == []
    keep(records, "a")
    assert len(look(records, first, "1h5m")) == 2
    assert look(records, second, "1h5m1s") == []
    keep(records, "a")
    assert len(look(records, second, "1h20m")) == 2


def test_what_the_store_did_not_take_is_told_later(records: Records) -> None:
    """With the right count, once."""
    assert isinstance(records.store, Brittle)
    audit = LeakAudit(records)
    keep(records, "a")
    records.store.broken = True
    wait_until(records, "1h2m")
    for _ in range(3):
        with pytest.raises(StoreError):
            audit.look()
    records.store.broken = False
    leaked, audited = look(records, audit, "1h2m10s")
    assert isinstance(leaked, ExclusionLeaked)
    assert isinstance(audited, TrafficAudited)
    assert (leaked.count, audited.generations) == (1, 1)


def test_a_record_that_comes_late_is_judged_by_its_own_time(records: Records) -> None:
    """What was excluded when it was built, not when it was told."""
    keep(records, "a", at="10m")
    keep(records, "a", at="40m")
    leaked, _ = look(records, LeakAudit(records), "30h")
    assert isinstance(leaked, ExclusionLeaked)
    assert (leaked.count, leaked.first_at) == (1, moment("40m"))


def test_leaks_that_stop_are_told_to_have_stopped(records: Records) -> None:
    """An hour after the last event; what leaks and what may are told apart."""
    audit = LeakAudit(records)
    keep(records, "a", "a h1")
    assert [type(event) for event in look(records, audit, "1h2m")] == [
        ExclusionLeaked,
        ExclusionLeakPossible,
        TrafficAudited,
    ]
    assert look(records, audit, "2h1m") == []
    ended = look(records, audit, "2h2m1s")
    assert [(type(event), event.certain) for event in ended if isinstance(event, ExclusionLeakEnded)] == [
        (ExclusionLeakEnded, True),
        (ExclusionLeakEnded, False),
    ]
    assert records.ledger.operating().model(MODEL).leaking == {}


def test_a_model_that_nobody_watches_excludes_nothing(records: Records) -> None:
    """However many of them somebody makes up."""
    for number in range(50):
        keep(records, "a", model=ModelId(f"made/up-{number}"))
    (audited,) = look(records, LeakAudit(records), "1h2m")
    assert isinstance(audited, TrafficAudited)
    assert audited.generations == 50


def test_an_audit_has_a_bound(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    """At one look, and of kinds; the rest is looked at by the next ones."""
    monkeypatch.setattr(leaks, "STEP", 4)
    monkeypatch.setattr(leaks, "STEPS", 2)
    monkeypatch.setattr(leaks, "MOST_KINDS", 2)
    for number in range(20):
        keep(records, "a", unchanged=["preset", "stale", "failed", "bad_scope"][number // 3 % 4])
    audit = LeakAudit(records)
    for minute in range(2, 30):
        look(records, audit, f"1h{minute}m")
    events = told(records)
    assert sum(event.count for event in events if isinstance(event, ExclusionLeaked)) == 20
    assert sum(event.generations for event in events if isinstance(event, TrafficAudited)) == 20


def test_nothing_told_is_nothing_said(records: Records) -> None:
    """Without telemetry the log does not grow."""
    audit = LeakAudit(records)
    for hour in range(2, 8):
        assert look(records, audit, f"{hour}h") == []


def test_the_report_is_a_proof(records: Records) -> None:
    """How many were served by how many routes, none by an excluded one, of how many excluded route-hours."""
    keep(records, "h1", "h2", "h1", "h3 h4", "")
    keep(records, "a", at="10m")  # it was not suspended yet
    report = leak_report(records, MODEL, since=moment("0m"), until=moment("1h"))
    document = leak_document(report)
    assert (document["generations"], document["unplaced"]) == (6, 1)
    assert document["routes"] == ["a", "h1", "h2", "h3", "h4"]
    assert (document["leaked"], document["possible"], document["cut"]) == (0, 0, False)
    assert document["excluded_route_hours"] == 0.5
    assert isinstance(records.clock, ScaledClock)


def test_the_report_names_what_leaked(records: Records) -> None:
    """By reason and routes, with examples."""
    keep(records, "a", source=Source.BROADCAST, key="gen-one")
    keep(records, "a h1", carried=tags("a"), key="gen-two")
    document = leak_document(leak_report(records, MODEL, since=moment("0m"), until=moment("1h")))
    assert (document["leaked"], document["possible"]) == (1, 1)
    assert [
        (each["certain"], each["reason"], each["routes"], each["count"], each["examples"])
        for each in document["leaks"]  # type: ignore[union-attr]
    ] == [(True, "no_hook", ["a"], 1, ["gen-one"]), (False, "carried", ["a"], 1, ["gen-two"])]
