"""What may our own key still spend?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
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
    limit_reset: str | None = None  # when the limit begins anew: the gateway's own word, e.g. "daily"
    byok_usage: Decimal | None = None  # with keys of one's own at providers
    free_requests_remaining: int | None = None  # of free models, today
    is_free_tier: bool | None = None
    is_management_key: bool | None = None
    expires_at: datetime | None = None  # None = not stated, or never
