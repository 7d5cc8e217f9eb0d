"""What did the probes of the last while come to, in the measures of telemetry?

Source: docs/traffic.md, The table.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from routecanary.domain.answer import read_answer
from routecanary.domain.archive import TranscriptEntry
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.probe import ProbeKind
from routecanary.domain.verdict import VerdictKind
from routecanary.rounds.ports import TranscriptStore
from routecanary.study.waiting import waited
from routecanary.telemetry.measures import Measure
from routecanary.telemetry.windows import Count

READ: Final = 20  # chat answers of a route that are read for their waits, the newest ones
_CODES: Final[Mapping[Measure, frozenset[str]]] = {
    Measure.LATE: frozenset({"latency"}),
    Measure.EMPTY: frozenset({"empty", "reasoning_only"}),
    Measure.FILTERED: frozenset({"content_filter"}),
}
"""Reason codes of fails that telemetry would see too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeFigures:
    """Of one route: first attempts, confirmations left out."""

    asked: int = 0
    counts: Mapping[Measure, Count] = field(default_factory=dict)
    first_text_ms: tuple[int, ...] = ()  # of the newest chat answers, sorted


def probe_figures(
    store: TranscriptStore, model: ModelId, *, since: datetime, lag_limit_ms: float
) -> Mapping[RouteId, ProbeFigures]:
    """Add up what is kept of a model's probes since a time.

    Raises:
        StoreError: The store cannot be read.
    """
    asked: Counter[RouteId] = Counter()
    told: defaultdict[RouteId, Counter[Measure]] = defaultdict(Counter)
    chats: defaultdict[RouteId, list[TranscriptEntry]] = defaultdict(list)
    for entry in store.find(model, since=since):
        if entry.route is None or entry.attempt or entry.kind is ProbeKind.ANY:
            continue
        asked[entry.route] += 1
        told[entry.route].update(_measures(entry))
        if entry.kind is ProbeKind.CHAT and len(chats[entry.route]) < READ:
            chats[entry.route].append(entry)
    return {
        route: ProbeFigures(
            asked=count,
            counts={measure: Count(told[route][measure], count) for measure in (*_CODES, Measure.FAILED)},
            first_text_ms=_waits(store, chats[route], lag_limit_ms),
        )
        for route, count in sorted(asked.items())
    }


def _measures(entry: TranscriptEntry) -> set[Measure]:
    verdicts = entry.verdicts.values()
    codes = {said.code for said in verdicts if said.kind is VerdictKind.FAIL}
    found = {measure for measure, known in _CODES.items() if codes & known}
    if any(said.kind is VerdictKind.TRANSPORT for said in verdicts):
        found.add(Measure.FAILED)
    return found


def _waits(store: TranscriptStore, entries: list[TranscriptEntry], lag_limit_ms: float) -> tuple[int, ...]:
    waits = []
    for entry in entries:
        stored = store.get(entry.id)
        if stored is not None:
            wait = waited(read_answer(stored.transcript), entry.verdicts, lag_limit_ms=lag_limit_ms)
            if wait.first_text_ms is not None:
                waits.append(wait.first_text_ms)
    return tuple(sorted(waits))
