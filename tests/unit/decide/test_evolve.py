"""The log folded is the state."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest

from routecanary.decide.evolve import evolve, fold
from routecanary.domain.event import (
    EVENT_NAMES,
    Checkpoint,
    LadderReset,
    event_from_json,
    event_to_json,
    state_from_json,
    state_to_json,
)
from routecanary.domain.evidence import Day, Earned, Evidence
from routecanary.domain.names import LANGUAGE, Locale, ModelId, RouteId
from routecanary.domain.state import ModelState, RouteState, Streak, Suspension
from routecanary.errors import StoreError
from tests.story import HEALTHY, MODEL, START, Story, a_report, moment

FAIL = "language:fail"


def a_full_story() -> Story:
    """A story in which most things happen."""
    story = Story()
    story.mode("0m", "observe")
    story.mode("1m", "enforce")
    c = a_report("only filtering:pass", control_for=["filtering"])
    for at in ("10m", "40m"):
        story.round(at, {"a": a_report(FAIL, swallows=["h4"]), "c": c, **HEALTHY}, locale="en")
    story.lift("50m", "a", hold_until="90m")
    for at in ("1h", "2h"):
        story.round(
            at, {"a": FAIL, "b": a_report(admitted=False), **HEALTHY}, builtin=["p"], swallows={"p": ["b"]}
        )
    story.requalify("2h", "language")
    story.pause("3h", until="4h")
    story.pause("3h", until="9d")
    story.round("4h", {"a": FAIL}, runtime=["q"])
    return story


def test_fold_of_the_log_is_the_state() -> None:
    """From empty, and from any checkpoint on."""
    story = a_full_story()
    assert fold(MODEL, story.log) == story.state
    for cut in range(len(story.log)):
        state = fold(MODEL, story.log[:cut])
        checkpoint = Checkpoint(at=START, model=MODEL, state=state)
        assert fold(MODEL, [checkpoint, *story.log[cut:]]) == story.state


def test_events_and_state_survive_json() -> None:
    """Written as text and read back they are equal."""
    story = a_full_story()
    log = [*story.log, Checkpoint(at=moment("5h"), model=MODEL, state=story.state)]
    assert [event_from_json(json.loads(json.dumps(event_to_json(event)))) for event in log] == log
    assert state_from_json(json.loads(json.dumps(state_to_json(story.state)))) == story.state


def test_state_with_every_field_set_survives_json() -> None:
    """No field is forgotten: each differs from its default."""
    streak = Streak(
        failed=3, clean=1, suspicion=frozenset({"x"}), last_at=START.replace(microsecond=7),  # type: ignore[arg-type]
        last_class="failed", was_clean=True, retry_locale=Locale("th"),  # type: ignore[arg-type]
        locales=frozenset({Locale("th")}),
    )  # fmt: skip
    streak = replace(streak, last_class=Story().round("0m", {"a": FAIL}).outcome("a").round_class)
    earned = Earned(attempts=9, fails=5, p0=0.01, p1=0.2, log_m=14.25, log_threshold=14.0, exact=True)
    suspension = Suspension(
        start=START, until=moment("1d"), contracts=frozenset(), offence=4,
        evidence={LANGUAGE: earned}, log_r={LANGUAGE: 1.5}, locales=frozenset({Locale("th")}),
    )  # fmt: skip
    evidence = Evidence(log_m=0.1, rounds=1, attempts=2, fails=1, locales=frozenset({Locale("th")}))
    route = RouteState(
        streak=streak,
        suspension=suspension,
        offences=4,
        ended_at=START,
        hold_until=START,
        swallows=frozenset({RouteId("b")}),
        admitted=False,
        control_for=streak.suspicion,
        seen_at=START,
        evidence={LANGUAGE: evidence},
        days=(Day(start=START, attempts={LANGUAGE: 3}, fails={LANGUAGE: 1}),),
        weighed_at=START,
    )
    state = ModelState(
        model=MODEL,
        mode=next(mode for mode in type(ModelState.empty(MODEL).mode) if mode != "enforce"),
        paused=True,
        paused_until=START,
        released=True,
        capacity_low=True,
        weak=streak.suspicion,
        routes={RouteId("a"): route},
        named=frozenset({RouteId("a")}),
        builtin=frozenset({"p"}),
        runtime=frozenset({"q"}),
        entry_swallows={"p": frozenset({RouteId("a")})},
        control_failed_at={next(iter(streak.suspicion)): START},
        rounds=9,
        out_of_turn=1,
        last_round_at=START,
        last_line_at=START,
    )
    empty: dict[type, object] = {
        Streak: Streak(),
        RouteState: RouteState(),
        ModelState: ModelState.empty(MODEL),
        Evidence: Evidence(),
    }
    for value in (streak, route, state, evidence):
        unset = [
            f.name for f in fields(value) if getattr(value, f.name) == getattr(empty[type(value)], f.name)
        ]
        assert unset in ([], ["model"])
    assert state_from_json(json.loads(json.dumps(state_to_json(state)))) == state


def test_every_event_has_its_own_name() -> None:
    """The names are the log's kinds: none is used twice, all are past or plain."""
    assert len(set(EVENT_NAMES.values())) == len(EVENT_NAMES) == 25


BROKEN = [
    {},
    {"event": "suspendedd", "at": "2026-01-05T00:00:00Z", "model": "m"},
    {"event": ["suspended"], "at": "2026-01-05T00:00:00Z", "model": "m"},
    {"event": "ladder_reset", "at": "2026-01-05T00:00:00Z", "model": "m"},
    {"event": "ladder_reset", "at": "2026-01-05T00:00:00Z", "route": "a"},
    {"event": "ladder_reset", "at": "2026-01-05T00:00:00Z", "model": "m", "route": 3},
    {"event": "ladder_reset", "at": "2026-01-05T00:00:00Z", "model": "m", "route": "a", "more": 1},
    {"event": "ladder_reset", "at": "2026-01-05T00:00:00", "model": "m", "route": "a"},
    {"event": "ladder_reset", "at": "yesterday", "model": "m", "route": "a"},
    {"event": "mode_changed", "at": "2026-01-05T00:00:00Z", "model": "m", "mode": "off"},
    {"event": "exclusions", "at": "2026-01-05T00:00:00Z", "model": "m", "ignore": "a"},
    {"event": "routes_named", "at": "2026-01-05T00:00:00Z", "model": "m", "routes": []},
    {
        "event": "checkpoint",
        "at": "2026-01-05T00:00:00Z",
        "model": "m",
        "state": {"model": "m", "rounds": True},
    },
]


@pytest.mark.parametrize("data", BROKEN, ids=range(len(BROKEN)))
def test_broken_event_is_refused(data: dict[str, object]) -> None:
    """Unknown kinds and fields, missing ones and wrong types are an error of the store."""
    with pytest.raises(StoreError):
        event_from_json(data)


def test_event_of_another_model_or_of_an_unknown_route_is_refused() -> None:
    """A log that does not fit is not folded."""
    state = ModelState.empty(MODEL)
    with pytest.raises(StoreError):
        evolve(state, LadderReset(at=START, model=ModelId("other/model"), route=RouteId("a")))
    with pytest.raises(StoreError):
        evolve(state, LadderReset(at=START, model=MODEL, route=RouteId("a")))
