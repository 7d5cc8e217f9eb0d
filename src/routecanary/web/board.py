"""When does what a program would get become another?

Whoever waits is woken by one look, ten times a second, at each document that somebody waits for. To find the
document again is cheap, and tells of every cause at once: another snapshot, an end that was reached, a clock
that was set.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from routecanary.errors import RoutecanaryError

LOOK_SECONDS: Final = 0.1
MAX_WAITING: Final = 2_000  # askers at once
KEPT: Final = 1_024  # documents


class Tagged(Protocol):
    """What is waited for: another one has another tag."""

    @property
    def etag(self) -> str: ...


class FullError(RoutecanaryError):
    """So many wait already that nobody else can."""

    def __init__(self) -> None:
        super().__init__(f"{MAX_WAITING} programs wait already; ask without waiting")


class _Watched:
    """A document that somebody waits to see changed."""

    __slots__ = ("etag", "find", "waiting")

    def __init__(self, find: Callable[[], Tagged], etag: str) -> None:
        self.find = find
        self.etag = etag
        self.waiting: set[asyncio.Future[None]] = set()


class Board:
    """Waiting, for whoever may wait."""

    def __init__(self) -> None:
        self._watched: dict[Hashable, _Watched] = {}
        self._looking: asyncio.Task[None] | None = None
        self.closed = False
        self._askers = 0  # that wait, and streams whether they wait or write

    @property
    def is_full(self) -> bool:
        return self._askers >= MAX_WAITING

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Count a stream for as long as it goes on."""
        self._askers += 1
        try:
            yield
        finally:
            self._askers -= 1

    async def wait(self, key: Hashable, find: Callable[[], Tagged], etag: str, seconds: float) -> None:
        """Return when what `find` finds has another tag than `etag`, or after so many seconds.

        Args:
            key: Names what is found, the same for everybody who waits for it.
        """
        if self.closed or find().etag != etag:
            return
        watched = self._watched.setdefault(key, _Watched(find, etag))
        if watched.etag != etag:  # it changed since the last look
            self._ring(watched)
            watched.etag = etag
        rung = asyncio.get_running_loop().create_future()
        watched.waiting.add(rung)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_on())
        try:
            await asyncio.wait_for(rung, seconds)
        except TimeoutError:
            pass  # nothing changed
        finally:
            watched.waiting.discard(rung)
            if not watched.waiting and self._watched.get(key) is watched:
                del self._watched[key]

    def close(self) -> None:
        """Let everybody go on who waits; nobody waits any more."""
        self.closed = True
        for watched in self._watched.values():
            self._ring(watched)
        if self._looking is not None:
            self._looking.cancel()

    async def _look_on(self) -> None:
        while self._watched:
            await asyncio.sleep(LOOK_SECONDS)
            for watched in tuple(self._watched.values()):
                if watched.find().etag != watched.etag:
                    self._ring(watched)

    def _ring(self, watched: _Watched) -> None:
        for rung in watched.waiting:
            if not rung.done():
                rung.set_result(None)
