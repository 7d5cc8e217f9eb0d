"""`routecanary leaks`: did routing obey?"""

from __future__ import annotations

from pathlib import Path

from routecanary.cli.acting import length_of
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import instant, plain, say, say_json, say_table
from routecanary.clock import SystemClock
from routecanary.rounds.leak_report import LeakReport, asked_about, leak_document, leak_reports
from routecanary.wiring import offline_records, settings_at


def leaks(
    model: str | None = None, /, *, since: str = "1d", config: Path | None = None, json: bool = False
) -> int:
    """Audit what users were served against what was excluded when they asked.

    It looks at the telemetry in the store, whether a daemon runs or not. Exit code 1 when answers came from
    routes that were certainly excluded.

    Parameters
    ----------
    model
        Only of this model; left out, all.
    since
        How far to look back from now: a duration.
    config
        The configuration file.
    json
        Print one JSON list, one object a model.
    """
    settings, clock = settings_at(config), SystemClock()
    length = length_of(since, "--since")
    with offline_records(settings, clock) as records:
        reports = leak_reports(records, asked_about(records, model), length=length)
    if json:
        say_json([leak_document(report) for report in reports])
    else:
        for report in reports:
            _show(report)
        if not reports:
            say("no model is known yet")
    return ExitCode.FINDING if any(report.count(certain=True) for report in reports) else ExitCode.OK


def _show(report: LeakReport) -> None:
    placed = report.generations - report.unplaced
    several = f"{placed} generations on {len(report.routes)} routes"
    hours = f"of {report.excluded_hours:.1f} excluded route-hours"
    leaked, possible = report.count(certain=True), report.count(certain=False)
    verdict = f"{leaked} on an excluded route" if leaked else "none on an excluded route"
    say(f"{report.model}: {several}, {verdict}; {hours}, since {instant(report.since)}")
    if possible:
        say(f"{report.model}: {possible} more may have been: its provider has others, or it was meant so")
    if report.unplaced:
        say(f"{report.model}: {report.unplaced} more do not say who served them")
    if report.cut:
        say(f"{report.model}: there is more of it; this is the beginning")
    if report.leaks:
        say_table(
            ("leaked", "likely reason", "routes", "answers", "first", "last", "for example"),
            [
                (
                    "yes" if kind.certain else "possibly",
                    kind.reason.value,
                    plain(", ".join(sorted(kind.routes))),
                    str(leaks.generations),
                    instant(leaks.first_at) or "",
                    instant(leaks.last_at) or "",
                    plain(leaks.examples[0][1]),
                )
                for kind, leaks in report.leaks
            ],
        )
