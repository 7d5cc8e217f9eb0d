"""Which routes did people touch while a round was running?

Such a route is frozen in that round: what was asked before the act must not undo it.

Source: docs/policy.md, Streaks; docs/acts.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from routecanary.domain.event import EVENT_NAMES, Lifted, ModeChanged
from routecanary.domain.log import StoredEvent
from routecanary.domain.names import RouteId, swallowed
from routecanary.domain.route import Listing
from routecanary.domain.state import ModelState
from routecanary.rounds.runtime import RUNTIME_KINDS, touched_by

LIFTED: Final = EVENT_NAMES[Lifted]
MODE_CHANGED: Final = EVENT_NAMES[ModeChanged]
TOUCHING: Final = RUNTIME_KINDS | {LIFTED, MODE_CHANGED}
"""Kinds of events by which a person touches routes. Pausing touches the merge and no route."""


def routes_touched(
    events: Iterable[StoredEvent], state: ModelState, listing: Listing | None
) -> frozenset[RouteId]:
    """List the routes of a model that events of the kinds of `TOUCHING` touched.

    Args:
        events: Those since the round began, of any model.
        state: The model's state now.
        listing: What the round is made of; it may name routes that the state does not know yet.
    Returns:
        What the acts name and what those names swallow; after a switch of mode every route.
    """
    listed = frozenset[RouteId]() if listing is None else listing.tags()
    tiers = (
        frozenset[RouteId]()
        if listing is None
        else frozenset(route.tag for route in listing.routes if route.tier is not None)
    )
    touched: set[str] = set()
    for stored in events:
        if stored.kind in RUNTIME_KINDS:
            touched |= touched_by(stored, state.model)
        elif stored.model != state.model:
            continue
        elif stored.kind == MODE_CHANGED:
            return frozenset(state.routes) | listed
        else:
            touched.add(str(stored.body["route"]))
    below = {tag for name in touched for tag in state.swallowed_by(name) | swallowed(name, listed, tiers)}
    return frozenset(RouteId(name) for name in touched) | below
