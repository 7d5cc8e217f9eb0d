"""What happens at the end of a suspension: does the route return, or is it still failing?"""

from __future__ import annotations

from datetime import datetime

from routecanary.decide.evolve import evolve
from routecanary.decide.ladder import suspension_length
from routecanary.decide.suspension import obstacle
from routecanary.domain.event import Expired, Renewed
from routecanary.domain.names import RouteId
from routecanary.domain.policy import Policy
from routecanary.domain.round import Mode, RoundClass
from routecanary.domain.state import ModelState, Streak


def due(state: ModelState, at: datetime) -> tuple[RouteId, ...]:
    """List the routes whose suspension has reached its `until`, in route order."""
    return tuple(name for name, held in state.suspensions().items() if at >= held.until)


def settle(state: ModelState, route: RouteId, at: datetime, policy: Policy) -> Expired | Renewed:
    """End a suspension that is due, or renew it.

    Returns:
        A renewal at the next step of the ladder from now, if the route is still failing and could be
        suspended now, taken as returned; otherwise its expiry, with what refused the renewal if one was due.
    Source: docs/policy.md, Expiry.
    """
    known = state.routes[route]
    if known.suspension is None:
        raise ValueError(f"{route!r} is not suspended")
    ended = known.suspension.until
    shadow = state.mode is Mode.OBSERVE
    expired = Expired(at=at, model=state.model, route=route, due=ended, shadow=shadow)
    if not _is_still_failing(known.streak, at, policy):
        return expired
    why = obstacle(evolve(state, expired), route, at, policy)
    if why is not None:
        return Expired(at=at, model=state.model, route=route, due=ended, why=why, shadow=shadow)
    return Renewed(
        at=at,
        model=state.model,
        route=route,
        contracts=known.streak.suspicion,
        due=ended,
        until=at + suspension_length(known.offences, policy),
        offence=known.offences + 1,
        shadow=shadow,
        locales=known.streak.locales,
    )


def _is_still_failing(streak: Streak, at: datetime, policy: Policy) -> bool:
    return (
        streak.last_class is RoundClass.FAILED
        and streak.last_at is not None
        and at - streak.last_at <= policy.streak_ttl
        and streak.failed >= policy.rounds_to_suspend
    )
