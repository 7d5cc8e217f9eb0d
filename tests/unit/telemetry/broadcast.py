"""Bodies as the gateway broadcasts them, contents and all."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from tests.unit.telemetry.known import MODEL, NOW

SECRET = "Xylophon-Geheimnis"
"""What stands wherever a body could hold content."""

TRACE = "5b8efff798038103d269b633813fc60c"
SPAN = "eee19b7ec3c1b174"
STARTED_AT = NOW - timedelta(minutes=1)


def nanoseconds(at: datetime) -> str:
    return str(int(at.timestamp() * 1_000_000) * 1000)


def value_of(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [value_of(each) for each in value]}}
        case dict() if "raw" in value:
            return dict(value["raw"])
        case dict():
            return {
                "kvlistValue": {
                    "values": [{"key": key, "value": value_of(each)} for key, each in value.items()]
                }
            }
        case _:
            return {"stringValue": value}


def attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": value_of(value)} for key, value in values.items()]


SAID: dict[str, Any] = {
    "trace.name": f"{SECRET} name",
    "span.type": "generation",
    "gen_ai.operation.name": "chat",
    "gen_ai.system": "acme",
    "gen_ai.provider.name": "acme",
    "gen_ai.request.model": MODEL,
    "gen_ai.response.model": "acme/chat-20260101",
    "gen_ai.response.id": "gen-1764417540-abc",
    "gen_ai.response.finish_reason": "stop",
    "gen_ai.response.finish_reasons": '["stop"]',
    "gen_ai.usage.input_tokens": 812,
    "gen_ai.usage.output_tokens": 96,
    "gen_ai.usage.total_tokens": 908,
    "gen_ai.prompt": f'{{"messages": [{{"content": "{SECRET} prompt"}}]}}',
    "gen_ai.completion": f'{{"completion": "{SECRET} completion"}}',
    "gen_ai.input.messages": [{"role": "user", "content": f"{SECRET} message"}],
    "trace.input": f"{SECRET} input",
    "span.output": f"{SECRET} output",
    "user.id": f"{SECRET}-user",
    "session.id": f"{SECRET}-session",
    "trace.metadata.feature": f"{SECRET} feature",
    "trace.metadata.locale": "th",
    "trace.metadata.openrouter.api_key_name": f"{SECRET} key",
    "trace.metadata.openrouter.provider_name": "Beta",
    "trace.metadata.openrouter.first_token_ms": 250.4,
    f"{SECRET} key of its own": True,
}
"""The attributes of a generation's span."""


def span(said: Mapping[str, Any] = SAID, **changes: Any) -> dict[str, Any]:
    whole: dict[str, Any] = {
        "traceId": TRACE,
        "spanId": SPAN,
        "name": f"{SECRET} span",
        "kind": 3,
        "startTimeUnixNano": nanoseconds(STARTED_AT),
        "endTimeUnixNano": nanoseconds(STARTED_AT + timedelta(seconds=1.9)),
        "attributes": attributes(said),
        "events": [{"name": f"{SECRET} event", "attributes": attributes({"x": f"{SECRET} y"})}],
        "links": [],
        "status": {"code": 1, "message": f"{SECRET} status"},
    }
    return whole | changes


def attempt(number: int = 0, **changes: Any) -> dict[str, Any]:
    said = {
        "span.metadata.attempt_index": number,
        "trace.metadata.openrouter.provider_name": "Gamma",
        "gen_ai.request.model": MODEL,
    }
    return span(said, spanId=f"{number:016x}", parentSpanId=SPAN, **changes)


def export(*spans: dict[str, Any]) -> dict[str, Any]:
    resource = {
        "attributes": attributes({"service.name": "openrouter", "openrouter.trace.id": f"{SECRET} id"})
    }
    return {
        "resourceSpans": [
            {"resource": resource, "scopeSpans": [{"scope": {"name": SECRET}, "spans": list(spans)}]}
        ]
    }
