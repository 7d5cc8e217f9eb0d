"""What would be left to serve with, if a person excluded something more?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from routecanary.decide.capacity import production, reach
from routecanary.domain.names import ModelId, RouteId, swallowed
from routecanary.domain.state import ModelState
from routecanary.rounds.records import Records
from routecanary.routing.layers import builtin_for, runtime_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """A model's routes as the last round named them, and which of them serve as production."""

    model: ModelId
    named: frozenset[RouteId]  # by the last round; empty before the first
    reached: frozenset[RouteId]  # of those, what the exclusion names or swallows
    left: frozenset[RouteId]  # production routes, the exclusion counted
    lost: frozenset[RouteId]  # production routes that it takes away

    @property
    def emptied(self) -> bool:
        """Say whether the exclusion touches something and nothing is left."""
        return bool(self.reached) and not self.left


def capacity_without(records: Records, model: ModelId, target: str, now: datetime) -> Capacity:
    """Work out what an exclusion would leave of a model, on top of everything in force now."""
    state = records.ledger.state(model)
    before = _as_of(records, state, (), now)
    after = _as_of(records, state, (target,), now)
    had, has = production(before), production(after)
    return Capacity(
        model=model,
        named=state.named,
        reached=state.named & reach(after, {target}),
        left=has,
        lost=had - has,
    )


def capacity_of(records: Records, model: ModelId, now: datetime) -> frozenset[RouteId]:
    """List a model's production routes, the exclusions in force now counted."""
    return production(_as_of(records, records.ledger.state(model), (), now))


def _as_of(records: Records, state: ModelState, more: Iterable[str], now: datetime) -> ModelState:
    """Lay the built-in and runtime entries in force now into the state of the last round."""
    builtin = frozenset(entry.target for entry in builtin_for(records.builtin, state.model))
    runtime = frozenset(entry.target for entry in runtime_for(records.ledger.runtime(now), state.model))
    runtime |= frozenset(more)
    listing = records.ledger.listing(state.model)
    tiers = frozenset(
        route.tag for route in (() if listing is None else listing.routes) if route.tier is not None
    )
    below = {
        entry: swallowed(entry, state.named, tiers) for entry in (builtin | runtime) - state.routes.keys()
    }
    return replace(state, builtin=builtin, runtime=runtime, entry_swallows={**state.entry_swallows, **below})
