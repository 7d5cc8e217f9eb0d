"""Which suspended routes have shown that they are well again?"""

from __future__ import annotations

from datetime import datetime

from routecanary.decide.evidence import recovered
from routecanary.domain.event import Reinstated
from routecanary.domain.policy import Policy
from routecanary.domain.round import Mode
from routecanary.domain.state import ModelState


def rounds_needed(offence: int, policy: Policy) -> int:
    """Look up how many clean rounds in a row end a suspension early.

    Args:
        offence: Of the suspension in force, 1-based.
    Example: with [2, 4], offences 1, 2, 3 need 2, 4, 4.
    Source: docs/policy.md, Early recovery.
    """
    return policy.rounds_to_recover[min(offence, len(policy.rounds_to_recover)) - 1]


def reinstatements(state: ModelState, at: datetime, policy: Policy) -> tuple[Reinstated, ...]:
    """Reinstate every suspended route with enough clean rounds, in route order.

    One that evidence suspended must be cleared by evidence too.

    The clean streak counts from the suspension on by itself: the failed round that began it set it to 0.
    """
    return tuple(
        Reinstated(at=at, model=state.model, route=name, shadow=state.mode is Mode.OBSERVE)
        for name, suspension in state.suspensions().items()
        if state.routes[name].streak.clean >= rounds_needed(suspension.offence, policy)
        and recovered(state.routes[name], policy)
    )
