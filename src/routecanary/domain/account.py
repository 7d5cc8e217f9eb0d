"""What may our own key still spend?"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyInfo:
    """What the gateway says of the key that asks; never the key itself.

    Amounts are USD; None = not stated (for the two limits: the key has none).
    """

    limit: Decimal | None = None
    limit_remaining: Decimal | None = None
    usage: Decimal | None = None
    usage_daily: Decimal | None = None
    is_free_tier: bool | None = None
    is_management_key: bool | None = None
