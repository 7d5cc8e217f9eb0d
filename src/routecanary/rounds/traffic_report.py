"""What were users served lately, by which routes, and what did the probes say of them?

Source: docs/traffic.md, The table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import islice
from typing import Final

from routecanary.domain.interval import exact_interval
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.probe import Json
from routecanary.domain.times import format_instant
from routecanary.rounds.passive_watch import MOST_READ
from routecanary.rounds.probe_figures import ProbeFigures, probe_figures
from routecanary.rounds.records import Records
from routecanary.study.quantile import quantile
from routecanary.telemetry.windows import Count, Routes, Served, WindowBuilder, sorted_by_name

PROBES_OF: Final = timedelta(days=1)
"""How far back the probes' own figures go: an hour has one or two of each kind."""
CONFIDENCE: Final = 0.95
QUANTILES: Final = {"p50": Fraction(1, 2), "p95": Fraction(19, 20)}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficReport:
    """One model's traffic within a time."""

    model: ModelId
    since: datetime
    until: datetime
    served: Mapping[Routes, Served]
    probes: Mapping[RouteId, ProbeFigures]
    unplaced: int  # answers of which nothing tells who served them
    cut: bool  # there are more than were read

    @property
    def anonymous(self) -> int:
        """Answers that name no conversation."""
        return sum(served.anonymous for served in self.served.values())


def traffic_report(records: Records, model: ModelId, *, length: timedelta) -> TrafficReport:
    """Add up a model's last while, up to now.

    Raises:
        StoreError: The store cannot be read.
    """
    settings, until = records.settings, records.clock.now()
    since = until - length
    builder = WindowBuilder(late_ms=settings.latency.limit.total_seconds() * 1000)
    found = records.store.generations(model, since=since, until=until, limit=MOST_READ + 1)
    for generation in islice(found, MOST_READ):
        builder.add(generation)
    cut = next(iter(found), None) is not None
    return TrafficReport(
        model=model,
        since=since,
        until=until,
        served=builder.built(),
        probes=probe_figures(
            records.transcripts,
            model,
            since=until - PROBES_OF,
            lag_limit_ms=settings.latency.lag_limit.total_seconds() * 1000,
        ),
        unplaced=builder.unplaced,
        cut=cut,
    )


def traffic_document(report: TrafficReport) -> dict[str, Json]:
    """Write a report as `traffic --json` prints it."""
    return {
        "model": report.model,
        "since": format_instant(report.since),
        "until": format_instant(report.until),
        "unplaced": report.unplaced,
        "cut": report.cut,
        "routes": [
            {
                "routes": sorted(routes),
                "requests": served.requests,
                "conversations": served.conversations,
                "anonymous": served.anonymous,
                "first_text_ms": waits_of(served.first_text_ms),
                "shares": {measure.value: share_of(count) for measure, count in served.counts.items()},
            }
            for routes, served in sorted_by_name(report.served)
        ],
        "probes": {
            route: {
                "asked": figures.asked,
                "first_text_ms": waits_of(figures.first_text_ms),
                "shares": {measure.value: share_of(count) for measure, count in figures.counts.items()},
            }
            for route, figures in report.probes.items()
        },
    }


def waits_of(waits: tuple[int, ...]) -> dict[str, Json]:
    """State the quantiles of waits; null where there are none."""
    found = {name: quantile(share, waits, ()) for name, share in QUANTILES.items()}
    return {name: None if each is None else each.ms for name, each in found.items()}


def share_of(count: Count) -> dict[str, Json]:
    """State a share with its exact interval."""
    interval = exact_interval(count.bad, count.of, CONFIDENCE)
    return {
        "bad": count.bad,
        "of": count.of,
        "low": round(interval.low, 4),
        "high": round(interval.high, 4),
    }
