"""When may it have happened, given when a person says that it did?

A stated time is a distribution, not a box: all of the stated error is equally likely, and beyond it the
likelihood falls as the side of a bell does: people round, and remember when they complained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import exp
from typing import Final

EDGE: Final = 0.5
"""The bell's standard deviation beyond the stated error, in units of that error."""

REACH: Final = 2.5
"""Where it is cut off, in units of the stated error: the bell has come down to 1 in 90."""

_LEAST_EDGE: Final = timedelta(minutes=1)  # clocks differ, and an answer takes its time


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The times that may be meant."""

    readings: tuple[datetime, ...]  # UTC, at least one
    within: timedelta

    @property
    def since(self) -> datetime:
        return min(self.readings) - self.reach

    @property
    def until(self) -> datetime:
        return max(self.readings) + self.reach

    @property
    def reach(self) -> timedelta:
        """How far from a reading a time can be and still be meant."""
        return max(REACH * self.within, self.within + 3 * _LEAST_EDGE)

    def weight(self, at: datetime) -> float:
        """Weigh a time, from 0 to 1.

        Example: said to be within 20 minutes, 20 minutes off weigh 1, 30 minutes 0.61, 40 minutes 0.14,
            50 minutes 0.011, 51 nothing.
        """
        distance = min(abs(at - reading) for reading in self.readings)
        if distance > self.reach:
            return 0.0
        beyond = max(distance - self.within, timedelta())
        return exp(-0.5 * (beyond / max(EDGE * self.within, _LEAST_EDGE)) ** 2)


def window_of(readings: Sequence[datetime], within: timedelta) -> Window:
    """Make the window of a stated time, which may have several readings."""
    return Window(readings=tuple(sorted(readings)), within=within)
