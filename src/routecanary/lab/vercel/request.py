"""What does a client ask of the Vercel AI Gateway?

The body is that of any chat request. Who may serve it stands in `providerOptions.gateway`, or in the short
form `provider`; names are compared as they are written. Keys that are not known are passed over in silence,
as the real gateway does with those of its options: an `ignore` excludes nobody.

Source: docs/gateway.md, "The Vercel AI Gateway".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from routecanary.domain.probe import Json
from routecanary.lab.refusal import bad_request
from routecanary.lab.request import MAX_LIST, ChatRequest, Preferences, chat_request

_SORTS: Final = {"cost": "price", "tps": "throughput", "ttft": "latency"}


def vercel_request(data: bytes) -> ChatRequest:
    """Read the body of a chat completion request.

    Raises:
        RefusedError: With 400 and a message that names the field.
    """
    request = chat_request(data, preferences=_preferences, plugins=lambda _: ())
    return replace(request, models=(*request.models, *_fallbacks(_gateway(request.body))))


def _gateway(body: Mapping[str, Json]) -> Mapping[str, Json]:
    return _object(_object(body.get("providerOptions"), "providerOptions").get("gateway"), "gateway")


def _preferences(body: Mapping[str, Json]) -> Preferences:
    options = {**_object(body.get("provider"), "provider"), **_gateway(body)}
    sort = options.get("sort")
    if sort is not None and sort not in _SORTS:
        raise bad_request(f"providerOptions.gateway.sort: expected one of {', '.join(_SORTS)}")
    return Preferences(
        order=_names(options, "order"),
        only=_names(options, "only") or None,
        zero_retention=options.get("zeroDataRetention") is True,
        deny_data_collection=options.get("disallowPromptTraining") is True,
        sort=None if sort is None else _SORTS[sort],
    )


def _fallbacks(options: Mapping[str, Json]) -> tuple[str, ...]:
    return _names(options, "models")


def _object(value: Json, name: str) -> Mapping[str, Json]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise bad_request(f"{name}: expected an object")
    return value


def _names(table: Mapping[str, Json], key: str) -> tuple[str, ...]:
    value = table.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > MAX_LIST:
        raise bad_request(f"providerOptions.gateway.{key}: expected a list of at most {MAX_LIST} strings")
    if not all(isinstance(name, str) for name in value):
        raise bad_request(f"providerOptions.gateway.{key}: expected strings")
    return tuple(value)
