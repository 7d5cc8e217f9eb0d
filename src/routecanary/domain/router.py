"""What does the gateway say of how it routed a request?

Router metadata stands on an answer's last chunk, or beside its error object. It is asked for with every
request and may be absent from any answer.

Source: openrouter-wire.md §3.6.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from routecanary.domain.probe import Json
from routecanary.domain.sse import SseDecoder
from routecanary.domain.transcript import Transcript

NAME: Final = "openrouter_metadata"
_MOST_STEPS: Final = 50
_MOST_NAME: Final = 100  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """What is told of one request; None = not stated."""

    attempt: int | None = None  # 0 = no provider was reached
    available: int | None = None  # endpoints that might have served it, in rows of the listing
    pipeline: tuple[
        str, ...
    ] = ()  # what was done to the request or the answer: types, or the names of plugins


def routing_of(transcript: Transcript) -> Routing | None:
    """Read the router metadata of an answer; None when there is none. Never raises."""
    found: Mapping[str, Json] | None = None
    for frame in _frames(b"".join(chunk.data for chunk in transcript.chunks)):
        metadata = frame.get(NAME)
        if isinstance(metadata, dict):
            found = metadata
    if found is None:
        return None
    endpoints = found.get("endpoints")
    available = endpoints.get("available") if isinstance(endpoints, dict) else None
    attempt = found.get("attempt")
    return Routing(
        attempt=attempt if isinstance(attempt, int) and not isinstance(attempt, bool) else None,
        available=len(available) if isinstance(available, list) else None,
        pipeline=_pipeline(found.get("pipeline")),
    )


def _frames(data: bytes) -> Iterator[Mapping[str, Json]]:
    """Yield the JSON objects that may hold the metadata: of one document, or of the events of a stream."""
    if NAME.encode() not in data:
        return
    texts = [data.decode("utf-8", "replace")]
    if not data.lstrip().startswith(b"{"):
        decoder = SseDecoder()
        texts = [event.data for event in (*decoder.feed(data), *decoder.finish()) if NAME in event.data]
    for text in texts:
        try:
            frame = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(frame, dict):
            yield frame


def _pipeline(steps: Json) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for step in steps[:_MOST_STEPS] if isinstance(steps, list) else ():
        kind, name = (step.get("type"), step.get("name")) if isinstance(step, dict) else (None, None)
        told = name if kind == "plugin" and isinstance(name, str) else kind
        if isinstance(told, str) and told.isprintable() and 0 < len(told) <= _MOST_NAME:
            names[told] = None
    return tuple(names)
