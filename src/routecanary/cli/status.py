"""`routecanary status`: how do the models stand?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import instant, say, say_json, say_table, span
from routecanary.cli.standing import canary_alerts, model_alerts, standing_of
from routecanary.clock import SystemClock
from routecanary.decide.capacity import production
from routecanary.decide.exclusions import canary_merged
from routecanary.domain.names import RouteId
from routecanary.domain.probe import Json
from routecanary.domain.round import Mode
from routecanary.domain.settings import Settings
from routecanary.domain.state import ModelState, Suspension
from routecanary.rounds.records import Records
from routecanary.wiring import offline_records, settings_at


def status(*, config: Path | None = None, json: bool = False) -> int:
    """Show each model: mode, last round, routes, suspensions and alerts; and how the canary itself stands.

    The configured models come first, in the order of the file, then those that only the store knows.

    Parameters
    ----------
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    clock = SystemClock()
    with offline_records(settings, clock) as records:
        if json:
            say_json(status_document(records))
            return ExitCode.OK
        states = _states(records)
        standing = standing_of(records, clock.now())
        told = tuple(canary_alerts(records, standing["daemon"], clock.now()))
        now = clock.now()
        alerts = {state.model: _alerts_of(records, state, now) for state in states}
    configured = {model.model for model in settings.models}
    if not states:
        say('no model is configured yet: name one in the configuration under [models."author/slug"]')
        return ExitCode.OK
    say_table(
        ("model", "mode", "last round", "routes", "production", "suspended"),
        [
            (
                state.model,
                mode_of(state, settings).value,
                "never" if state.last_round_at is None else f"{span(now - state.last_round_at)} ago",
                str(len(state.named)),
                str(len(production(state))),
                f"{len(in_force(state, now))}{' (shadow)' * (mode_of(state, settings) is Mode.OBSERVE)}",
            )
            for state in states
        ],
    )
    for state in states:
        for alert, meaning in alerts[state.model]:
            say(f"{state.model}: {alert}: {meaning}")
        if state.model not in configured:
            say(f"{state.model}: not configured any more; no round is made of it")
    for alert, meaning in told:
        say(f"routecanary: {alert}: {meaning}")
    say(_summary(standing))
    return ExitCode.OK


def status_document(records: Records) -> Json:
    """Describe how the models and the canary itself stand: what `--json` prints.

    Raises:
        StoreError: The store cannot be read.
    """
    now, settings = records.clock.now(), records.settings
    configured = {model.model for model in settings.models}
    return {
        "canary": standing_of(records, now),
        "models": [
            _document(
                state,
                settings,
                now=now,
                configured=state.model in configured,
                alerts=[alert for alert, _ in _alerts_of(records, state, now)],
            )
            for state in _states(records)
        ],
    }


def _states(records: Records) -> list[ModelState]:
    """List the configured models in the order of the file, then those that only the store knows."""
    known = {state.model: state for state in records.ledger.states()}
    configured = [model.model for model in records.settings.models]
    states = [known.get(model, ModelState.empty(model)) for model in configured]
    return states + [state for model, state in sorted(known.items()) if model not in configured]


def _alerts_of(records: Records, state: ModelState, now: datetime) -> tuple[tuple[str, str], ...]:
    settings = records.settings
    operating = records.ledger.operating()
    return (*_alerts(state, settings), *model_alerts(state, operating, settings, now))


def mode_of(state: ModelState, settings: Settings) -> Mode:
    """State a model's mode: that of the log, or the one that its first line will put it into."""
    return state.mode if state.last_line_at is not None else settings.initial_mode


def in_force(state: ModelState, now: datetime) -> dict[RouteId, Suspension]:
    """List the suspensions in force: one whose time is up ends at the next round, but nobody heeds it now."""
    return {route: found for route, found in state.suspensions().items() if now < found.until}


def _summary(standing: Json) -> str:
    """Tell of daemon, reload and money in one line."""
    reload, budget = standing["last_reload"], standing["budget"]
    daemon = "none" if standing["daemon"] is None else f"process {standing['daemon']}"
    reloaded = "never" if reload is None else f"{reload['at']} ({'ok' if reload['ok'] else 'refused'})"
    spent = f"{budget['committed_usd']:.4f} of {budget['per_day_usd']:g} USD"
    return f"daemon: {daemon}; last reload: {reloaded}; spent today: {spent}"


def _document(
    state: ModelState, settings: Settings, *, now: datetime, configured: bool, alerts: list[str]
) -> Json:
    mode = mode_of(state, settings)
    return {
        "model": state.model,
        "configured": configured,
        "mode": mode.value,
        "rounds": state.rounds,
        "last_round_at": instant(state.last_round_at),
        "routes": len(state.named),
        "production": sorted(production(state)),
        "suspended": {
            route: {
                "since": instant(suspension.start),
                "until": instant(suspension.until),
                "contracts": sorted(suspension.contracts),
                "offence": suspension.offence,
                "shadow": mode is Mode.OBSERVE,
            }
            for route, suspension in in_force(state, now).items()
        },
        "canary_layer_merged": mode is Mode.ENFORCE and canary_merged(state, now),
        "paused": state.paused,
        "paused_until": instant(state.paused_until),
        "released": state.released,
        "alerts": alerts,
    }


def _alerts(state: ModelState, settings: Settings) -> Iterator[tuple[str, str]]:
    """List what needs a person's eye: a name for programs, a sentence for people."""
    for contract in sorted(state.weak):
        yield f"probe_weak:{contract}", "a control passes it, so its passes prove nothing at present"
    if state.capacity_low:
        yield "capacity_low", f"fewer production routes than the floor of {settings.policy.floor}"
    if state.released:
        yield "canary_layer_released", "no production route is left, so the canary layer is not merged"
    if state.paused:
        yield "canary_layer_paused", "a person stopped the merging of the canary layer"
