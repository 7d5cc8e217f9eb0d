"""How does the gateway describe itself? The JSON of its listing calls.

Source: openrouter-wire.md §1.1, §1.5, §5.2, §5.3.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from routecanary.domain.probe import Json
from routecanary.lab.guardrails import ORGANIZATION
from routecanary.lab.host import Account, LabModel, LabRoute
from routecanary.lab.keyring import LabKey, default_guardrail_id, workspace_id
from routecanary.lab.ledger import Served
from routecanary.lab.presence import listed_routes

CREATED: Final = 1_767_225_600  # s since 1970: every lab model dates from the first day of 2026


def endpoints(model: LabModel, elapsed: timedelta, *, known_key: bool) -> dict[str, Json]:
    """List a model's endpoints; measured values only for a caller with a key."""
    rows = [
        _endpoint(model, route, known_key=known_key)
        for route in listed_routes(model, elapsed)
        for _ in range(route.rows)
    ]
    return {
        "data": {
            "id": model.id,
            "name": model.name,
            "created": CREATED,
            "description": "A model of the lab.",
            "architecture": {
                "tokenizer": "Other",
                "instruct_type": None,
                "modality": "text->text",
                "input_modalities": ["text"],
                "output_modalities": ["text"],
            },
            "endpoints": rows,
        }
    }


def _endpoint(model: LabModel, route: LabRoute, *, known_key: bool) -> dict[str, Json]:
    first_ms, speed = route.pace.first_text_seconds * 1000, route.pace.tokens_per_second
    latency = {name: round(first_ms * factor) for name, factor in _PERCENTILES}
    throughput = {name: round(speed / factor, 1) for name, factor in _PERCENTILES}
    return {
        "name": f"{route.provider} | {model.dated}",
        "model_id": model.dated,
        "model_name": model.name,
        "provider_name": route.provider,
        "tag": route.tag,
        "quantization": route.quantization,
        "context_length": route.context_length,
        "max_completion_tokens": route.max_completion_tokens,
        "max_prompt_tokens": None,
        "status": route.status,
        "supported_parameters": list(route.parameters),
        "pricing": {
            "prompt": _price(route.price_prompt),
            "completion": _price(route.price_completion),
            "discount": 0,
        },
        "uptime_last_5m": 100.0 if known_key else None,
        "uptime_last_30m": 99.9 if known_key else None,
        "uptime_last_1d": 99.7 if known_key else None,
        "latency_last_30m": latency if known_key else None,
        "throughput_last_30m": throughput if known_key else None,
        "supports_implicit_caching": False,
        "service_tier": route.service_tier,
        "supports_tool_choice": {"auto": True, "function": True, "none": True, "required": False},
    }


_PERCENTILES: Final = (("p50", 1.0), ("p75", 1.2), ("p90", 1.5), ("p99", 2.2))


def _price(price: Decimal) -> str:
    return f"{price:f}"


def model_entry(model: LabModel) -> dict[str, Json]:
    """Describe a model; its parameters are the union over its endpoints."""
    cheapest = min(model.routes, key=lambda route: (route.price_prompt + route.price_completion, route.tag))
    return {
        "id": model.id,
        "canonical_slug": model.dated,
        "name": model.name,
        "created": CREATED,
        "context_length": max(route.context_length for route in model.routes),
        "pricing": {"prompt": _price(cheapest.price_prompt), "completion": _price(cheapest.price_completion)},
        "supported_parameters": sorted({name for route in model.routes for name in route.parameters}),
        "top_provider": {
            "context_length": cheapest.context_length,
            "max_completion_tokens": cheapest.max_completion_tokens,
            "is_moderated": False,
        },
        "per_request_limits": None,
        "links": {"details": f"/api/v1/models/{model.id}/endpoints"},
    }


