"""Which routes count a fixed prompt otherwise than before? Pure: what was remembered, what was read → events.

One odd number proves nothing, so a route whose count is none of its last ones is asked once more, and only a
second count that agrees with the first is a change. When most of a model's routes change at once, it is the
model's tokenizer or the gateway's way of counting, and nobody in particular is named.

Source: docs/operating.md, Tripwires.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from statistics import median_low
from typing import Final

from routecanary.domain.answer import Answer
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.operation import (
    Operation,
    PromptTokensChanged,
    PromptTokensRead,
    PromptTokensShifted,
)
from routecanary.domain.prompts import SLACK, PromptReading, Prompts
from routecanary.judge.settings import Settings as JudgeSettings
from routecanary.judge.triage import triage

LEAST_PEERS: Final = 2
"""Other routes that a median is told of: one alone may be the odd one."""

MOST_TOKENS: Final = 10_000_000
"""A larger count is nonsense."""


def count_of(answer: Answer, limits: JudgeSettings) -> int | None:
    """Read what an answer says that its prompt counted.

    Returns:
        None: It says nothing, or nothing that could be true; or the answer is not whole, does not say whose
        it is, or came from elsewhere: another host, another model, a cache.
    """
    tokens = answer.prompt_tokens
    if tokens is None or not 0 < tokens <= MOST_TOKENS or not answer.providers:
        return None
    return None if triage(answer, limits) is not None else tokens


def odd_ones(known: Prompts, readings: Mapping[RouteId, PromptReading]) -> frozenset[RouteId]:
    """List the routes whose reading is none of their last ones; a route without a past is not odd."""
    return frozenset(
        route
        for route, reading in readings.items()
        if route in known.past and known.past[route].is_changed_by(reading)
    )


def confirmed(
    first: Mapping[RouteId, PromptReading],
    second: Mapping[RouteId, PromptReading],
    *,
    asked_again: Collection[RouteId],
) -> dict[RouteId, PromptReading]:
    """Leave out the readings of routes that were asked again and did not say the same once more."""
    return {
        route: reading
        for route, reading in first.items()
        if route not in asked_again
        or (route in second and abs(second[route].tokens - reading.tokens) <= SLACK)
    }


def changed_in(told: Iterable[Operation]) -> frozenset[RouteId]:
    """List the routes that are named as changed."""
    return frozenset(said.route for said in told if isinstance(said, PromptTokensChanged))


def told_of(
    model: ModelId,
    at: datetime,
    known: Prompts,
    readings: Mapping[RouteId, PromptReading],
    *,
    study: str | None = None,
) -> tuple[Operation, ...]:
    """Say what was read, and what changed.

    Args:
        readings: Confirmed, where they differ from the route's last ones.
        study: That is begun for a change.
    Returns:
        A route whose last reading is older than the last shift says nothing by changing: it is late in what
        the others did.
    """
    compared = {
        route
        for route, reading in readings.items()
        if route in known.past
        and known.past[route].asked == reading.asked
        and not (known.shifted_at is not None and known.past[route].at < known.shifted_at)
    }
    changed = odd_ones(known, readings) & compared
    read = PromptTokensRead(at=at, model=model, readings=readings)
    if len(changed) > 1 and 2 * (len(changed) - 1) > len(compared) - 1:
        return read, PromptTokensShifted(at=at, model=model, routes=changed, of=len(compared))
    before = {route: past.counts[-1] for route, past in known.past.items()}
    now = {route: reading.tokens for route, reading in readings.items()}
    return read, *(
        PromptTokensChanged(
            at=at,
            model=model,
            route=route,
            was=before[route],
            now=now[route],
            peers_were=_median_of_peers(before, route),
            peers=_median_of_peers(now, route),
            study=study,
        )
        for route in sorted(changed)
    )


def _median_of_peers(counts: Mapping[RouteId, int], route: RouteId) -> int | None:
    peers = [count for other, count in counts.items() if other != route]
    return median_low(peers) if len(peers) >= LEAST_PEERS else None
