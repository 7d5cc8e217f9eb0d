"""What do the gateways' small documents say?

Source: openrouter-wire.md §1.5, §5.3; docs/gateway.md, "The Vercel AI Gateway".
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Final, TypeGuard

from routecanary.domain.account import KeyInfo
from routecanary.domain.probe import Json
from routecanary.errors import GatewayError

MAX_PROVIDERS: Final = 5_000
MAX_NAME: Final = 200  # characters
MAX_NUMERAL: Final = 40  # characters of an amount


def providers_from_json(document: Json, place: str) -> dict[str, str]:
    """Read `GET /providers` into display name → base slug; a row without either is left out.

    Raises:
        GatewayError: There is no list of providers of a bearable size.
    """
    rows = document.get("data") if isinstance(document, dict) else None
    if not isinstance(rows, list) or len(rows) > MAX_PROVIDERS:
        raise GatewayError(f"{place}: not a list of at most {MAX_PROVIDERS} providers")
    slugs: dict[str, str] = {}
    for row in rows:
        name, slug = (row.get("name"), row.get("slug")) if isinstance(row, dict) else (None, None)
        if _is_name(name) and _is_name(slug):
            slugs[name] = slug.lower()
    return slugs


def key_info_from_json(document: Json, place: str) -> KeyInfo:
    """Read `GET /key`; what is missing or no amount is not stated.

    Raises:
        GatewayError: It says nothing about a key.
    """
    data = document.get("data") if isinstance(document, dict) else None
    if not isinstance(data, dict):
        raise GatewayError(f"{place}: nothing about the key")
    return KeyInfo(
        limit=_amount(data, "limit"),
        limit_remaining=_amount(data, "limit_remaining"),
        usage=_amount(data, "usage"),
        usage_daily=_amount(data, "usage_daily"),
        limit_reset=_word(data, "limit_reset"),
        byok_usage=_amount(data, "byok_usage"),
        free_requests_remaining=_remaining(data.get("free_model_daily_requests")),
        is_free_tier=_flag(data, "is_free_tier"),
        is_management_key=_flag(data, "is_management_key"),
        expires_at=_instant(data, "expires_at"),
    )


def credits_from_json(document: Json, place: str) -> KeyInfo:
    """Read `GET /credits` of the Vercel AI Gateway; what is missing or no amount is not stated.

    Raises:
        GatewayError: It says nothing about credit.
    """
    if not isinstance(document, dict) or "balance" not in document:
        raise GatewayError(f"{place}: nothing about the credit")
    return KeyInfo(limit_remaining=_amount(document, "balance"), usage=_amount(document, "total_used"))


def _is_name(value: Json) -> TypeGuard[str]:
    return isinstance(value, str) and 0 < len(value) <= MAX_NAME and value.isprintable()


def _word(data: Mapping[str, Json], name: str) -> str | None:
    value = data.get(name)
    return value if _is_name(value) else None


def _remaining(quota: Json) -> int | None:
    value = quota.get("remaining") if isinstance(quota, dict) else None
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 10**9:
        return None
    return value


def _instant(data: Mapping[str, Json], name: str) -> datetime | None:
    """Read a time; one without a zone is taken as UTC."""
    value = data.get(name)
    if not _is_name(value):
        return None
    try:
        at = datetime.fromisoformat(value)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _flag(data: Mapping[str, Json], name: str) -> bool | None:
    value = data.get(name)
    return value if isinstance(value, bool) else None


def _amount(data: Mapping[str, Json], name: str) -> Decimal | None:
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, int) and abs(value) >= 10**MAX_NUMERAL:
        return None
    try:
        amount = Decimal(str(value)[: MAX_NUMERAL + 1])
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and abs(amount) < 10**12 else None
