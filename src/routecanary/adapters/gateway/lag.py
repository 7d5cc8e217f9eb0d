"""How late is our own event loop?

A busy loop makes every provider look slow. While probes are out, a tick is scheduled at a fixed step, and how
late it comes is the lag; each probe asks for the worst lag within its own span of waiting. All times are in
seconds of the clock.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from typing import Final, Self

from routecanary.clock import Clock

STEP: Final = 0.05  # clock seconds between ticks
LEAST_STEP: Final = 0.005  # real seconds: under compressed time the meter must not become the load
KEPT: Final = 8_192  # ticks; half of them span the longest answer


class Ticks:
    """When ticks were due and when they came, the newest of them."""

    def __init__(self) -> None:
        self.due = 0.0  # of the next tick
        self._came: list[float] = []  # ascending
        self._lags: list[float] = []

    def add(self, came: float) -> None:
        """Note that the tick which was due has come."""
        self._came.append(came)
        self._lags.append(max(0.0, came - self.due))
        if len(self._came) > KEPT:
            del self._came[: KEPT // 2], self._lags[: KEPT // 2]

    def worst(self, start: float, end: float) -> float:
        """Find the worst lag of a span that has passed.

        A tick that came later, or has not come yet, counts for the part of its delay before `end`.
        """
        first, last = bisect_left(self._came, start), bisect_right(self._came, end)
        worst = max(self._lags[first:last], default=0.0)
        if last < len(self._came):
            next_due = self._came[last] - self._lags[last]
        else:
            next_due = self.due
        return max(worst, end - next_due)


class LagMeter:
    """Ticks while at least one probe is out."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._step = max(LEAST_STEP, STEP / clock.rate)  # real seconds
        self._ticks = Ticks()
        self._watchers = 0
        self._handle: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        self._watchers += 1
        if self._handle is None:
            self._schedule()
        return self

    def __exit__(self, *_: object) -> None:
        self._watchers -= 1
        if self._watchers == 0 and self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def worst(self, start: float, end: float) -> float:
        """Find the worst lag of a span that lies within the watching."""
        return self._ticks.worst(start, end)

    def _schedule(self) -> None:
        self._ticks.due = self._clock.monotonic() + self._step * self._clock.rate
        self._handle = asyncio.get_running_loop().call_later(self._step, self._tick)

    def _tick(self) -> None:
        self._ticks.add(self._clock.monotonic())
        self._schedule()
