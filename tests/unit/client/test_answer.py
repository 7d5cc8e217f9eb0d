"""What is told of an answer that passes."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable
from typing import Any

import pytest

from routecanary.client.answer import MAX_DOCUMENT, AnswerReader

NAMES = {"id": "gen-1", "model": "acme/chat-2", "provider": "North Host"}


def a_frame(content: str | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    delta = {} if content is None else {"content": content}
    return {**NAMES, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def a_stream(*frames: dict[str, Any] | str) -> bytes:
    """Write frames as events; a text is written as it is."""
    return b"".join(
        frame.encode() if isinstance(frame, str) else b"data: " + json.dumps(frame).encode() + b"\n\n"
        for frame in frames
    )


def read(*reads: bytes) -> AnswerReader:
    """Feed one read a second."""
    reader = AnswerReader()
    for at, data in enumerate(reads):
        reader.feed(data, float(at))
    reader.finish()
    return reader


def facts(reader: AnswerReader) -> dict[str, object]:
    names = ("id", "model", "provider", "finish_reason", "prompt_tokens", "completion_tokens")
    return {name: getattr(reader, name) for name in (*names, "empty", "first_text_at")}


USAGE = {**NAMES, "choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 7}}
WHOLE = (
    ": keep-alive\n\n",
    a_frame(""),
    a_frame(" \u200b\n"),
    {**NAMES, "choices": [{"index": 0, "delta": {"reasoning": "hm"}}]},
    a_frame("Once"),
    a_frame(" upon a"),
    a_frame(" time", "stop"),
    USAGE,
    "data: [DONE]\n\n",
)


def test_a_stream_tells_who_served_and_when_the_first_text_came() -> None:
    """Comments, white space and reasoning are no text; the sixth read is the first that shows some."""
    reader = read(*(a_stream(piece) for piece in WHOLE))
    assert facts(reader) == {
        **NAMES,
        "finish_reason": "stop",
        "prompt_tokens": 12,
        "completion_tokens": 7,
        "empty": False,
        "first_text_at": 4.0,
    }


@pytest.mark.parametrize("size", [1, 2, 7, 61, 10_000])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zlib.compress])
def test_the_borders_of_the_reads_and_the_encoding_change_nothing(size: int, pack: Any) -> None:
    """The same facts come of any cut, and of bytes as they came off the wire."""
    body = pack(a_stream(*WHOLE))
    reader = read(*(body[at : at + size] for at in range(0, len(body), size)))
    told = facts(reader)
    assert told.pop("first_text_at") is not None
    assert told == {k: v for k, v in facts(read(a_stream(*WHOLE))).items() if k != "first_text_at"}


@pytest.mark.parametrize("odd", ["", "\ud800", "a\nb", "x" * 201, 5, None, ["Beta"]])
def test_a_name_that_cannot_be_kept_is_none(odd: object) -> None:
    """Half a pair, a new line, a number: whoever records it must not stumble over it."""
    frame = dict.fromkeys(NAMES, odd) | {"choices": [{"delta": {}, "finish_reason": odd}]}
    reader = read(a_stream(frame))
    assert (reader.id, reader.model, reader.provider, reader.finish_reason) == (None, None, None, None)


def test_a_document_is_read_at_its_end_and_has_no_first_text() -> None:
    """What is not streamed was not timed either."""
    message = {"role": "assistant", "content": "Hello."}
    body = json.dumps(
        {**NAMES, "choices": [{"message": message, "finish_reason": "length"}], "usage": USAGE["usage"]}
    ).encode()
    reader = read(body[:9], body[9:])
    assert reader.first_text_at is None
    assert (reader.id, reader.provider, reader.finish_reason) == ("gen-1", "North Host", "length")
    assert reader.empty is False
    assert reader.completion_tokens == 7


@pytest.mark.parametrize(
    ("frames", "finish", "empty"),
    [
        ([a_frame(" \n"), a_frame(None, "stop")], "stop", True),
        ([a_frame(None, "stop")], "stop", True),
        ([a_frame("Half")], None, None),
        (
            [{**NAMES, "choices": [{"delta": {"tool_calls": [{"id": "c"}]}}]}, a_frame(None, "tool_calls")],
            "tool_calls",
            False,
        ),
        ([a_frame("Half"), {"error": {"code": 502, "message": "x"}}], "error", None),
        ([a_frame("Half"), {**a_frame(""), "error": {"code": 502}}], "error", None),
    ],
)
def test_empty_is_said_only_of_a_completed_answer(
    frames: Iterable[Any], finish: str | None, empty: bool | None
) -> None:
    """A cut stream or an error is another story than silence."""
    reader = read(*(a_stream(frame) for frame in frames))
    assert (reader.finish_reason, reader.empty) == (finish, empty)


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"[]", b"<html>502</html>", b"data: {", b'{"choices": 3}'),
        *(b"\x1b\x00\xf8brotli", b"\x1f\x8bno", b"\xff\xfe"),
        b'data: {"id": 7, "usage": {"prompt_tokens": true}, "choices": [null]}\n\n',
    ],
)
def test_what_cannot_be_read_tells_nothing_and_raises_nothing(body: bytes) -> None:
    """A page, an unknown encoding or half a frame leaves every fact unsaid."""
    assert set(facts(read(body)).values()) == {None}


def test_an_answer_too_large_to_keep_is_not_kept() -> None:
    """Memory is bounded, whatever comes."""
    reader = AnswerReader()
    reader.feed(b"{" + b" " * MAX_DOCUMENT, 0.0)
    reader.feed(b"}" * 10, 1.0)
    reader.finish()
    assert set(facts(reader).values()) == {None}


def test_who_served_is_read_from_the_last_chunk_of_the_other_gateway() -> None:
    """Its chunks name no provider; what a host puts beside a named one is not believed."""
    names = {"id": "gen_1", "model": "acme/chat"}
    metadata = {"provider_metadata": {"gateway": {"routing": {"finalProvider": "alpha"}}}}
    last = {"choices": [{"index": 0, "delta": metadata, "finish_reason": "stop"}]}
    text = {"choices": [{"index": 0, "delta": {"content": "Once"}}]}
    reader = read(*(a_stream({**names, **frame}) for frame in (text, text, last)))
    assert (reader.provider, reader.finish_reason) == ("alpha", "stop")
    named = read(*(a_stream({**names, "provider": "Beta", **frame}) for frame in (text, last)))
    assert named.provider == "Beta"
