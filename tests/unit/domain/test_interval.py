"""The exact intervals of a share and of a count, against published and hand-made values."""

from __future__ import annotations

from math import exp

import pytest

from routecanary.domain.interval import exact_count_interval, exact_interval

# Clopper–Pearson, 95 %; the ends at 0 and n hits are 1 - 0.025^(1/n) by hand, the others from tables
KNOWN = [
    (0, 10, 0.0, 0.3085),
    (1, 10, 0.0025, 0.4450),
    (2, 10, 0.0252, 0.5561),
    (5, 10, 0.1871, 0.8129),
    (10, 10, 0.6915, 1.0),
    (1, 1, 0.025, 1.0),
    (0, 1, 0.0, 0.975),
    (7, 100, 0.0286, 0.1389),
    (50, 100, 0.3983, 0.6017),
    (19, 20, 0.7513, 0.9987),
]


@pytest.mark.parametrize(("hits", "trials", "low", "high"), KNOWN)
def test_known_intervals(hits: int, trials: int, low: float, high: float) -> None:
    """Four digits, as the tables have them."""
    assert exact_interval(hits, trials) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize("trials", [1, 3, 29, 1000])
def test_the_ends_have_a_closed_form(trials: int) -> None:
    """Without a hit the upper end is 1 - 0.025^(1/n), and the other way round with nothing but hits."""
    edge = 1 - 0.025 ** (1 / trials)
    assert exact_interval(0, trials) == pytest.approx((0, edge), abs=1e-12)
    assert exact_interval(trials, trials) == pytest.approx((1 - edge, 1), abs=1e-12)


def test_nothing_counted_says_nothing() -> None:
    """The whole range."""
    assert exact_interval(0, 0) == (0.0, 1.0)


def test_the_interval_is_as_wide_as_its_confidence() -> None:
    """More confidence is wider; it holds the share, mirrors, and large counts stay finite."""
    narrow, wide = exact_interval(3, 40, 0.5), exact_interval(3, 40, 0.99)
    assert wide.low < narrow.low < 3 / 40 < narrow.high < wide.high
    mirrored = exact_interval(37, 40, 0.99)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx(wide, abs=1e-12)
    large = exact_interval(5_000, 20_000)
    assert large == pytest.approx((0.2440, 0.2561), abs=5e-4)


@pytest.mark.parametrize(
    ("hits", "trials", "confidence"), [(-1, 3, 0.95), (4, 3, 0.95), (1, 3, 0.0), (1, 3, 1.0)]
)
def test_what_is_no_share_is_refused(hits: int, trials: int, confidence: float) -> None:
    """A caller's mistake."""
    with pytest.raises(ValueError, match="is no"):
        exact_interval(hits, trials, confidence)


# Garwood, 95 %, from tables of the Poisson distribution
COUNTS = [
    (0, 0.0, 3.689), (1, 0.02532, 5.572), (2, 0.2422, 7.225), (3, 0.6187, 8.767), (5, 1.623, 11.67),
    (10, 4.795, 18.39), (20, 12.22, 30.89), (50, 37.11, 65.92), (100, 81.36, 121.6),
]  # fmt: skip


@pytest.mark.parametrize(("count", "low", "high"), COUNTS)
def test_known_intervals_of_counts(count: int, low: float, high: float) -> None:
    """Four digits, as the tables have them."""
    assert exact_count_interval(count) == pytest.approx((low, high), rel=5e-4)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999, 1 - 1e-9])
def test_the_ends_of_a_count_hold_their_tails(confidence: float) -> None:
    """At the upper end so few are as rare as was said; none at all has a closed form."""
    tail = (1 - confidence) / 2
    assert exp(-exact_count_interval(0, confidence).high) == pytest.approx(tail, rel=1e-6)
    low, high = exact_count_interval(1, confidence)
    assert 1 - exp(-low) == pytest.approx(tail, rel=1e-6)
    assert (1 + high) * exp(-high) == pytest.approx(tail, rel=1e-6)
    assert exact_count_interval(300, confidence).low < 300 < exact_count_interval(300, confidence).high


@pytest.mark.parametrize(("count", "confidence"), [(-1, 0.95), (1, 0.0), (1, 1.0)])
def test_what_is_no_count_is_refused(count: int, confidence: float) -> None:
    """A caller's mistake."""
    with pytest.raises(ValueError, match="is no"):
        exact_count_interval(count, confidence)
