"""What does one HTTP/1.1 response say?

Bytes in; status, headers and the body's bytes out, as they come. The library parses. Here is what it leaves
to its caller: which response is the real one, when the end of the connection completes it, and the bounds on
a peer that sends without end. The reader knows no socket.

Source: RFC 9112 §2–§7.
"""

from __future__ import annotations

from typing import Final

from httptools import HttpParserCallbackError, HttpParserError, HttpResponseParser

MAX_BARE: Final = 65_536  # bytes that bring nothing of the body: a head, a chunk's extensions, trailers
MAX_HEADERS: Final = 128
MAX_INTERIM: Final = 16  # 1xx responses before the real one

Headers = tuple[tuple[str, str], ...]


class ResponseReader:
    """Reads one response.

    `status` and `headers` (lower-case names, in order) are set once the head has come. `complete` says that
    the whole response came, `reusable` that the connection may carry another one, and `problem` why nothing
    more can be read from it. The bounds are met to within one read.
    """

    def __init__(self) -> None:
        self.status: int | None = None
        self.headers: Headers = ()
        self.complete = False
        self.reusable = False
        self.problem: str | None = None
        self._bare = 0  # bytes since the last one of the body
        self._fields: list[tuple[str, str]] = []  # of a head that has not come whole
        self._interim = 0
        self._pieces: list[bytes] = []  # of the body, in one read
        self.on_body = self._pieces.append  # called for nearly every read: spared a function of its own
        self._parser = HttpResponseParser(self)
        # As lenient as aiohttp, save in what a header may hold.
        self._parser.set_dangerous_leniencies(
            lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )

    def feed(self, data: bytes) -> bytes:
        """Take one read; return the bytes of the body in it, which may be none."""
        if self.problem is not None:
            return b""
        try:
            self._parser.feed_data(data)
        except HttpParserError as error:
            reason = error.__context__ if isinstance(error, HttpParserCallbackError) else error
            if reason is not None and not isinstance(reason, HttpParserError):
                raise reason from None  # a mistake of ours in one of the methods below
            self._refuse(str(reason))
        pieces = self._pieces
        if pieces:
            body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
            pieces.clear()
            self._bare = 0
            return body
        self._bare += len(data)
        if self._bare > MAX_BARE:
            self._refuse("too much that is not the body")
        return b""

    def finish(self) -> None:
        """Take the end of the connection: it completes a response without a length, and cuts any other."""
        if self.complete or self.problem is not None:
            return
        last = dict(self.headers)
        coding = last.get("transfer-encoding")
        if self.status is None:
            self.problem = "closed before an answer"
        elif "content-length" in last or (coding and coding.lower().split(",")[-1].strip() == "chunked"):
            self.problem = "cut before the body was complete"
        else:
            self.complete = True

    def close(self) -> None:
        """Let go of the parser: it holds the reader, and both would wait for the garbage collector."""
        del self._parser

    def _refuse(self, why: str) -> None:
        self.reusable = False
        if not self.complete:  # what comes after the response does not spoil it
            self.problem = f"not HTTP: {why}"

    # What the parser calls; an exception in one of these ends its reading for good.

    def on_message_begin(self) -> None:
        if self.complete:
            raise HttpParserError("more than one answer")

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(self._fields) == MAX_HEADERS:
            raise HttpParserError("too many headers")
        self._fields.append((name.decode("ascii").lower(), value.strip(b" \t").decode("latin-1")))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status >= 200:
            self.status, self.headers = status, tuple(self._fields)
        else:
            self._interim += 1
            if status < 100 or status == 101 or self._interim > MAX_INTERIM:
                raise HttpParserError("an interim answer out of place")
        self._fields.clear()

    def on_message_complete(self) -> None:
        if self.status is not None:
            self.complete = True
            self.reusable = self._parser.should_keep_alive()
