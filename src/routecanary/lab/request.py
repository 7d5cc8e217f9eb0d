"""What does a client ask of the gateway?

The body comes from outside: whatever it holds, the answer is a request or a 400, never a crash.

Source: openrouter-wire.md §2.1, §6.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Final, NoReturn

from routecanary.domain.probe import Json
from routecanary.lab.refusal import bad_request

MAX_BODY: Final = 4 * 1024 * 1024  # bytes
MAX_MESSAGES: Final = 2_000
MAX_LIST: Final = 500  # entries of `order`, `only`, `ignore`, …
MAX_TOKENS: Final = 10_000_000

PROVIDER_KEYS: Final = frozenset(
    {
        "order", "only", "ignore", "allow_fallbacks", "require_parameters", "data_collection", "zdr",
        "enforce_distillable_text", "quantizations", "sort", "max_price", "preferred_min_throughput",
        "preferred_max_latency", "options",
    }
)  # fmt: skip

PARAMETERS: Final = (
    "temperature", "top_p", "top_k", "min_p", "top_a", "frequency_penalty", "presence_penalty",
    "repetition_penalty", "max_tokens", "max_completion_tokens", "logit_bias", "logprobs", "top_logprobs",
    "seed", "response_format", "stop", "tools", "tool_choice", "parallel_tool_calls", "reasoning",
    "reasoning_effort", "include_reasoning", "verbosity", "prediction", "web_search_options",
)  # fmt: skip
"""Body keys that an endpoint may lack; `require_parameters` looks at those that are sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """The `provider` object; list entries in lower case, prices in USD per million tokens."""

    order: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None  # None = not given; () = given and empty, which also allows all
    ignore: tuple[str, ...] = ()
    allow_fallbacks: bool = True
    require_parameters: bool = False
    deny_data_collection: bool = False
    zero_retention: bool = False
    quantizations: tuple[str, ...] = ()
    sort: str | None = None
    max_price_prompt: Decimal | None = None
    max_price_completion: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """A chat completion request, checked."""

    models: tuple[str, ...]  # the wanted one first, then the fallbacks of `models`
    prompt: str  # the text of all messages, joined by blank lines
    stream: bool
    max_tokens: int | None
    stop: tuple[str, ...]
    response_format: Mapping[str, Json] | None
    preferences: Preferences
    parameters: frozenset[str]  # of PARAMETERS, those that were sent
    service_tier: str | None
    plugins: tuple[str, ...]  # ids of the plugins that are on
    size: int  # of the body, bytes
    body: Mapping[str, Json] = field(repr=False)


def read_json(data: bytes) -> Json:
    """Decode a request body strictly.

    Raises:
        RefusedError: It is not JSON, holds NaN or Infinity, a lone surrogate, or is nested too deeply.
    """
    try:
        value = json.loads(data, parse_constant=_refuse_constant)
        if b"\\u" in data:  # only an escape can bring in a lone surrogate, which no answer could carry back
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        problem = "nested too deeply" if isinstance(error, RecursionError) else "not valid JSON"
        raise bad_request(f"The request body is {problem}") from None
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def preferences_of(body: Mapping[str, Json]) -> Preferences:
    return _preferences(body.get("provider"))


def plugins_of(body: Mapping[str, Json]) -> tuple[str, ...]:
    return _plugins(body.get("plugins"))


def chat_request(
    data: bytes,
    *,
    preferences: Callable[[Mapping[str, Json]], Preferences] = preferences_of,
    plugins: Callable[[Mapping[str, Json]], tuple[str, ...]] = plugins_of,
) -> ChatRequest:
    """Read the body of a chat completion request.

    Args:
        preferences: Reads who may serve it.
        plugins: Reads which plugins are on.
    Raises:
        RefusedError: With 400 and a message that names the field.
    """
    body = read_json(data)
    if not isinstance(body, dict):
        raise bad_request("The request body must be an object")
    return ChatRequest(
        models=_models(body),
        prompt=_prompt(body.get("messages")),
        stream=_flag(body, "stream", default=False),
        max_tokens=_max_tokens(body),
        stop=_stop(body.get("stop")),
        response_format=_response_format(body.get("response_format")),
        preferences=preferences(body),
        parameters=frozenset(name for name in PARAMETERS if body.get(name) is not None),
        service_tier=_service_tier(body.get("service_tier")),
        plugins=plugins(body),
        size=len(data),
        body=body,
    )


def _models(body: Mapping[str, Json]) -> tuple[str, ...]:
    wanted = [] if body.get("model") is None else [body["model"]]
    fallbacks = body.get("models") or []
    if not isinstance(fallbacks, list) or len(fallbacks) > MAX_LIST:
        raise bad_request("models: expected a list of model ids")
    names = [*wanted, *fallbacks]
    if not names:
        raise bad_request("model: required")
    if not all(isinstance(name, str) and 0 < len(name) <= 300 for name in names):
        raise bad_request("model: expected a model id")
    return tuple(names)


def _prompt(messages: Json) -> str:
    if not isinstance(messages, list) or not messages or len(messages) > MAX_MESSAGES:
        raise bad_request(f"messages: expected a list of 1 to {MAX_MESSAGES} messages")
    texts: list[str] = []
    for index, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise bad_request(f"messages[{index}]: expected an object with a role")
        texts.append(_content(message.get("content"), index))
    return "\n\n".join(text for text in texts if text)


