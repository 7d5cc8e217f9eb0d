"""Confirmation: when a first fail is settled, and what the attempts make of it."""

from __future__ import annotations

import itertools

import pytest

from routecanary.domain.names import INTEGRITY, LANGUAGE
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.judge.confirm import NEEDS_MORE, fold_integrity, settle

KINDS = {"F": "fail", "P": "pass", "T": "transport", "A": "account", "I": "inconclusive", "S": "skipped"}


def attempts(letters: str) -> list[Verdict]:
    return [Verdict(contract=LANGUAGE, kind=VerdictKind(KINDS[letter]), code="x") for letter in letters]


@pytest.mark.parametrize(
    ("letters", "settled"),
    [
        ("P", "pass"),
        ("T", "transport"),
        ("A", "account"),
        ("I", "inconclusive"),
        ("S", "skipped"),
        ("F", None),
        ("FF", "fail"),
        ("FP", None),
        ("FT", None),
        ("FPF", "fail"),
        ("FPP", "pass"),
        ("FTF", "fail"),
        ("FTT", "inconclusive"),
        ("FPT", "inconclusive"),
        ("FTP", "inconclusive"),
        ("FII", "inconclusive"),
        ("FAP", "inconclusive"),
        ("FFP", "fail"),
    ],
)
def test_two_confirmations(letters: str, settled: str | None):
    """2 of 3 decide; an outvoted fail is a pass; no majority is inconclusive (policy.md §1)."""
    found = settle(attempts(letters))
    assert (None if found is NEEDS_MORE else found.kind.value) == settled


@pytest.mark.parametrize(
    ("letters", "settled"),
    [
        ("FFF", "fail"),
        ("FFP", None),
        ("FPPP", "pass"),
        ("FPFPF", "fail"),
        ("FPTPT", "inconclusive"),
        ("FFTTT", "inconclusive"),
    ],
)
def test_four_confirmations(letters: str, settled: str | None):
    """3 of 5 decide."""
    found = settle(attempts(letters), confirmations=4)
    assert (None if found is NEEDS_MORE else found.kind.value) == settled


def test_no_confirmations_settle_at_once():
    """With none asked for, a first fail stands."""
    assert settle(attempts("F"), confirmations=0) is not NEEDS_MORE


@pytest.mark.parametrize("letters", ["".join(rest) for rest in itertools.product("FPTI", repeat=3)])
def test_three_attempts_always_settle(letters: str):
    """After all confirmations nothing is open, and a fail needs two of them."""
    found = settle(attempts(letters))
    assert found is not NEEDS_MORE
    assert (found.kind is VerdictKind.FAIL) == (letters[0] == "F" and letters.count("F") >= 2)


def test_attempts_beyond_the_confirmations_do_not_count():
    """A fourth attempt changes nothing."""
    assert settle(attempts("FPPF")).kind is VerdictKind.PASS  # type: ignore[union-attr]


def test_settled_fail_says_how_many():
    """The evidence carries the count."""
    found = settle(attempts("FPF"))
    assert found is not NEEDS_MORE
    assert "2 of 3" in found.detail


@pytest.mark.parametrize("confirmations", [1, -2])
def test_odd_confirmations_are_a_mistake(confirmations: int):
    """A majority needs an odd number of attempts."""
    with pytest.raises(ValueError, match="even"):
        settle(attempts("F"), confirmations)
    with pytest.raises(ValueError, match="no attempts"):
        settle([])


@pytest.mark.parametrize(
    ("letters", "folded"),
    [
        ("PPP", "pass"),
        ("PFA", "fail"),
        ("PTA", "account"),
        ("IPT", "transport"),
        ("PIS", "inconclusive"),
        ("SSP", "pass"),
        ("S", "skipped"),
    ],
)
def test_integrity_is_folded_over_the_probes(letters: str, folded: str):
    """fail > account > transport > inconclusive > pass."""
    verdicts = [Verdict(contract=INTEGRITY, kind=VerdictKind(KINDS[letter])) for letter in letters]
    assert fold_integrity(verdicts).kind.value == folded


def test_nothing_to_fold_is_a_mistake():
    """A route that was not asked has no integrity verdict."""
    with pytest.raises(ValueError, match="no verdicts"):
        fold_integrity([])
