"""From which likelihood ratio on does evidence ask for a suspension, at a declared rate of false ones?

The formula says 1/α, which holds at any stopping rule and is conservative. Here the mean number of attempts
to a false alarm is computed from the chain that the ratio follows on a sound route, and the least threshold
that keeps the declared rate is taken.

Source: docs/policy.md, Evidence trigger. The chain is exact on a grid of log ratios on which a pass is a
whole number of steps; a fail is rounded up, against suspending too late in the count and never too early.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from itertools import count
from typing import Final, NamedTuple

_STEPS_OF_A_PASS: Final = 4  # grid steps that one pass goes down
_MOST_STATES: Final = 2_000  # of the grid: above, the formula is used


class Threshold(NamedTuple):
    """A natural logarithm of the ratio, and whether the exact chain gave it."""

    log_m: float
    exact: bool


def log_gain(p0: float, p1: float) -> float:
    """Say what a fail adds to the logarithm of the ratio."""
    return math.log(p1 / p0)


def log_loss(p0: float, p1: float) -> float:
    """Say what a pass takes from it; positive."""
    return math.log((1 - p0) / (1 - p1))


@lru_cache(maxsize=4096)
def threshold(p0: float, p1: float, attempts_to_alarm: float) -> Threshold:
    """Find the least threshold whose mean number of attempts to a false alarm is large enough.

    Args:
        p0: Failure rate of a sound route, 0 < p0 < p1 < 1.
        attempts_to_alarm: How many attempts there must be between two false alarms, on average: 1/α.
    Example: at p0 = 1 %, p1 = 20 % and 1/α = 26 million, the chain asks for M ≥ 1.1 million or so.
    """
    formula = math.log(attempts_to_alarm)
    step = log_loss(p0, p1) / _STEPS_OF_A_PASS
    most = math.ceil(formula / step)
    if not 1 <= most <= _MOST_STATES:
        return Threshold(max(0.0, formula), exact=False)
    means = _means(p0, math.ceil(log_gain(p0, p1) / step), _STEPS_OF_A_PASS)
    alarm = means.first_reaching(attempts_to_alarm, most)
    if alarm is None or alarm * step >= formula:
        return Threshold(formula, exact=False)
    return Threshold(alarm * step, exact=True)


def mean_attempts(rate: float, up: int, down: int, alarm: int) -> float:
    """Compute the mean number of attempts until a reflected walk first reaches `alarm`.

    The walk starts at 0, goes `up` steps at a fail (probability `rate`), `down` at a pass, and never below 0.
    Args:
        alarm: In grid steps, at least 1.
    """
    return _means(rate, up, down).until(alarm)


class _Means:
    """The mean numbers of attempts to each alarm of one walk, worked out as far as they are asked for."""

    def __init__(self, rate: float, up: int, down: int) -> None:
        self._walk = _mean_by_alarm(rate, up, down)
        self._known: list[float] = []  # of the alarms 1, 2, …; rising

    def until(self, alarm: int) -> float:
        while len(self._known) < alarm:
            self._known.append(next(self._walk))
        return self._known[alarm - 1]

    def first_reaching(self, attempts: float, most: int) -> int | None:
        """Find the least alarm, `most` at the highest, whose mean is so large; None: there is none."""
        while not self._known or (self._known[-1] < attempts and len(self._known) < most):
            self.until(len(self._known) + 1)
        alarm = bisect_left(self._known, attempts) + 1
        return alarm if alarm <= min(most, len(self._known)) else None


@lru_cache(maxsize=256)
def _means(rate: float, up: int, down: int) -> _Means:
    return _Means(rate, up, down)


def _mean_by_alarm(rate: float, up: int, down: int) -> Iterator[float]:
    """Yield the mean number of attempts to the alarms 1, 2, 3, … of the walk from 0.

    State by state, upwards: how long does it take from state i until the walk first stands above i, and
    where does it stand then? Sums of positive terms only: nothing cancels.
    """
    passed = 1.0 - rate
    steps: list[list[float]] = []  # for each state: the chances to come out 1 … `up` above it
    times: list[float] = []  # mean attempts until then
    reached = [1.0] + [0.0] * (
        up - 1
    )  # the chance that, of i and all above, the walk from 0 meets this first
    mean = 0.0
    for i in count():
        back = max(0, i - down)
        chances = [1.0] + [0.0] * (i - back + up)  # from `back` on: where does it come to, i or above, first?
        climbed = 0.0
        for k in range(back, i):
            chance = chances[k - back]
            if chance:
                climbed += chance * times[k]
                begin = k - back + 1
                chances[begin : begin + up] = [
                    old + chance * new for old, new in zip(chances[begin : begin + up], steps[k], strict=True)
                ]
        out = [passed * chance for chance in chances[i - back + 1 :]]
        out[up - 1] += rate
        leaves = sum(out)  # 1 - the chance to come back to i itself
        times.append((1.0 + passed * climbed) / leaves)
        steps.append([chance / leaves for chance in out])
        here = reached[0]
        mean += here * times[i]
        reached = [old + here * new for old, new in zip([*reached[1:], 0.0], steps[i], strict=True)]
        yield mean
