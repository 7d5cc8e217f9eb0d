"""Acts and what becomes of them in log and snapshot."""

from __future__ import annotations

from datetime import timedelta

import pytest

from routecanary.domain.event import CanaryLayerResumed, Suspended
from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.names import ModelId
from routecanary.domain.round import Mode, Pause, Resume, SwitchMode
from routecanary.rounds.act import act, exclude, readmit, resume_due, resumptions_due
from routecanary.rounds.capacity import capacity_of, capacity_without
from routecanary.rounds.records import Records
from tests.records import KeptSnapshot, some_records, tell_round, wait_until
from tests.snapshots import views
from tests.story import HEALTHY, MODEL, moment

OTHER = ModelId("other/model")
FAIL = {"a": "structured:fail", **HEALTHY}


def suspended() -> Records:
    records = some_records(initial_mode=Mode.ENFORCE)
    for at in ("0m", "30m"):
        decision = tell_round(records, at, FAIL)
        records.publish()
    assert any(isinstance(event, Suspended) for event in decision.events)
    return records


def document(records: Records) -> dict[str, object]:
    assert isinstance(records.snapshot_file, KeptSnapshot)
    return dict(records.snapshot_file.document)


def ignored(records: Records, at: str, model: str = MODEL) -> tuple[str, ...]:
    """What a client that reads the snapshot now heeds at a time."""
    return views(document(records), moment(at)).find(model, moment(at).timestamp()).ignore


def pause(records: Records, until: str | None) -> None:
    now = records.clock.now()
    act(
        records,
        Pause(at=now, model=MODEL, until=None if until is None else moment(until), actor="a", reason="r"),
    )


def entry(target: str, *models: ModelId, expires: str | None = None, reason: str = "r") -> RuntimeEntry:
    return RuntimeEntry(
        target=target,
        models=frozenset(models) or None,
        reason=reason,
        actor="ada",
        created=moment("30m"),
        expires=None if expires is None else moment(expires),
    )


# Pauses


def test_a_pause_reaches_the_client_with_its_end() -> None:
    """Published at once; at its end the client merges again by itself."""
    records = suspended()
    assert ignored(records, "31m") == ("a",)
    pause(records, "2h")
    assert ignored(records, "31m") == ()
    assert ignored(records, "1h59m59s") == ()
    assert ignored(records, "2h") == ("a",)


@pytest.mark.parametrize(("at", "due"), [("1h59m59s", False), ("2h", True), ("9h", True)])
def test_a_pause_is_due_at_its_end(at: str, *, due: bool) -> None:
    """Whoever keeps the clock resumes it then, in the log too."""
    records = suspended()
    pause(records, "2h")
    wait_until(records, at)
    assert resumptions_due(records.ledger, records.clock.now()) == ((MODEL,) if due else ())
    decisions = resume_due(records)
    assert [decision.state.paused for decision in decisions] == [False] * due
    assert records.ledger.state(MODEL).paused is not due
    assert resume_due(records) == ()
    if due:
        (resumed,) = [event for event in decisions[0].events if isinstance(event, CanaryLayerResumed)]
        assert resumed.actor == "routecanary"


def test_a_pause_without_an_end_waits_for_a_person() -> None:
    """It is never due."""
    records = suspended()
    pause(records, None)
    wait_until(records, "999d")
    assert resumptions_due(records.ledger, records.clock.now()) == ()
    assert act(records, Resume(at=records.clock.now(), model=MODEL)).state.paused is False


def test_an_act_does_not_make_a_dead_daemons_layer_young() -> None:
    """Seven hours after the last round the canary layer is dropped, whatever was published since."""
    records = suspended()
    wait_until(records, "6h")
    exclude(records, entry("h1"))
    assert ignored(records, "6h") == ("a", "h1")
    assert ignored(records, "6h30m1s") == ("h1",)


def test_acting_on_a_new_model_begins_with_its_configured_mode() -> None:
    """Else it would begin to enforce by being paused."""
    records = some_records(initial_mode=Mode.OBSERVE)
    pause(records, None)
    state = records.ledger.state(MODEL)
    assert (state.mode, state.paused) == (Mode.OBSERVE, True)


# Exclusions


def test_exclusions_of_one_target_stand_side_by_side() -> None:
    """One for a model, one for another, one for all: each is added, replaced and taken back by itself."""
    records = suspended()
    for each in (entry("h1", MODEL), entry("h1", OTHER), entry("h1"), entry("h1", MODEL, reason="again")):
        exclude(records, each)
    assert [(each.models, each.reason) for each in records.ledger.runtime(moment("1h"))] == [
        (None, "r"),
        ({MODEL}, "again"),
        ({OTHER}, "r"),
    ]
    readmit(records, "h1", None, actor="ada", reason="r")
    readmit(records, "h1", frozenset({OTHER}), actor="ada", reason="r")
    assert ignored(records, "1h") == ("a", "h1")
    readmit(records, "h1", frozenset({MODEL}), actor="ada", reason="r")
    assert ignored(records, "1h") == ("a",)
    assert [
        stored.model for stored in records.store.read(kinds={"exclusion_added", "exclusion_removed"})
    ] == [
        *(MODEL, OTHER, None, MODEL),
        *(None, OTHER, MODEL),
    ]


def test_an_exclusion_ends_by_itself() -> None:
    """In the client at the very second; the log remembers it."""
    records = suspended()
    exclude(records, entry("h1", expires="2h"))
    assert ignored(records, "1h59m59s") == ("a", "h1")
    assert ignored(records, "2h") == ("a",)
    assert records.ledger.runtime(moment("2h")) == ()
    assert [each.target for each in records.ledger.runtime_entries()] == ["h1"]


def test_what_an_exclusion_would_leave() -> None:
    """Production routes: suspended ones are out already, entries in force now are counted."""
    records = suspended()
    now = records.clock.now()
    told = capacity_without(records, MODEL, "h1", now)
    assert (told.left, told.lost, told.reached) == ({"h2", "h3", "h4"}, {"h1"}, {"h1"})
    assert not told.emptied
    nothing = capacity_without(records, MODEL, "nobody", now)
    assert (nothing.left, nothing.lost, nothing.reached) == ({"h1", "h2", "h3", "h4"}, set(), set())
    for target in ("h1", "h2", "h3"):
        exclude(records, entry(target, expires="2h"))
    assert capacity_without(records, MODEL, "h4", now).emptied
    assert not capacity_without(records, MODEL, "nobody", now).emptied
    wait_until(records, "2h")
    assert capacity_of(records, MODEL, records.clock.now()) == {"h1", "h2", "h3", "h4"}
    assert capacity_without(records, OTHER, "h4", now).named == frozenset()


def test_what_the_exclusion_of_a_provider_swallows() -> None:
    """A bare slug names every route below it."""
    records = some_records()
    tell_round(records, "0m", {"north/fp8": "ok", "north/us": "ok", "south": "ok"})
    told = capacity_without(records, MODEL, "north", records.clock.now())
    assert (told.left, told.lost) == ({"south"}, {"north/fp8", "north/us"})


def test_a_mode_switch_is_published() -> None:
    """A client heeds suspensions in enforce only."""
    records = suspended()
    act(records, SwitchMode(at=records.clock.now(), model=MODEL, mode=Mode.OBSERVE))
    assert ignored(records, "31m") == ()
    assert document(records)["written_at"] == "2026-01-05T00:30:00Z"
    assert records.clock.now() - moment("30m") == timedelta()
