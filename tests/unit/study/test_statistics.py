"""Fisher's test, Holm's correction, quantiles with censored waits: against values known from elsewhere."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routecanary.study.fisher import fisher_exact
from routecanary.study.holm import holm
from routecanary.study.quantile import Quantile, quantile

TABLES = [
    # failed, judged, other_failed, other_judged, two-sided p as R's fisher.test gives it
    (19, 20, 0, 49, 20 / comb(69, 19)),
    (3, 3, 0, 12, 1 / comb(15, 3)),
    (3, 3, 0, 3, 0.1),
    (1, 10, 11, 14, 0.002759456),  # the study of diets in every textbook
    (3, 4, 1, 4, 0.4857143),  # the lady tasting tea
    (0, 5, 0, 7, 1.0),
    (5, 5, 7, 7, 1.0),
    (0, 0, 3, 7, 1.0),
]


@pytest.mark.parametrize(("failed", "judged", "other_failed", "other_judged", "p"), TABLES)
def test_fisher_against_known_tables(
    failed: int, judged: int, other_failed: int, other_judged: int, p: float
) -> None:
    """To seven digits."""
    assert fisher_exact(failed, judged, other_failed, other_judged) == pytest.approx(p, rel=1e-6)


@pytest.mark.parametrize("table", [(-1, 3, 0, 3), (4, 3, 0, 3), (0, 3, 4, 3), (0, 3, -1, 3)])
def test_what_is_no_table_is_refused(table: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="is no table"):
        fisher_exact(*table)


@st.composite
def tables(draw: st.DrawFn) -> tuple[int, int, int, int]:
    judged, other = draw(st.integers(0, 40)), draw(st.integers(0, 60))
    return draw(st.integers(0, judged)), judged, draw(st.integers(0, other)), other


@given(tables())
def test_fisher_is_a_probability_and_does_not_care_who_is_first(table: tuple[int, int, int, int]) -> None:
    """Swapping the sides, or counting passes in place of fails, changes nothing."""
    failed, judged, other_failed, other_judged = table
    p = fisher_exact(*table)
    assert 0 < p <= 1
    assert p == pytest.approx(fisher_exact(other_failed, other_judged, failed, judged))
    passes = fisher_exact(judged - failed, judged, other_judged - other_failed, other_judged)
    assert p == pytest.approx(passes)


@given(tables())
def test_fisher_is_the_sum_over_all_tables(table: tuple[int, int, int, int]) -> None:
    """Counted one by one, in whole numbers."""
    failed, judged, other_failed, other_judged = table
    fails = failed + other_failed
    ways = {
        here: comb(judged, here) * comb(other_judged, fails - here)
        for here in range(max(0, fails - other_judged), min(fails, judged) + 1)
    }
    likely = sum(each for each in ways.values() if each <= ways[failed])
    assert fisher_exact(*table) == pytest.approx(likely / comb(judged + other_judged, fails))


def test_holm_of_a_known_family() -> None:
    """Keys stay with their values; a tie stays one."""
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06})
    assert holm({"a": 0.5, "b": 0.9}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}


@given(st.dictionaries(st.integers(), st.floats(0, 1), max_size=20))
def test_holm_never_makes_smaller_and_keeps_the_order(p_values: dict[int, float]) -> None:
    """And lies between no correction and Bonferroni's."""
    corrected = holm(p_values)
    for key, p in p_values.items():
        assert p <= corrected[key] <= min(1.0, p * len(p_values)) + 1e-12
    order = sorted(p_values, key=lambda key: p_values[key])
    assert [corrected[key] for key in order] == sorted(corrected.values())


WAITS = [
    ([400, 500, 900], [], Fraction(1, 2), (500, False)),
    ([400, 500, 900], [30_000], Fraction(1, 2), (500, False)),
    ([400, 500, 900], [30_000], Fraction(9, 10), (30_000, True)),
    ([400], [100], Fraction(1, 2), (100, True)),
    ([], [30_000], Fraction(1, 2), (30_000, True)),
]


@pytest.mark.parametrize(("seen", "unseen", "share", "expected"), WAITS)
def test_a_wait_that_was_given_up_stays_in_the_ranking(
    seen: list[int], unseen: list[int], share: Fraction, expected: tuple[int, bool]
) -> None:
    """A quantile that it touches is a floor."""
    assert quantile(share, seen, unseen) == Quantile(*expected)


def test_no_waits_have_no_quantile() -> None:
    assert quantile(Fraction(1, 2), [], []) is None
