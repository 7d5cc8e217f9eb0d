"""Timed reads in, one transcript out; the deadlines and the bounds."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from routecanary.domain.names import Locale, ModelId, RouteId
from routecanary.domain.probe import Probe, ProbeKind, Scene
from routecanary.domain.transcript import Chunk, Ending, EndingKind
from routecanary.probe.recorder import Bounds, Deadlines, Recorder

START = 1_000.0  # seconds of some monotonic clock
STARTED_AT = datetime(2026, 1, 5, tzinfo=UTC)
DEADLINES = Deadlines(
    connect=timedelta(seconds=10),
    headers=timedelta(seconds=30),
    first_text=timedelta(seconds=25),
    gap=timedelta(seconds=20),
    total=timedelta(seconds=60),
    linger=timedelta(seconds=2),
)
PROBE = Probe(
    model=ModelId("acme/chat-2"),
    route=RouteId("north-host"),
    kind=ProbeKind.CHAT,
    locale=Locale("en"),
    scene=Scene(id="inn", prompt="{place}"),
    spec_version=3,
    attempt=1,
    body={"model": "acme/chat-2", "stream": True},
    provider_names=frozenset({"North Host"}),
    accepted_models=frozenset({"acme/chat-2"}),
)
HEADERS = (("content-type", "text/event-stream"),)


def event(content: str = "Rain.", **delta: object) -> bytes:
    frame = {"choices": [{"index": 0, "delta": {"content": content, **delta}}]}
    return f"data: {json.dumps(frame, ensure_ascii=False)}\n\n".encode()


TEXT = event()
DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": OPENROUTER PROCESSING\n\n"


def a_recorder(**bounds: int) -> Recorder:
    return Recorder(PROBE, at=START, started_at=STARTED_AT, deadlines=DEADLINES, bounds=Bounds(**bounds))


def an_open_one(status: int = 200, **bounds: int) -> Recorder:
    """Connected within a second, opened one second later."""
    recorder = a_recorder(**bounds)
    recorder.written(START + 1)
    recorder.opened(START + 2, status, HEADERS)
    return recorder


def test_a_transcript_counts_from_the_last_byte_of_the_request() -> None:
    """Connecting is counted apart; every other time is milliseconds since the request was out."""
    recorder = an_open_one()
    recorder.feed(START + 3.5, KEEP_ALIVE)
    recorder.feed(START + 4, TEXT)
    recorder.ended(START + 5, EndingKind.EOF)
    transcript = recorder.transcript(lag_ms=12.5)
    assert transcript.connect_ms == 1_000
    assert transcript.headers_ms == 1_000
    assert transcript.chunks == (Chunk(2_500, KEEP_ALIVE), Chunk(3_000, TEXT))
    assert transcript.ending == Ending(kind=EndingKind.EOF, at_ms=4_000)
    assert (transcript.status, transcript.headers) == (200, HEADERS)
    assert (transcript.lag_ms, transcript.started_at) == (12.5, STARTED_AT)


def test_a_transcript_carries_what_was_asked() -> None:
    """The judges need the pin, the names that may answer and the scene."""
    recorder = a_recorder()
    recorder.ended(START, EndingKind.CONNECT_FAILED)
    transcript = recorder.transcript()
    assert (transcript.model, transcript.route, transcript.kind) == (PROBE.model, PROBE.route, PROBE.kind)
    assert (transcript.locale, transcript.attempt, transcript.spec_version) == ("en", 1, 3)
    assert (transcript.request, transcript.scene) == (PROBE.body, PROBE.scene)
    assert transcript.provider_names == {"North Host"}
    assert transcript.accepted_models == {"acme/chat-2"}


def test_a_connection_that_never_was_has_no_times_of_an_answer() -> None:
    """Its ending counts from the start."""
    recorder = a_recorder()
    recorder.ended(START + 0.25, EndingKind.CONNECT_FAILED, "not connected (ECONNREFUSED)")
    transcript = recorder.transcript()
    assert transcript.ending.at_ms == 250
    assert transcript.ending.detail == "not connected (ECONNREFUSED)"
    assert (transcript.status, transcript.connect_ms, transcript.headers_ms) == (None, None, None)
    assert recorder.waiting_window() is None


def test_an_answer_before_the_whole_request_starts_the_clock() -> None:
    """A refusal may come while the body is still being written."""
    recorder = a_recorder()
    recorder.opened(START + 2, 413, ())
    recorder.written(START + 3)
    recorder.ended(START + 4, EndingKind.EOF)
    assert recorder.transcript().headers_ms == 0
    assert recorder.transcript().ending.at_ms == 2_000


def test_the_first_ending_stays() -> None:
    """What follows from closing the connection is not how it ended."""
    recorder = an_open_one()
    recorder.ended(START + 3, EndingKind.BOUND_EXCEEDED, "enough")
    recorder.ended(START + 4, EndingKind.RESET)
    assert recorder.transcript().ending.kind is EndingKind.BOUND_EXCEEDED


def test_a_recording_is_read_only_after_its_end() -> None:
    """Anything else is a mistake of the caller."""
    with pytest.raises(RuntimeError):
        a_recorder().transcript()


def test_cookies_are_not_kept() -> None:
    """They may hold a session of ours."""
    recorder = a_recorder()
    recorder.opened(START, 200, [("set-cookie", "secret=1"), ("cf-ray", "1")])
    recorder.ended(START, EndingKind.EOF)
    assert recorder.transcript().headers == (("cf-ray", "1"),)


def connecting() -> Recorder:
    return a_recorder()


def asked() -> Recorder:
    recorder = a_recorder()
    recorder.written(START + 1)
    return recorder


def silent() -> Recorder:
    return an_open_one()


def kept_alive() -> Recorder:
    recorder = an_open_one()
    for second in range(3, 16):
        recorder.feed(START + second, KEEP_ALIVE)
    return recorder


def speaking() -> Recorder:
    recorder = an_open_one()
    recorder.feed(START + 3, TEXT)
    return recorder


def chatty() -> Recorder:
    recorder = an_open_one()
    for second in range(3, 51):
        recorder.feed(START + second, TEXT)
    return recorder


def refused() -> Recorder:
    return an_open_one(429)


def done() -> Recorder:
    recorder = an_open_one()
    recorder.feed(START + 3, TEXT + DONE)
    return recorder


@pytest.mark.parametrize(
    ("state", "name", "due"),
    [
        (connecting, "connect", 10),
        (asked, "headers", 31),
        (silent, "gap", 22),
        (kept_alive, "first_text", 26),
        (speaking, "gap", 23),
        (chatty, "total", 61),
        (refused, "gap", 22),
    ],
)
def test_each_state_has_its_deadline(state: Callable[[], Recorder], name: str, due: float) -> None:
    """Just before it nothing happens; at it the recording ends, and names which one it was."""
    recorder = state()
    assert recorder.due() == START + due
    assert not recorder.expire(START + due - 0.001)
    assert recorder.expire(START + due)
    ending = recorder.transcript().ending
    assert (ending.kind, ending.detail) == (EndingKind.CLIENT_TIMEOUT, name)


def test_a_host_that_lingers_after_done_has_ended_well() -> None:
    """A few hosts keep the connection open: that is not cut, and not worth the gap's wait."""
    recorder = done()
    assert recorder.due() == START + 5
    assert recorder.expire(START + 5)
    assert recorder.transcript().ending.kind is EndingKind.EOF


