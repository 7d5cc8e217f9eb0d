"""From which likelihood ratio on does evidence ask for a suspension, at a declared rate of false ones?

The formula says 1/α, which holds at any stopping rule and is conservative. Here the mean number of attempts
to a false alarm is computed from the chain that the ratio follows on a sound route, and the least threshold
that keeps the declared rate is taken.

Source: docs/policy.md, Evidence trigger. The chain is exact on a grid of log ratios on which a pass is a
whole number of steps; a fail is rounded up, against suspending too late in the count and never too early.
"""

from __future__ import annotations

import math
from functools import lru_cache
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
    up = math.ceil(log_gain(p0, p1) / step)
    most = math.ceil(formula / step)
    if most > _MOST_STATES or most < 1:
        return Threshold(max(0.0, formula), exact=False)
    low, high = 0, most  # the alarm at grid step `high` is rare enough
    if mean_attempts(p0, up, _STEPS_OF_A_PASS, high) < attempts_to_alarm:
        return Threshold(formula, exact=False)
    while high - low > 1:
        middle = (low + high) // 2
        if mean_attempts(p0, up, _STEPS_OF_A_PASS, middle) >= attempts_to_alarm:
            high = middle
        else:
            low = middle
    exact = high * step
    return Threshold(exact, exact=True) if exact < formula else Threshold(formula, exact=False)


def mean_attempts(rate: float, up: int, down: int, alarm: int) -> float:
    """Compute the mean number of attempts until a reflected walk first reaches `alarm`.

    The walk starts at 0, goes `up` steps at a fail (probability `rate`), `down` at a pass, and never below 0.
    Args:
        alarm: In grid steps, at least 1.
    """
    # E[i] = 1 + rate E[i + up] + (1 - rate) E[max(0, i - down)], E = 0 from `alarm` on. Eliminated from the
    # top: each row holds its own column and those below it, at most `down` of them after elimination.
    passed = 1.0 - rate
    rows: list[dict[int, float]] = [{} for _ in range(alarm)]  # E[i] = constant[i] + Σ rows[i][j] E[j], j < i
    constant = [0.0] * alarm
    for i in range(alarm - 1, -1, -1):
        total, terms = 1.0, {max(0, i - down): passed}
        above = i + up
        if above < alarm:
            total += rate * constant[above]
            for j, weight in rows[above].items():
                terms[j] = terms.get(j, 0.0) + rate * weight
        # replace what lies above i by what lies below it, the highest first
        while (top := max(terms)) > i:
            weight = terms.pop(top)
            total += weight * constant[top]
            for j, inner in rows[top].items():
                terms[j] = terms.get(j, 0.0) + weight * inner
        own = 1.0 - terms.pop(i, 0.0)
        constant[i] = total / own
        rows[i] = {j: weight / own for j, weight in terms.items()}
    return constant[0]
