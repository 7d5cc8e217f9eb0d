"""What is left to serve with?

Production routes are what a caller could still be served by; proven ones have shown it lately. The canary
layer counts as if merged, in every mode.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from routecanary.domain.event import (
    CanaryLayerReleased,
    CanaryLayerRestored,
    CapacityLow,
    CapacityRestored,
    Event,
)
from routecanary.domain.names import RouteId
from routecanary.domain.policy import Policy
from routecanary.domain.round import Mode
from routecanary.domain.state import ModelState


def reach(state: ModelState, entries: Iterable[str]) -> frozenset[str]:
    """List the entries and everything that naming them swallows; not transitive."""
    reached = set[str]()
    for entry in entries:
        reached.add(entry)
        reached |= state.swallowed_by(entry)
    return frozenset(reached)


def covered(state: ModelState) -> frozenset[str]:
    """List what the built-in or runtime layer names or swallows, and the controls: out without the canary."""
    return reach(state, state.builtin | state.runtime) | state.controls()


def production(state: ModelState) -> frozenset[RouteId]:
    """List the routes of the last round that are admitted and that nothing keeps away from callers."""
    out = covered(state) | reach(state, state.suspensions())
    return frozenset(name for name in state.named - out if state.routes[name].admitted)


def proven(state: ModelState, at: datetime, policy: Policy) -> frozenset[RouteId]:
    """List the production routes that had a clean round once and a counted one within `stale_after`."""
    return frozenset(name for name in production(state) if _is_proven(state, name, at, policy))


def _is_proven(state: ModelState, name: RouteId, at: datetime, policy: Policy) -> bool:
    streak = state.routes[name].streak
    return streak.was_clean and streak.last_at is not None and at - streak.last_at <= policy.stale_after


def check(state: ModelState, at: datetime, policy: Policy) -> tuple[Event, ...]:
    """Compare production with the floor, on the routes of the last round; nothing before the first one.

    Returns:
        Changes only: capacity low or restored, the canary layer released or restored.
    Source: docs/policy.md, Capacity.
    """
    if state.last_round_at is None:
        return ()
    count = len(production(state))
    at_floor = count >= policy.floor
    changes: list[Event] = []
    if not at_floor and not state.capacity_low:
        changes.append(CapacityLow(at=at, model=state.model))
    if at_floor and state.capacity_low:
        changes.append(CapacityRestored(at=at, model=state.model))
    if count == 0 and _may_release(state, policy):
        changes.append(CanaryLayerReleased(at=at, model=state.model))
    if at_floor and state.released:
        changes.append(CanaryLayerRestored(at=at, model=state.model))
    return tuple(changes)


def _may_release(state: ModelState, policy: Policy) -> bool:
    """Say whether the canary layer is merged now and keeps a listed route away."""
    return (
        policy.release_when_empty
        and state.mode is Mode.ENFORCE
        and not state.released
        and not state.named.isdisjoint(state.suspensions())
    )
