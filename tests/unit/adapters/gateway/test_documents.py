"""What the gateway says of our key, and whatever else stands in that place."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from routecanary.adapters.gateway.documents import credits_from_json, key_info_from_json
from routecanary.domain.account import KeyInfo
from routecanary.domain.probe import Json
from routecanary.errors import GatewayError


def read(**data: Json) -> KeyInfo:
    return key_info_from_json({"data": data}, "GET /key")


def test_everything_that_is_stated_is_read() -> None:
    """Amounts are decimals, times are UTC."""
    assert read(
        limit=20,
        limit_remaining=12.35,
        limit_reset="daily",
        usage="7.65",
        usage_daily=1.5,
        byok_usage=0.25,
        is_free_tier=False,
        is_management_key=False,
        expires_at="2026-03-01T12:00:00+01:00",
        free_model_daily_requests={"limit": 50, "used": 8, "remaining": 42},
    ) == KeyInfo(
        limit=Decimal(20),
        limit_remaining=Decimal("12.35"),
        limit_reset="daily",
        usage=Decimal("7.65"),
        usage_daily=Decimal("1.5"),
        byok_usage=Decimal("0.25"),
        is_free_tier=False,
        is_management_key=False,
        expires_at=datetime(2026, 3, 1, 11, tzinfo=UTC),
        free_requests_remaining=42,
    )


@pytest.mark.parametrize("odd", [None, [], {}, True, "", "x" * 300, "soon", "\x1b[31m", -1e400, 10**60])
def test_what_is_odd_is_not_stated(odd: Json) -> None:
    """No value of any type stops the reading, and none becomes an amount or a time."""
    info = read(
        limit=odd,
        limit_remaining=odd,
        byok_usage=odd,
        expires_at=odd,
        free_model_daily_requests={"remaining": odd},
    )
    assert info == KeyInfo()
    assert read(free_model_daily_requests=odd, usage_daily=odd) == KeyInfo()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-01T12:00:00Z", datetime(2026, 3, 1, 12, tzinfo=UTC)),
        ("2026-03-01T12:00:00", datetime(2026, 3, 1, 12, tzinfo=UTC)),
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        ("0001-01-01T00:00:00+12:00", None),
        ("2026-13-01T00:00:00Z", None),
    ],
)
def test_an_expiry_is_a_time_in_utc(text: str, expected: datetime | None) -> None:
    """One without a zone is taken as UTC; one that no calendar has is not stated."""
    assert read(expires_at=text).expires_at == expected


@pytest.mark.parametrize("document", [None, [], {}, {"data": []}, {"data": "key"}])
def test_a_document_about_something_else_is_refused(document: Json) -> None:
    """The message names the call and nothing of the document."""
    with pytest.raises(GatewayError, match="GET /key: nothing about the key"):
        key_info_from_json(document, "GET /key")


def test_credit_is_read_where_a_gateway_tells_that() -> None:
    """Amounts come as texts; what is odd is not stated."""
    read = credits_from_json({"balance": "95.50", "total_used": "4.50"}, "GET /credits")
    assert read == KeyInfo(limit_remaining=Decimal("95.50"), usage=Decimal("4.50"))
    assert credits_from_json({"balance": [], "total_used": "x"}, "GET /credits") == KeyInfo()


@pytest.mark.parametrize("document", [None, [], {}, {"data": {"balance": "1"}}, "balance"])
def test_what_says_nothing_of_credit_is_an_error(document: Json) -> None:
    """With the place, and nothing of what was there."""
    with pytest.raises(GatewayError, match=r"^GET /credits: nothing about the credit$"):
        credits_from_json(document, "GET /credits")