@pytest.mark.parametrize(
    "reads",
    [
        [b"data: [DONE]"],
        [b"data: [DONE]\r\n\r\n"],
        [TEXT + DONE],
        [b"data: [DO", b"NE]\n\n"],
        [bytes([byte]) for byte in DONE],
    ],
)
def test_done_is_seen_however_it_is_cut(reads: list[bytes]) -> None:
    """The end of the stream is the end of the stream."""
    recorder = an_open_one()
    for read in reads:
        recorder.feed(START + 3, read)
    assert recorder.due() == START + 5


def test_a_text_that_speaks_of_done_is_not_done() -> None:
    """Inside a frame the word is followed by the frame's end."""
    recorder = an_open_one()
    recorder.feed(START + 3, event("data: [DONE]") + event("]"))
    assert recorder.due() == START + 23


@pytest.mark.parametrize(
    "hidden",
    [
        KEEP_ALIVE,
        event(""),
        event(" \n\u200b"),
        event("", reasoning="Let me think."),
        b'data: {"choices":[]}\n\n',
        b"data: {broken\n\n",
        b"data: " + b"[" * 100_000 + b"\n\n",
        b"\xff\xfe\n\n",
        b"<html>busy</html>",
    ],
)
def test_what_no_reader_sees_is_no_first_text(hidden: bytes) -> None:
    """Comments, white space, reasoning and rubbish leave the deadline standing."""
    recorder = an_open_one()
    assert recorder.feed(START + 3, hidden)
    assert recorder.feed(START + 10, hidden)
    assert recorder.due() == START + 26


def test_text_under_an_error_status_is_no_first_text() -> None:
    """Only an opened stream has a first text."""
    recorder = an_open_one(500)
    recorder.feed(START + 3, TEXT)
    assert recorder.waiting_window() == (START + 1, START + 1)


def test_the_window_of_waiting_ends_with_the_first_text_or_with_the_answer() -> None:
    """In it, our own lateness would be taken for the provider's."""
    recorder = an_open_one()
    recorder.feed(START + 3, KEEP_ALIVE)
    recorder.ended(START + 9, EndingKind.EOF)
    assert recorder.waiting_window() == (START + 1, START + 9)
    recorder = speaking()
    recorder.ended(START + 9, EndingKind.EOF)
    assert recorder.waiting_window() == (START + 1, START + 3)


@pytest.mark.parametrize(
    ("bounds", "reads", "detail"),
    [
        ({"bytes": 100}, [b"x\n" * 50, b"\n"], "more than 100 bytes"),
        ({"chunks": 3}, [b"\n"] * 4, "more than 3 reads"),
        ({"line": 10}, [b"x" * 10, b"x"], "a line of more than 10 bytes"),
        ({"line": 10}, [b"abc\n" + b"x" * 8, b"x" * 3], "a line of more than 10 bytes"),
    ],
)
def test_a_bound_ends_the_recording_with_the_read_that_exceeds_it(
    bounds: dict[str, int], reads: list[bytes], detail: str
) -> None:
    """Up to the bound all is kept; beyond, nothing more is wanted."""
    recorder = an_open_one(**bounds)
    wanted = [recorder.feed(START + 3, read) for read in reads]
    assert wanted == [True] * (len(reads) - 1) + [False]
    ending = recorder.transcript().ending
    assert (ending.kind, ending.detail) == (EndingKind.BOUND_EXCEEDED, detail)


@pytest.mark.parametrize("line_end", [b"\n", b"\r", b"\r\n"])
def test_short_lines_never_add_up_to_a_long_one(line_end: bytes) -> None:
    """Whatever ends them."""
    recorder = an_open_one(line=10)
    assert all(recorder.feed(START + 3, b"12345678" + line_end) for _ in range(10))
