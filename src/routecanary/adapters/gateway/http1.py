"""What does one HTTP/1.1 response say?

Bytes in; status, headers and the body's bytes out, as they come. The reader knows no socket. It is as lenient
as clients usually are about line ends, strict about everything that decides where the body ends, and bounded
wherever a peer could send without end.

Source: RFC 9112 §2–§7.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final

MAX_HEAD: Final = 65_536  # bytes of a status line with its headers; also of the trailers
MAX_HEADERS: Final = 128
MAX_INTERIM: Final = 16  # 1xx responses before the real one
MAX_CHUNK_LINE: Final = 4_096  # bytes of a chunk's size with its extensions

_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
_LINE_END: Final = re.compile(rb"\r?\n")
_STATUS_LINE: Final = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9]{2})(?: .*)?")
_FIELD: Final = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([^\x00\r\n]*)")
_CHUNK_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?\r?")

Headers = tuple[tuple[str, str], ...]


class _Body(Enum):
    """How the end of the body is known."""

    UNKNOWN = auto()  # the head has not come yet
    NONE = auto()
    LENGTH = auto()
    CHUNKED = auto()
    UNTIL_CLOSE = auto()


class _Expected(Enum):
    """What the next line of a chunked body is."""

    SIZE = auto()
    DATA_END = auto()
    TRAILER = auto()


class ResponseReader:
    """Reads one response.

    `status` and `headers` (lower-case names, in order) are set once the head has come. `complete` says that
    the whole response came, `reusable` that the connection may carry another one, and `problem` why nothing
    more can be read from it.
    """

    __slots__ = (
        "_body",
        "_buffer",
        "_expected",
        "_interim",
        "_left",
        "_trailer",
        "complete",
        "headers",
        "problem",
        "reusable",
        "status",
    )

    def __init__(self) -> None:
        self.status: int | None = None
        self.headers: Headers = ()
        self.complete = False
        self.reusable = False
        self.problem: str | None = None
        self._body = _Body.UNKNOWN
        self._buffer = bytearray()  # of a head, or of a chunk's line, that has not come whole
        self._interim = 0
        self._left = 0  # bytes of the body, or of the chunk, still to come
        self._expected = _Expected.SIZE
        self._trailer = 0  # bytes of trailers so far

    def feed(self, data: bytes) -> bytes:
        """Take one read; return the bytes of the body in it, which may be none."""
        if self._body is _Body.UNKNOWN:
            data = self._take_heads(data)
        if not data or self.problem is not None:
            return b""
        if self._body is _Body.UNTIL_CLOSE:
            return data
        if self.complete:  # more than the response: nobody asked for it
            self.reusable = False
            return b""
        return self._chunks(data) if self._body is _Body.CHUNKED else self._counted(data)

    def finish(self) -> None:
        """Take the end of the connection: it completes a response without a length, and cuts any other."""
        if self._body is _Body.UNTIL_CLOSE:
            self.complete = True
        elif not self.complete and self.problem is None:
            self._fail(
                "closed before an answer" if self.status is None else "cut before the body was complete"
            )

    def _fail(self, problem: str) -> None:
        self.problem = problem
        self.reusable = False

    def _take_heads(self, data: bytes) -> bytes:
        """Take the head, and interim ones before it; return what follows it in this read."""
        buffer = self._buffer
        searched = max(0, len(buffer) - 3)
        buffer += data
        while self._body is _Body.UNKNOWN and self.problem is None:
            end = _HEAD_END.search(buffer, searched)
            if end is None:
                if len(buffer) > MAX_HEAD:
                    self._fail("not HTTP: the head is too long")
                return b""
            self._read_head(bytes(buffer[: end.start()]))
            del buffer[: end.end()]
            searched = 0
        rest = bytes(buffer)
        buffer.clear()
        return rest

    def _read_head(self, head: bytes) -> None:
        line, *fields = _LINE_END.split(head)
        status_line = _STATUS_LINE.fullmatch(line)
        if status_line is None or len(fields) > MAX_HEADERS or len(head) > MAX_HEAD:
            self._fail("not HTTP")
            return
        status = int(status_line[2])
        if status < 200:
            self._interim += 1
            if status == 101 or self._interim > MAX_INTERIM:
                self._fail("not HTTP: an interim answer out of place")
            return
        headers: list[tuple[str, str]] = []
        for field in fields:
            match = _FIELD.fullmatch(field)
            if match is None:
                self._fail("not HTTP: a header is malformed")
                return
            headers.append((match[1].decode("ascii").lower(), match[2].strip(b" \t").decode("latin-1")))
        self.status = status
        self.headers = tuple(headers)
        self._decide_body(persistent=status_line[1] == b"1")

    def _decide_body(self, *, persistent: bool) -> None:
        """Find how the body ends, by the rules of RFC 9112 §6.3, and whether the connection outlives it."""
        codings = self._tokens("transfer-encoding")
        lengths = set(self._tokens("content-length"))
        options = self._tokens("connection")
        self.reusable = persistent and "close" not in options
        if self.status in (204, 304):
            self._body = _Body.NONE
            self.complete = True
        elif codings:
            chunked = codings[-1] == "chunked"
            self._body = _Body.CHUNKED if chunked else _Body.UNTIL_CLOSE
            self.reusable = self.reusable and chunked and not lengths
        elif not lengths:
            self._body = _Body.UNTIL_CLOSE
            self.reusable = False
        else:
            length = lengths.pop()
            if lengths or not (length.isascii() and length.isdecimal() and len(length) <= 15):
                self._fail("not HTTP: the length is malformed")
                return
            self._body = _Body.LENGTH
            self._left = int(length)
            self.complete = self._left == 0

    def _tokens(self, name: str) -> list[str]:
        """Split the comma-separated values of a header, over all its lines, in lower case."""
        values = [value for key, value in self.headers if key == name]
        return [token.strip().lower() for token in ",".join(values).split(",")] if values else []

    def _counted(self, data: bytes) -> bytes:
        piece = data[: self._left]
        self._left -= len(piece)
        self.complete = self._left == 0
        if len(piece) < len(data):
            self.reusable = False
        return piece

    def _chunks(self, data: bytes) -> bytes:
        if self._buffer:
            data = bytes(self._buffer) + data
            self._buffer.clear()
        pieces: list[bytes] = []
        at, end = 0, len(data)
        while at < end and not self.complete and self.problem is None:
            left = self._left
            if left:
                piece = data[at : at + left]
                pieces.append(piece)
                if data[at + left : at + left + 2] == b"\r\n":  # nearly every read: whole chunks
                    self._left = 0
                    self._expected = _Expected.SIZE
                    at += left + 2
                else:
                    self._left -= len(piece)
                    at += len(piece)
                continue
            newline = data.find(b"\n", at)
            if newline < 0:
                self._buffer += data[at:]
                if len(self._buffer) > MAX_CHUNK_LINE:
                    self._fail("not HTTP: a chunk's line is too long")
                break
            self._take_line(data[at:newline])
            at = newline + 1
        if self.complete and at < end:
            self.reusable = False
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _take_line(self, line: bytes) -> None:
        """Take one line between the data of chunks, without its line feed."""
        match self._expected:
            case _Expected.SIZE:
                size = _CHUNK_SIZE.fullmatch(line) if len(line) <= MAX_CHUNK_LINE else None
                if size is None:
                    self._fail("not HTTP: a chunk's size is malformed")
                    return
                self._left = int(size[1], 16)
                self._expected = _Expected.DATA_END if self._left else _Expected.TRAILER
            case _Expected.DATA_END:
                if line not in (b"\r", b""):
                    self._fail("not HTTP: a chunk is longer than it says")
                self._expected = _Expected.SIZE
            case _Expected.TRAILER:
                self._trailer += len(line)
                self.complete = line in (b"\r", b"")
                if self._trailer > MAX_HEAD:
                    self._fail("not HTTP: the trailers are too long")
