"""`routecanary overdue`: has anybody made rounds lately?"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Final

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.flush import flush
from routecanary.cli.output import complain, instant, say, say_json, span
from routecanary.clock import SystemClock
from routecanary.domain.times import format_duration
from routecanary.errors import ConfigError
from routecanary.rounds.overdue import tell_overdue
from routecanary.wiring import offline_records, settings_at

PATIENCE: Final = 30.0
"""Seconds for the delivery: where the daemon is dead, nobody else delivers."""


def overdue(*, config: Path | None = None, json: bool = False) -> int:
    """Check that every configured model had a round lately, and tell of those that had none.

    To be run by cron or a timer, beside the daemon: it also delivers what the daemon could not. Exit code 1
    when a model is overdue; any other code but 0 means that it could not be found out.

    Parameters
    ----------
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    if not settings.models:
        raise ConfigError(
            "no model to watch", place=settings.place, key="models", allowed='a table [models."author/slug"]'
        )
    clock = SystemClock()
    after = settings.overdue_after()
    with offline_records(settings, clock) as records:
        late = tell_overdue(records)
        now = clock.now()
        if json:
            say_json(
                {
                    "overdue_after_seconds": int(after.total_seconds()),
                    "overdue": {model: instant(last) for model, last in late.items()},
                }
            )
        else:
            for model, last in late.items():
                say(f"{model}: overdue: {_last(last, now)}; allowed: {format_duration(after)}")
            if not late:
                say(f"no model is overdue ({len(settings.models)} watched)")
        problem = flush(records, seconds=PATIENCE)
        if problem is not None:
            complain(f"messages wait for the daemon: {problem}")
    return ExitCode.FINDING if late else ExitCode.OK


def _last(last: datetime | None, now: datetime) -> str:
    if last is None:
        return "no round was ever made"
    if last > now:
        return f"the last round is dated {span(last - now)} ahead"
    return f"the last round was {span(now - last)} ago"
