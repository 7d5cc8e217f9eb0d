"""Which routes are new, changed, or just back, and therefore watched more closely?

Probation is shown, and where rechecks are switched on such routes are asked in them too. It accuses nobody:
what counts as proven capacity is the policy's affair, in which a newcomer counts only after a clean round.

Source: docs/operating.md, Probation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from routecanary.discover.changes import changes_between
from routecanary.domain.codec import from_json
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.route import Listing
from routecanary.domain.state import ModelState
from routecanary.rounds.fold import LISTED
from routecanary.rounds.ports import EventLog

NEW: Final = "new"
BACK: Final = "back"
QUANTIZATION: Final = "quantization"
PRICE: Final = "price"

_PRICES: Final = frozenset({"price_prompt", "price_completion", "price_request"})
_LISTINGS: Final = 50  # of the newest that are read: a listing is kept when it changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Probation:
    """Since when and until when a route is on probation, and why."""

    since: datetime
    until: datetime
    why: str  # `new`, `back`, `quantization`, `price`


def on_probation(
    state: ModelState, listings: Sequence[Listing], now: datetime, length: timedelta
) -> dict[RouteId, Probation]:
    """Find the routes on probation, in route order; of several reasons the latest counts.

    Args:
        listings: The model's last ones, oldest first, each different from the one before.
        length: Of a probation; 0 = there is none.
    Returns:
        Routes of the last round that were first seen, came back, or changed their quantization or price
        within `length` before `now`. Those that the model's first round named are no newcomers, and a
        suspended route is not on probation.
    """
    first = min((route.seen_at for route in state.routes.values() if route.seen_at is not None), default=now)
    began: dict[RouteId, tuple[datetime, str]] = {}

    def note(name: RouteId, at: datetime | None, why: str) -> None:
        if at is not None and now - length < at <= now and (name not in began or began[name][0] <= at):
            began[name] = (at, why)

    for before, after in pairwise(listings):
        for change in changes_between(before, after).changed:
            fields = set(change.fields())
            if fields & _PRICES:
                note(change.after.tag, after.at, PRICE)
            if "quantizations" in fields:
                note(change.after.tag, after.at, QUANTIZATION)
    for name in state.named:
        route = state.routes[name]
        note(name, route.ended_at, BACK)
        if route.seen_at is not None and route.seen_at > first:
            note(name, route.seen_at, NEW)
    return {
        name: Probation(since=at, until=at + length, why=why)
        for name, (at, why) in sorted(began.items())
        if name in state.named and state.routes[name].suspension is None
    }


def last_listings(log: EventLog, model: ModelId) -> tuple[Listing, ...]:
    """Read a model's last listings from the log, oldest first.

    Raises:
        StoreError: The log cannot be read, or holds what was not written.
    """
    return tuple(from_json(Listing, stored.body) for stored in log.newest(_LISTINGS, model, kinds={LISTED}))
