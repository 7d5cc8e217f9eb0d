"""The latency contract: visible text within ten seconds, inclusive."""

from __future__ import annotations

import pytest

from routecanary.domain.names import LATENCY
from routecanary.domain.probe import ProbeKind
from routecanary.domain.transcript import EndingKind
from routecanary.judge.examine import judge_transcript
from routecanary.judge.settings import Settings
from tests.answers import DONE, a_frame, a_stream, a_transcript, as_event, said


@pytest.mark.parametrize(
    ("first_ms", "verdict"),
    [(9_999.0, "pass"), (10_000.0, "pass"), (10_000.1, "fail:latency"), (29_000.0, "fail:latency")],
)
def test_ten_seconds_are_in_time(first_ms: float, verdict: str):
    """Just before, at and just after the limit."""
    assert said(LATENCY, a_stream("A fig.", first_ms=first_ms)) == verdict


@pytest.mark.parametrize(
    "early",
    [
        b": PROCESSING\n\n",
        as_event(a_frame({"content": " \n\u200b"})),
        as_event(a_frame({"reasoning": "so"})),
    ],
    ids=["comment", "white space", "reasoning"],
)
def test_what_is_no_text_does_not_stop_the_clock(early: bytes):
    """Comments, white space and reasoning come at once, the word at 15 s."""
    late = as_event(a_frame({"content": "A fig."}, "stop"))
    assert said(LATENCY, a_transcript(early, late, DONE, first_ms=200, step_ms=15_000)) == "fail:latency"


def test_silence_until_our_deadline_fails():
    """An open stream without text is late, however late it would have been."""
    silent = a_transcript(b": hi\n\n", ending=EndingKind.CLIENT_TIMEOUT, ended_ms=30_000)
    assert said(LATENCY, silent) == "fail:latency"


def test_empty_answer_in_time_is_not_late():
    """Another contract owns emptiness."""
    assert said(LATENCY, a_stream("", ended_ms=900)) == "inconclusive:no_text"


def test_structured_call_owes_no_text():
    """The contract does not apply where a tool call is the answer."""
    call = as_event(
        a_frame({"tool_calls": [{"index": 0, "function": {"name": "ping", "arguments": "{}"}}]}, "tool_calls")
    )
    assert said(LATENCY, a_transcript(call, DONE)) == "skipped:tool_calls"


@pytest.mark.parametrize(("lag_ms", "verdict"), [(250.0, "fail:latency"), (251.0, "inconclusive:own_lag")])
def test_own_lag_voids_the_verdict(lag_ms: float, verdict: str):
    """More than a quarter of a second of our own event loop."""
    assert said(LATENCY, a_stream("A fig.", first_ms=12_000, lag_ms=lag_ms)) == verdict


def test_limit_comes_from_the_settings():
    """Nothing is global."""
    found = judge_transcript(a_stream("A fig.", first_ms=3_000), Settings(latency_limit_ms=2_000))
    assert str(found[LATENCY]) == "fail:latency"


@pytest.mark.parametrize(
    ("kind", "applies"),
    [(ProbeKind.CHAT, True), (ProbeKind.ANY, True), (ProbeKind.FILTER, False), (ProbeKind.STRUCTURED, False)],
)
def test_only_the_chat_probe_feeds_latency(kind: ProbeKind, applies: bool):
    """policy.md §1: which transcript feeds which verdict."""
    assert (LATENCY in judge_transcript(a_stream("A fig.", kind=kind))) is applies
