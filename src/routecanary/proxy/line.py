"""How is one connection to the gateway spoken on?

One request at a time. The library parses what comes; here is which response is the real one, what may be
passed on before the head is there, and the bounds. What one read brought is handed over at once, in one call.

Source: RFC 9112 §4, §6.3, §7, §9.
"""

from __future__ import annotations

import asyncio
import select
from time import monotonic
from typing import TYPE_CHECKING, Final, Protocol, cast

from httptools import HttpParserCallbackError, HttpParserError, HttpResponseParser

from routecanary.proxy.failures import BAD_ANSWER, SILENT
from routecanary.proxy.heads import response_head
from routecanary.web.head import Pair

if TYPE_CHECKING:
    from routecanary.proxy.upstream import Upstream

MAX_HEAD: Final = 262_144  # bytes before the body
MAX_HEADERS: Final = 256
MAX_INTERIM: Final = 16  # 1xx responses before the real one
_READABLE: Final = select.POLLIN | select.POLLHUP | select.POLLERR | getattr(select, "POLLRDHUP", 0)


class Listener(Protocol):
    """Whose request is on the line."""

    def answered(self, line: Line) -> None:
        """Take what a read brought: `interim`, the head once, `pieces`, the end or the problem."""

    def lost(self, line: Line) -> None:
        """The connection ended before the answer did."""

    def hold_upload(self) -> None: ...

    def go_on_upload(self) -> None: ...


class Line(asyncio.Protocol):
    """One connection. `status`, `reason`, `headers` are of the response at hand, which may be `complete`."""

    __slots__ = (
        *("_bare", "_fields", "_interim_count", "_parser", "_poll", "_transport", "_upstream"),
        *("answers", "broken", "complete", "fault", "headers", "heard_at", "idle_for", "interim", "is_head"),
        *("listener", "on_body", "pieces", "problem", "reason", "reusable", "status", "trailers"),
    )

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._transport: asyncio.Transport = cast("asyncio.Transport", None)  # until `connection_made`
        self._poll: select.poll | None = None
        self.listener: Listener | None = None
        self.answers = 0  # that came whole
        self.heard_at = 0.0  # of the monotonic clock: the last bytes either way
        self.idle_for = float("inf")  # seconds for which the upstream says that it keeps an idle connection
        self.pieces: list[bytes] = []
        self.on_body = self.pieces.append  # called for every piece: spared a function of its own
        self.status = 0
        self._start()
        self._parser = HttpResponseParser(self)
        # As lenient as most clients, save in what a header may hold: heads are written anew in any case.
        self._parser.set_dangerous_leniencies(
            lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )

    def _start(self) -> None:
        """Forget the last response."""
        self._bare = 0
        self._fields: list[Pair] = []
        self._interim_count = 0
        self.complete = False
        self.reusable = False
        self.fault: str | None = None  # why nothing more can be read, as `failures` names it
        self.problem: str | None = None  # the same in words
        self.broken = False  # the connection did not end, it broke
        self.is_head = False
        self.status = 0
        self.reason = b""
        self.headers: list[Pair] = []
        self.trailers: list[Pair] = []
        self.interim: list[bytes] = []
        self.pieces.clear()

    # Called by whoever has a request.

    def send(self, listener: Listener, data: bytes, *, is_head: bool) -> None:
        """Send the beginning of a request, or all of it."""
        self._start()
        self.listener = listener
        self.is_head = is_head
        self.heard_at = monotonic()
        self._transport.write(data)

    def write(self, data: bytes) -> None:
        self.heard_at = monotonic()
        self._transport.write(data)

    def hold_reading(self) -> None:
        if not self._transport.is_closing():
            self._transport.pause_reading()

    def go_on_reading(self) -> None:
        if not self._transport.is_closing():
            self._transport.resume_reading()

    def abort(self) -> None:
        """End the connection at once: nobody waits for the answer any more."""
        self.listener = None
        self._transport.abort()

    def close(self) -> None:
        self.listener = None
        self._transport.close()

    def give_up(self, why: str) -> None:
        """End the connection as if the upstream had: whose request is on it learns of it."""
        self.fault, self.problem = SILENT, why
        self._transport.abort()

    @property
    def is_alive(self) -> bool:
        """Say whether an idle connection may carry another request.

        What the loop has not read yet counts too: an end that has arrived must not meet a request.
        """
        return not self._transport.is_closing() and (self._poll is None or not self._poll.poll(0))

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.heard_at = monotonic()
        socket = transport.get_extra_info("socket")
        if socket is not None:
            self._poll = select.poll()
            self._poll.register(socket.fileno(), _READABLE)

    def data_received(self, data: bytes) -> None:
        listener = self.listener
        if listener is None:
            self._transport.abort()  # it speaks without being asked
            return
        self.heard_at = monotonic()
        try:
            self._parser.feed_data(data)
        except HttpParserError as error:
            reason = error.__context__ if isinstance(error, HttpParserCallbackError) else error
            if reason is not None and not isinstance(reason, HttpParserError):
                raise reason from None  # a mistake of ours in one of the methods below
            self._refuse(f"not HTTP: {reason}")
        if self.pieces:
            self._bare = 0
        else:
            self._bare += len(data)
            if self._bare > MAX_HEAD:
                self._refuse("too much that is not the body")
        listener.answered(self)

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._upstream.forget(self)
        listener, self.listener = self.listener, None
        self._poll = None
        if listener is not None:
            self.broken = exc is not None
            listener.lost(self)

    def pause_writing(self) -> None:
        if self.listener is not None:
            self.listener.hold_upload()

    def resume_writing(self) -> None:
        if self.listener is not None:
            self.listener.go_on_upload()

    def _refuse(self, why: str) -> None:
        self.reusable = False
        if not self.complete:  # what comes after the response does not spoil it
            self.fault, self.problem = BAD_ANSWER, why

    # Called by the parser; an exception in one of these ends its reading for good.

    def on_message_begin(self) -> None:
        if self.complete:
            raise HttpParserError("more than one answer")

    def on_status(self, reason: bytes) -> None:
        self.reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.status >= 200:
            if len(self.trailers) < MAX_HEADERS:
                self.trailers.append((name, value))
            return
        if len(self._fields) == MAX_HEADERS:
            raise HttpParserError("too many headers")
        self._fields.append((name, value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        fields, self._fields = self._fields, []
        if any(
            name.lower() == b"transfer-encoding" and value.lower() != b"chunked" for name, value in fields
        ):
            raise HttpParserError("a transfer coding that nobody asked for")
        if status >= 200:
            self.status, self.headers = status, fields
            if self.is_head:
                self.complete = True  # whatever length it tells of; the parser waits for it in vain
            return
        self._interim_count += 1
        if status < 100 or status == 101 or self._interim_count > MAX_INTERIM:
            raise HttpParserError("an interim answer out of place")
        if status != 100:  # that one was ours to ask for, and is ours to hear
            self.interim.append(response_head(status, self.reason, fields, chunked=False, closing=False))
        self.reason = b""

    def on_message_complete(self) -> None:
        if self.status and not self.is_head:
            self.complete = True
            self.answers += 1
            self.reusable = self._parser.should_keep_alive()
