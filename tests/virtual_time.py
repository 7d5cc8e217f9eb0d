"""A clock without real time: whenever everybody sleeps, it moves on to whoever wakes first."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any


class OnTheSpot(ThreadPoolExecutor):
    """Does at once what a thread should do, which virtual time would not wait for."""

    def submit(self, do: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(do(*arguments, **named))
        except Exception as error:
            done.set_exception(error)
        return done


class VirtualClock:
    """Wall time and elapsed time, which move together until `set_wall`."""

    rate = 200.0  # what is to happen several times in a real second happens about once in a minute

    def __init__(self, start: datetime) -> None:
        self._start = start
        self._elapsed = 0.0
        self._ahead = timedelta()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._deeds: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self._driver: asyncio.Task[None] | None = None

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._elapsed) + self._ahead

    def monotonic(self) -> float:
        return self._elapsed

    def elapsed(self) -> float:
        return self._elapsed

    def after(self, passed: timedelta, do: Callable[[], None]) -> None:
        """Do something when so much time has passed since the start."""
        self._count += 1
        heapq.heappush(self._deeds, (passed.total_seconds(), self._count, do))

    def set_wall(self, by: timedelta) -> None:
        """Be set ahead, or back."""
        self._ahead += by

    def sleep_machine(self, length: timedelta) -> None:
        """Let the machine sleep: everything passes, and nobody notices."""
        self._elapsed += length.total_seconds()

    async def sleep(self, seconds: float) -> None:
        self._count += 1
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._elapsed + seconds, self._count, woken))
        if self._driver is None or self._driver.done():
            self._driver = asyncio.create_task(self._drive())
        await woken

    async def _drive(self) -> None:
        loop = asyncio.get_running_loop()
        while self._sleepers:
            await asyncio.sleep(0)  # one turn for everybody else
            if loop._ready:  # type: ignore[attr-defined]  # somebody is still awake
                continue
            wakes_at, _, woken = self._sleepers[0]
            if self._deeds and self._deeds[0][0] <= wakes_at:
                due, _, do = heapq.heappop(self._deeds)
                self._elapsed = max(self._elapsed, due)
                do()
                continue
            heapq.heappop(self._sleepers)
            if not woken.cancelled():
                self._elapsed = max(self._elapsed, wakes_at)
                woken.set_result(None)
