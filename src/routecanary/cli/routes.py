"""`routecanary routes`: how does each route of a model stand?"""

from __future__ import annotations

from pathlib import Path

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import instant, say, say_json, say_table
from routecanary.clock import SystemClock
from routecanary.decide.capacity import production
from routecanary.domain.archive import TranscriptEntry
from routecanary.domain.names import RouteId, parse_model
from routecanary.domain.probe import Json
from routecanary.domain.state import ModelState
from routecanary.domain.verdict import VerdictKind
from routecanary.rounds.world import World
from routecanary.wiring import offline_world, settings_at


def routes(model: str, /, *, config: Path | None = None, json: bool = False) -> int:
    """Show each route of a model: streaks, suspension, and what it failed last.

    Parameters
    ----------
    model
        A configured model, author/slug.
    config
        The configuration file.
    json
        Print JSON.
    """
    settings = settings_at(config)
    with offline_world(settings, SystemClock()) as world:
        name = world.model(parse_model(model)).model
        state = world.ledger.state(name)
        faults = {route: _faults(world, state, route) for route in sorted(state.routes)}
    if json:
        say_json([_document(state, route, faults[route]) for route in sorted(state.routes)])
        return ExitCode.OK
    if not state.routes:
        say(f"{name}: no round yet")
        return ExitCode.OK
    say_table(
        ("route", "stands", "failed", "clean", "until", "last faults"),
        [
            (
                route,
                _standing(state, route),
                str(state.routes[route].streak.failed),
                str(state.routes[route].streak.clean),
                instant(suspension.until) or "" if (suspension := state.routes[route].suspension) else "",
                ", ".join(faults[route]),
            )
            for route in sorted(state.routes)
        ],
    )
    return ExitCode.OK


def _standing(state: ModelState, route: RouteId) -> str:
    """Say in one word how a route stands."""
    if route not in state.named:
        return "absent"
    if state.routes[route].suspension is not None:
        return "suspended" if state.mode.value == "enforce" else "shadow"
    if state.routes[route].control_for:
        return "control"
    return "production" if route in production(state) else "out"


def _faults(world: World, state: ModelState, route: RouteId) -> tuple[str, ...]:
    """List what failed on the route's attempts in the last round that kept any, as `contract:code`."""
    newest: TranscriptEntry | None = None
    found: set[str] = set()
    for entry in world.transcripts.find(state.model, route):
        if newest is not None and entry.at != newest.at:
            break
        newest = entry
        found |= {
            f"{name}:{verdict.code}"
            for name, verdict in entry.verdicts.items()
            if verdict.kind is VerdictKind.FAIL
        }
    return tuple(sorted(found))


def _document(state: ModelState, route: RouteId, faults: tuple[str, ...]) -> Json:
    known = state.routes[route]
    return {
        "route": route,
        "stands": _standing(state, route),
        "fail_streak": known.streak.failed,
        "clean_streak": known.streak.clean,
        "suspicion": sorted(known.streak.suspicion),
        "last_counted_at": instant(known.streak.last_at),
        "last_class": known.streak.last_class.value if known.streak.last_class else None,
        "offences": known.offences,
        "suspension": None
        if known.suspension is None
        else {
            "since": instant(known.suspension.start),
            "until": instant(known.suspension.until),
            "contracts": sorted(known.suspension.contracts),
            "offence": known.suspension.offence,
        },
        "hold_until": instant(known.hold_until),
        "swallows": sorted(known.swallows),
        "admitted": known.admitted,
        "control_for": sorted(known.control_for),
        "last_faults": list(faults),
    }
