"""In which order do the rules act on one line? The only file that knows.

(a) the round: brakes, classes, streaks · (b) expiries and renewals due · (c) ladder resets due ·
(d) the act, or a round's reinstatements · (e) suspensions · (f) capacity · (g) exclusions.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from routecanary.decide import acts, capacity, expiry, ladder, recovery, suspension
from routecanary.decide.attempts import implied_attempts
from routecanary.decide.brakes import Braked, brake
from routecanary.decide.classify import classify
from routecanary.decide.evidence import Scales, Weighing
from routecanary.decide.evolve import evolve
from routecanary.decide.exclusions import exclusions
from routecanary.decide.streaks import advance, aged
from routecanary.domain.event import (
    Event,
    Exclusions,
    Expired,
    Reinstated,
    RoundClosed,
    RouteFacts,
    RouteOutcome,
    RoutesNamed,
)
from routecanary.domain.evidence import Weighed
from routecanary.domain.names import ContractName, RouteId
from routecanary.domain.policy import Policy, Trigger
from routecanary.domain.round import Line, Round, RoundClass
from routecanary.domain.state import ModelState, RouteState
from routecanary.domain.times import format_instant
from routecanary.domain.verdict import VerdictKind
from routecanary.errors import ClockError


class Decision(NamedTuple):
    """What followed from one line, and the state after it: `state` with the events folded in."""

    events: tuple[Event, ...]
    state: ModelState


def step(state: ModelState, line: Line, policy: Policy) -> tuple[Event, ...]:
    """Decide what follows from one round or act of a model: the events of `decided`."""
    return decided(state, line, policy).events


def decided(state: ModelState, line: Line, policy: Policy) -> Decision:
    """Decide what follows from one round or act of a model.

    Returns:
        Every change, in the order it took effect; `Exclusions` is last. Folding them into `state` gives
        the state after the line.
    Raises:
        ClockError: A round that is not later than the model's last round, or earlier than its last line.
    """
    work = _Work(state)
    at = _time_of(line, state)
    taken = _NOTHING_TAKEN
    if isinstance(line, Round):
        taken = _take_up(work, line, policy)  # (a)
    for route in expiry.due(work.state, at):  # (b)
        work.add(expiry.settle(work.state, route, at, policy))
    work.add(*ladder.resets(work.state, at, policy))  # (c)
    if isinstance(line, Round):  # (d)
        work.add(*recovery.reinstatements(work.state, at, policy))
    else:
        work.add(*acts.carry_out(work.state, line, at))
    ended = {event.route for event in work.events if isinstance(event, Expired | Reinstated)}
    fired = {name: grounds for name, grounds in taken.fired.items() if name not in ended}
    for candidate in suspension.candidates(work.state, taken.outcomes, fired, policy):  # (e)
        work.add(suspension.settle(work.state, candidate, at, policy))
    work.add(*capacity.check(work.state, at, policy))  # (f)
    work.add(Exclusions(at=at, model=state.model, ignore=exclusions(work.state)))  # (g)
    return Decision(tuple(work.events), work.state)


class _Work:
    """The events so far and the state that they lead to: order and fold are one thing."""

    def __init__(self, state: ModelState) -> None:
        self.state = state
        self.events: list[Event] = []

    def add(self, *events: Event) -> None:
        for event in events:
            self.events.append(event)
            self.state = evolve(self.state, event)


def _time_of(line: Line, state: ModelState) -> datetime:
    """Date a line: a round by itself, an act not before the model's last line."""
    last = state.last_line_at
    if not isinstance(line, Round):
        return line.at if last is None else max(line.at, last)
    if state.last_round_at is not None and line.at <= state.last_round_at:
        raise ClockError(
            "round is not later than the last round",
            key="at",
            value=format_instant(line.at),
            allowed=f"later than {format_instant(state.last_round_at)}",
        )
    if last is not None and line.at < last:
        raise ClockError(
            "round is earlier than the last line",
            key="at",
            value=format_instant(line.at),
            allowed=f"{format_instant(last)} or later",
        )
    return line.at


class _Taken(NamedTuple):
    """What a round came to for each route, and the routes for which its evidence asks."""

    outcomes: Mapping[RouteId, RouteOutcome]
    fired: Mapping[RouteId, suspension.Grounds]


_NOTHING_TAKEN: Final = _Taken({}, {})


def _take_up(work: _Work, line: Round, policy: Policy) -> _Taken:
    """Take up a round's facts, apply the brakes, class every route, advance its streak and its evidence."""
    work.add(_named(line))
    braked = brake(work.state, line, policy)
    work.add(*braked.events)
    weighings = {} if policy.trigger is Trigger.STREAK else _weighings(work.state, line, braked, policy)
    outcomes = {
        name: _outcome(
            work.state.routes[name],
            line,
            name,
            braked.verdicts[name],
            policy,
            evidence=weighings[name].added if name in weighings else {},
        )
        for name in sorted(line.routes)
    }
    work.add(
        RoundClosed(
            at=line.at,
            model=line.model,
            outcomes=outcomes,
            locale=line.locale,
            in_full=True,
            out_of_turn=line.out_of_turn,
        )
    )
    return _Taken(outcomes, {name: one.fired for name, one in weighings.items() if one.fired})


def _weighings(state: ModelState, line: Round, braked: Braked, policy: Policy) -> Mapping[RouteId, Weighing]:
    """Weigh the attempts of every route that no act touched while the round ran."""
    scales = Scales(state, line, policy, silent=braked.silent)
    return {
        name: scales.weigh(name, report, weak=braked.weak)
        for name, report in sorted(line.routes.items())
        if name not in line.acted
    }


def _named(line: Round) -> RoutesNamed:
    return RoutesNamed(
        at=line.at,
        model=line.model,
        routes={
            name: RouteFacts(
                swallows=report.swallows or frozenset(),
                control_for=report.control_for,
                admitted=report.admitted,
            )
            for name, report in sorted(line.routes.items())
        },
        builtin=line.builtin,
        runtime=line.runtime,
        swallows=line.swallows,
    )


def _outcome(
    route: RouteState,
    line: Round,
    name: RouteId,
    believed: Mapping[ContractName, VerdictKind],
    policy: Policy,
    *,
    evidence: Mapping[ContractName, Weighed],
) -> RouteOutcome:
    """Class one route: touched by an act while the round ran, it is frozen."""
    report = line.routes[name]
    acted = name in line.acted
    if route.control_for:
        believed = {
            contract: kind for contract, kind in believed.items() if contract not in route.control_for
        }
    streak = aged(route.streak, line.at, policy)
    suspects = streak.suspicion
    if route.suspension is not None:
        suspects |= route.suspension.contracts
    round_class = RoundClass.FROZEN if acted else classify(believed, suspects)
    streak, counted = advance(
        streak, round_class, believed, at=line.at, locale=report.locale or line.locale, policy=policy
    )
    return RouteOutcome(
        round_class=round_class,
        streak=streak,
        counted=counted,
        verdicts=report.verdicts,
        failing=_failing(believed),
        evidence=evidence,
        attempts={
            contract: stated
            for contract, stated in report.attempts.items()
            if stated != implied_attempts(report.verdicts.get(contract))
        },
        locale=None if report.locale == line.locale else report.locale,
        acted=acted,
    )


def _failing(verdicts: Mapping[ContractName, VerdictKind]) -> frozenset[ContractName]:
    if VerdictKind.FAIL not in verdicts.values():
        return frozenset()
    return frozenset(contract for contract, kind in verdicts.items() if kind is VerdictKind.FAIL)
