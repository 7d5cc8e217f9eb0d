"""The event-stream decoder: any borders of reads give the same events."""

from __future__ import annotations

from itertools import pairwise

import httpx2
from hypothesis import example, given, settings
from hypothesis import strategies as st

from routecanary.domain.sse import SseDecoder

UNTIMED = settings(deadline=None)  # the machine may be busy

PIECES = st.sampled_from(
    [
        *(b"data: ", b"data:", b"data", b"event: x", b"id: 1", b": comment", b":"),
        *(b"\n", b"\r", b"\r\n", b"\n\n", b"\xef\xbb\xbf", b"\xff\xc3", "é€🙂".encode()),
        *(b'{"a": 1}', b"[DONE]", b" ", b"stray line", b"x" * 50),
    ]
)
STREAMS = st.lists(PIECES, max_size=40).map(b"".join)
PLACES = st.lists(st.integers(min_value=0), max_size=12)
FIELDS = st.sampled_from(["data: a", "data:b", "data:  c", ": comment", "event: e", "id: 1", "é: x", "", ""])


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(stream), *(place % (len(stream) + 1) for place in places)})
    return [stream[start:end] for start, end in pairwise(edges)]


def decoded(reads: list[bytes]) -> tuple[list[str], int, str, bool]:
    decoder = SseDecoder()
    events = [event.data for read in reads for event in decoder.feed(read)]
    events += [event.data for event in decoder.finish()]
    return events, decoder.comments, decoder.stray, decoder.exceeded


@UNTIMED
@given(stream=STREAMS, places=PLACES)
@example(stream=b"data: a\r\ndata: b\r\n\r\n", places=[8])
@example(stream=b"\xef\xbb\xbfdata: a\n\n", places=[1, 2])
def test_borders_of_reads_change_nothing(stream: bytes, places: list[int]):
    """Events, comments and stray lines are those of the stream read at once."""
    assert decoded(cut(stream, places)) == decoded([stream])
    assert decoded([bytes([byte]) for byte in stream]) == decoded([stream])


@UNTIMED
@given(lines=st.lists(FIELDS, max_size=30), end=st.sampled_from(["\n", "\r", "\r\n"]))
def test_events_are_those_of_another_decoder(lines: list[str], end: str):
    """Where the meanings agree (events that carry data), httpx2 finds the same."""
    stream = end.join([*lines, "", ""]).encode()
    headers = {"content-type": "text/event-stream"}
    response = httpx2.Response(
        200, headers=headers, content=stream, request=httpx2.Request("GET", "http://x")
    )
    expected = [event.data for event in httpx2.EventSource(response) if event.data]
    assert [event for event in decoded([stream])[0] if event] == expected


@UNTIMED
@given(stream=st.binary(max_size=400), places=PLACES)
def test_any_bytes_are_survived(stream: bytes, places: list[int]):
    """Random bytes never raise, and their borders change nothing either."""
    assert decoded(cut(stream, places)) == decoded([stream])
