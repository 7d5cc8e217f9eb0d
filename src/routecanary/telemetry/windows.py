"""What were the users of one model served within a time, by which routes?

Answers of one conversation are not independent of each other: a user who meets an error asks again, five
hundred times if need be. So of each conversation one answer is drawn, by the hash of its key, and counted. An
answer that names no conversation is taken for one of its own, which is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final, NamedTuple, TypeVar

from routecanary.domain.generation import Generation
from routecanary.domain.names import RouteId
from routecanary.telemetry.measures import Measure, measured

Routes = frozenset[RouteId]
"""The candidates of an answer: which of them served it, nobody knows."""

_Value = TypeVar("_Value")

MOST_DRAWN: Final = 1_000
"""Conversations that count for one set of routes in one window; of more, these are drawn."""


class Count(NamedTuple):
    """How many of the answers that tell were bad in one way."""

    bad: int = 0
    of: int = 0

    @property
    def share(self) -> float:
        return self.bad / self.of if self.of else 0.0

    def __add__(self, other: object) -> Count:
        """Add up; answers of several windows or sets of routes."""
        return Count(self.bad + other.bad, self.of + other.of) if isinstance(other, Count) else NotImplemented


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What one set of routes served."""

    requests: int = 0
    conversations: int = 0  # that were drawn from
    anonymous: int = 0  # of them, answers that name none
    counts: Mapping[Measure, Count] = field(default_factory=dict)
    first_text_ms: tuple[int, ...] = ()  # of the drawn answers, sorted

    def count(self, measure: Measure) -> Count:
        return self.counts.get(measure, Count())


class _Drawn(NamedTuple):
    rank: bytes  # the lowest of a conversation's answers is the one drawn
    measures: Mapping[Measure, bool]
    ttft_ms: int | None
    anonymous: bool


class WindowBuilder:
    """Takes answers in, in any order, each once."""

    def __init__(self, *, late_ms: float) -> None:
        self._late_ms = late_ms
        self._requests: dict[Routes, int] = {}
        self._drawn: dict[Routes, dict[str, _Drawn]] = {}
        self.unplaced = 0  # nothing tells who served them

    def add(self, generation: Generation) -> None:
        """Count one answer, and draw it if its rank is the lowest of its conversation."""
        routes = generation.candidates
        if not routes:
            self.unplaced += 1
            return
        self._requests[routes] = self._requests.get(routes, 0) + 1
        anonymous = generation.conversation is None
        name = f"- {generation.key}" if anonymous else f"c {generation.conversation}"
        rank = _rank(generation.key)
        drawn = self._drawn.setdefault(routes, {})
        known = drawn.get(name)
        if known is None or rank < known.rank:
            measures = measured(generation, late_ms=self._late_ms)
            drawn[name] = _Drawn(rank, measures, generation.ttft_ms, anonymous)

    def built(self) -> Mapping[Routes, Served]:
        """Add up what was drawn."""
        return {
            routes: _served(self._requests[routes], drawn) for routes, drawn in sorted_by_name(self._drawn)
        }


def add_up(windows: Iterable[Mapping[Routes, Served]]) -> Mapping[Routes, Served]:
    """Join windows; a conversation that goes through several counts once in each."""
    joined: dict[Routes, list[Served]] = {}
    for window in windows:
        for routes, served in window.items():
            joined.setdefault(routes, []).append(served)
    return {routes: _joined(parts) for routes, parts in sorted_by_name(joined)}


def sorted_by_name(found: Mapping[Routes, _Value]) -> list[tuple[Routes, _Value]]:
    """List sets of routes by the names of their routes."""
    return sorted(found.items(), key=lambda item: sorted(item[0]))


def _served(requests: int, drawn: Mapping[str, _Drawn]) -> Served:
    chosen = list(drawn.values())
    if len(drawn) > MOST_DRAWN:
        names = sorted(drawn, key=_rank)[:MOST_DRAWN]
        chosen = [drawn[name] for name in names]
    told = [(measure, bad) for each in chosen for measure, bad in each.measures.items()]
    return Served(
        requests=requests,
        conversations=len(chosen),
        anonymous=sum(each.anonymous for each in chosen),
        counts={
            measure: Count(
                sum(bad for name, bad in told if name is measure), sum(name is measure for name, _ in told)
            )
            for measure in Measure
            if any(name is measure for name, _ in told)
        },
        first_text_ms=tuple(sorted(each.ttft_ms for each in chosen if each.ttft_ms is not None)),
    )


def _joined(parts: Iterable[Served]) -> Served:
    kept = list(parts)
    return Served(
        requests=sum(part.requests for part in kept),
        conversations=sum(part.conversations for part in kept),
        anonymous=sum(part.anonymous for part in kept),
        counts={
            measure: sum((part.count(measure) for part in kept), Count())
            for measure in Measure
            if any(measure in part.counts for part in kept)
        },
        first_text_ms=tuple(sorted(ms for part in kept for ms in part.first_text_ms)),
    )


def _rank(name: str) -> bytes:
    return blake2b(name.encode(), digest_size=8).digest()
