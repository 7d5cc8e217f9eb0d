"""Did routing obey? What users were served within a time, laid beside what was excluded then."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from routecanary.domain.names import ModelId, RouteId, parse_model
from routecanary.domain.probe import Json
from routecanary.domain.times import format_instant
from routecanary.rounds.leaks import Histories
from routecanary.rounds.records import Records
from routecanary.telemetry.leaks import leak_of
from routecanary.telemetry.tally import Kind, Leaks, Tally

MOST: Final = 200_000
"""Generations of one model that are looked at for one answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakReport:
    """One model's traffic within a time."""

    model: ModelId
    since: datetime
    until: datetime
    generations: int
    unplaced: int  # of them, those of which nothing tells who served them
    routes: frozenset[RouteId]  # all candidates of the others
    leaks: tuple[tuple[Kind, Leaks], ...]
    excluded_hours: float  # summed over the names that were to be ignored
    cut: bool  # there are more generations than were looked at

    def count(self, *, certain: bool) -> int:
        """Add up what leaked, or what may have."""
        return sum(leaks.generations for kind, leaks in self.leaks if kind.certain is certain)


def leak_report(records: Records, model: ModelId, *, since: datetime, until: datetime) -> LeakReport:
    """Audit a model's generations of a time anew, as the daemon does it.

    Raises:
        StoreError: The store cannot be read.
    """
    grace = records.settings.traffic.grace
    histories = Histories(records, records.ledger)
    histories.reach_back_to(model, since - grace)
    history = histories.of(model)
    tally, routes, count, unplaced = Tally(), set[RouteId](), 0, 0
    found = records.store.generations(model, since=since, until=until, limit=MOST + 1)
    for generation in islice(found, MOST):
        count += 1
        unplaced += not generation.candidates
        routes |= generation.candidates
        leak = leak_of(generation, history, grace)
        if leak is not None:
            tally.add(generation, leak)
    return LeakReport(
        model=model,
        since=since,
        until=until,
        generations=count,
        unplaced=unplaced,
        routes=frozenset(routes),
        leaks=tuple(tally.items()),
        excluded_hours=history.seconds(since, until) / timedelta(hours=1).total_seconds(),
        cut=next(iter(found), None) is not None,
    )


def leak_reports(records: Records, models: Iterable[ModelId], *, length: timedelta) -> tuple[LeakReport, ...]:
    """Audit the last while of models, up to now."""
    until = records.clock.now()
    since = max(until - length, datetime.min.replace(tzinfo=until.tzinfo) + timedelta(days=1))
    return tuple(leak_report(records, model, since=since, until=until) for model in models)


def asked_about(records: Records, model: str | None) -> list[ModelId]:
    """Name the models that somebody asks about: those of the log and of the configuration, or one of them.

    Raises:
        InputError: It is none of them.
    """
    known = {state.model for state in records.ledger.states()}
    if model is None:
        return sorted(known | {settings.model for settings in records.settings.models})
    name = parse_model(model)
    return [name if name in known else records.model(name).model]


def leak_document(report: LeakReport) -> dict[str, Json]:
    """Write a report as `leaks --json` prints it."""
    return {
        "model": report.model,
        "since": format_instant(report.since),
        "until": format_instant(report.until),
        "generations": report.generations,
        "unplaced": report.unplaced,
        "cut": report.cut,
        "routes": sorted(report.routes),
        "excluded_route_hours": round(report.excluded_hours, 3),
        "leaked": report.count(certain=True),
        "possible": report.count(certain=False),
        "leaks": [
            {
                "certain": kind.certain,
                "reason": kind.reason.value,
                "routes": sorted(kind.routes),
                "count": leaks.generations,
                "first_at": format_instant(leaks.first_at),
                "last_at": format_instant(leaks.last_at),
                "examples": [name for _, name in leaks.examples],
            }
            for kind, leaks in report.leaks
        ],
    }
