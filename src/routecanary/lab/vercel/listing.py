"""How does the Vercel AI Gateway describe itself? The JSON of its listing calls.

Source: docs/gateway.md, "The Vercel AI Gateway".
"""

from __future__ import annotations

from datetime import timedelta

from routecanary.domain.probe import Json
from routecanary.lab.host import Account, LabModel, LabRoute
from routecanary.lab.ledger import Served
from routecanary.lab.listing import CREATED
from routecanary.lab.presence import listed_routes

GRANTED = 100.0  # USD of credit


def models(known: tuple[LabModel, ...]) -> dict[str, Json]:
    """List the models."""
    return {
        "object": "list",
        "data": [
            {
                "id": model.id,
                "object": "model",
                "created": CREATED,
                "owned_by": model.id.split("/", 1)[0],
                "name": model.name,
                "type": "language",
                "context_window": max(route.context_length for route in model.routes),
            }
            for model in sorted(known, key=lambda model: model.id)
        ],
    }


def endpoints(model: LabModel, elapsed: timedelta) -> dict[str, Json]:
    """List a model's endpoints; a row has no tag, and its provider's name is a slug."""
    rows = [
        _endpoint(model, route)
        for route in listed_routes(model, elapsed)
        if route.service_tier is None
        for _ in range(route.rows)
    ]
    return {
        "data": {
            "id": model.id,
            "name": model.name,
            "created": CREATED,
            "description": "A model of the lab.",
            "architecture": {
                "tokenizer": None,
                "instruct_type": None,
                "modality": "text→text",
                "input_modalities": ["text"],
                "output_modalities": ["text"],
            },
            "endpoints": rows,
        }
    }


def _endpoint(model: LabModel, route: LabRoute) -> dict[str, Json]:
    first_ms, speed = route.pace.first_text_seconds * 1000, route.pace.tokens_per_second
    return {
        "name": f"{route.slug} | {model.id}",
        "model_name": model.name,
        "context_length": route.context_length,
        "pricing": {
            "prompt": f"{route.price_prompt:f}",
            "completion": f"{route.price_completion:f}",
            "request": "0",
            "discount": 0,
        },
        "provider_name": route.slug,
        "has_zdr": not route.keeps_data,
        "has_no_training": not route.trains_on_data,
        "tags": ["structured-output"] if "structured_outputs" in route.parameters else [],
        "quantization": route.quantization,
        "max_completion_tokens": route.max_completion_tokens,
        "max_prompt_tokens": None,
        "supported_parameters": list(route.parameters),
        "status": route.status,
        "uptime_last_15m": 100.0,
        "uptime_last_1h": 99.9,
        "uptime_last_1d": 99.7,
        "latency_last_1h": {"p50": round(first_ms), "p95": round(first_ms * 2.2)},
        "throughput_last_1h": {"p50": round(speed, 1), "p95": round(speed / 2.2, 1)},
        "supports_implicit_caching": False,
    }


def credits_of(account: Account, spent: float) -> dict[str, Json]:
    """Say what credit is left, in USD."""
    left = 0.0 if account is Account.NO_CREDIT else max(0.0, GRANTED - spent)
    return {"balance": f"{left:.6f}", "total_used": f"{spent:.6f}"}


def generation(served: Served, slug: str) -> dict[str, Json]:
    """Describe one served answer."""
    return {
        "data": {
            "id": served.id,
            "total_cost": served.usage.get("cost", 0),
            "created_at": served.at.isoformat(),
            "model": served.model,
            "is_byok": False,
            "provider_name": slug,
            "streamed": served.streamed,
            "tokens_prompt": served.usage.get("prompt_tokens", 0),
            "tokens_completion": served.usage.get("completion_tokens", 0),
        }
    }
