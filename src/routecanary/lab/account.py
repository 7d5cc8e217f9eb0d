"""What does the gateway say when the caller's account is at fault? The same to every request.

Source: openrouter-wire.md §4.3, §4.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from routecanary.lab.host import Account
from routecanary.lab.refusal import Refusal

ACCOUNT_REFUSALS: Final[Mapping[Account, Refusal]] = {
    Account.NO_CREDIT: Refusal(
        status=402,
        message="Insufficient credits. Add more to continue.",
        metadata={"limit_source": "openrouter_credits", "reason": "weight_exceeds_budget"},
    ),
    Account.IN_FLIGHT: Refusal(
        status=402,
        message="Too many paid requests in flight.",
        metadata={"limit_source": "openrouter_in_flight_budget", "reason": "in_flight_budget_exhausted"},
        headers={"Retry-After": "2"},
    ),
    Account.KEY_LIMIT: Refusal(
        status=403, message="Key limit exceeded.", metadata={"limit_source": "openrouter_key_limit"}
    ),
    Account.RATE_LIMITED: Refusal(
        status=429,
        message="Rate limit exceeded: free-models-per-day.",
        metadata={"limit_source": "openrouter_free_tier_daily", "error_type": "rate_limit_exceeded"},
        headers={"X-RateLimit-Limit": "50", "X-RateLimit-Remaining": "0", "Retry-After": "60"},
    ),
    Account.KEY_REVOKED: Refusal(status=401, message="User not found."),
    Account.BLOCKED: Refusal(status=403, message="This account has been suspended. Contact support."),
    Account.REGION: Refusal(
        status=403,
        message="This model is not available in your region.",
        metadata={"error_type": "permission_denied"},
    ),
}
