"""Are small chances drawn by their gaps what trial after trial would have drawn?"""

from __future__ import annotations

import itertools
from random import Random

import pytest

from routecanary.simulate.chance import Gaps


@pytest.mark.parametrize("pieces", [(10,), (1,), (3, 7, 1, 200)])
def test_where_a_row_is_cut_changes_nothing(pieces: tuple[int, ...]) -> None:
    """The successes of a long row are those of its pieces."""
    whole = Gaps(0.1, Random(4)).within(2_000)
    gaps, found, at, number = Gaps(0.1, Random(4)), [], 0, 0
    while at < 2_000:
        piece = min(pieces[number % len(pieces)], 2_000 - at)
        found += [at + place for place in gaps.within(piece)]
        at, number = at + piece, number + 1
    assert found == whole


@pytest.mark.parametrize("chance", [0.01, 0.3, 0.9])
def test_as_many_succeed_as_should(chance: float) -> None:
    """Within five standard errors, and as often two in a row as independence says."""
    trials = 200_000
    found = Gaps(chance, Random(9)).within(trials)
    spread = (trials * chance * (1 - chance)) ** 0.5
    assert abs(len(found) - trials * chance) < 5 * spread
    pairs = sum(b == a + 1 for a, b in itertools.pairwise(found))
    assert abs(pairs - trials * chance**2) < 5 * (trials * chance**2) ** 0.5


def test_certain_and_impossible() -> None:
    """All of them, or none, for ever."""
    assert Gaps(1.0, Random(1)).within(4) == [0, 1, 2, 3]
    assert Gaps(0.0, Random(1)).within(10**9) == []
