"""The event-stream decoder: framing, comments, borders of reads, bounds."""

from __future__ import annotations

import pytest

from routecanary.domain.sse import SseDecoder


def decode(*reads: bytes, **bounds: int) -> list[str]:
    decoder = SseDecoder(**bounds)
    return [event.data for read in reads for event in decoder.feed(read)] + [
        event.data for event in decoder.finish()
    ]


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: a\n\ndata: b\n\n", ["a", "b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
        (b"data: a\r\rdata: b\r\r", ["a", "b"]),
        (b"data:a\n\n", ["a"]),
        (b"data:  a\n\n", [" a"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b"data\n\n", [""]),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b": comment\n\ndata: a\n\n", ["a"]),
        (b":\n\n:\ndata: a\n\n", ["a"]),
        (b"event: x\nid: 7\nretry: 5\ndata: a\n\n", ["a"]),
        (b"data: : keepalive\n\n", [": keepalive"]),
        (b"data: a\n\n\n\ndata: b\n\n", ["a", "b"]),
        (b"data: a\n\ndata: b", ["a", "b"]),
        (b"data: a\n\ndata: b\n", ["a", "b"]),
        (b"", []),
        (b"\n\n\n", []),
        (b"data: \xe2\x82\xac\n\n", ["€"]),
    ],
)
def test_events_are_framed_as_the_standard_says(stream: bytes, events: list[str]):
    """Every line ending, field form and missing last blank line gives the same events, whole or bytewise."""
    assert decode(stream) == events
    assert decode(*(stream[place : place + 1] for place in range(len(stream)))) == events


def test_line_end_split_between_reads_is_one_line_end():
    """A CR and the LF of the next read part one line, not two."""
    assert decode(b"data: a\r", b"\ndata: b\r\n\r\n") == ["a\nb"]


def test_byte_order_mark_is_dropped_only_at_the_front():
    """A mark split over reads is dropped; a later one makes an unknown field."""
    assert decode(b"\xef", b"\xbb", b"\xbfdata: a\n\n", b"\xef\xbb\xbfdata: b\n\n") == ["a"]


def test_name_of_an_event_is_kept_for_it_alone():
    """The next event is a message again, whichever way it is read."""
    decoder = SseDecoder()
    events = decoder.feed(b"event: error\ndata: a\n\ndata: b\n\n") + decoder.feed(b"event: x\n")
    events += decoder.feed(b"data: c\n\n") + decoder.feed(b"event: y\n\n") + decoder.feed(b"data: d\n\n")
    assert [(event.name, event.data) for event in events] == [
        ("error", "a"),
        ("", "b"),
        ("x", "c"),
        ("", "d"),
    ]


def test_comments_are_counted_apart():
    """Comments are no events, and their number is evidence."""
    decoder = SseDecoder()
    assert decoder.feed(b": one\n\n: two\ndata: a\n\n:\n\n")[0].data == "a"
    assert decoder.comments == 3


def test_lines_of_no_field_are_kept_as_stray():
    """A bare JSON error glued to a stream is not lost."""
    decoder = SseDecoder()
    decoder.feed(b'data: a\n\n{\n "error": {"code": 503}\n}\n')
    decoder.finish()
    assert decoder.stray == '{\n "error": {"code": 503}\n}\n'


def test_undecodable_bytes_are_flagged():
    """Latin-1 bytes become U+FFFD here, and the event says that it was us."""
    event = SseDecoder().feed(b"data: caf\xe9\n\n")[0]
    assert (event.data, event.valid_utf8) == ("caf\ufffd", False)


@pytest.mark.parametrize(
    "reads",
    [
        [b"data: " + b"x" * 200],
        [b"data: " + b"x" * 200 + b"\n\n"],
        [b"x" * 60, b"y" * 60],
        [b"data: " + b"x" * 40 + b"\n"] * 3,
    ],
    ids=["open line", "whole block", "two reads", "large event"],
)
def test_bounds_stop_the_decoder(reads: list[bytes]):
    """A line of more than 100 bytes, or an event of more than 100, ends decoding with a flag."""
    decoder = SseDecoder(max_line=100, max_event=100)
    for read in reads:
        decoder.feed(read)
    assert decoder.exceeded
    assert decoder.feed(b"data: a\n\n") == []
    assert decoder.finish() == []


def test_events_before_a_bound_are_kept():
    """What was whole before the flood stays."""
    assert decode(b"data: a\n\n", b"data: " + b"x" * 200 + b"\n\n", max_line=100) == ["a"]
