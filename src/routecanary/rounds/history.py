"""Which rounds and acts does the log tell of, as the decision took them?

The other direction of `decide.step`: events that a line gave are read back to the line, so that another
policy can decide it again. Of rounds written before the log kept attempts, each verdict is one attempt.

Source: docs/policy.md, State and event log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from routecanary.domain.event import (
    CanaryLayerPaused,
    CanaryLayerResumed,
    Event,
    Lifted,
    ModeChanged,
    PauseEndMoved,
    RoundClosed,
    RouteFacts,
    RouteOutcome,
    RoutesNamed,
    SuspicionCleared,
)
from routecanary.domain.round import Lift, Line, Pause, Requalify, Resume, Round, RouteReport, SwitchMode


def lines_of(events: Iterable[Event]) -> Iterator[Line]:
    """Read the events of one model back to the lines that they followed from, in order.

    A round whose first event was pruned is left out.
    """
    named: RoutesNamed | None = None
    for event in events:
        if isinstance(event, RoutesNamed):
            named = event
        elif isinstance(event, RoundClosed):
            if named is not None and named.at == event.at:
                yield _round(named, event)
            named = None
        else:
            act = _act(event)
            if act is not None:
                yield act


def _round(named: RoutesNamed, closed: RoundClosed) -> Round:
    return Round(
        at=closed.at,
        model=closed.model,
        routes={
            name: _report(facts, closed.outcomes[name])
            for name, facts in named.routes.items()
            if name in closed.outcomes
        },
        locale=closed.locale,
        builtin=named.builtin,
        runtime=named.runtime,
        swallows=named.swallows,
        acted=frozenset(name for name, outcome in closed.outcomes.items() if outcome.acted),
    )


def _report(facts: RouteFacts, outcome: RouteOutcome) -> RouteReport:
    return RouteReport(
        verdicts=outcome.verdicts,
        attempts=outcome.attempts,
        swallows=facts.swallows,
        control_for=facts.control_for,
        admitted=facts.admitted,
        locale=outcome.locale,
    )


def _act(event: Event) -> Line | None:
    match event:
        case Lifted():
            return Lift(
                at=event.at,
                model=event.model,
                route=event.route,
                false_positive=event.false_positive,
                hold_until=event.hold_until,
                actor=event.actor,
                reason=event.reason,
            )
        case ModeChanged():
            return SwitchMode(
                at=event.at, model=event.model, mode=event.mode, actor=event.actor, reason=event.reason
            )
        case CanaryLayerPaused() | PauseEndMoved():
            return Pause(
                at=event.at, model=event.model, until=event.until, actor=event.actor, reason=event.reason
            )
        case CanaryLayerResumed():
            return Resume(at=event.at, model=event.model, actor=event.actor, reason=event.reason)
        case SuspicionCleared():
            return Requalify(
                at=event.at,
                model=event.model,
                contracts=event.contracts,
                actor=event.actor,
                reason=event.reason,
            )
        case _:
            return None
