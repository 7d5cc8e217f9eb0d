"""Listings as the gateway sends them, for the tests of discovery."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from routecanary.discover.parse import listing_from_json
from routecanary.domain.names import ModelId
from routecanary.domain.route import Listing, Route

AT = datetime(2026, 1, 5, tzinfo=UTC)
MODEL = ModelId("acme/chat-2")


def a_row(tag: object = "north-host/fp8", **changes: object) -> dict[str, Any]:
    """Make one endpoint of a listing; `None` values stay in it as null."""
    return {
        "name": "North Host | acme/chat-2-20260901",
        "model_id": "acme/chat-2-20260901",
        "model_name": "Acme: Chat 2",
        "provider_name": "North Host",
        "tag": tag,
        "quantization": "fp8",
        "context_length": 131_072,
        "max_completion_tokens": 32_768,
        "max_prompt_tokens": None,
        "status": 0,
        "supported_parameters": ["max_tokens", "temperature", "response_format", "structured_outputs"],
        "pricing": {"prompt": "0.0000002", "completion": "0.0000008", "discount": 0},
        "uptime_last_30m": 99.6,
        "service_tier": None,
        **changes,
    }


def a_document(*rows: object, **changes: object) -> dict[str, Any]:
    return {"data": {"id": "acme/chat-2", "endpoints": list(rows), **changes}}


def read(*rows: object, **changes: object) -> Listing:
    return listing_from_json(a_document(*rows, **changes), model=MODEL, at=AT)


def only_route(*rows: object) -> Route:
    (route,) = read(*rows).routes
    return route


def a_listing(*tags: str) -> Listing:
    return read(*(a_row(tag) for tag in tags))
