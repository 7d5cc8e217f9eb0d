"""What does an administrator's act change?"""

from __future__ import annotations

from datetime import datetime
from typing import assert_never

from routecanary.decide.streaks import cleared
from routecanary.domain.event import (
    CanaryLayerPaused,
    CanaryLayerResumed,
    ClosedByMode,
    Event,
    Lifted,
    ModeChanged,
    PauseEndMoved,
    SuspicionCleared,
)
from routecanary.domain.round import Act, Lift, Mode, Pause, Requalify, Resume, SwitchMode
from routecanary.domain.state import ModelState


def carry_out(state: ModelState, act: Act, at: datetime) -> tuple[Event, ...]:
    """Turn an act into events; one that finds nothing to change gives none.

    Args:
        at: When it takes effect: not before the model's last line.
    Source: docs/policy.md, Manual lift, Observe and enforce, Pause.
    """
    match act:
        case Lift():
            return _lift(state, act, at)
        case SwitchMode():
            return _switch(state, act, at)
        case Pause():
            return _pause(state, act, at)
        case Resume():
            return _resume(state, act, at)
        case Requalify():
            return _requalify(state, act, at)
        case _:
            assert_never(act)


def _lift(state: ModelState, act: Lift, at: datetime) -> tuple[Event, ...]:
    if act.route not in state.suspensions():
        return ()
    return (
        Lifted(
            at=at,
            model=state.model,
            route=act.route,
            false_positive=act.false_positive,
            hold_until=act.hold_until,
            actor=act.actor,
            reason=act.reason,
            shadow=state.mode is Mode.OBSERVE,
        ),
    )


def _pause(state: ModelState, act: Pause, at: datetime) -> tuple[Event, ...]:
    """Pause; a pause in force only gets another end, which a replay does not know."""
    if not state.paused:
        return (
            CanaryLayerPaused(at=at, model=state.model, until=act.until, actor=act.actor, reason=act.reason),
        )
    if act.until == state.paused_until:
        return ()
    return (PauseEndMoved(at=at, model=state.model, until=act.until, actor=act.actor, reason=act.reason),)


def _resume(state: ModelState, act: Resume, at: datetime) -> tuple[Event, ...]:
    """Resume; the clock resumes only a pause that has an end, and not before it."""
    early = state.paused_until is None or at < state.paused_until
    if not state.paused or (act.scheduled and early):
        return ()
    return (CanaryLayerResumed(at=at, model=state.model, actor=act.actor, reason=act.reason),)


def _requalify(state: ModelState, act: Requalify, at: datetime) -> tuple[Event, ...]:
    streaks = {
        name: cleared(route.streak, act.contracts)
        for name, route in sorted(state.routes.items())
        if not route.streak.suspicion.isdisjoint(act.contracts)
    }
    weighed = any(
        not route.days[-1].attempts.keys().isdisjoint(act.contracts)
        for route in state.routes.values()
        if route.days
    )
    if not streaks and not weighed:
        return ()
    return (
        SuspicionCleared(
            at=at,
            model=state.model,
            contracts=act.contracts,
            streaks=streaks,
            actor=act.actor,
            reason=act.reason,
        ),
    )


def _switch(state: ModelState, act: SwitchMode, at: datetime) -> tuple[Event, ...]:
    if act.mode is state.mode:
        return ()
    closed = [ClosedByMode(at=at, model=state.model, route=route) for route in state.suspensions()]
    return (
        *closed,
        ModeChanged(at=at, model=state.model, mode=act.mode, actor=act.actor, reason=act.reason),
    )