def providers(models: tuple[LabModel, ...]) -> dict[str, Json]:
    """Map display names to slugs, for all providers of all models."""
    known = {(route.provider, route.slug) for model in models for route in model.routes}
    return {
        "data": [
            {
                "name": name,
                "slug": slug,
                "privacy_policy_url": None,
                "terms_of_service_url": None,
                "status_page_url": None,
                "headquarters": None,
                "datacenters": None,
            }
            for name, slug in sorted(known)
        ]
    }


def key(described: LabKey, account: Account, spent: float) -> dict[str, Json]:
    """Describe the caller's key; amounts in USD. Its hash is not told."""
    limit = 100.0
    drained = account in (Account.NO_CREDIT, Account.KEY_LIMIT)
    return {
        "data": {
            "label": described.label,
            "limit": limit,
            "limit_remaining": 0.0 if drained else round(max(0.0, limit - spent), 6),
            "limit_reset": None,
            "include_byok_in_limit": False,
            **_usage(spent),
            "is_free_tier": False,
            "is_management_key": described.management,
            "is_provisioning_key": described.management,
            "expires_at": None,
            "workspace_id": workspace_id(described.workspace),
            "organization_id": ORGANIZATION,
            "creator_user_id": described.creator,
            "allowed_data_regions": ["global", "europe", "us"],
            "budgets": [],
            "effective_budget": None,
            "free_model_daily_requests": {"limit": 1000, "used": 0, "remaining": 1000},
            "rate_limit": {"requests": -1, "interval": "10s", "note": "deprecated"},
        }
    }


def managed_key(described: LabKey, *, created_at: datetime) -> dict[str, Json]:
    """Describe a key to whoever manages the account."""
    return {
        "hash": described.hash,
        "name": described.name,
        "label": described.label,
        "disabled": False,
        "limit": None,
        "limit_remaining": None,
        "limit_reset": None,
        "include_byok_in_limit": False,
        **_usage(0.0),
        "created_at": created_at.isoformat(),
        "updated_at": None,
        "last_used_at": None,
        "expires_at": None,
        "external_user": None,
        "creator_user_id": described.creator,
        "workspace_id": workspace_id(described.workspace),
    }


def workspace(name: str, *, created_at: datetime) -> dict[str, Json]:
    """Describe a workspace."""
    return {
        "id": workspace_id(name),
        "name": name,
        "slug": name,
        "description": None,
        "created_at": created_at.isoformat(),
        "created_by": None,
        "updated_at": None,
        "default_guardrail_id": default_guardrail_id(name),
        "default_image_model": None,
        "default_text_model": None,
        "default_provider_sort": None,
        "io_logging_api_key_ids": None,
        "io_logging_sampling_rate": 1,
        "is_data_discount_logging_enabled": False,
        "is_observability_broadcast_enabled": False,
        "is_observability_io_logging_enabled": False,
    }


def _usage(spent: float) -> dict[str, Json]:
    spans = ("", "_daily", "_weekly", "_monthly")
    return {
        **{f"usage{span}": round(spent, 6) for span in spans},
        **{f"byok_usage{span}": 0 for span in spans},
    }


def generation(served: Served) -> dict[str, Json]:
    """Describe one served answer."""
    usage = served.usage
    return {
        "data": {
            "id": served.id,
            "api_type": "completions",
            "model": served.model,
            "created_at": served.at.isoformat(),
            "provider_name": served.provider,
            "streamed": served.streamed,
            "cancelled": False,
            "finish_reason": served.finish,
            "native_finish_reason": served.finish,
            "is_byok": False,
            "total_cost": usage.get("cost", 0),
            "usage": usage.get("cost", 0),
            "tokens_prompt": usage.get("prompt_tokens", 0),
            "tokens_completion": usage.get("completion_tokens", 0),
            "provider_responses": [
                {
                    "status": served.status,
                    "endpoint_id": f"{served.model}:{served.route}",
                    "provider_name": served.provider,
                    "is_byok": False,
                }
            ],
        }
    }
