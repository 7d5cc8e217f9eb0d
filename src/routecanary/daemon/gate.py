"""May a round begin? Not while the values that rounds are made with are replaced."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


class Gate:
    """Any number of rounds at once, or one change; a change that waits lets no further round begin.

    Nothing is awaited on leaving, so that being cancelled leaves nobody waiting for ever.
    """

    def __init__(self) -> None:
        self.rounds = 0  # under way
        self._changing = False
        self._waiting = 0  # changes
        self._moved = asyncio.Event()  # set, and replaced, whenever somebody left

    @asynccontextmanager
    async def round(self) -> AsyncIterator[None]:
        """Be a round: wait for the changes, and let none begin until this ends."""
        await self._until(lambda: not self._changing and not self._waiting)
        self.rounds += 1
        try:
            yield
        finally:
            self.rounds -= 1
            self._left()

    @asynccontextmanager
    async def change(self) -> AsyncIterator[None]:
        """Be a change: wait for the rounds under way, whose length their own deadlines bound."""
        self._waiting += 1
        try:
            await self._until(lambda: not self._changing and not self.rounds)
            self._changing = True
            try:
                yield
            finally:
                self._changing = False
        finally:
            self._waiting -= 1
            self._left()

    async def _until(self, true: Callable[[], bool]) -> None:
        while not true():
            await self._moved.wait()

    def _left(self) -> None:
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()
