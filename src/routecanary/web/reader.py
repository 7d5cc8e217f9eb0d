"""Which requests, one after the other, do the bytes of a connection hold?

Bytes in; heads and pieces of bodies out, in whatever portions they come. The reader knows no socket.

Source: RFC 9112 §2.2, §6, §7.1.
"""

from __future__ import annotations

import re
from typing import Final

from routecanary.web.head import MAX_HEAD, Head, RefusedError, is_hopeless, read_head

_MAX_CHUNK_LINE: Final = 256  # bytes of a chunk's size with its extensions
_MAX_TRAILERS: Final = 16_384  # bytes
_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})(?:[ \t]*;[^\x00-\x08\x0a-\x1f\x7f]*)?")
_TRAILER: Final = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]++:[^\x00-\x08\x0a-\x1f\x7f]*+")


class RequestReader:
    """Reads one request after the other.

    `feed` bytes as they come. `head()` gives the next head when it has come whole; then `body()` gives the
    pieces of its body until `complete`. What is fed meanwhile waits; `waiting` counts it.
    """

    __slots__ = ("_chunked", "_data", "_left", "_scanned", "complete")

    def __init__(self) -> None:
        self.complete = True  # no request is open
        self._data = b""
        self._scanned = 0  # bytes in which no head ends
        self._left = 0  # bytes of the body, or of the chunk, that are still to come
        self._chunked: _Chunks | None = None

    @property
    def waiting(self) -> int:
        return len(self._data)

    def feed(self, data: bytes) -> None:
        self._data = self._data + data if self._data else data

    def head(self) -> Head | None:
        """Return the next request's head; None while it has not come whole.

        Raises:
            RefusedError: It will never be one.
        """
        data = self._data
        if not data:
            return None
        if data[0] == 13:  # empty lines before a request
            data = self._data = _without_empty_lines(data)
        end = data.find(b"\r\n\r\n", self._scanned)
        if end < 0 or end > MAX_HEAD:
            if end > 0 or len(data) > MAX_HEAD + 3:
                raise RefusedError(431, f"the head is too large; allowed: {MAX_HEAD} bytes")
            if is_hopeless(data):
                raise RefusedError(400, "a line that does not end in CRLF")
            self._scanned = max(0, len(data) - 3)
            return None
        head = read_head(data, end + 2)
        self._data = data[end + 4 :]
        self._scanned = 0
        if head.length:
            self.complete = False
            self._left = 0 if head.is_chunked else head.length
            self._chunked = _Chunks() if head.is_chunked else None
        return head

    def body(self) -> bytes:
        """Return the next piece of the body; empty while none has come, and when it is complete.

        Raises:
            RefusedError: It is not framed as HTTP says.
        """
        if self.complete:
            return b""
        if self._chunked is not None:
            piece, self._data = self._chunked.take(self._data)
            self.complete = self._chunked.complete
            return piece
        data = self._data
        if len(data) <= self._left:
            self._data = b""
            self._left -= len(data)
            self.complete = not self._left
            return data
        piece, self._data = data[: self._left], data[self._left :]
        self._left, self.complete = 0, True
        return piece


class _Chunks:
    """Takes a chunked body out of its frames; trailers are read and dropped."""

    __slots__ = ("_left", "_trailers", "complete")

    def __init__(self) -> None:
        self.complete = False
        self._left = 0  # bytes of the chunk at hand, its CRLF counted
        self._trailers = -1  # bytes of trailers; -1 = the last chunk has not come

    def take(self, data: bytes) -> tuple[bytes, bytes]:
        """Return what is body in these bytes, and what is to come again with more."""
        pieces: list[bytes] = []
        at = 0
        while not self.complete:
            if self._left > 2:
                piece = data[at : at + self._left - 2]
                if not piece:
                    break
                pieces.append(piece)
                at += len(piece)
                self._left -= len(piece)
            if self._left:
                if self._left > 2 or len(data) < at + 2:
                    break
                if data[at : at + 2] != b"\r\n":
                    raise RefusedError(400, "a chunk that is longer than it says")
                at += 2
                self._left = 0
            end = data.find(b"\r\n", at)
            bound = _MAX_CHUNK_LINE if self._trailers < 0 else _MAX_TRAILERS
            if end > at + bound or (end < 0 and len(data) > at + bound + 1):
                raise RefusedError(400, "a chunk's line that is too long")
            if end < 0:
                if b"\n" in data[at:]:
                    raise RefusedError(400, "a line that does not end in CRLF")
                break
            self._line(data[at:end])
            at = end + 2
        return (pieces[0] if len(pieces) == 1 else b"".join(pieces)), data[at:]

    def _line(self, line: bytes) -> None:
        if self._trailers < 0:
            size = _SIZE.fullmatch(line)
            if size is None:
                raise RefusedError(400, "a malformed chunk size")
            length = int(size[1], 16)
            if length:
                self._left = length + 2
            else:
                self._trailers = 0
        elif not line:
            self.complete = True
        else:
            self._trailers += len(line)
            if self._trailers > _MAX_TRAILERS or _TRAILER.fullmatch(line) is None:
                raise RefusedError(400, "a malformed trailer")


def _without_empty_lines(data: bytes) -> bytes:
    start = 0
    while data.startswith(b"\r\n", start):
        start += 2
    return data[start:]
