"""`routecanary routes`: how does each route of a model stand?"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import instant, say, say_json, say_table, span
from routecanary.cli.standing import unproven
from routecanary.clock import SystemClock
from routecanary.decide.capacity import production
from routecanary.domain.archive import TranscriptEntry
from routecanary.domain.names import ContractName, RouteId, parse_model
from routecanary.domain.probe import Json
from routecanary.domain.prompts import PromptChange, Prompts
from routecanary.domain.round import Mode
from routecanary.domain.state import ModelState, Streak, Suspension
from routecanary.domain.verdict import VerdictKind
from routecanary.rounds.probation import Probation, last_listings, on_probation
from routecanary.rounds.records import Records
from routecanary.wiring import offline_records, settings_at


def routes(model: str, /, *, config: Path | None = None, json: bool = False) -> int:
    """Show each route of a model: how it stands, its streak, and what it failed last.

    A route stands as one of: production (counts as capacity), out (excluded by a person or by the built-in
    layer, or not admitted by your own routing settings), control, suspended, shadow (suspended, were the mode
    enforce), ending (its suspension is over and no round has said so yet), absent (not in the last round).
    A route that is new, changed its price or quantization, or is just back is on probation for a day.
    A contract's passes are unproven while no control has failed it lately, or one has passed it.

    Parameters
    ----------
    model
        A configured model, author/slug.
    config
        The configuration file.
    json
        Print one JSON list, an object for each route.
    """
    settings = settings_at(config)
    clock = SystemClock()
    with offline_records(settings, clock) as records:
        name = records.model(parse_model(model)).model
        state = records.ledger.state(name)
        known = records.ledger.operating().model(name)
        doubtful = unproven(state, known, settings)
        listings = last_listings(records.store, name)
        faults = {route: _faults(records, state, route) for route in sorted(state.routes)}
    now = clock.now()
    probation = on_probation(state, listings, now, settings.schedule.probation)
    if json:
        say_json(
            [
                _document(
                    state,
                    route,
                    faults[route],
                    now,
                    doubtful=doubtful,
                    probation=probation.get(route),
                    prompts=known.prompts,
                )
                for route in sorted(state.routes)
            ]
        )
        return ExitCode.OK
    if not state.routes:
        say(f"{name}: no round yet")
        return ExitCode.OK
    say_table(
        ("route", "stands", "streak", "ends in", "last faults"),
        [
            (
                route,
                _standing(state, route, now)
                + (f", probation ({probation[route].why})" if route in probation else "")
                + _recounted(known.prompts.change_shown(route, now)),
                _streak(state.routes[route].streak),
                _left(state.routes[route].suspension, now),
                ", ".join(faults[route]),
            )
            for route in sorted(state.routes)
        ],
    )
    if doubtful and state.named:
        say(f"unproven: {', '.join(sorted(doubtful))}: nothing shows that the probe still sees a failure")
    return ExitCode.OK


def _standing(state: ModelState, route: RouteId, now: datetime) -> str:
    """Say in one word how a route stands."""
    suspension = state.routes[route].suspension
    if route not in state.named:
        return "absent"
    if suspension is not None and now >= suspension.until:
        return "ending"
    if suspension is not None:
        return "suspended" if state.mode is Mode.ENFORCE else "shadow"
    if state.routes[route].control_for:
        return "control"
    return "production" if route in production(state) else "out"


def _streak(streak: Streak) -> str:
    if streak.failed:
        return f"{streak.failed} failed"
    return f"{streak.clean} clean" if streak.clean else ""


def _left(suspension: Suspension | None, now: datetime) -> str:
    return "" if suspension is None or now >= suspension.until else span(suspension.until - now)


def _faults(records: Records, state: ModelState, route: RouteId) -> tuple[str, ...]:
    """List what failed on the route's attempts in the last round that kept any, as `contract:code`."""
    newest: TranscriptEntry | None = None
    found: set[str] = set()
    for entry in records.transcripts.find(state.model, route):
        if entry.seq is None:  # of no round, but of a study
            continue
        if newest is not None and entry.at != newest.at:
            break
        newest = entry
        found |= {
            f"{name}:{verdict.code}"
            for name, verdict in entry.verdicts.items()
            if verdict.kind is VerdictKind.FAIL
        }
    return tuple(sorted(found))


def _recounted(change: PromptChange | None) -> str:
    return "" if change is None else f", fixed prompt {change.was}→{change.now} tokens"


def _counted(prompts: Prompts, route: RouteId, now: datetime) -> Json:
    """Tell what a fixed prompt counts at a route, and what that was before it changed lately."""
    past, change = prompts.past.get(route), prompts.change_shown(route, now)
    if past is None:
        return None
    return {
        "last": past.counts[-1],
        "at": instant(past.at),
        "changed": None
        if change is None
        else {
            "at": instant(change.at),
            "was": change.was,
            "now": change.now,
            "peers_were": change.peers_were,
            "peers": change.peers,
            "study": change.study,
        },
    }


def _document(
    state: ModelState,
    route: RouteId,
    faults: tuple[str, ...],
    now: datetime,
    *,
    doubtful: frozenset[ContractName],
    probation: Probation | None,
    prompts: Prompts,
) -> Json:
    known = state.routes[route]
    return {
        "route": route,
        "stands": _standing(state, route, now),
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
        "probation": None
        if probation is None
        else {
            "why": probation.why,
            "since": instant(probation.since),
            "until": instant(probation.until),
        },
        "prompt_tokens": _counted(prompts, route, now),
        "hold_until": instant(known.hold_until),
        "swallows": sorted(known.swallows),
        "admitted": known.admitted,
        "control_for": sorted(known.control_for),
        "last_faults": list(faults),
        "unproven": sorted(doubtful - known.control_for),
    }
