"""How is one connection served?

One request after the other, answered in the order in which they came; what a client sends ahead waits, up to
a bound. Whoever answers gets either the whole request (a handler) or its pieces as they come (a taker), and
learns at once when the client is gone.

Source: RFC 9112 §9; RFC 9110 §10.1.1.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from typing import TYPE_CHECKING, Final, Protocol, cast

from routecanary.web.answering import FAILED, drop, refusal, tell_of_failure, written
from routecanary.web.head import RefusedError
from routecanary.web.message import Request, Response, error_response, is_bodiless, written_head
from routecanary.web.reader import RequestReader

if TYPE_CHECKING:
    from routecanary.web.server import Server

_AHEAD: Final = 65_536  # bytes that a client may send before the request at hand is answered
_LINGER_SECONDS: Final = 2.0  # in which what a client still sends is read and dropped, so that it sees why
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_PROGRESS: Final = 16_384  # bytes that a slow reader has to take within `Limits.stall`
_NEVER: Final = float("inf")


class Taker(Protocol):
    """Whoever takes a request's body as it comes, and answers through its `Connection`."""

    def body(self, data: bytes) -> None: ...

    def end(self) -> None:
        """Take the end of the body: the request came whole."""

    def gone(self) -> None:
        """Take the loss of the client; nothing may be written any more."""

    def hold(self) -> None:
        """Stop writing: the client reads too slowly."""

    def go_on(self) -> None:
        """Write again."""


Opener = Callable[[Request, "Connection"], "Taker | None"]
"""Chooses, at the end of a head, who takes the request; None = the handler, once it has come whole."""


