"""State × event → state: the log folded is the state.

Nothing is decided here: an event carries what it changes, and this file lays it in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import assert_never

from routecanary.domain.event import (
    CanaryLayerPaused,
    CanaryLayerReleased,
    CanaryLayerRestored,
    CanaryLayerResumed,
    CapacityLow,
    CapacityRestored,
    Checkpoint,
    ClosedByMode,
    CommonCause,
    Event,
    Exclusions,
    Expired,
    GatewayOutage,
    LadderReset,
    Lifted,
    ModeChanged,
    PauseEndMoved,
    ProbeRecovered,
    ProbeWeak,
    Reinstated,
    Renewed,
    RoundClosed,
    RoutesNamed,
    Suspended,
    SuspensionBlocked,
    SuspicionCleared,
)
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.state import ModelState, RouteState, Streak, Suspension
from routecanary.domain.verdict import VerdictKind
from routecanary.errors import StoreError


def fold(model: ModelId, events: Iterable[Event]) -> ModelState:
    """Rebuild a model's state from its events, in order, from the first or from a checkpoint on.

    Raises:
        StoreError: An event is of another model, or names a route that no round named.
    """
    state = ModelState.empty(model)
    for event in events:
        state = evolve(state, event)
    return state


def evolve(state: ModelState, event: Event) -> ModelState:
    """Lay one event into the state.

    Raises:
        StoreError: The event is of another model, or names a route that no round named.
    """
    if event.model != state.model:
        raise StoreError(f"event log: an event of {event.model!r} in the fold of {state.model!r}")
    changed = _changed(state, event)
    return changed if isinstance(event, Checkpoint) else replace(changed, last_line_at=event.at)


def _changed(state: ModelState, event: Event) -> ModelState:
    match event:
        case RoutesNamed():
            return _routes_named(state, event)
        case RoundClosed():
            return _round_closed(state, event)
        case Suspended() | Renewed():
            return _begun(state, event)
        case Expired():
            return _ended(state, event.route, ended_at=event.due)
        case Reinstated() | ClosedByMode():
            return _ended(state, event.route, ended_at=event.at)
        case Lifted():
            return _lifted(state, event)
        case LadderReset():
            return _with_route(state, event.route, replace(_route(state, event.route), offences=0))
        case SuspicionCleared():
            return _with_streaks(state, event.streaks)
        case ModeChanged():
            return _mode_changed(state, event)
        case ProbeWeak():
            return replace(state, weak=state.weak | {event.contract})
        case ProbeRecovered():
            return replace(state, weak=state.weak - {event.contract})
        case CapacityLow():
            return replace(state, capacity_low=True)
        case CapacityRestored():
            return replace(state, capacity_low=False)
        case CanaryLayerReleased():
            return replace(state, released=True)
        case CanaryLayerRestored():
            return replace(state, released=False)
        case CanaryLayerPaused() | PauseEndMoved():
            return replace(state, paused=True, paused_until=event.until)
        case CanaryLayerResumed():
            return replace(state, paused=False, paused_until=None)
        case CommonCause() | GatewayOutage() | SuspensionBlocked() | Exclusions():
            return state
        case Checkpoint():
            return event.state
        case _:
            assert_never(event)


def _routes_named(state: ModelState, event: RoutesNamed) -> ModelState:
    """Take up a round's facts; an absent route keeps everything, save that it is no control."""
    routes = dict(state.routes)
    for name in state.controls() - event.routes.keys():
        routes[name] = replace(routes[name], control_for=frozenset())
    for name, facts in event.routes.items():
        routes[name] = replace(
            routes.get(name) or RouteState(seen_at=event.at),
            swallows=facts.swallows,
            admitted=facts.admitted,
            control_for=facts.control_for,
        )
    return replace(
        state,
        routes=routes,
        named=frozenset(event.routes),
        builtin=event.builtin,
        runtime=event.runtime,
        entry_swallows={**state.entry_swallows, **event.swallows},
        last_round_at=event.at,
    )


def _round_closed(state: ModelState, event: RoundClosed) -> ModelState:
    streaks = {name: outcome.streak for name, outcome in event.outcomes.items()}
    controls_failed = {
        contract: event.at
        for name, outcome in event.outcomes.items()
        for contract in _route(state, name).control_for
        if outcome.verdicts.get(contract) is VerdictKind.FAIL
    }
    return replace(
        _with_streaks(state, streaks),
        control_failed_at={**state.control_failed_at, **controls_failed},
        rounds=state.rounds + 1,
    )


def _with_streaks(state: ModelState, streaks: Mapping[RouteId, Streak]) -> ModelState:
    changed = {name: replace(_route(state, name), streak=streak) for name, streak in streaks.items()}
    return replace(state, routes={**state.routes, **changed})


def _begun(state: ModelState, event: Suspended | Renewed) -> ModelState:
    suspension = Suspension(
        start=event.at, until=event.until, contracts=event.contracts, offence=event.offence
    )
    route = replace(_route(state, event.route), suspension=suspension, offences=event.offence)
    return _with_route(state, event.route, route)


def _ended(state: ModelState, name: RouteId, *, ended_at: datetime) -> ModelState:
    return _with_route(state, name, replace(_route(state, name), suspension=None, ended_at=ended_at))


def _lifted(state: ModelState, event: Lifted) -> ModelState:
    """End by a person: streaks go to 0, the rest of what the route showed stays."""
    ended = _ended(state, event.route, ended_at=event.at)
    route = _route(ended, event.route)
    streak = replace(route.streak, failed=0, clean=0, suspicion=frozenset(), retry_locale=None)
    offences = max(0, route.offences - 1) if event.false_positive else route.offences
    return _with_route(
        ended,
        event.route,
        replace(route, streak=streak, offences=offences, hold_until=event.hold_until),
    )


def _mode_changed(state: ModelState, event: ModeChanged) -> ModelState:
    """Begin anew in another mode: offences and clean streaks go, fail streaks and holds stay."""
    routes = {
        name: replace(route, offences=0, streak=replace(route.streak, clean=0))
        for name, route in state.routes.items()
    }
    begun = replace(state, routes=routes, mode=event.mode)
    return replace(begun, released=False, paused=False, paused_until=None)


def _route(state: ModelState, name: RouteId) -> RouteState:
    try:
        return state.routes[name]
    except KeyError as problem:
        raise StoreError(f"event log: route {name!r} was never named by a round") from problem


def _with_route(state: ModelState, name: RouteId, route: RouteState) -> ModelState:
    return replace(state, routes={**state.routes, name: route})
