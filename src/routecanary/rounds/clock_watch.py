"""Can the wall clock be believed?

It can be set at any time, and everything that is decided is dated by it: one round dated far ahead would have
every later one rejected until that time has come. So it is compared with the time that passed, which nobody
can set and in which a sleep of the machine counts.

Source: policy.md §5, "Time never runs backwards"; docs/operating.md, "Clocks".
"""

from __future__ import annotations

from datetime import datetime, timedelta

from routecanary.clock import Clock
from routecanary.errors import ClockLeaptError


class ClockWatch:
    """Compares the wall clock with elapsed time, from a moment at which it was believed."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.believe()

    def believe(self) -> None:
        """Begin anew: the wall clock is right now."""
        self._wall = self._clock.now()
        self._elapsed = self._clock.elapsed()

    def leap(self) -> timedelta:
        """Say by how much the wall clock ran ahead since then; negative: it stepped back."""
        passed = timedelta(seconds=self._clock.elapsed() - self._elapsed)
        return self._clock.now() - self._wall - passed

    def now(self, most: timedelta) -> datetime:
        """Read the wall clock.

        Raises:
            ClockLeaptError: It ran ahead by more than `most`.
        """
        leap = self.leap()
        if leap > most:
            raise ClockLeaptError(round(leap.total_seconds()))
        return self._clock.now()
