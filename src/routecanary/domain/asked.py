"""What did the request ask for?

Requested content is not a fault, and our own limit is never the host's: so the judges look here first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, assert_never

from routecanary.domain.gateway import GatewayKind, gateway_of_request
from routecanary.domain.probe import Json
from routecanary.domain.transcript import Transcript

_MAX_PROMPT = 200_000  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The parts of a request that excuse or convict an answer."""

    prompt: str  # all messages, joined with newlines
    last_role: str  # role of the last message; "assistant" = the answer continues a text
    limit: int | None  # tokens
    stops: tuple[str, ...]
    tools: frozenset[str]  # names of the functions offered
    schema: Mapping[str, Json] | None  # of the response format; JSON mode promises any one object
    schema_fault: str | None  # why the response format is not usable, if it is not
    pins: tuple[str, ...]  # providers or tags the request was pinned to
    model: str | None
    opening: str | None  # the first characters asked for
    min_words: int | None
    names: tuple[str, ...] = ()  # the two characters of the scene
    object: str | None = None  # and the thing that plays a part in it


def asked_of(transcript: Transcript) -> Asked:
    """Read a request; a member of the wrong type counts as absent."""
    request = transcript.request
    messages = [item for item in _list(request.get("messages")) if isinstance(item, dict)]
    schema, fault = _schema(request.get("response_format"))
    scene = transcript.scene
    return Asked(
        prompt="\n".join(text for message in messages for text in _texts(message.get("content")))[
            :_MAX_PROMPT
        ],
        last_role=str(messages[-1].get("role", "")) if messages else "",
        limit=_limit(request),
        stops=_stops(request.get("stop")),
        tools=frozenset(_tool_names(request.get("tools"))),
        schema=schema,
        schema_fault=fault,
        pins=_pins(_routing(request)),
        model=request.get("model") if isinstance(request.get("model"), str) else None,
        opening=scene.opening if scene is not None else None,
        min_words=scene.min_words if scene is not None else None,
        names=scene.names if scene is not None else (),
        object=scene.object if scene is not None else None,
    )


def wants_schema(request: Mapping[str, Json]) -> bool:
    """Say whether a request asks for a JSON response format, usable or not."""
    value = request.get("response_format")
    return isinstance(value, dict) and value.get("type") in ("json_schema", "json_object")


def _texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in _list(content):
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            yield part["text"]


def _limit(request: Mapping[str, Json]) -> int | None:
    for key in ("max_completion_tokens", "max_tokens"):
        value = request.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


def _stops(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,) if value else ()
    return tuple(item for item in _list(value) if isinstance(item, str) and item)


def _tool_names(value: object) -> Iterator[str]:
    for tool in _list(value):
        function = tool.get("function") if isinstance(tool, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            yield function["name"]


def _schema(value: object) -> tuple[Mapping[str, Json] | None, str | None]:
    if not isinstance(value, dict) or value.get("type") not in ("json_schema", "json_object"):
        return None, None
    if value["type"] == "json_object":
        return {"type": "object"}, None
    wrapper = value.get("json_schema")
    schema = wrapper.get("schema") if isinstance(wrapper, dict) else None
    if not isinstance(schema, dict):
        return None, "response_format.json_schema.schema is not an object"
    return schema, None


def _routing(request: Mapping[str, Json]) -> object:
    """Find the part of a request that says who may serve it."""
    match gateway_of_request(request):
        case GatewayKind.OPENROUTER:
            return request.get("provider")
        case GatewayKind.VERCEL:
            options = request["providerOptions"]
            return options.get("gateway") if isinstance(options, dict) else None
        case other:
            assert_never(other)


def _pins(value: object) -> tuple[str, ...]:
    if not isinstance(value, dict):
        return ()
    only = tuple(item for item in _list(value.get("only")) if isinstance(item, str))
    if only:
        return only
    if value.get("allow_fallbacks") is False:
        return tuple(item for item in _list(value.get("order")) if isinstance(item, str))
    return ()


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []
