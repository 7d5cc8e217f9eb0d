"""What does it cost to do without a route? Its price and speed beside those of the routes that remain.

Both are of the time of the suspension: prices as the listing stated them, first texts as the chat probes of
the day before it had them. Of the routes that remain only passing answers count, so that a fault of theirs
does not speak; of the suspended one all that brought text, since it may have passed none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import islice
from statistics import median
from typing import Final

from routecanary.decide.capacity import production
from routecanary.domain.answer import read_answer
from routecanary.domain.codec import from_json
from routecanary.domain.names import RouteId
from routecanary.domain.probe import ProbeKind
from routecanary.domain.route import Listing, Route
from routecanary.rounds.fold import LISTED
from routecanary.rounds.incidents import Incident
from routecanary.rounds.ports import Store
from routecanary.rounds.story import state_after

_LOOKED_BACK: Final = timedelta(days=1)
_MOST_ANSWERS: Final = 20  # of a route, the newest
_FIRST_LOOK: Final = 64  # listings back from the newest, among which the one of then is looked for
_MILLION: Final = Decimal(1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One number of the suspended route, and the median of those that remain; None where it is not known."""

    suspended: float | None
    remaining: float | None
    routes: int  # that remain and of which it is known


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What was given up, and what was left."""

    remaining: tuple[RouteId, ...]  # production routes right after the suspension, sorted
    prompt: Item  # USD per million tokens
    completion: Item  # USD per million tokens
    first_text_ms: Item  # medians of answers


def bill_of(store: Store, incident: Incident) -> Bill | None:
    """Work out what an incident gave up; None where the rounds of then are pruned.

    Raises:
        StoreError: The store cannot be read.
    """
    state = state_after(store, incident)
    if state is None:
        return None
    remaining = tuple(sorted(production(state) - {incident.route}))
    listing = _listing_at(store, incident)
    listed = {} if listing is None else {route.tag: route for route in listing.routes}
    own = listed.get(incident.route)
    others = [listed[tag] for tag in remaining if tag in listed]
    return Bill(
        remaining=remaining,
        prompt=_priced(own, others, "price_prompt"),
        completion=_priced(own, others, "price_completion"),
        first_text_ms=_item(
            _first_text(store, incident, incident.route, passing=False),
            (_first_text(store, incident, route, passing=True) for route in remaining),
        ),
    )


def _listing_at(store: Store, incident: Incident) -> Listing | None:
    """Find the listing that was in force."""
    looked = _FIRST_LOOK
    while True:
        kept = store.newest(looked, incident.model, kinds={LISTED})
        before = [stored for stored in kept if stored.seq < incident.id]
        if before:
            return from_json(Listing, before[-1].body)
        if len(kept) < looked:
            return None
        looked *= 8


def _priced(own: Route | None, others: Iterable[Route], name: str) -> Item:
    return _item(
        None if own is None else _per_million(own, name), (_per_million(route, name) for route in others)
    )


def _per_million(route: Route, name: str) -> float | None:
    price: Decimal | None = getattr(route, name)
    return None if price is None else float(price * _MILLION)


def _first_text(store: Store, incident: Incident, route: RouteId, *, passing: bool) -> float | None:
    """Find the median of when a route's chat answers brought text, in ms."""
    times = islice(_first_texts(store, incident, route, passing=passing), _MOST_ANSWERS)
    return median(found) if (found := list(times)) else None


def _first_texts(store: Store, incident: Incident, route: RouteId, *, passing: bool) -> Iterator[float]:
    for entry in store.find(
        incident.model,
        route,
        kind=ProbeKind.CHAT,
        failed=False if passing else None,
        since=incident.began_at - _LOOKED_BACK,
        until=incident.began_at,
    ):
        kept = store.get(entry.id)
        at_ms = None if kept is None else read_answer(kept.transcript).first_text_ms
        if at_ms is not None:
            yield at_ms


def _item(own: float | None, others: Iterable[float | None]) -> Item:
    known = [value for value in others if value is not None]
    return Item(suspended=own, remaining=median(known) if known else None, routes=len(known))
