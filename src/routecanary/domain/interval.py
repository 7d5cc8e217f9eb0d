"""Between which shares, or rates, lies the truth, given what was counted?

The exact interval of Clopper and Pearson for a binomial share, and that of Garwood for the mean of a Poisson
count, by bisection of the tails: standard library only, and never narrower than they say.

Source: C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of
the binomial", Biometrika 26 (1934), 404–413; F. Garwood, "Fiducial limits for the Poisson distribution",
Biometrika 28 (1936), 437–442.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import exp, fsum, lgamma, log, log1p, sqrt
from typing import Final, NamedTuple

_HALVINGS: Final = 60  # of the unit interval: 1e-18, finer than a float near 1


class Interval(NamedTuple):
    """Two shares, each from 0 to 1, or two rates, each from 0 on."""

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


def exact_count_interval(count: int, confidence: float = 0.95) -> Interval:
    """Give the exact two-sided interval for how many events were to be expected, where so many came.

    Divided by the time in which they came it is the interval of their rate.

    Args:
        count: Of events that come independently of each other, 0 or more.
        confidence: Above 0 and below 1; half of the rest lies on either side.
    Raises:
        ValueError: The count or the confidence is out of range.
    Example: 0 events give 0 to 3.689; 1 gives 0.0253 to 5.572; 10 give 4.795 to 18.39.
    """
    if count < 0:
        raise ValueError(f"{count} is no count")
    if not 0 < confidence < 1:
        raise ValueError(f"{confidence} is no confidence")
    tail = (1 - confidence) / 2
    most = count + 10.0 + 10.0 * sqrt(count + 1.0)
    while _came_at_most(count, most) > tail:
        most *= 2
    low = 0.0 if count == 0 else _root(lambda mean: 1 - _came_at_most(count - 1, mean) - tail, float(count))
    return Interval(low, _root(lambda mean: tail - _came_at_most(count, mean), most))


def _came_at_most(count: int, mean: float) -> float:
    """Compute the probability that at most so many come where `mean` are expected, above 0."""
    return fsum(exp(each * log(mean) - mean - lgamma(each + 1)) for each in range(count + 1))


def _root(rising: Callable[[float], float], high: float = 1.0) -> float:
    """Find where a rising function crosses zero between 0 and `high`."""
    low = 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _at_least(hits: int, trials: int, share: float) -> float:
    if 2 * hits < trials:
        return 1 - _sum(range(hits), trials, share)
    return _sum(range(hits, trials + 1), trials, share)


def _at_most(hits: int, trials: int, share: float) -> float:
    if 2 * hits > trials:
        return 1 - _sum(range(hits + 1, trials + 1), trials, share)
    return _sum(range(hits + 1), trials, share)


def _sum(counts: Iterable[int], trials: int, share: float) -> float:
    return fsum(_probability(count, trials, share) for count in counts)


def _probability(hits: int, trials: int, share: float) -> float:
    """Compute the binomial probability; the share is above 0 and below 1."""
    ways = lgamma(trials + 1) - lgamma(hits + 1) - lgamma(trials - hits + 1)
    return exp(ways + hits * log(share) + (trials - hits) * log1p(-share))
