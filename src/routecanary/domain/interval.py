"""Between which shares lies the truth, given what was counted?

The exact interval of Clopper and Pearson for a binomial share, by bisection of the binomial tail: standard
library only, and never narrower than it says.

Source: C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of
the binomial", Biometrika 26 (1934), 404–413.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, fsum, lgamma, log, log1p
from typing import Final, NamedTuple

_HALVINGS: Final = 60  # of the unit interval: 1e-18, finer than a float near 1


class Interval(NamedTuple):
    """Two shares, each from 0 to 1."""

    low: float
    high: float


def exact_interval(hits: int, trials: int, confidence: float = 0.95) -> Interval:
    """Give the exact two-sided interval for a share.

    Args:
        hits: Of the trials, 0 to `trials`.
        trials: 0 says nothing: the interval is the whole range.
        confidence: Above 0 and below 1; half of the rest lies on either side.
    Raises:
        ValueError: The counts or the confidence are out of range.
    Example: 1 of 10 gives 0.0025 to 0.4450; 0 of 10 gives 0 to 0.3085.
    """
    if not 0 <= hits <= trials:
        raise ValueError(f"{hits} of {trials} is no share")
    if not 0 < confidence < 1:
        raise ValueError(f"{confidence} is no confidence")
    tail = (1 - confidence) / 2
    low = 0.0 if hits == 0 else _root(lambda share: _at_least(hits, trials, share) - tail)
    high = 1.0 if hits == trials else _root(lambda share: tail - _at_most(hits, trials, share))
    return Interval(low, high)


def _root(rising: Callable[[float], float]) -> float:
    """Find where a rising function of a share crosses zero."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _at_least(hits: int, trials: int, share: float) -> float:
    return fsum(_probability(count, trials, share) for count in range(hits, trials + 1))


def _at_most(hits: int, trials: int, share: float) -> float:
    return fsum(_probability(count, trials, share) for count in range(hits + 1))


def _probability(hits: int, trials: int, share: float) -> float:
    """Compute the binomial probability; the share is above 0 and below 1."""
    ways = lgamma(trials + 1) - lgamma(hits + 1) - lgamma(trials - hits + 1)
    return exp(ways + hits * log(share) + (trials - hits) * log1p(-share))
