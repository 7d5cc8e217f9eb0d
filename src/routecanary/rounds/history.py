"""Which rounds and acts does the log tell of, as the decision took them?

The other direction of `decide.step`: the events that a line gave are read back to the line, so that another
policy can decide it again. Every line ends with its `Exclusions`; one that says nothing else of itself only
let time pass, and is read back as the act that does just that.

Source: docs/policy.md, State and event log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from routecanary.domain.event import (
    CanaryLayerPaused,
    CanaryLayerResumed,
    Event,
    Exclusions,
    Lifted,
    ModeChanged,
    PauseEndMoved,
    RoundClosed,
    RouteFacts,
    RouteOutcome,
    RoutesNamed,
    SuspicionCleared,
)
from routecanary.domain.operation import Requalifying
from routecanary.domain.round import Act, Lift, Line, Pause, Requalify, Resume, Round, RouteReport, SwitchMode


class PastLine(NamedTuple):
    """A line of the history."""

    line: Line
    in_full: bool  # False for a round whose attempts, and the routes that acts touched, were not kept


def lines_of(events: Iterable[Event | Requalifying]) -> Iterator[PastLine]:
    """Read the events of one model back to the lines that they followed from, in order.

    Args:
        events: As the log has them. The trials among them say what an act wanted that found nothing to clear.
    Returns:
        No round whose own beginning is not among the events.
    """
    named: RoutesNamed | None = None
    closed: RoundClosed | None = None
    act: Act | None = None
    trials: list[Requalifying] = []
    for event in events:
        match event:
            case RoutesNamed():
                named = event
            case RoundClosed():
                closed = event
            case Requalifying():
                trials.append(event)
            case Exclusions():
                if closed is None:
                    yield PastLine(act or _time_passed(event, trials), in_full=True)
                elif named is not None:
                    yield PastLine(_round(named, closed), in_full=closed.in_full)
                named, closed, act, trials = None, None, None, []
            case _:
                act = _act(event) or act


def _time_passed(event: Exclusions, trials: Iterable[Requalifying]) -> Requalify:
    """Read a line that found nothing to do: it requalified what was put on trial with it, or nothing."""
    begun = (trial.contract for trial in trials if trial.at == event.at < trial.until)
    return Requalify(at=event.at, model=event.model, contracts=frozenset(begun))


def _round(named: RoutesNamed, closed: RoundClosed) -> Round:
    return Round(
        at=closed.at,
        model=closed.model,
        routes={name: _report(facts, closed.outcomes[name]) for name, facts in named.routes.items()},
        locale=closed.locale,
        builtin=named.builtin,
        runtime=named.runtime,
        swallows=named.swallows,
        acted=frozenset(name for name, outcome in closed.outcomes.items() if outcome.acted),
        out_of_turn=closed.out_of_turn,
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


def _act(event: Event | Requalifying) -> Act | None:
    """Read the act that an event is of; None where it is no act's own."""
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
