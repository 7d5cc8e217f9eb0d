"""Generations of the story's model, as telemetry tells of them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any

from routecanary.domain.generation import Generation, Source
from routecanary.domain.names import RouteId
from tests.story import MODEL, START, moment

_NUMBERS = count(1)


def served(by: Iterable[str] | str, at: str = "0s", **facts: Any) -> Generation:
    """Make a generation that one of these routes served; a hook tells of it, unless `facts` say otherwise."""
    key = facts.pop("key", None) or f"gen-{next(_NUMBERS):09}"
    return Generation(
        **{
            "key": key,
            "id": key,
            "source": Source.HOOK,
            "model": MODEL,
            "started_at": moment(at),
            "candidates": tags(by),
            "list_written_at": START,
            "status": 200,
            "finish_reason": "stop",
            "empty": False,
            "ttft_ms": 400,
            **facts,
        }
    )


def tags(names: Iterable[str] | str) -> frozenset[RouteId]:
    return frozenset(map(RouteId, names.split() if isinstance(names, str) else names))
