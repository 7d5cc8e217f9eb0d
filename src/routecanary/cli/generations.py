"""`routecanary generations`: who served what, when?"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from datetime import timedelta
from heapq import merge
from pathlib import Path
from typing import Final

from routecanary.cli.acting import time_of
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import instant, say, say_json, say_table
from routecanary.clock import SystemClock
from routecanary.domain.generation import Generation
from routecanary.domain.names import parse_model, parse_route
from routecanary.domain.probe import Json
from routecanary.errors import InputError
from routecanary.telemetry.records import AHEAD
from routecanary.wiring import offline_records, settings_at

NEWEST: Final = 50  # that are shown where nothing else is said
BACK: Final = timedelta(hours=1)
COLUMNS: Final = ("started", "model", "served by", "first text", "ended", "tokens", "told by")


def generations(
    model: str | None = None,
    /,
    *,
    since: str | None = None,
    until: str | None = None,
    route: str | None = None,
    conversation: str | None = None,
    limit: int = NEWEST,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """Show what users were served, as hooks, proxy and gateway told: the newest, oldest first.

    Parameters
    ----------
    model
        Only of this model; left out, of every configured one.
    since
        From then on: a time such as 2026-11-29T12:00:00+07:00, or how long ago, such as 2h; left out, 1h.
    until
        Up to then, likewise; left out, now.
    route
        Only what this route may have served.
    conversation
        Only of this conversation, as the application hashed it.
    limit
        At most so many.
    config
        The configuration file.
    json
        Print one JSON line a generation.
    """
    if limit < 0:
        raise InputError("less than nothing", key="--limit", value=limit, allowed="0 or more")
    clock, settings = SystemClock(), settings_at(config)
    now = clock.now()
    begin = now - BACK if since is None else time_of(since, "--since", now=now)
    end = now + AHEAD if until is None else time_of(until, "--until", now=now)
    tag = None if route is None else parse_route(route)
    models = [each.model for each in settings.models] if model is None else [parse_model(model)]
    with offline_records(settings, clock) as records:
        found: Iterator[Generation] = merge(
            *(
                records.store.generations(name, since=begin, until=end, conversation=conversation)
                for name in models
            ),
            key=lambda each: each.started_at,
        )
        chosen = deque((each for each in found if tag is None or tag in each.candidates), maxlen=limit)
    if json:
        for each in chosen:
            say_json(document_of(each))
    elif not chosen:
        say("nobody told of a generation in this time")
    else:
        say_table(COLUMNS, map(row_of, chosen))
    return ExitCode.OK


def document_of(generation: Generation) -> dict[str, Json]:
    """Write a generation as it is kept."""
    return {
        "key": generation.key,
        "id": generation.id,
        "source": generation.source.value,
        "model": generation.model,
        "started_at": generation.started_at.isoformat().replace("+00:00", "Z"),
        "provider": generation.provider,
        "candidates": [*sorted(generation.candidates)],
        "carried": [*sorted(generation.carried)],
        "unchanged": generation.unchanged,
        "list_written_at": instant(generation.list_written_at),
        "ttft_ms": generation.ttft_ms,
        "duration_ms": generation.duration_ms,
        "status": generation.status,
        "finish_reason": generation.finish_reason,
        "empty": generation.empty,
        "prompt_tokens": generation.prompt_tokens,
        "completion_tokens": generation.completion_tokens,
        "conversation": generation.conversation,
        "locale": generation.locale,
    }


def row_of(generation: Generation) -> tuple[str, ...]:
    """Write a generation for people; a route that its request ignored is marked."""
    routes = (tag + " (ignored)" * (tag in generation.carried) for tag in sorted(generation.candidates))
    served_by = " or ".join(routes) or (generation.provider or "unknown")
    ended = generation.finish_reason or ("-" if generation.status is None else str(generation.status))
    return (
        instant(generation.started_at) or "",
        generation.model,
        served_by,
        "-" if generation.ttft_ms is None else f"{generation.ttft_ms} ms",
        f"{ended}, empty" if generation.empty else ended,
        "-" if generation.completion_tokens is None else str(generation.completion_tokens),
        generation.source.value,
    )
