"""What does an administrator's act change?"""

from __future__ import annotations

from datetime import datetime
from typing import assert_never

from routecanary.domain.event import (
    CanaryLayerPaused,
    CanaryLayerResumed,
    ClosedByMode,
    Event,
    Lifted,
    ModeChanged,
)
from routecanary.domain.round import Act, Lift, Mode, Pause, Resume, SwitchMode
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
        case Pause() if not state.paused:
            return (
                CanaryLayerPaused(
                    at=at, model=state.model, until=act.until, actor=act.actor, reason=act.reason
                ),
            )
        case Resume() if state.paused:
            return (CanaryLayerResumed(at=at, model=state.model, actor=act.actor, reason=act.reason),)
        case Pause() | Resume():
            return ()
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


def _switch(state: ModelState, act: SwitchMode, at: datetime) -> tuple[Event, ...]:
    if act.mode is state.mode:
        return ()
    closed = [ClosedByMode(at=at, model=state.model, route=route) for route in state.suspensions()]
    return (
        *closed,
        ModeChanged(at=at, model=state.model, mode=act.mode, actor=act.actor, reason=act.reason),
    )
