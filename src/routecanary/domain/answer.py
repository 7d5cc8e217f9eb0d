"""What did the host answer, once the bytes are read?

The decoded view of a transcript that every judge works on. Reading is tolerant of every shape seen in
the wild (content parts, missing deltas, usage in odd places, errors under HTTP 200), bounded, and never
raises: what cannot be read becomes a flag. Which frame first showed text is defined here once, for the
client that listens and for the judge that looks back.

Source: openrouter-wire.md §3, §4, §9; the rules of the transcript cases (docs/judges.md).
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple

from routecanary.domain.asked import Asked, asked_of
from routecanary.domain.probe import Json
from routecanary.domain.sse import SseDecoder
from routecanary.domain.transcript import EndingKind, Transcript

# White space, controls, zero-width and other characters that leave nothing on the screen.
_VISIBLE: Final = re.compile(
    r"[^\s\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
_MAX_TEXT: Final = 2_000_000  # characters of visible text
_MAX_INFLATED: Final = 33_554_432  # bytes after decompression
_MAX_NAMES: Final = 16  # distinct providers, models or ids worth keeping
_MAX_CALLS: Final = 256  # tool calls
_KEEPALIVE_WORDS: Final = frozenset({"ping", "keepalive", "keep-alive", "heartbeat"})

_decode_json: Final = json.JSONDecoder().decode  # keeps lone surrogates and NaN, as the wire had them
_decode_prefix: Final = json.JSONDecoder().raw_decode


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
        return _VISIBLE.search(self.text) is not None

    @property
    def completion_tokens(self) -> int | None:
        return _count(self.usage, "completion_tokens")

    @property
    def reasoning_tokens(self) -> int | None:
        details = (self.usage or {}).get("completion_tokens_details")
        return _count(details if isinstance(details, dict) else None, "reasoning_tokens")


def is_visible(text: str) -> bool:
    """Say whether a reader would see anything of this text."""
    return _VISIBLE.search(text) is not None


def visible_text_in(event_data: str) -> bool:
    """Say whether one event of a stream holds visible text; cheap enough for every frame."""
    if '"content"' not in event_data:
        return False
    frame = _object(event_data)
    choice = _first_choice(frame) if frame is not None else None
    return choice is not None and is_visible(_content(_message(choice)))


def read_answer(transcript: Transcript) -> Answer:
    """Read a transcript; never raises."""
    reading = _Reading()
    chunks, readable = _inflated(transcript)
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


@dataclass(slots=True)
class _Reading:
    """The answer while it is being read."""

    text: list[str] = field(default_factory=list)
    text_length: int = 0
    reasoning: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    finish_reason: str | None = None
    native_finish_reason: str | None = None
    error: Mapping[str, Json] | None = None
    filtered: str | None = None
    usage: Mapping[str, Json] | None = None
    providers: dict[str, None] = field(default_factory=dict)
    models: dict[str, None] = field(default_factory=dict)
    ids: dict[str, None] = field(default_factory=dict)
    created: int | None = None
    done: bool = False
    calls: dict[object, tuple[str, list[str]]] = field(default_factory=dict)
    first_text_ms: float | None = None
    frames: int = 0
    bad_frames: int = 0
    keepalive_frames: int = 0
    html_frames: int = 0
    comments: int = 0
    invalid_utf8: bool = False
    exceeded: bool = False
    legacy_text: bool = False
    cut_document: bool = False
    pipeline: dict[str, None] = field(default_factory=dict)

    def take_event(self, data: str, at_ms: float, name: str = "") -> None:
        if data == "[DONE]":
            self.done = True
            return
        frame = _object(data)
        if frame is not None:
            if name == "error" or frame.get("object") == "error":
                self._take_error(frame.get("error") or frame)
            may_note = "content_filter" in data or "eedback" in data or "base_resp" in data
            self.take_frame(frame, at_ms, may_note=may_note)
            return
        bare = data.strip()
        if not bare:
            return
        if bare == "[DONE]":
            self.done = True
        elif bare.startswith(":") or bare.lower() in _KEEPALIVE_WORDS:
            self.keepalive_frames += 1
        elif name == "error":
            self._take_error(bare)
        elif bare[:9].lower() == "<!doctype" or bare[:5].lower() == "<html":
            self.html_frames += 1
        else:
            self.bad_frames += 1

    def take_frame(self, frame: dict[str, Any], at_ms: float, *, may_note: bool = True) -> None:
        """Take one decoded frame, or the whole document of an answer that is not streamed.

        Args:
            may_note: Look for a filter's annotation too; nearly no frame has one.
        """
        self.frames += 1
        self._take_names(frame)
        if may_note and self.filtered is None:
            self.filtered = _filter_note(frame)
        error = frame.get("error")
        if error:
            self._take_error(error)
        choice = _first_choice(frame)
        if choice is None:
            return
        self._take_choice(choice)
        delta = choice.get("delta")
        message = delta if delta and isinstance(delta, dict) else _message(choice)
        if not message:
            if isinstance(choice.get("text"), str) and is_visible(choice["text"]):
                self.legacy_text = True
            return
        content = message.get("content")
        # A whole message beside the deltas repeats them; only the first channel is the answer.
        if content and ("delta" in choice or not self.text):
            self._take_text(content if isinstance(content, str) else _content(message), at_ms)
        if len(message) > 1 or not isinstance(content, str):
            self._take_others(message)

    def _take_choice(self, choice: dict[str, Any]) -> None:
        reason = choice.get("finish_reason")
        if reason and isinstance(reason, str):
            self.finish_reason = reason
        native = choice.get("native_finish_reason") or choice.get("stop_reason")
        if native and isinstance(native, str):
            self.native_finish_reason = native
        error = choice.get("error")
        if error:
            self._take_error(error)

    def _take_others(self, message: dict[str, Any]) -> None:
        """Take what stands beside the text: reasoning, a refusal, tool calls."""
        self._take_reasoning(message)
        refusal = message.get("refusal")
        if isinstance(refusal, str):
            self.refusal.append(refusal)
        calls = message.get("tool_calls")
        if isinstance(calls, list):
            for position, call in enumerate(calls):
                if isinstance(call, dict):
                    self._take_call(call, position)

    def _take_text(self, piece: str, at_ms: float) -> None:
        if not piece:
            return
        if self.first_text_ms is None and is_visible(piece):
            self.first_text_ms = at_ms
        if self.text_length + len(piece) > _MAX_TEXT:
            self.exceeded = True
            return
        self.text_length += len(piece)
        self.text.append(piece)

    def _take_reasoning(self, message: dict[str, Any]) -> None:
        """Take one channel of reasoning: its aliases repeat each other."""
        for key in ("reasoning", "reasoning_content"):
            piece = message.get(key)
            if isinstance(piece, str) and piece:
                self.reasoning.append(piece)
                return
        parts = message.get("reasoning_details")
        if not isinstance(parts, list):
            parts = message.get("content")
        if isinstance(parts, list):
            for part in parts:
                if isinstance(part, dict) and part.get("type") not in ("text", "output_text"):
                    for key in ("text", "summary", "thinking", "reasoning"):
                        if isinstance(part.get(key), str):
                            self.reasoning.append(part[key])
                            break

    def _take_call(self, call: dict[str, Any], position: int) -> None:
        index = call.get("index")
        key: object = index if isinstance(index, int) else call.get("id")
        if not isinstance(key, int | str):
            key = position
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        name, arguments = function.get("name"), function.get("arguments")
        known, pieces = self.calls.get(key, ("", []))
        if key not in self.calls and len(self.calls) >= _MAX_CALLS:
            self.exceeded = True
            return
        if isinstance(arguments, str):
            pieces.append(arguments)
        self.calls[key] = (known or (name if isinstance(name, str) else ""), pieces)

    def _take_error(self, error: Json) -> None:
        if self.error is None:
            self.error = error if isinstance(error, dict) else {"message": str(error)[:1000]}

    def _take_names(self, frame: dict[str, Any]) -> None:
        for key, names in (("provider", self.providers), ("model", self.models), ("id", self.ids)):
            value = frame.get(key)
            if isinstance(value, str) and value and value not in names and len(names) < _MAX_NAMES:
                names[value] = None
        if self.created is None:
            created = frame.get("created")
            if isinstance(created, int) and not isinstance(created, bool) and created > 0:
                self.created = created
        usage = frame.get("usage")
        if isinstance(usage, dict) and usage:
            self.usage = usage
        metadata = frame.get("openrouter_metadata")
        if isinstance(metadata, dict):
            for step in _dicts(metadata.get("pipeline")):
                if isinstance(step.get("type"), str) and len(self.pipeline) < _MAX_NAMES:
                    self.pipeline[step["type"]] = None


def _read_stream(chunks: list[tuple[float, bytes]], reading: _Reading) -> None:
    decoder = SseDecoder()
    at_ms = 0.0
    for at_ms, data in chunks:
        for event in decoder.feed(data):
            reading.invalid_utf8 |= not event.valid_utf8
            reading.take_event(event.data, at_ms, event.name)
    for event in decoder.finish():
        reading.invalid_utf8 |= not event.valid_utf8
        reading.take_event(event.data, at_ms, event.name)
    reading.comments = decoder.comments
    reading.exceeded |= decoder.exceeded
    stray = decoder.stray
    if stray:
        frame = _object(stray)
        if frame is not None and frame.get("error"):
            reading.take_frame(frame, at_ms)
        elif "{" in stray:
            reading.bad_frames += 1


def _read_document(chunks: list[tuple[float, bytes]], reading: _Reading) -> Form:
    raw = b"".join(data for _, data in chunks)
    try:
        body = raw.decode()
    except UnicodeDecodeError:
        reading.invalid_utf8 = True
        body = raw.decode("utf-8", "replace")
    try:
        document = _decode_json(body.removeprefix("\ufeff"))
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


def _object(data: str) -> dict[str, Any] | None:
    try:
        value, end = _decode_prefix(data)
        if end != len(data):
            value = _decode_json(data)  # white space after it is fine, anything else is not
    except (ValueError, RecursionError):
        return _object(data.lstrip()) if data[:1].isspace() else None
    return value if isinstance(value, dict) else None


def _first_choice(frame: dict[str, Any]) -> dict[str, Any] | None:
    """Find the answer's own choice: one of another index is another answer."""
    choices = frame.get("choices")
    if not isinstance(choices, list) or not choices:
        return None
    first = choices[0]
    if isinstance(first, dict) and not first.get("index"):
        return first
    return next((choice for choice in _dicts(choices) if not choice.get("index")), None)


