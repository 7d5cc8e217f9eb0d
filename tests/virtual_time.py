"""A clock without real time: whenever everybody sleeps, it moves on to whoever wakes first."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from datetime import datetime, timedelta

_TURNS = 30
"""Turns of the event loop in which nobody did anything before it counts as asleep."""


class VirtualClock:
    """Wall time and elapsed time, which move together save for `set_wall`."""

    rate = 200.0  # what is to happen several times in a real second happens about once in a minute

    def __init__(self, start: datetime) -> None:
        self._start = start
        self._elapsed = 0.0
        self._ahead = timedelta()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._settings: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self._driver: asyncio.Task[None] | None = None

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._elapsed) + self._ahead

    def monotonic(self) -> float:
        return self._elapsed

    def elapsed(self) -> float:
        return self._elapsed

    def at(self, moment: datetime, do: Callable[[], None]) -> None:
        """Do something when so much time has passed as there is until a wall time, as the wall stands now."""
        self._count += 1
        due = (moment - self._start - self._ahead).total_seconds()
        heapq.heappush(self._settings, (due, self._count, do))

    def set_wall(self, by: timedelta, *, at: datetime) -> None:
        """Let somebody set the wall clock ahead, or back, at a moment."""

        def turn() -> None:
            self._ahead += by

        self.at(at, turn)

    def sleep_machine(self, length: timedelta, *, at: datetime) -> None:
        """Let the machine sleep at a moment: everything passes, and nobody notices."""

        def sleep() -> None:
            self._elapsed += length.total_seconds()

        self.at(at, sleep)

    async def sleep(self, seconds: float) -> None:
        self._count += 1
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._elapsed + seconds, self._count, woken))
        if self._driver is None or self._driver.done():
            self._driver = asyncio.create_task(self._drive())
        await woken

    async def _drive(self) -> None:
        while self._sleepers:
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            wakes_at, _, woken = self._sleepers[0]
            if self._settings and self._settings[0][0] <= wakes_at:
                due, _, do = heapq.heappop(self._settings)
                self._elapsed = max(self._elapsed, due)
                do()
                continue
            heapq.heappop(self._sleepers)
            if not woken.cancelled():
                self._elapsed = max(self._elapsed, wakes_at)
                woken.set_result(None)
