"""What did the host answer, once the bytes are read?

The decoded view of a transcript that every judge works on. Reading is tolerant of every shape seen in
the wild (content parts, missing deltas, usage in odd places, errors under HTTP 200), bounded, and never
raises: what cannot be read becomes a flag.

Source: openrouter-wire.md §3, §4, §9; the rules of the transcript cases (docs/judges.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from routecanary.domain.asked import Asked, asked_of
from routecanary.domain.frames import is_visible, object_in, visible_text_in
from routecanary.domain.gateway import gateway_of_request
from routecanary.domain.inflate import inflated
from routecanary.domain.probe import Json
from routecanary.domain.reading import Reading
from routecanary.domain.shortcut import Shortcut, shortcut_of
from routecanary.domain.sse import SseDecoder
from routecanary.domain.transcript import EndingKind, Transcript

__all__ = ["Answer", "Form", "ToolCall", "is_visible", "read_answer", "visible_text_in"]

_TRIES: Final = 16  # reads in a row that were read in full: no two of this host are alike

_decode: Final = json.JSONDecoder().decode  # keeps lone surrogates and NaN, as the wire had them


class Form(StrEnum):
    """What the body turned out to be, whatever its headers promised."""

    STREAM = "stream"
    DOCUMENT = "document"  # one JSON document
    BROKEN = "broken"  # began as a JSON document, does not parse
    HTML = "html"
    OTHER = "other"  # text or bytes of no known kind
    EMPTY = "empty"
    UNREADABLE = "unreadable"  # a content encoding that does not decode


class ToolCall(NamedTuple):
    """One structured tool call, its argument fragments joined."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer as a reader would have it; flags say what was odd on the way.

    `finish_reason` is the last non-empty one. `error` is the first error object found at top level, in a
    choice, as a whole body or glued to the stream; a bare string is wrapped as `{"message": …}`.
    `first_text_ms` is the arrival of the read that completed the first frame with visible text.
    """

    transcript: Transcript
    asked: Asked
    form: Form
    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    finish_reason: str | None = None
    native_finish_reason: str | None = None
    error: Mapping[str, Json] | None = None
    filtered: str | None = None  # a filter's own annotation that it cut: which one
    usage: Mapping[str, Json] | None = None
    providers: tuple[str, ...] = ()  # display names, in order of appearance
    tried: tuple[str, ...] = ()  # whom the gateway says that it asked, where it says so
    models: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    created: int | None = None  # Unix seconds, as the first frame says
    done: bool = False  # `[DONE]` came
    tool_calls: tuple[ToolCall, ...] = ()
    first_text_ms: float | None = None
    frames: int = 0  # JSON frames read
    bad_frames: int = 0  # data that is no JSON object
    keepalive_frames: int = 0  # data that is only a keep-alive
    html_frames: int = 0  # data that is an HTML page
    comments: int = 0
    invalid_utf8: bool = False
    exceeded: bool = False  # more than we are willing to read
    legacy_text: bool = False  # text where only an old completion client looks for it
    cut_document: bool = False  # a JSON body that ends too early
    pipeline: tuple[str, ...] = ()  # what the gateway did to the request or the answer
    body: str = ""  # the start of a body that is an error or neither stream nor document

    @property
    def complete(self) -> bool:
        """Say whether the host said that it was done."""
        return self.finish_reason is not None or self.done or self.form is Form.DOCUMENT

    @property
    def has_text(self) -> bool:
        return is_visible(self.text)

    @property
    def prompt_tokens(self) -> int | None:
        return _count(self.usage, "prompt_tokens")

    @property
    def completion_tokens(self) -> int | None:
        return _count(self.usage, "completion_tokens")

    @property
    def reasoning_tokens(self) -> int | None:
        details = (self.usage or {}).get("completion_tokens_details")
        return _count(details if isinstance(details, dict) else None, "reasoning_tokens")


def read_answer(transcript: Transcript) -> Answer:
    """Read a transcript; never raises."""
    reading = Reading(gateway=gateway_of_request(transcript.request))
    chunks, readable = inflated(transcript)
    asked = asked_of(transcript)
    if not readable:
        return Answer(transcript=transcript, asked=asked, form=Form.UNREADABLE)
    content_type = (transcript.header("content-type") or "").lower()
    head = _head(chunks)
    if not head:
        form = Form.EMPTY
    elif head[:1] in b"{[":
        form = _read_document(chunks, reading)
    elif head[:1] == b"<":
        form = Form.HTML
    elif "event-stream" in content_type or head.startswith((b"data:", b":", b"event:", b"id:", b"retry:")):
        form = Form.STREAM
        _read_stream(chunks, reading)
    else:
        form = Form.OTHER
    body = (
        b"".join(data for _, data in chunks)[:4096] if form in (Form.HTML, Form.OTHER, Form.BROKEN) else b""
    )
    return Answer(
        transcript=transcript,
        asked=asked,
        form=form,
        body=body.decode("utf-8", "replace"),
        exceeded=reading.exceeded or transcript.ending.kind is EndingKind.BOUND_EXCEEDED,
        text="".join(reading.text),
        reasoning="".join(reading.reasoning),
        refusal="".join(reading.refusal),
        finish_reason=reading.finish_reason,
        native_finish_reason=reading.native_finish_reason,
        error=reading.error,
        filtered=reading.filtered,
        usage=reading.usage,
        providers=tuple(reading.providers),
        tried=tuple(reading.tried),
        models=tuple(reading.models),
        ids=tuple(reading.ids),
        created=reading.created,
        done=reading.done,
        tool_calls=tuple(ToolCall(call[0], "".join(call[1])) for call in reading.calls.values()),
        first_text_ms=reading.first_text_ms,
        frames=reading.frames,
        bad_frames=reading.bad_frames,
        keepalive_frames=reading.keepalive_frames,
        html_frames=reading.html_frames,
        comments=reading.comments,
        invalid_utf8=reading.invalid_utf8,
        legacy_text=reading.legacy_text,
        cut_document=reading.cut_document,
        pipeline=tuple(reading.pipeline),
    )


def _read_stream(chunks: list[tuple[float, bytes]], reading: Reading) -> None:
    decoder = SseDecoder()
    at_ms, tries = 0.0, _TRIES
    shortcut: Shortcut | None = None
    for at_ms, data in chunks:
        at_border = decoder.at_border
        piece = shortcut.text_in(data) if shortcut is not None and at_border else None
        if piece is not None:
            reading.take_piece(piece, at_ms)
            tries = _TRIES
            continue
        events = decoder.feed(data)
        for event in events:
            reading.invalid_utf8 |= not event.valid_utf8
            reading.take_event(event.data, at_ms, event.name)
        if events:
            shortcut = shortcut_of(data) if at_border and tries > 0 else None
            tries -= 1
    for event in decoder.finish():
        reading.invalid_utf8 |= not event.valid_utf8
        reading.take_event(event.data, at_ms, event.name)
    reading.comments = decoder.comments
    reading.exceeded |= decoder.exceeded
    stray = decoder.stray
    if stray:
        frame = object_in(stray)
        if frame is not None and frame.get("error"):
            reading.take_frame(frame, at_ms)
        elif "{" in stray:
            reading.bad_frames += 1


def _read_document(chunks: list[tuple[float, bytes]], reading: Reading) -> Form:
    raw = b"".join(data for _, data in chunks)
    try:
        body = raw.decode()
    except UnicodeDecodeError:
        reading.invalid_utf8 = True
        body = raw.decode("utf-8", "replace")
    try:
        document = _decode(body.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        reading.cut_document = error.pos >= len(body.rstrip()) - 1 or error.msg.startswith("Unterminated")
        return Form.BROKEN
    except (ValueError, RecursionError):
        return Form.BROKEN
    if isinstance(document, list):  # one host wraps its error objects in a list
        document = next((item for item in document if isinstance(item, dict)), None)
    if not isinstance(document, dict):
        return Form.OTHER
    reading.take_frame(document, chunks[-1][0])
    return Form.DOCUMENT


def _head(chunks: Iterable[tuple[float, bytes]]) -> bytes:
    head = b""
    for _, data in chunks:
        head += data
        stripped = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if len(stripped) >= 16 or (stripped and len(head) > 256):
            return stripped[:64]
        if len(head) > 65_536:
            break
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:64]


def _count(mapping: Mapping[str, Json] | None, key: str) -> int | None:
    value = (mapping or {}).get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
