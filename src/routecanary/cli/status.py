"""`routecanary status`: how do the models stand?"""

from __future__ import annotations

from pathlib import Path

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import instant, say, say_json, say_table, span
from routecanary.clock import SystemClock
from routecanary.decide.capacity import production
from routecanary.decide.exclusions import canary_merged
from routecanary.domain.probe import Json
from routecanary.domain.state import ModelState
from routecanary.wiring import offline_world, settings_at


def status(*, config: Path | None = None, json: bool = False) -> int:
    """Show each model: mode, last round, suspensions and capacity.

    Parameters
    ----------
    config
        The configuration file; default: ROUTECANARY_CONFIG, ./routecanary.toml, or your own.
    json
        Print JSON.
    """
    settings = settings_at(config)
    clock = SystemClock()
    with offline_world(settings, clock) as world:
        known = {state.model: state for state in world.ledger.states()}
        states = [known.get(model.model, ModelState.empty(model.model)) for model in settings.models]
        states += [state for name, state in sorted(known.items()) if all(name != s.model for s in states)]
    now = clock.now()
    if json:
        say_json([_document(state) for state in states])
        return ExitCode.OK
    if not states:
        say('no model is configured yet: name one in the configuration under [models."author/slug"]')
        return ExitCode.OK
    say_table(
        ("model", "mode", "last round", "routes", "production", "suspended", "merged", "alerts"),
        [
            (
                state.model,
                state.mode.value if state.rounds else f"{settings.initial_mode.value} (not yet)",
                "never" if state.last_round_at is None else f"{span(now - state.last_round_at)} ago",
                str(len(state.named)),
                str(len(production(state))),
                str(len(state.suspensions())),
                "yes" if canary_merged(state) else "no",
                ", ".join(_alerts(state)) or "none",
            )
            for state in states
        ],
    )
    return ExitCode.OK


def _document(state: ModelState) -> Json:
    return {
        "model": state.model,
        "mode": state.mode.value,
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
            }
            for route, suspension in state.suspensions().items()
        },
        "canary_layer_merged": canary_merged(state),
        "paused": state.paused,
        "released": state.released,
        "alerts": _alerts(state),
    }


def _alerts(state: ModelState) -> list[str]:
    alerts = [f"probe_weak:{contract}" for contract in sorted(state.weak)]
    if state.capacity_low:
        alerts.append("capacity_low")
    if state.released:
        alerts.append("canary_layer_released")
    if state.paused:
        alerts.append("canary_layer_paused")
    return alerts
