"""How many leaks of which kind? Added up, whatever the order in which they are found and however split."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final, NamedTuple

from routecanary.domain.generation import Generation
from routecanary.domain.leak import LeakReason
from routecanary.domain.names import ModelId, RouteId
from routecanary.telemetry.leaks import Leak

EXAMPLES: Final = 5  # generations of a kind that are named


class Kind(NamedTuple):
    """What is added up."""

    model: ModelId
    certain: bool
    reason: LeakReason
    routes: frozenset[RouteId]


class Leaks(NamedTuple):
    """Leaks of one kind."""

    generations: int
    first_at: datetime
    last_at: datetime
    examples: tuple[tuple[datetime, str], ...]  # the earliest ones: when and which


class Tally:
    """The leaks that were found since the last time anybody was told."""

    def __init__(self) -> None:
        self._kinds: dict[Kind, Leaks] = {}

    def __len__(self) -> int:
        return len(self._kinds)

    def kinds(self) -> frozenset[Kind]:
        return frozenset(self._kinds)

    def add(self, generation: Generation, leak: Leak) -> None:
        """Count one generation; whoever calls sees to it that each is counted once."""
        at = generation.started_at
        one = Leaks(1, at, at, ((at, generation.id or generation.key),))
        kind = Kind(generation.model, leak.certain, leak.reason, leak.routes)
        known = self._kinds.get(kind)
        self._kinds[kind] = one if known is None else _together(known, one)

    def items(self) -> Iterator[tuple[Kind, Leaks]]:
        """Yield the kinds in order: by model, the certain ones first."""
        yield from sorted(
            self._kinds.items(),
            key=lambda item: (item[0].model, not item[0].certain, item[0].reason, sorted(item[0].routes)),
        )


def _together(one: Leaks, other: Leaks) -> Leaks:
    return Leaks(
        one.generations + other.generations,
        min(one.first_at, other.first_at),
        max(one.last_at, other.last_at),
        tuple(sorted({*one.examples, *other.examples})[:EXAMPLES]),
    )
