"""Which routes are suspended now, and what stands in the way?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from routecanary.decide.capacity import covered
from routecanary.decide.floor import breaks_floor, breaks_share, loss
from routecanary.decide.ladder import suspension_length
from routecanary.domain.event import RouteOutcome, Suspended, SuspensionBlocked, Why
from routecanary.domain.names import RouteId
from routecanary.domain.policy import Policy
from routecanary.domain.round import Mode, RoundClass
from routecanary.domain.state import ModelState


def candidates(
    state: ModelState, outcomes: Mapping[RouteId, RouteOutcome], policy: Policy
) -> tuple[RouteId, ...]:
    """List the routes whose suspension is asked for after this round, worst first.

    Returns:
        Routes that failed a counted round just now, have the streak, are not suspended and not out already:
        more failing contracts first, then the longer fail streak, then by route id.
    Source: docs/policy.md, Suspension and Floor.
    """
    out_already = covered(state)
    asked = [
        name
        for name, outcome in outcomes.items()
        if outcome.counted
        and outcome.round_class is RoundClass.FAILED
        and outcome.streak.failed >= policy.rounds_to_suspend
        and state.routes[name].suspension is None
        and name not in out_already
    ]
    return tuple(sorted(asked, key=lambda name: _urgency(name, outcomes[name])))


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


def settle(state: ModelState, route: RouteId, at: datetime, policy: Policy) -> Suspended | SuspensionBlocked:
    """Suspend a candidate, or say what stands in the way."""
    contracts = state.routes[route].streak.suspicion
    shadow = state.mode is Mode.OBSERVE
    why = obstacle(state, route, at, policy)
    if why is not None:
        return SuspensionBlocked(
            at=at, model=state.model, route=route, contracts=contracts, why=why, shadow=shadow
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
    )
