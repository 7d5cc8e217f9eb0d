"""How does one probe go over one connection?

The library connects, does TLS and keeps idle connections. In between, this protocol stands on the socket in
the library's place: the library would hand the body to a task, one turn of the event loop after each read,
which at hundreds of open streams costs three times the work and makes our own delay look like the provider's.
Here each read is dated before anything else is done with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Protocol, cast

from aiohttp.connector import Connection

from routecanary.adapters.gateway.failures import failure_from
from routecanary.adapters.gateway.http1 import ResponseReader
from routecanary.clock import Clock
from routecanary.domain.transcript import EndingKind


class Listener(Protocol):
    """Who is told what happens; every `at` is in seconds of the clock's monotonic time."""

    def written(self, at: float) -> None: ...
    def opened(self, at: float, status: int, headers: Iterable[tuple[str, str]]) -> None: ...
    def feed(self, at: float, data: bytes) -> bool: ...
    def ended(self, at: float, kind: EndingKind, detail: str = "") -> None: ...


async def exchange(connection: Connection, request: bytes, listener: Listener, clock: Clock) -> None:
    """Send a whole request and listen to its answer until it ends, however it ends.

    The connection goes back to its pool, or is closed when it cannot carry another request: also when this is
    cancelled. The request counts as written when the socket has taken it, which for a probe of a few
    kilobytes is at once.
    """
    transport = connection.transport
    if transport is None:
        listener.ended(clock.monotonic(), EndingKind.RESET, "lost before it was used")
        connection.close()
        return
    usual = cast("asyncio.Protocol", transport.get_protocol())
    protocol = _Exchange(usual, listener, clock)
    transport.set_protocol(protocol)
    try:
        transport.write(request)
        listener.written(clock.monotonic())
        await protocol.done
    finally:
        transport.set_protocol(usual)
        if protocol.reusable:
            connection.release()
        else:
            connection.close()
        protocol.close()


class _Exchange(asyncio.Protocol):
    def __init__(self, usual: asyncio.Protocol, listener: Listener, clock: Clock) -> None:
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._usual = usual
        self._listener = listener
        self._clock = clock
        self._reader = ResponseReader()
        self._opened = False
        self._lost = False

    @property
    def reusable(self) -> bool:
        return self._reader.complete and self._reader.reusable and not self._lost

    def close(self) -> None:
        self._reader.close()

    def data_received(self, data: bytes) -> None:
        at = self._clock.monotonic()
        reader, listener = self._reader, self._listener
        if self.done.done():  # more than was wanted, before the connection is closed
            reader.reusable = False
            return
        try:
            body = reader.feed(data)
            if not self._opened and reader.status is not None:
                self._opened = True
                listener.opened(at, reader.status, reader.headers)
            if body and not listener.feed(at, body):
                reader.reusable = False
                self._finish()
            elif reader.problem is not None:
                listener.ended(at, EndingKind.RESET, reader.problem)
                self._finish()
            elif reader.complete:
                listener.ended(at, EndingKind.EOF)
                self._finish()
        except Exception as mistake:  # ours: the event loop would take it for a broken connection
            reader.reusable = False
            self._finish(mistake)

    def connection_lost(self, exc: Exception | None) -> None:
        at = self._clock.monotonic()
        self._lost = True
        if not self.done.done():
            if exc is None:
                self._reader.finish()
                if self._reader.problem is None:
                    self._listener.ended(at, EndingKind.EOF)
                else:
                    self._listener.ended(at, EndingKind.RESET, self._reader.problem)
            else:
                failure = failure_from(exc)
                self._listener.ended(
                    at, EndingKind.RESET, "connection lost" if failure is None else failure.detail
                )
            self._finish()
        self._usual.connection_lost(exc)

    def _finish(self, mistake: Exception | None = None) -> None:
        if self.done.done():
            return
        if mistake is None:
            self.done.set_result(None)
        else:
            self.done.set_exception(mistake)

    def pause_writing(self) -> None:
        self._usual.pause_writing()

    def resume_writing(self) -> None:
        self._usual.resume_writing()
