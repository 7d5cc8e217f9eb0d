"""`routecanary traffic`: what were users served, and by whom?"""

from __future__ import annotations

from pathlib import Path

from routecanary.cli.acting import length_of
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import instant, plain, say, say_json, say_table
from routecanary.clock import SystemClock
from routecanary.domain.interval import exact_interval
from routecanary.rounds.leak_report import asked_about
from routecanary.rounds.traffic_report import (
    CONFIDENCE,
    TrafficReport,
    traffic_document,
    traffic_report,
    waits_of,
)
from routecanary.telemetry.measures import Measure
from routecanary.telemetry.windows import Count, sorted_by_name
from routecanary.wiring import offline_records, settings_at


def traffic(
    model: str | None = None, /, *, since: str | None = None, config: Path | None = None, json: bool = False
) -> int:
    """Show what users were served lately, by which routes, and what the probes of the last day say of them.

    Shares are of conversations, one answer of each drawn, with their exact 95 % interval.

    Parameters
    ----------
    model
        Only of this model; left out, all.
    since
        How far to look back from now: a duration; left out, the window of the passive watch.
    config
        The configuration file.
    json
        Print one JSON list, one object a model.
    """
    settings = settings_at(config)
    length = settings.traffic.window if since is None else length_of(since, "--since")
    with offline_records(settings, SystemClock()) as records:
        models = asked_about(records, model)
        reports = [traffic_report(records, name, length=length) for name in models]
    if json:
        say_json([traffic_document(report) for report in reports])
        return ExitCode.OK
    for report in reports:
        _show(report)
    if not reports:
        say("no model is known yet")
    return ExitCode.OK


def _show(report: TrafficReport) -> None:
    if not report.served:
        say(f"{report.model}: nothing is told of what users were served since {instant(report.since)}")
    rows = [
        (
            plain(" | ".join(sorted(routes))),
            str(served.requests),
            str(served.conversations),
            _waits(served.first_text_ms),
            *(_share(served.count(measure)) for measure in Measure),
        )
        for routes, served in sorted_by_name(report.served)
    ] + [
        (
            f"probes of {plain(route)}",
            str(figures.asked),
            "",
            _waits(figures.first_text_ms),
            *(_share(figures.counts.get(measure, Count())) for measure in Measure),
        )
        for route, figures in report.probes.items()
    ]
    say_table(
        ("routes", "requests", "conversations", "first text p50/p95 ms", *(each.value for each in Measure)),
        rows,
        title=f"{report.model}, since {instant(report.since)}; probes of the last day",
    )
    if report.anonymous:
        say(f"{report.model}: {report.anonymous} answers name no conversation and count one each")
    if report.unplaced:
        say(f"{report.model}: {report.unplaced} more do not say who served them")
    if report.cut:
        say(f"{report.model}: there is more of it; this is the beginning")


def _waits(waits: tuple[int, ...]) -> str:
    found = waits_of(waits)
    return "" if found["p50"] is None else f"{found['p50']} / {found['p95']}"


def _share(count: Count) -> str:
    """Write a share, where anything was told: percent, and between which the truth lies."""
    if not count.of:
        return ""
    interval = exact_interval(count.bad, count.of, CONFIDENCE)
    return f"{100 * count.share:.1f} % ({100 * interval.low:.1f}–{100 * interval.high:.1f})"
