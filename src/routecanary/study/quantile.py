"""How long does one wait for the first text, where some waits were never seen to end?

A wait that we gave up is *censored*: it is longer than we listened, by an unknown amount. Leaving it out
would make the slowest hosts look fast, so it stays in the ranking, and a quantile that it touches is a floor.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from math import ceil
from typing import NamedTuple


class Quantile(NamedTuple):
    """One quantile in milliseconds; a floor means: at least so long, how much longer is not known."""

    ms: int
    is_floor: bool


def quantile(share: Fraction, seen: Collection[int], unseen: Collection[int]) -> Quantile | None:
    """Give the value that a share of all waits does not exceed: the nearest rank, always one that occurred.

    Args:
        share: Above 0, at most 1; the median is 1/2.
        seen: Waits that ended with text, in ms.
        unseen: How long was waited where none came, in ms.
    Returns:
        A floor where the rank depends on how long the unseen waits would have been. None: no waits.
    Example: of 400, 500, 900 and one unseen at 30000, the median is 500 and the 90 % quantile at least 30000.
    """
    count = len(seen) + len(unseen)
    if count == 0:
        return None
    rank = ceil(share * count)
    shortest = sorted([*seen, *unseen])[rank - 1]  # had every unseen text come in the next moment
    longest = sorted(seen)[rank - 1] if rank <= len(seen) else None  # had none of them ever come
    return Quantile(ms=shortest, is_floor=longest != shortest)
