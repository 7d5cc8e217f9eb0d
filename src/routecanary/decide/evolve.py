"""State × event → state: the log folded is the state.

Nothing is decided here: an event carries what it changes, and this file lays it in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import assert_never

from routecanary.decide.attempts import days_after, days_without
from routecanary.decide.evidence import ratios_after
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
    RouteOutcome,
    RoutesNamed,
    Suspended,
    SuspensionBlocked,
    SuspicionCleared,
)
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.state import ModelState, RouteState, Suspension
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
            return _suspicion_cleared(state, event)
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
        known = routes.get(name) or RouteState(seen_at=event.at)
        stated = (facts.swallows, facts.admitted, facts.control_for)
        if (known.swallows, known.admitted, known.control_for) != stated:
            known = replace(
                known, swallows=facts.swallows, admitted=facts.admitted, control_for=facts.control_for
            )
        routes[name] = known
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
    changed = {
        name: _closed(_route(state, name), outcome, event.at) for name, outcome in event.outcomes.items()
    }
    controls_failed = {
        contract: event.at
        for name, outcome in event.outcomes.items()
        for contract in _route(state, name).control_for
        if outcome.verdicts.get(contract) is VerdictKind.FAIL
    }
    return replace(
        state,
        routes={**state.routes, **changed},
        control_failed_at={**state.control_failed_at, **controls_failed},
        rounds=state.rounds + 1,
        out_of_turn=state.out_of_turn + event.out_of_turn,
    )


def _closed(route: RouteState, outcome: RouteOutcome, at: datetime) -> RouteState:
    weighed_at, evidence, days, held = route.weighed_at, route.evidence, route.days, route.suspension
    if outcome.evidence:
        weighed_at = at
        evidence = ratios_after(evidence, outcome.evidence)
        days = days_after(days, outcome.evidence, at)
        if held is not None and held.evidence:
            reverse = {name: one.log_r for name, one in outcome.evidence.items() if name in held.evidence}
            held = replace(held, log_r={**held.log_r, **reverse})
    elif outcome.streak is route.streak:
        return route
    # written out: `replace` takes three times as long, and this happens to each route in each round
    return RouteState(
        streak=outcome.streak,
        suspension=held,
        offences=route.offences,
        ended_at=route.ended_at,
        hold_until=route.hold_until,
        swallows=route.swallows,
        admitted=route.admitted,
        control_for=route.control_for,
        seen_at=route.seen_at,
        evidence=evidence,
        days=days,
        weighed_at=weighed_at,
    )


def _suspicion_cleared(state: ModelState, event: SuspicionCleared) -> ModelState:
    """Begin anew with what judges a contract: its suspicions and all its evidence go."""
    routes = {}
    for name, route in state.routes.items():
        kept = {contract: one for contract, one in route.evidence.items() if contract not in event.contracts}
        streak = event.streaks.get(name, route.streak)
        held = route.suspension
        if held is not None and not event.contracts.isdisjoint(held.log_r):
            held = replace(
                held, log_r={c: log_r for c, log_r in held.log_r.items() if c not in event.contracts}
            )
        days = days_without(route.days, event.contracts)
        routes[name] = replace(route, streak=streak, evidence=kept, days=days, suspension=held)
    for name in event.streaks.keys() - state.routes.keys():
        _route(state, name)
    return replace(state, routes=routes)


def _begun(state: ModelState, event: Suspended | Renewed) -> ModelState:
    suspension = Suspension(
        start=event.at,
        until=event.until,
        contracts=event.contracts,
        offence=event.offence,
        evidence=event.evidence if isinstance(event, Suspended) else {},
        locales=event.locales,
    )
    route = _route(state, event.route)
    begun = replace(route, suspension=suspension, offences=event.offence, evidence={})
    return _with_route(state, event.route, begun)


def _ended(state: ModelState, name: RouteId, *, ended_at: datetime) -> ModelState:
    route = _route(state, name)
    ended = replace(route, suspension=None, ended_at=ended_at, evidence={})
    return _with_route(state, name, ended)


def _lifted(state: ModelState, event: Lifted) -> ModelState:
    """End by a person: streaks go to 0, the rest of what the route showed stays."""
    ended = _ended(state, event.route, ended_at=event.at)
    route = _route(ended, event.route)
    streak = replace(
        route.streak, failed=0, clean=0, suspicion=frozenset(), retry_locale=None, locales=frozenset()
    )
    offences = max(0, route.offences - 1) if event.false_positive else route.offences
    return _with_route(
        ended,
        event.route,
        replace(route, streak=streak, offences=offences, hold_until=event.hold_until),
    )


def _mode_changed(state: ModelState, event: ModeChanged) -> ModelState:
    """Begin anew in another mode: offences, clean streaks and evidence go, fail streaks and holds stay."""
    routes = {
        name: replace(route, offences=0, streak=replace(route.streak, clean=0), evidence={})
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
