"""Which of a long row of trials succeed, each with the same small chance? Drawn by the gaps between them."""

from __future__ import annotations

import math
from random import Random
from typing import Final

_NEVER: Final = 1 << 62  # trials


class Gaps:
    """A row of trials, taken piece by piece; where one piece ends, the next goes on."""

    def __init__(self, chance: float, rng: Random) -> None:
        self._chance, self._rng = chance, rng
        self._scale = 1 / math.log1p(-chance) if 0 < chance < 1 else 0.0
        self._next = self._gap()

    def within(self, trials: int) -> list[int]:
        """List the successes among the next so many trials, by number from 0."""
        found: list[int] = []
        place = self._next
        while place < trials:
            found.append(place)
            place += 1 + self._gap()
        self._next = place - trials
        return found

    def _gap(self) -> int:
        """Draw how many trials fail before one succeeds."""
        if self._chance >= 1:
            return 0
        if self._chance <= 0:
            return _NEVER
        return int(math.log(1.0 - self._rng.random()) * self._scale)
