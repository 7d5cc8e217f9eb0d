"""How surprising is it that one side fails so much more often than the other?

Fisher's exact test of a two by two table, two-sided, in whole numbers: tables as likely as the observed one
are found by comparing integers, so no rounding decides which of them count.

Source: R. A. Fisher, "On the interpretation of χ² from contingency tables, and the calculation of P", Journal
of the Royal Statistical Society 85 (1922), 87–94; two-sided by the probability of the tables, as in R.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb


def fisher_exact(failed: int, judged: int, other_failed: int, other_judged: int) -> float:
    """Give the two-sided p-value of Fisher's exact test.

    Args:
        failed: Of the `judged` answers of one side, 0 to `judged`.
        other_failed: Likewise, of the other side.
    Returns:
        The probability, were both sides alike and the number of fails given, of a table that is no likelier
        than the observed one; 1 where a side has no answers. Below 5e-324 it is 0.
    Raises:
        ValueError: The counts are out of range.
    Example: 19 of 20 against 0 of 49 give 20 / C(69, 19), about 4.3e-16; 3 of 3 against 0 of 3 give 0.1.
    """
    if not 0 <= failed <= judged or not 0 <= other_failed <= other_judged:
        raise ValueError(f"{failed} of {judged} against {other_failed} of {other_judged} is no table")
    fails = failed + other_failed
    lowest = max(0, fails - other_judged)
    ways = list(_ways(lowest, min(fails, judged), fails, judged, other_judged))
    observed = ways[failed - lowest]
    return sum(each for each in ways if each <= observed) / sum(ways)


def _ways(lowest: int, highest: int, fails: int, judged: int, other_judged: int) -> Iterator[int]:
    """Count, for every number of fails that the first side can have, the ways to spread them so."""
    ways = comb(judged, lowest) * comb(other_judged, fails - lowest)
    for here in range(lowest, highest + 1):
        yield ways
        # C(a, x+1) C(b, k-x-1) from C(a, x) C(b, k-x); the division leaves no rest
        ways = ways * (judged - here) * (fails - here) // ((here + 1) * (other_judged - fails + here + 1))
