"""From which ratio on does evidence suspend, at a declared rate of false suspensions?"""

from __future__ import annotations

import math
from random import Random

import pytest

from routecanary.decide.thresholds import log_gain, log_loss, mean_attempts, threshold


def test_mean_attempts_of_walks_small_enough_to_solve_by_hand() -> None:
    """An alarm at the first fail comes after 1/rate attempts; at the second of two steps later."""
    assert mean_attempts(0.1, up=4, down=1, alarm=4) == pytest.approx(10)
    # up 1, down 1, alarm at 2, fair coin: E0 = 1 + E1/2 + E0/2, E1 = 1 + E0/2, so E0 = 6
    assert mean_attempts(0.5, up=1, down=1, alarm=2) == pytest.approx(6)
    # two fails in a row, since a pass goes all the way down: (1 - p²)/(p²(1 - p)) = 6 at one half
    assert mean_attempts(0.5, up=1, down=5, alarm=2) == pytest.approx(6)


@pytest.mark.parametrize(("rate", "up", "down", "alarm"), [(0.1, 7, 2, 20), (0.25, 5, 3, 17), (0.4, 3, 4, 9)])
def test_mean_attempts_is_what_walks_do(rate: float, up: int, down: int, alarm: int) -> None:
    """Twenty thousand simulated walks agree within five standard errors."""
    rng, lengths = Random(5), []
    for _ in range(4_000):
        place = taken = 0
        while place < alarm:
            taken += 1
            place = place + up if rng.random() < rate else max(0, place - down)
        lengths.append(taken)
    mean = sum(lengths) / len(lengths)
    spread = math.sqrt(sum((one - mean) ** 2 for one in lengths) / len(lengths) / len(lengths))
    assert abs(mean_attempts(rate, up, down, alarm) - mean) < 5 * spread


@pytest.mark.parametrize("p0", [0.005, 0.01, 0.03, 0.1, 0.2])
@pytest.mark.parametrize("attempts", [1e3, 1e6, 3e7])
def test_threshold_is_never_above_the_formula_and_keeps_the_rate(p0: float, attempts: float) -> None:
    """The chain's threshold asks for less than 1/α, and false alarms stay as rare as declared."""
    p1 = min(max(0.2, 4 * p0), (1 + p0) / 2)
    found = threshold(p0, p1, attempts)
    assert found.log_m <= math.log(attempts)
    if found.exact:
        step = log_loss(p0, p1) / 4
        up = math.ceil(log_gain(p0, p1) / step)
        alarm = round(found.log_m / step)
        assert mean_attempts(p0, up, 4, alarm) >= attempts
        assert mean_attempts(p0, up, 4, alarm - 1) < attempts


def test_threshold_grows_with_what_is_asked_of_it() -> None:
    """A smaller budget, a higher failure rate of the peers: never a lower threshold."""
    budgets = [threshold(0.01, 0.2, attempts).log_m for attempts in (1e3, 1e4, 1e5, 1e6, 1e7, 1e8)]
    assert budgets == sorted(budgets)
    assert threshold(0.01, 0.2, 1.0).log_m == 0.0
