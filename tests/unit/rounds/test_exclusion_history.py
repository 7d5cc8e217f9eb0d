"""The log read back for enforcement's sake: what was to be ignored from when until when."""

from __future__ import annotations

from datetime import datetime

from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.round import Lift, Mode, Pause, Resume, SwitchMode
from routecanary.rounds.act import exclude, readmit
from routecanary.rounds.exclusion_history import exclusion_history
from routecanary.rounds.records import Records
from tests.records import decide, some_records, tell_round, wait_until
from tests.story import HEALTHY, MODEL, START, moment

BAD = {**HEALTHY, "a": "structured:fail"}
FINE = {**HEALTHY, "a": "ok"}


def spans(
    records: Records, since: datetime = START, builtin: frozenset[str] = frozenset()
) -> list[tuple[str, str, str, str | None]]:
    """Tell what was to be ignored: name, layer, from, until, in hours and minutes of the story."""
    history = exclusion_history(records.store, MODEL, since=since, builtin=builtin)
    return [
        (name, span.layer.value, _told(span.since) or "", _told(span.until))
        for name, found in history.spans.items()
        for span in found
    ]


def _told(at: datetime | None) -> str | None:
    if at is None:
        return None
    minutes = round((at - START).total_seconds() / 60)
    return f"{minutes // 60}:{minutes % 60:02}"


def suspended() -> Records:
    """A route that is suspended from 0:30 on, in enforce."""
    records = some_records()
    tell_round(records, "0m", BAD)
    tell_round(records, "30m", BAD)
    return records


def test_a_suspension_holds_to_its_end_by_the_clock() -> None:
    """Also where no line was told since, and none was told at its end."""
    records = suspended()
    assert spans(records) == [("a", "canary", "0:30", "24:30")]
    tell_round(records, "25h", {**HEALTHY, "a": "none"})
    assert spans(records) == [("a", "canary", "0:30", "24:30")]


def test_what_ends_it_sooner_ends_it() -> None:
    """A recovery and a lift."""
    records = suspended()
    tell_round(records, "1h", FINE)
    tell_round(records, "90m", FINE)
    assert spans(records) == [("a", "canary", "0:30", "1:30")]
    lifted = suspended()
    decide(lifted, Lift(at=moment("50m"), model=MODEL, route=RouteId("a")))
    assert spans(lifted) == [("a", "canary", "0:30", "0:50")]


def test_what_is_not_merged_excludes_nobody() -> None:
    """Observe, a pause, and what a pause leaves on both sides of it."""
    observed = some_records()
    decide(observed, SwitchMode(at=START, model=MODEL, mode=Mode.OBSERVE))
    for at in ("1m", "31m"):
        tell_round(observed, at, BAD)
    assert observed.ledger.state(MODEL).suspensions()
    assert spans(observed) == []
    paused = suspended()
    decide(paused, Pause(at=moment("1h"), model=MODEL))
    decide(paused, Resume(at=moment("2h"), model=MODEL))
    assert spans(paused) == [("a", "canary", "0:30", "1:00"), ("a", "canary", "2:00", "24:30")]


def test_a_switch_of_mode_ends_it() -> None:
    """And the same route may begin anew."""
    records = suspended()
    decide(records, SwitchMode(at=moment("40m"), model=MODEL, mode=Mode.OBSERVE))
    assert spans(records) == [("a", "canary", "0:30", "0:40")]


def test_a_renewal_begins_anew() -> None:
    """The old end was heeded until the line that renewed."""
    records = suspended()
    for hour in (20, 24):
        tell_round(records, f"{hour}h", BAD)
    tell_round(records, "24h40m", BAD)
    assert spans(records) == [("a", "canary", "0:30", "24:30"), ("a", "canary", "24:40", "96:40")]


def test_people_s_exclusions_hold_between_two_lines() -> None:
    """From the moment at which they were made, to the one at which they were taken back or ran out."""
    records = some_records()
    tell_round(records, "0m", FINE)
    wait_until(records, "10m")
    exclude(records, an_entry("h1", "10m"))
    exclude(records, an_entry("h2", "10m", expires="20m"))
    exclude(records, an_entry("other", "10m", models=frozenset({ModelId("else/where")})))
    wait_until(records, "40m")
    readmit(records, "h1", None, actor="ops", reason="fine again")
    tell_round(records, "50m", FINE, runtime=["h1"])
    assert spans(records) == [("h1", "runtime", "0:10", "0:40"), ("h2", "runtime", "0:10", "0:20")]


def an_entry(
    target: str, created: str, *, expires: str | None = None, models: frozenset[ModelId] | None = None
) -> RuntimeEntry:
    return RuntimeEntry(
        target=target,
        models=models,
        reason="a trial",
        actor="ops",
        created=moment(created),
        expires=None if expires is None else moment(expires),
    )


def test_the_built_in_layer_holds_from_the_line_that_first_stated_it() -> None:
    """And ends with the line that does not; where it also suspends, it goes on without an end."""
    records = some_records()
    tell_round(records, "0m", FINE, builtin=["filterhost"])
    tell_round(records, "30m", FINE, builtin=["filterhost"])
    assert spans(records) == [("filterhost", "built-in", "0:00", None)]
    tell_round(records, "1h", FINE)
    assert spans(records) == [("filterhost", "built-in", "0:00", "1:00")]
    both = suspended()
    assert spans(both, builtin=frozenset({"a"})) == [("a", "built-in", "0:30", None)]


def test_it_reaches_as_far_back_as_it_is_asked_to() -> None:
    """However many lines were told since."""
    records = suspended()
    for number in range(2, 200):
        tell_round(records, f"{30 * number}m", {**HEALTHY, "a": "none"})
    assert spans(records, since=moment("10m")) == [("a", "canary", "0:30", "24:30")]
    assert spans(records, since=moment("90h")) == []


def test_another_model_has_its_own() -> None:
    """Nothing is known of one that no round was made of."""
    assert exclusion_history(suspended().store, ModelId("else/where"), since=START).spans == {}
