"""Who served this answer, and how did it go? Read beside the application, without keeping a word of it.

Bytes of the body in as they pass, facts out: for the hooks and for the proxy, which send them as telemetry.
Once the first text is known, the reads of a healthy stream are only searched for the words that could change
a fact. Bounded, and never raises. `routecanary.client` itself does not import this.

Source: openrouter-wire.md §3, §4; docs/hooks.md, "What is told of an answer".
"""

from __future__ import annotations

import zlib
from typing import Any, Final, TypeGuard

from routecanary.client.dialects import as_chat
from routecanary.domain.frames import (
    content_of,
    first_choice,
    is_visible,
    message_of,
    object_in,
    routing_in,
)
from routecanary.domain.sse import SseDecoder

MAX_DOCUMENT: Final = 4 * 1024 * 1024  # bytes of an answer that is no stream; a larger one is not read

_MAX_INFLATED: Final = 64 * 1024 * 1024  # bytes after decompression
_MAX_HEAD: Final = 4096  # bytes of white space before anything
_MAX_NAME: Final = 200  # characters
_MAX_COUNT: Final = 2**53
_TEXT_BEGINS: Final = b" \t\r\n\xef{[d:eir<"  # of a document, a stream's field or comment, a page


class AnswerReader:
    """The facts of one answer to a chat request, in whichever dialect, while it passes.

    `id`, `model`, `provider`, `finish_reason`, `prompt_tokens` and `completion_tokens` are as the answer has
    them, None where it has none. `first_text_at` is the moment of the read that completed the first visible
    text of a stream: reasoning, white space and comments are none. `empty` is known once the answer says that
    it is complete: it then held neither visible text nor a tool call.
    """

    __slots__ = (
        *("id", "model", "provider", "finish_reason", "prompt_tokens", "completion_tokens", "first_text_at"),
        *("_coded", "_decoder", "_document", "_head", "_inflated", "_inflater", "_seen", "_unreadable"),
    )

    def __init__(self) -> None:
        self.id: str | None = None
        self.model: str | None = None
        self.provider: str | None = None
        self.finish_reason: str | None = None
        self.prompt_tokens: int | None = None
        self.completion_tokens: int | None = None
        self.first_text_at: float | None = None
        self._coded: bytes | None = b""  # the first bytes, until they say whether they are compressed
        self._head: bytes | None = b""  # the first plain bytes, until they say what comes
        self._decoder: SseDecoder | None = None  # of a stream
        self._document: bytearray | None = None  # of anything else
        self._inflater: Any = None
        self._inflated = 0
        self._seen = False  # text or a tool call
        self._unreadable = False

    @property
    def empty(self) -> bool | None:
        return None if self.finish_reason in (None, "error") else not self._seen

    def feed(self, data: bytes, at: float) -> None:
        """Take the bytes of one read, as they came off the wire or decompressed, and when it came."""
        if self._coded is not None:
            data = self._coded + data
            if len(data) < 2:
                self._coded = data
                return
            self._coded = None
            self._find_coding(data)
        if self._inflater is not None and not self._unreadable:
            data = self._inflate(data)
        if self._head is not None:
            data = self._find_form(self._head + data)
        if self._unreadable or not data:
            return
        if self._decoder is not None:
            self._feed_stream(self._decoder, data, at)
        elif self._document is not None:
            if len(self._document) + len(data) > MAX_DOCUMENT:
                self._give_up()
            else:
                self._document += data

    def finish(self) -> None:
        """Take the end of the body: a document is read now."""
        decoder, document = self._decoder, self._document
        self._decoder = self._document = None
        self._unreadable = True
        if decoder is not None:
            for event in decoder.finish():
                self._take_event(event.data, None)
        elif document is not None:
            self._take_event(document.decode("utf-8", "replace"), None)

    def take_frame(self, frame: dict[str, Any], at: float | None) -> None:
        """Take one decoded frame of a stream, or (without a moment) the whole document."""
        frame = as_chat(frame)
        for name in ("id", "model", "provider"):
            value = frame.get(name)
            if getattr(self, name) is None and _is_name(value):
                setattr(self, name, value)
        usage = frame.get("usage")
        if isinstance(usage, dict):
            self.prompt_tokens = _count(usage.get("prompt_tokens"), self.prompt_tokens)
            self.completion_tokens = _count(usage.get("completion_tokens"), self.completion_tokens)
        choice = first_choice(frame)
        if choice is None:
            if frame.get("error") and self.finish_reason is None:
                self.finish_reason = "error"
            return
        reason = choice.get("finish_reason")
        if _is_name(reason):
            self.finish_reason = reason
        elif frame.get("error") or choice.get("error"):
            self.finish_reason = "error"
        message = message_of(choice)
        if self.provider is None:  # the Vercel AI Gateway says it in its last chunk
            provider = (routing_in(message) or {}).get("finalProvider")
            if _is_name(provider):
                self.provider = provider
        if is_visible(content_of(message)):
            self._seen = True
            if self.first_text_at is None:
                self.first_text_at = at
        elif message.get("tool_calls"):
            self._seen = True

    def _find_coding(self, data: bytes) -> None:
        """Find out from the first bytes whether they are compressed, whatever the headers promise."""
        if data[:2] == b"\x1f\x8b":
            self._inflater = zlib.decompressobj(wbits=31)
        elif data[:1] == b"\x78":
            self._inflater = zlib.decompressobj()
        else:  # brotli, zstandard, or what we do not know, cannot be read
            self._unreadable = data[0] not in _TEXT_BEGINS

    def _find_form(self, head: bytes) -> bytes:
        """Find out what comes, and return what of it is there; nothing while only white space came."""
        plain = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        self._head = None if plain or len(head) > _MAX_HEAD else head
        if self._head is not None:
            return b""
        if plain[:1] in (b"{", b"["):
            self._document = bytearray()
        else:
            self._decoder = SseDecoder()
        return plain

    def _feed_stream(self, decoder: SseDecoder, data: bytes, at: float) -> None:
        if (
            self.first_text_at is not None
            and decoder.at_border
            and data.endswith(b"\n\n")
            and b'finish_reason":"' not in data
            and b'finish_reason": "' not in data
            and b'"usage"' not in data
            and b'"error"' not in data
        ):
            return  # more text, of which nothing is told
        for event in decoder.feed(data):
            self._take_event(event.data, at)

    def _take_event(self, data: str, at: float | None) -> None:
        frame = object_in(data)
        if frame is not None:
            self.take_frame(frame, at)

    def _inflate(self, data: bytes) -> bytes:
        try:
            plain: bytes = self._inflater.decompress(data, _MAX_INFLATED - self._inflated)
        except zlib.error:
            self._give_up()
            return b""
        self._inflated += len(plain)
        if self._inflated >= _MAX_INFLATED:
            self._give_up()
        return plain

    def _give_up(self) -> None:
        """Read on no more; what is known stays."""
        self._unreadable = True
        self._document = None


def _is_name(value: object) -> TypeGuard[str]:
    """Say whether a value may be told on: what cannot be printed could not even be kept."""
    return isinstance(value, str) and 0 < len(value) <= _MAX_NAME and value.isprintable()


def _count(value: object, known: int | None) -> int | None:
    return value if type(value) is int and 0 <= value <= _MAX_COUNT else known
