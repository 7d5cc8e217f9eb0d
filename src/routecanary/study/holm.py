"""What is left of a p-value when many were looked at?

Holm's step-down correction: the chance that any of the family is below a level by luck alone stays at that
level, whatever ties the tests together.

Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
Statistics 6 (1979), 65–70.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

_Key = TypeVar("_Key", bound=Hashable)


def holm(p_values: Mapping[_Key, float]) -> dict[_Key, float]:
    """Correct a family of p-values; each keeps its key, and none becomes smaller.

    Example: of 0.01, 0.04 and 0.03 the corrected ones are 0.03, 0.06 and 0.06.
    """
    corrected: dict[_Key, float] = {}
    least = 0.0
    for place, key in enumerate(sorted(p_values, key=lambda key: p_values[key])):
        least = max(least, min(1.0, p_values[key] * (len(p_values) - place)))
        corrected[key] = least
    return corrected