class Connection(asyncio.Protocol):
    """One client. A taker calls `write`, `finish`, `abort`, `hold_reading` and `go_on_reading`."""

    __slots__ = (
        *("_advancing", "_busy", "_closing", "_discarding", "_keep_alive", "_mark", "_minor", "_peer"),
        *("_pieces", "_reader", "_reading_held", "_request", "_server", "_size", "_task", "_taken"),
        *("_taker", "_transport", "_whole", "_writable", "_writing_held", "deadline"),
    )

    def __init__(self, server: Server) -> None:
        self._server = server
        self._reader = RequestReader()
        self._transport: asyncio.Transport = cast("asyncio.Transport", None)  # until `connection_made`
        self._peer = ""
        self._busy = False  # a request is under way
        self._whole = False  # and it has come whole
        self._request: Request | None = None
        self._taker: Taker | None = None
        self._task: asyncio.Task[None] | None = None
        self._pieces: list[bytes] = []
        self._size = 0  # of the body, as far as it has come
        self._taken = 0  # the size at which a client was last seen to make progress
        self._keep_alive = True
        self._minor = 1
        self._advancing = False
        self._closing = False  # after the answer at hand
        self._discarding = False
        self._reading_held = False
        self._writing_held = False
        self._writable: asyncio.Future[None] | None = None
        self._mark = 0  # bytes that waited to be written at the last sweep that saw progress
        self.deadline = 0.0  # of the loop's clock, for what the client owes us

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        address = transport.get_extra_info("peername")
        self._peer = str(address[0]) if isinstance(address, tuple) and address else ""
        self.deadline = self._server.now() + self._server.limits.head
        if not self._server.admit(self):
            self._busy = True
            self._transport.write(refusal(503, "too many connections"))
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._server.forget(self)
        self._busy = True  # nothing that was sent ahead is begun
        self._leave()

    def eof_received(self) -> bool:
        # A client that has closed its side cannot be told from one that is gone: it wants no answer.
        self._leave()
        return False  # what is written already still goes out, then the transport closes itself

    def data_received(self, data: bytes) -> None:
        if self._discarding:
            return
        self._reader.feed(data)
        if (self._busy and self._whole) or (self._writing_held and not self._busy):
            if self._reader.waiting > _AHEAD:
                self.hold_reading()
        elif not self._advancing:
            self._advance()

    def pause_writing(self) -> None:
        self._writing_held = True
        self._mark = self._transport.get_write_buffer_size()
        self.deadline = self._server.now() + self._server.limits.stall
        if self._taker is not None:
            self._taker.hold()

    def resume_writing(self) -> None:
        self._writing_held = False
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)
        self._set_deadline()
        if self._taker is not None:
            self._taker.go_on()
        elif not self._busy:
            self._go_on()

    # Called by a taker.

    @property
    def minor(self) -> int:
        """The client's version of HTTP/1: a chunked answer is for 1 only."""
        return self._minor

    @property
    def keep_alive(self) -> bool:
        """Say whether the connection is to outlive this answer."""
        return self._keep_alive and not self._closing

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    def finish(self, *, keep_alive: bool = True) -> None:
        """End the answer at hand; the next request may come."""
        self._taker = self._task = self._request = None
        if not (keep_alive and self.keep_alive and self._whole):
            self._end()
            return
        self._busy = False
        self._set_deadline()
        if not self._writing_held:
            self._go_on()

    def abort(self) -> None:
        """Cut the connection, so that the client sees that the answer is not whole."""
        self._taker = self._task = self._request = None
        self._transport.abort()

    def hold_reading(self) -> None:
        if not self._reading_held and not self._transport.is_closing():
            self._reading_held = True
            self._transport.pause_reading()
            self._set_deadline()

    def go_on_reading(self) -> None:
        if self._reading_held:
            self._reading_held = False
            if not self._transport.is_closing():
                self._transport.resume_reading()
            self._set_deadline()

    # Called by the server.

    def close_when_idle(self) -> None:
        self._closing = True
        if not self._busy:
            self._transport.close()

    def cut(self) -> None:
        self._transport.abort()

    def is_overdue(self, now: float) -> bool:
        """Say whether the client has owed us something for too long."""
        if now < self.deadline:
            return False
        if self._writing_held:
            waiting = self._transport.get_write_buffer_size()
            if waiting <= self._mark - _PROGRESS:
                self._mark = waiting
                self.deadline = now + self._server.limits.stall
                return False
        return True

    def overdue(self) -> None:
        """End a connection whose client owes us something for too long."""
        if self._discarding or self._writing_held:
            self._transport.abort()
        elif self._busy or self._reader.waiting:
            self._refuse(408, "the request did not come in time")
        else:
            self._transport.close()

    # The way of a request.

    def _go_on(self) -> None:
        """Turn to what was sent ahead."""
        self.go_on_reading()
        if self._reader.waiting and not self._advancing:
            self._advance()

    def _advance(self) -> None:
        """Go on with what has come, as long as somebody waits for it."""
        self._advancing = True
        try:
            while not self._discarding:
                if not self._busy:
                    if self._writing_held or self._transport.is_closing() or not self._begin():
                        break
                elif self._whole or not self._take_body():
                    break
        except RefusedError as refused:
            self._refuse(refused.status, str(refused), refused.headers)
        except Exception as error:
            tell_of_failure(self._request, error)
            self._refuse(500, FAILED)
        finally:
            self._advancing = False

    def _begin(self) -> bool:
        """Begin the next request; say whether its head has come."""
        head = self._reader.head()
        if head is None:
            if self._reader.waiting and self.deadline > (
                owed := self._server.now() + self._server.limits.head
            ):
                self.deadline = owed
            return False
        request = Request(head, self._peer)
        self._busy, self._whole, self._request = True, self._reader.complete, request
        self._size = self._taken = 0
        self._keep_alive, self._minor = head.keep_alive, head.minor
        self.deadline = _NEVER
        expects = head.fields.get(b"expect")
        if expects is not None and expects.lower() != b"100-continue":
            raise RefusedError(417, "an expectation that is not known; allowed: 100-continue")
        taker = self._server.opener(request, self) if self._server.opener is not None else None
        if taker is None and head.length > self._server.limits.body:
            raise RefusedError(413, f"the body is too large; allowed: {self._server.limits.body} bytes")
        if not self._busy or self._request is not request:  # answered already
            return True
        self._taker = taker
        if not self._whole:
            if expects is not None and head.minor and not self._reader.waiting:
                self._transport.write(_CONTINUE)
            self._set_deadline()
        elif taker is not None:
            taker.end()
        else:
            self._answer(request)
        return True

    def _take_body(self) -> bool:
        """Take a piece of the body; say whether there was one, or its end."""
        piece = self._reader.body()
        taker, request = self._taker, self._request
        if piece:
            self._size += len(piece)
            if self._size >= self._taken + _PROGRESS:
                self._taken = self._size
                self._set_deadline()
            if taker is not None:
                taker.body(piece)
            elif self._size > self._server.limits.body:
                raise RefusedError(413, f"the body is too large; allowed: {self._server.limits.body} bytes")
            else:
                self._pieces.append(piece)
        if not self._reader.complete:
            return bool(piece)
        self._whole = True
        self.deadline = _NEVER
        if taker is not None:
            if self._taker is taker:  # it may have answered meanwhile
                taker.end()
        elif request is not None:
            request.body = b"".join(self._pieces)
            self._pieces.clear()
            self._answer(request)
        return True

    def _answer(self, request: Request) -> None:
        try:
            answer = self._server.handler(request)
            if isinstance(answer, Response) and isinstance(answer.body, bytes):
                self._write_whole(request, answer)
                self.finish()
                return
        except Exception as error:
            self._failed(request, error)
            return
        self._task = self._server.run(self._answer_later(request, answer))
        self._task.add_done_callback(lambda _: drop(answer))

    async def _answer_later(self, request: Request, answer: object) -> None:
        try:
            response = (
                answer if isinstance(answer, Response) else await cast("asyncio.Future[Response]", answer)
            )
            if isinstance(response.body, bytes):
                self._write_whole(request, response)
                self.finish()
            else:
                await self._write_pieces(request, response, response.body)
        except asyncio.CancelledError:
            self.abort()  # the client is gone, or the server ends
            raise
        except Exception as error:
            self._failed(request, error)

    def _write_whole(self, request: Request, response: Response) -> None:
        self._transport.write(written(request, response, keep_alive=self.keep_alive, minor=self._minor))

    async def _write_pieces(self, request: Request, response: Response, pieces: AsyncIterator[bytes]) -> None:
        chunked = self._minor > 0
        try:
            keep_alive = chunked and self.keep_alive
            self._transport.write(written_head(response, keep_alive=keep_alive, minor=self._minor))
            if request.method != "HEAD" and not is_bodiless(response.status):
                async for piece in pieces:
                    if piece:
                        self._transport.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
                    if self._writing_held:
                        self._writable = self._server.loop.create_future()
                        await self._writable
                if chunked:
                    self._transport.write(b"0\r\n\r\n")
        except Exception as error:
            tell_of_failure(request, error)
            self.abort()  # so that nobody takes what came for the whole
            return
        finally:
            close = getattr(pieces, "aclose", None)
            if close is not None:
                await close()
        self.finish(keep_alive=chunked)

    def _failed(self, request: Request, error: Exception) -> None:
        """Answer for a handler that failed: it is our mistake, and not for the client to read."""
        tell_of_failure(request, error)
        if not self._transport.is_closing():
            self._write_whole(request, error_response(500, FAILED))
            self.finish()

    def _leave(self) -> None:
        """Tell whoever answers that nobody reads it any more."""
        taker, task = self._taker, self._task
        self._taker = self._task = None
        if self._writable is not None and not self._writable.done():
            self._writable.cancel()
        if task is not None:
            task.cancel()
        if taker is not None:
            taker.gone()

    def _refuse(self, status: int, message: str, headers: Iterable[tuple[str, str]] = ()) -> None:
        """Answer with an error and end the connection; whoever took the request learns that it is over."""
        self._leave()
        if not self._transport.is_closing():
            self._transport.write(refusal(status, message, headers))
            self._end()

    def _end(self) -> None:
        """Close once everything is written, reading on for a moment.

        Closing at once while the client still sends would reset the connection, and the answer with it.
        """
        self._busy = True
        transport = self._transport
        if transport.is_closing():
            return
        if self._whole and not self._reader.waiting and not self._reading_held:
            transport.close()
            return
        self._discarding = True
        self.go_on_reading()
        self.deadline = self._server.now() + _LINGER_SECONDS
        if transport.can_write_eof():
            transport.write_eof()

    def _set_deadline(self) -> None:
        """Say until when the client owes us what comes next."""
        server = self._server
        if self._discarding:
            return
        if self._writing_held:
            self.deadline = server.now() + server.limits.stall
        elif not self._busy:
            self.deadline = server.now() + server.limits.idle
        elif self._whole or self._reading_held:
            self.deadline = _NEVER
        else:
            self.deadline = server.now() + server.limits.stall
