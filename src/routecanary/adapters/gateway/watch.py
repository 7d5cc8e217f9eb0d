"""Has a probe waited long enough?"""

from __future__ import annotations

import asyncio
from typing import Final, Protocol, Self

from routecanary.clock import Clock

LOOK_EVERY: Final = 0.5  # clock seconds: a deadline that came nearer is met this much late at most


class Waiting(Protocol):
    """What has deadlines, in seconds of the clock."""

    def due(self) -> float:
        """Return when waiting ends if nothing more comes."""

    def expire(self, at: float) -> bool:
        """End the waiting if a deadline has passed, and say whether it has."""


class Watch:
    """One timer for all deadlines of one waiting; it ends the `asyncio.timeout` around it.

    What arrives moves the next deadline, mostly away. The timer is not touched for it: it rings now and then,
    or when the deadline was due as it was last known, and looks again.
    """

    def __init__(self, waiting: Waiting, clock: Clock, limit: asyncio.Timeout) -> None:
        self._waiting = waiting
        self._clock = clock
        self._limit = limit
        self._loop = asyncio.get_running_loop()

    def __enter__(self) -> Self:
        self._handle = self._wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._handle.cancel()

    def _wait(self) -> asyncio.TimerHandle:
        seconds = min(self._waiting.due() - self._clock.monotonic(), LOOK_EVERY)
        return self._loop.call_later(max(0.0, seconds) / self._clock.rate, self._ring)

    def _ring(self) -> None:
        if self._waiting.expire(self._clock.monotonic()):
            self._limit.reschedule(self._loop.time())
        else:
            self._handle = self._wait()
