"""How late is our own event loop?

A busy loop makes every provider look slow. While probes are out, a tick is scheduled at a fixed step; how
late it comes is the lag. A probe asks for the worst lag within its own window.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from typing import Final, Self

from routecanary.clock import Clock

STEP: Final = 0.05  # clock seconds between ticks
LEAST_STEP: Final = 0.005  # real seconds: under compressed time the meter must not become the load
KEPT: Final = 8_192  # ticks; half of them span the longest answer


class LagMeter:
    """Ticks while at least one probe is out; all times are seconds of the clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._step = max(LEAST_STEP, STEP / clock.rate)  # real seconds
        self._watchers = 0
        self._handle: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._ticks: list[float] = []  # when each tick came, ascending
        self._lags: list[float] = []  # how late it was

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
        """Find the worst lag of a span, in seconds of the clock.

        A tick that is overdue at this moment counts, and so does a tick after `end` for the part of its
        delay that lies within the span.
        """
        first, last = bisect_left(self._ticks, start), bisect_right(self._ticks, end)
        worst = max(self._lags[first:last], default=0.0)
        if last < len(self._ticks):
            worst = max(worst, self._lags[last] - (self._ticks[last] - end))
        if self._handle is not None:
            now = self._clock.monotonic()
            worst = max(worst, min(now, end) - self._due)
        return worst

    def _schedule(self) -> None:
        self._due = self._clock.monotonic() + self._step * self._clock.rate
        self._handle = asyncio.get_running_loop().call_later(self._step, self._tick)

    def _tick(self) -> None:
        now = self._clock.monotonic()
        self._ticks.append(now)
        self._lags.append(max(0.0, now - self._due))
        if len(self._ticks) > KEPT:
            del self._ticks[: KEPT // 2], self._lags[: KEPT // 2]
        self._schedule()
