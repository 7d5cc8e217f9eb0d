"""Which routes are suspended now, and what stands in the way?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from routecanary.decide.capacity import covered
from routecanary.decide.evidence import NO_EVIDENCE
from routecanary.decide.floor import breaks_floor, breaks_share, loss
from routecanary.decide.ladder import suspension_length
from routecanary.domain.event import RouteOutcome, Suspended, SuspensionBlocked, Why
from routecanary.domain.evidence import Earned
from routecanary.domain.names import LANGUAGE, ContractName, Locale, RouteId
from routecanary.domain.policy import Policy, Trigger
from routecanary.domain.round import Mode, RoundClass
from routecanary.domain.state import ModelState, RouteState

Grounds = Mapping[ContractName, Earned]
"""The evidence for which a suspension is asked, by contract; empty where only the streak asks."""


class Candidate(NamedTuple):
    """A route whose suspension is asked for, and for which contracts."""

    route: RouteId
    contracts: frozenset[ContractName]
    grounds: Grounds
    locales: frozenset[Locale]  # in which `language` failed, as far as it is one of them


def candidates(
    state: ModelState,
    outcomes: Mapping[RouteId, RouteOutcome],
    fired: Mapping[RouteId, Grounds],
    policy: Policy,
) -> tuple[Candidate, ...]:
    """List the routes whose suspension is asked for after this round, worst first.

    Args:
        fired: The routes for which this round's evidence asks.
    Returns:
        Routes that failed a counted round just now and have the streak, or whose evidence asks, if they are
        not suspended and not out already: more failing contracts first, then the longer fail streak, then by
        route id.
    Source: docs/policy.md, Suspension and Floor.
    """
    out_already = covered(state)
    asked = []
    for name, outcome in outcomes.items():
        if state.routes[name].suspension is not None or name in out_already:
            continue
        has_streak = _has_streak(outcome, policy)
        grounds = fired.get(name, {})
        if has_streak or grounds:
            asked.append(_candidate(state.routes[name], name, outcome, grounds, has_streak=has_streak))
    return tuple(sorted(asked, key=lambda one: _urgency(one.route, outcomes[one.route])))


def _candidate(
    route: RouteState, name: RouteId, outcome: RouteOutcome, grounds: Grounds, *, has_streak: bool
) -> Candidate:
    contracts, locales = frozenset(grounds), frozenset[Locale]()
    if has_streak:
        contracts |= outcome.streak.suspicion
        locales |= outcome.streak.locales
    if LANGUAGE in grounds:
        locales |= route.evidence.get(LANGUAGE, NO_EVIDENCE).locales
    return Candidate(name, contracts, grounds, locales)


def _has_streak(outcome: RouteOutcome, policy: Policy) -> bool:
    return (
        policy.trigger is not Trigger.EVIDENCE
        and outcome.counted
        and outcome.round_class is RoundClass.FAILED
        and outcome.streak.failed >= policy.rounds_to_suspend
    )


def _urgency(name: RouteId, outcome: RouteOutcome) -> tuple[int, int, RouteId]:
    return (-len(outcome.failing), -outcome.streak.failed, name)


def obstacle(state: ModelState, route: RouteId, at: datetime, policy: Policy) -> Why | None:
    """Find what forbids to suspend this route now; None: nothing. Asked in the order of the returns."""
    if route in covered(state):
        return Why.COVERED
    hold_until = state.routes[route].hold_until
    if hold_until is not None and at < hold_until:
        return Why.HOLD
    if breaks_floor(state, route, at, policy):
        return Why.FLOOR
    if breaks_share(state, route, policy):
        return Why.SHARE
    return None


def settle(
    state: ModelState, candidate: Candidate, at: datetime, policy: Policy
) -> Suspended | SuspensionBlocked:
    """Suspend a candidate, or say what stands in the way."""
    route, contracts, grounds, locales = candidate
    shadow = state.mode is Mode.OBSERVE
    why = obstacle(state, route, at, policy)
    if why is not None:
        return SuspensionBlocked(
            at=at,
            model=state.model,
            route=route,
            contracts=contracts,
            why=why,
            shadow=shadow,
            evidence=grounds,
        )
    lost = loss(state, route)
    offences = state.routes[route].offences
    return Suspended(
        at=at,
        model=state.model,
        route=route,
        contracts=contracts,
        until=at + suspension_length(offences, policy),
        offence=offences + 1,
        collateral=lost - {route},
        redundant=not lost,
        shadow=shadow,
        evidence=grounds,
        locales=locales,
    )
