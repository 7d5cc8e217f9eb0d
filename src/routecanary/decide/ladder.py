"""How long does a suspension last, and when are old ones forgotten?"""

from __future__ import annotations

from datetime import datetime, timedelta

from routecanary.domain.event import LadderReset
from routecanary.domain.policy import Policy
from routecanary.domain.state import ModelState, RouteState


def suspension_length(offences: int, policy: Policy) -> timedelta:
    """Look up how long the next suspension lasts.

    Args:
        offences: Remembered offences before this one; 0 for a first offence.
    Returns:
        The step for this offence; the last step for every later one.
    Example: with (1 d, 3 d, 7 d), offences 0, 1, 2, 5 give 1, 3, 7, 7 days.
    Source: docs/policy.md, Ladder.
    """
    return policy.ladder[min(offences, len(policy.ladder) - 1)]


def resets(state: ModelState, at: datetime, policy: Policy) -> tuple[LadderReset, ...]:
    """Forget the offences of routes that spent `forget_after` without a new suspension, in route order."""
    return tuple(
        LadderReset(at=at, model=state.model, route=name)
        for name, route in sorted(state.routes.items())
        if _is_forgiven(route, at, policy)
    )


def _is_forgiven(route: RouteState, at: datetime, policy: Policy) -> bool:
    return (
        route.offences > 0
        and route.suspension is None
        and route.ended_at is not None
        and at - route.ended_at >= policy.forget_after
    )