def _message(choice: dict[str, Any]) -> dict[str, Any]:
    message = choice.get("delta")
    if not isinstance(message, dict) or (not message and "message" in choice):
        message = choice.get("message")
    return message if isinstance(message, dict) else {}


def _content(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(
        part["text"]
        for part in _dicts(content)
        if part.get("type") in ("text", "output_text") and isinstance(part.get("text"), str)
    )


def _filter_note(frame: dict[str, Any]) -> str | None:
    """Find a filter's annotation that it removed something."""
    for key in ("prompt_filter_results", "choices"):
        for item in _dicts(frame.get(key)):
            results = item.get("content_filter_results")
            if isinstance(results, dict):
                for category, result in results.items():
                    if isinstance(result, dict) and result.get("filtered") is True:
                        return f"{key}: {category} filtered"
    for key in ("promptFeedback", "prompt_feedback"):
        feedback = frame.get(key)
        if isinstance(feedback, dict):
            reason = feedback.get("blockReason") or feedback.get("block_reason")
            if isinstance(reason, str) and reason:
                return f"prompt blocked: {reason[:60]}"
    status = frame.get("base_resp")
    if isinstance(status, dict) and "sensitive" in str(status.get("status_msg", "")):
        return str(status["status_msg"])[:60]
    return None


def _inflated(transcript: Transcript) -> tuple[list[tuple[float, bytes]], bool]:
    """Undo the content encoding, read by read; False when it does not decode."""
    encoding = (transcript.header("content-encoding") or "identity").strip().lower()
    chunks = [(chunk.at_ms, chunk.data) for chunk in transcript.chunks]
    first = next((data for _, data in chunks if data), b"")
    zipped = first[:2] == b"\x1f\x8b"
    if encoding in ("", "identity"):
        return chunks, not zipped
    if encoding in ("gzip", "x-gzip"):
        if not zipped:  # the client has decoded it already
            return chunks, True
        inflater = zlib.decompressobj(wbits=31)
    elif encoding == "deflate":
        if first[:1] in b"{<:d":
            return chunks, True
        inflater = zlib.decompressobj()
    else:
        return chunks, first[:1] in (b"{", b"<", b":", b"d", b"")
    plain: list[tuple[float, bytes]] = []
    size = 0
    try:
        for at_ms, data in chunks:
            piece = inflater.decompress(data, _MAX_INFLATED - size)
            size += len(piece)
            plain.append((at_ms, piece))
            if size >= _MAX_INFLATED:
                return plain, False
    except zlib.error:
        return plain, False
    return plain, inflater.eof


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


def _dicts(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield item


def _count(mapping: Mapping[str, Json] | None, key: str) -> int | None:
    value = (mapping or {}).get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