def _content(content: Json, index: int) -> str:
    match content:
        case None:
            return ""
        case str():
            return content
        case list():
            parts: list[str] = []
            for part in content:
                if not isinstance(part, dict) or not isinstance(part.get("type"), str):
                    raise bad_request(f"messages[{index}].content: expected parts with a type")
                if part["type"] == "text":
                    if not isinstance(part.get("text"), str):
                        raise bad_request(f"messages[{index}].content: a text part without text")
                    parts.append(part["text"])
            return "\n".join(parts)
        case _:
            raise bad_request(f"messages[{index}].content: expected a string or a list of parts")


def _flag(table: Mapping[str, Json], key: str, *, default: bool) -> bool:
    value = table.get(key)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise bad_request(f"{key}: expected true or false")
    return value


def _max_tokens(body: Mapping[str, Json]) -> int | None:
    for key in ("max_completion_tokens", "max_tokens"):
        value = body.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_TOKENS:
            raise bad_request(f"{key}: expected a whole number from 1 to {MAX_TOKENS}")
        return value
    return None


def _stop(value: Json) -> tuple[str, ...]:
    if value is None:
        return ()
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or len(words) > 16 or not all(isinstance(word, str) for word in words):
        raise bad_request("stop: expected a string or a list of at most 16 strings")
    return tuple(word for word in words if word)


def _response_format(value: Json) -> Mapping[str, Json] | None:
    if value is None:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise bad_request("response_format: expected an object with a type")
    match value["type"]:
        case "text":
            return None
        case "json_object":
            return value
        case "json_schema":
            inner = value.get("json_schema")
            if not isinstance(inner, dict) or not isinstance(inner.get("schema"), dict):
                raise bad_request("response_format.json_schema.schema: expected an object")
            name = inner.get("name")
            if not isinstance(name, str) or not 1 <= len(name) <= 64:
                raise bad_request("response_format.json_schema.name: expected 1 to 64 characters")
            return value
        case _:
            raise bad_request("response_format.type: expected text, json_object or json_schema")


def _service_tier(value: Json) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise bad_request("service_tier: expected a string")
    return value


def _plugins(value: Json) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > MAX_LIST:
        raise bad_request("plugins: expected a list")
    names: list[str] = []
    for index, plugin in enumerate(value):
        if not isinstance(plugin, dict) or not isinstance(plugin.get("id"), str):
            raise bad_request(f"plugins[{index}]: expected an object with an id")
        if _flag(plugin, "enabled", default=True):
            names.append(plugin["id"])
    return tuple(names)


def _preferences(value: Json) -> Preferences:
    if value is None:
        return Preferences()
    if not isinstance(value, dict):
        raise bad_request("provider: expected an object")
    for key in value:
        if key not in PROVIDER_KEYS:
            raise bad_request(f"provider: Unrecognized key: {key[:100]!r}")
    prices = value.get("max_price")
    if prices is not None and not isinstance(prices, dict):
        raise bad_request("provider.max_price: expected an object")
    return Preferences(
        order=_names(value, "order") or (),
        only=_names(value, "only"),
        ignore=_names(value, "ignore") or (),
        allow_fallbacks=_flag(value, "allow_fallbacks", default=True),
        require_parameters=_flag(value, "require_parameters", default=False),
        deny_data_collection=_choice(value, "data_collection", ("allow", "deny")) == "deny",
        zero_retention=_flag(value, "zdr", default=False),
        quantizations=_names(value, "quantizations") or (),
        sort=_sort(value.get("sort")),
        max_price_prompt=_price(prices or {}, "prompt"),
        max_price_completion=_price(prices or {}, "completion"),
    )


def _names(table: Mapping[str, Json], key: str) -> tuple[str, ...] | None:
    value = table.get(key)
    if value is None:
        return None
    if not isinstance(value, list) or len(value) > MAX_LIST:
        raise bad_request(f"provider.{key}: expected a list of at most {MAX_LIST} strings")
    if not all(isinstance(name, str) for name in value):
        raise bad_request(f"provider.{key}: expected strings")
    return tuple(name.lower() for name in value)


def _choice(table: Mapping[str, Json], key: str, allowed: tuple[str, ...]) -> str | None:
    value = table.get(key)
    if value is not None and value not in allowed:
        raise bad_request(f"provider.{key}: expected one of {', '.join(allowed)}")
    return value if isinstance(value, str) else None


def _sort(value: Json) -> str | None:
    inner = {"by": value} if isinstance(value, str) else value
    if inner is None:
        return None
    if not isinstance(inner, dict):
        raise bad_request("provider.sort: expected a string or an object")
    return _choice(inner, "by", ("price", "throughput", "latency", "exacto"))


def _price(table: Mapping[str, Json], key: str) -> Decimal | None:
    value = table.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | str) or len(str(value)) > 40:
        raise bad_request(f"provider.max_price.{key}: expected a price")
    try:
        price = Decimal(str(value))
    except InvalidOperation:
        raise bad_request(f"provider.max_price.{key}: expected a price") from None
    if not price.is_finite() or price < 0:
        raise bad_request(f"provider.max_price.{key}: expected a price")
    return price
