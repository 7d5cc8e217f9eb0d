"""Would a suspension take too much of a model away?"""

from __future__ import annotations

from datetime import datetime

from routecanary.decide.capacity import covered, production, proven, reach
from routecanary.domain.names import RouteId
from routecanary.domain.policy import Policy
from routecanary.domain.state import ModelState


def loss(state: ModelState, route: RouteId) -> frozenset[RouteId]:
    """List the production routes that naming this one takes away: itself and those it swallows."""
    return production(state) & reach(state, (route,))


def breaks_floor(state: ModelState, route: RouteId, at: datetime, policy: Policy) -> bool:
    """Say whether fewer than `floor` proven production routes would be left.

    A suspension that takes no production route away never breaks it.
    Source: docs/policy.md, Floor.
    """
    lost = loss(state, route)
    return bool(lost) and len(proven(state, at, policy) - lost) < policy.floor


def breaks_share(state: ModelState, route: RouteId, policy: Policy) -> bool:
    """Say whether more than `max_suspended_share` of the routes would be suspended or swallowed so.

    Counted are the routes of the last round that are out for no other reason than the canary's. A
    suspension that adds none of them to those out already never breaks it.
    Example: of 4 routes at a share of 0.5 the second suspension is allowed, the third is not.
    Source: docs/policy.md, Share.
    """
    counted = state.named - covered(state)
    out = counted & reach(state, state.suspensions())
    out_then = out | (counted & reach(state, (route,)))
    return out_then != out and len(out_then) > policy.max_suspended_share * len(counted)
