"""How does each read of a body get its own arrival time?

The library hands a body to whoever awaits it, one turn of the event loop after the bytes came, and pays a
future and a task switch for each read. With hundreds of open streams that delay is ours, not the provider's.
The tap stands between the socket and the library while a body arrives: the library takes the transfer coding
off, and what is left goes to the recording at once, with the time at which the read came in.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Protocol, Self, cast

import aiohttp

from routecanary.clock import Clock


class Sink(Protocol):
    def feed(self, at: float, data: bytes) -> bool:
        """Keep one read; False when no more is wanted."""


async def receive(response: aiohttp.ClientResponse, sink: Sink, clock: Clock) -> None:
    """Pass a body to `sink`, read by read, until it ends or the sink wants no more.

    Raises:
        aiohttp.ClientError: The body broke off.
    """
    content = response.content
    connection = response.connection
    if connection is None or connection.transport is None:  # all of it came together with the headers
        data = await content.read()
        if data:
            sink.feed(clock.monotonic(), data)
        return
    with Tap(content, connection.transport, sink, clock) as tap:
        error = content.exception()
        if error is not None:
            raise error
        try:
            if not tap.closed:
                await content.wait_eof()
        finally:
            if tap.mistake is not None:
                raise tap.mistake


class Tap(asyncio.Protocol):
    """A protocol that stands before the library's own for the length of one body."""

    def __init__(
        self, content: aiohttp.StreamReader, transport: asyncio.Transport, sink: Sink, clock: Clock
    ) -> None:
        self.closed = False  # the sink wants no more
        self.mistake: Exception | None = None  # raised by the sink: ours, not the connection's
        self._content = content
        self._transport = transport
        self._inner = cast("asyncio.Protocol", transport.get_protocol())
        self._sink = sink
        self._clock = clock

    def __enter__(self) -> Self:
        self._transport.set_protocol(self)
        self._drain(self._clock.monotonic())  # what came together with the headers
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._step_aside()

    def data_received(self, data: bytes) -> None:
        at = self._clock.monotonic()
        self._inner.data_received(data)
        self._drain(at)

    def _drain(self, at: float) -> None:
        content = self._content
        if content.exception() is None and not self.closed:
            data = content.read_nowait()
            try:
                self.closed = bool(data) and not self._sink.feed(at, data)
            except Exception as mistake:  # the loop would take it for a broken connection
                self.closed, self.mistake = True, mistake
            if self.closed:
                self._transport.abort()
        if content.is_eof():
            # The library has put the connection back into its pool: the next request finds its own protocol.
            self._step_aside()

    def _step_aside(self) -> None:
        if self._transport.get_protocol() is self:
            self._transport.set_protocol(self._inner)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._inner.connection_lost(exc)
        content = self._content
        if not content.is_eof() and content.exception() is None:
            # After broken framing the library leaves the body without an end, and its reader waiting.
            content.set_exception(aiohttp.ClientPayloadError("the connection was lost"))

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()
