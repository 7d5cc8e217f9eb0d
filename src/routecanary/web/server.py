"""How does a listener live: opened, bounded, swept, closed?"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Final, Self

from routecanary.web.connection import Connection, Opener
from routecanary.web.message import Handler

_SWEEP_SECONDS: Final = 1.0
_BACKLOG: Final = 1024
_CUT_SECONDS: Final = 1.0  # in which cut connections report their end


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a client may take, in bytes, connections and seconds."""

    body: int = 1_048_576  # of a request that is handed over whole
    connections: int = 4096
    head: float = 10.0  # from a request's first byte to the end of its head
    idle: float = 75.0  # between two requests
    stall: float = 30.0  # without a byte of a body, or without 16 KiB taken of an answer that waits


class Server:
    """A listener and its connections. Made by `listen`."""

    def __init__(self, handler: Handler, *, opener: Opener | None, limits: Limits) -> None:
        self.handler = handler
        self.opener = opener
        self.limits = limits
        self.loop = asyncio.get_running_loop()
        self.now = self.loop.time
        self._connections: set[Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._empty = asyncio.Event()
        self._listener: asyncio.Server | None = None
        self._sweeper = self.loop.create_task(self._sweep())

    @property
    def address(self) -> tuple[str, int]:
        """The host and port that were bound."""
        if self._listener is None or not self._listener.sockets:
            raise RuntimeError("not listening")
        host, port = self._listener.sockets[0].getsockname()[:2]
        return str(host), int(port)

    @property
    def connections(self) -> int:
        return len(self._connections)

    async def open(self, host: str, port: int) -> None:
        """Listen; raises `OSError` when the address cannot be bound."""
        self._listener = await self.loop.create_server(
            lambda: Connection(self), host, port, backlog=_BACKLOG, reuse_address=True
        )

    async def close(self, grace: float = 10.0) -> None:
        """Stop listening, let what is under way finish within `grace` seconds, cut the rest."""
        if self._listener is not None:
            self._listener.close()
        for connection in tuple(self._connections):
            connection.close_when_idle()
        for patience in (grace, _CUT_SECONDS):
            if self._connections:
                self._empty.clear()
                try:
                    await asyncio.wait_for(self._empty.wait(), patience)
                except TimeoutError:
                    pass  # they had their time
            for connection in tuple(self._connections):
                connection.cut()
        if self._tasks:
            await asyncio.wait(
                self._tasks, timeout=_CUT_SECONDS
            )  # they were cancelled with their connections
        self._sweeper.cancel()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def run(self, answering: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run what answers a request; closing waits for it."""
        task = self.loop.create_task(answering)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def admit(self, connection: Connection) -> bool:
        """Take a new connection in; say whether there is room for it."""
        self._connections.add(connection)
        return len(self._connections) <= self.limits.connections

    def forget(self, connection: Connection) -> None:
        self._connections.discard(connection)
        if not self._connections:
            self._empty.set()

    async def _sweep(self) -> None:
        """End the connections that owe us something for too long; cheaper than a timer for each."""
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            now = self.now()
            for connection in tuple(self._connections):
                if connection.is_overdue(now):
                    connection.overdue()


async def listen(
    handler: Handler,
    host: str,
    port: int,
    *,
    opener: Opener | None = None,
    limits: Limits | None = None,
) -> Server:
    """Serve HTTP/1.1 at an address until the server is closed.

    Args:
        handler: Answers a request that has come whole.
        opener: Asked first, at the end of each head: may take the request's body as it comes.
        port: 0 = any free one; `Server.address` says which.
    Raises:
        OSError: The address cannot be bound.
    """
    server = Server(handler, opener=opener, limits=limits or Limits())
    try:
        await server.open(host, port)
    except BaseException:
        await server.close(0)
        raise
    return server
