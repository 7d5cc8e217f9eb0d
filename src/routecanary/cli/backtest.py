"""`routecanary backtest`: what would another policy have done?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

from routecanary.cli.acting import listed, time_of
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import instant, say, say_json, say_table, span
from routecanary.clock import SystemClock
from routecanary.domain.names import parse_model
from routecanary.domain.policy import Policy, policy_to_mapping
from routecanary.domain.probe import Json
from routecanary.domain.settings import Settings
from routecanary.replay.run import read_policy
from routecanary.rounds.backtest import Backtest, Change, Pair, backtest
from routecanary.rounds.incidents import Incident
from routecanary.rounds.labels import Judgement
from routecanary.wiring import offline_records, settings_at

SCHEDULED: Final = ("round_period", "attempts_per_round")
"""Numbers of the policy that follow from the schedule and the contracts, where they are not stated."""

_HOUR: Final = timedelta(hours=1)


def run_backtest(
    *,
    policy: Path | None = None,
    since: str | None = None,
    model: str | None = None,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """Decide the rounds of the log again by another policy, and lay the suspensions beside those that were.

    Nothing is asked and nothing is changed. What a person did then is done again.

    Parameters
    ----------
    policy
        A TOML file whose table [policy] replaces the defaults; left out, the configuration's own policy.
    since
        Only from then on, such as 30d or 2026-01-05T00:00:00Z; left out, from the first round that is kept.
    model
        Only this model; left out, all.
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    numbers = settings.policy if policy is None else policy_for(settings, policy)
    clock = SystemClock()
    begin = None if since is None else time_of(since, "--since", now=clock.now())
    with offline_records(settings, clock) as records:
        models = records.store.models()
        if model is not None:
            name = parse_model(model)
            models = (name if name in models else records.model(name).model,)
        results = [backtest(records.store, each, numbers, since=begin) for each in models]
    results = [result for result in results if result.rounds or model is not None]
    if json:
        say_json({"policy": policy_to_mapping(numbers), "models": [document(each) for each in results]})
        return ExitCode.OK
    if not results:
        say("no round yet")
    for result in results:
        for line in summary(result):
            say(line)
        if result.pairs:
            say_table(
                ("change", "route", "contracts", "was", "would be", "marked"),
                [_row(pair) for pair in result.pairs],
            )
    return ExitCode.OK


def policy_for(settings: Settings, path: Path) -> Policy:
    """Read a policy file; what follows from the schedule is the configuration's, where the file is silent.

    Raises:
        PolicyError: As `read_policy`.
    """
    own = policy_to_mapping(settings.policy)
    return read_policy(path, unstated={name: own[name] for name in SCHEDULED})


def document(result: Backtest) -> dict[str, Json]:
    """Write what came of one model."""
    return {
        **document_in_short(result),
        "incidents": [
            {
                "change": pair.change.value,
                "route": pair.route,
                "was": _outline(pair.was, numbered=True),
                "would_be": _outline(pair.would_be, numbered=False),
            }
            for pair in result.pairs
        ],
    }


def document_in_short(result: Backtest) -> dict[str, Json]:
    """Write how much would be otherwise, without the incidents."""
    return {
        "model": result.model,
        "since": instant(result.since),
        "until": instant(result.until),
        "rounds": result.rounds,
        "rounds_without_attempts": result.rounds_in_part,
        **{change.value: result.count(change) for change in Change},
        "marked": {
            judgement.value: {"kept": marked.kept, "gone": marked.gone}
            for judgement in Judgement
            for marked in (result.marked(judgement),)
        },
        "route_hours": {
            "was": _hours(result.time_out(would_be=False)),
            "would_be": _hours(result.time_out(would_be=True)),
        },
    }


def summary(result: Backtest) -> Iterator[str]:
    """Tell how much would be otherwise."""
    if not result.rounds:
        yield f"{result.model}: no round in that time"
        return
    yield f"{result.model}: {result.rounds} rounds from {instant(result.since)} to {instant(result.until)}"
    were = sum(pair.was is not None for pair in result.pairs)
    would_be = sum(pair.would_be is not None for pair in result.pairs)
    counts = ", ".join(f"{result.count(change)} {change.value}" for change in Change)
    yield f"  {were} suspensions were, {would_be} would be: {counts}"
    hours = [_hours(result.time_out(would_be=each)) for each in (False, True)]
    yield f"  routes were out for {hours[0]:g} hours, and would be for {hours[1]:g}"
    for judgement in Judgement:
        marked = result.marked(judgement)
        if marked.kept or marked.gone:
            yield (
                f"  marked {judgement.value}: {marked.gone} of {marked.gone + marked.kept} would be gone, "
                f"{marked.kept} kept"
            )
    if result.rounds_in_part:
        yield (
            f"  of {result.rounds_in_part} older rounds the attempts were not kept: each verdict counts as "
            "one, so evidence is weaker there than it was"
        )


def _row(pair: Pair) -> tuple[str, ...]:
    contracts = frozenset().union(*(each.contracts for each in (pair.was, pair.would_be) if each is not None))
    label = None if pair.was is None else pair.was.label
    return (
        pair.change.value,
        pair.route,
        listed(contracts),
        _length(pair.was),
        _length(pair.would_be),
        "" if label is None else label.judgement.value,
    )


def _length(incident: Incident | None) -> str:
    if incident is None:
        return "-"
    end = incident.ended_at or incident.until
    how = incident.ended_by or "until"
    return f"{instant(incident.began_at)} for {span(end - incident.began_at)} ({how})"


def _outline(incident: Incident | None, *, numbered: bool) -> Json:
    if incident is None:
        return None
    label = incident.label
    own = {"id": incident.id, "judgement": None if label is None else label.judgement.value}
    return {
        **(own if numbered else {}),
        "began_at": instant(incident.began_at),
        "until": instant(incident.until),
        "ended_at": instant(incident.ended_at),
        "ended_by": incident.ended_by,
        "contracts": sorted(incident.contracts),
        "offence": incident.offence,
        "renewals": incident.renewals,
        "shadow": incident.shadow,
    }


def _hours(length: timedelta) -> float:
    return round(length / _HOUR, 2)
