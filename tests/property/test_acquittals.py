"""The cheap looks that let a text go before the costly ones: none lets go what the costly one would find."""

from __future__ import annotations

import re
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from routecanary.domain.verdict import VerdictKind
from routecanary.judge import repetition
from routecanary.judge.doubled import doubled
from routecanary.judge.repetition import looped
from tests.answers import an_ask

PIECES = st.lists(st.text("abcd \n", min_size=1, max_size=90), min_size=1, max_size=30)
WORDS = st.text("abcdefgh", min_size=1, max_size=12)
SQUARE = re.compile(r"(.{1,80}?)\1", re.DOTALL)


@given(PIECES, st.lists(st.sampled_from([1, 2, 2, 2, 2]), min_size=30, max_size=30))
def test_pieces_that_stand_twice_are_found_as_a_search_at_every_place_finds_them(
    pieces: list[str], times: list[int]
) -> None:
    """Five different ones or more, that fill four fifths of the first 320 characters."""
    text = "".join(piece * count for piece, count in zip(pieces, times, strict=False))
    head = text.strip()[:320]
    squares = [match.group() for match in SQUARE.finditer(head)]
    filled = (
        sum(map(len, squares)) >= 0.8 * len(head) and len({each[: len(each) // 2] for each in squares}) >= 5
    )
    finding = doubled(text, an_ask(), None, cut=False)
    if finding is None or finding.detail.startswith("every piece"):
        assert (finding is not None) is (filled and len(head) >= 16)


@given(
    before=st.lists(WORDS, max_size=40),
    turn=st.lists(WORDS, min_size=1, max_size=20),
    times=st.integers(1, 40),
    after=st.lists(WORDS, max_size=10),
    joiner=st.sampled_from([" ", "\n", ""]),
    cut=st.booleans(),
)
def test_no_loop_is_let_go(
    *, before: list[str], turn: list[str], times: int, after: list[str], joiner: str, cut: bool
) -> None:
    """A phrase over and over, wherever it begins and whatever it is parted by."""
    text = joiner.join([*before, *turn * times, *after])
    found = looped(text, an_ask(), cut=cut)
    with (
        mock.patch.object(repetition, "_may_run", return_value=True),
        mock.patch.object(repetition, "_recurs", return_value=True),
    ):
        assert found == looped(text, an_ask(), cut=cut)


@given(st.text("ab ", max_size=60), st.integers(1, 120), st.text("ab ", max_size=60))
def test_no_run_of_one_character_is_let_go(before: str, length: int, after: str) -> None:
    """Forty in a row or more, at any place."""
    text = f"{before}c{'x' * length}d{after}"
    finding = looped(text, an_ask(), cut=True)
    long_enough = length >= 100 or (length >= 40 and length >= 0.5 * len("".join(text.split())))
    if long_enough:
        assert finding is not None
        assert finding.kind is VerdictKind.FAIL
    with mock.patch.object(repetition, "_may_run", return_value=True):
        assert finding == looped(text, an_ask(), cut=True)
