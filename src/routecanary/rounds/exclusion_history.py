"""What was to be ignored of a model, and from when until when? The log, read back for enforcement's sake.

Every line of the log ends with the names that a caller had to ignore from then on: modes, pauses and releases
are in it. What it does not say are the ends by the clock alone, and what people did to the runtime layer
between two lines; those events are read beside it. What was pruned is not known, and excludes nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from routecanary.domain.codec import from_json
from routecanary.domain.event import (
    EVENT_NAMES,
    ClosedByMode,
    Exclusions,
    Expired,
    Lifted,
    Reinstated,
    Renewed,
    Suspended,
    event_from_json,
)
from routecanary.domain.exclusion import Layer, RuntimeEntry
from routecanary.domain.log import StoredEvent
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.route import Listing
from routecanary.rounds.ports import EventLog
from routecanary.rounds.runtime import ADDED, RUNTIME_KINDS, touched_by
from routecanary.telemetry.leaks import History, Span

_LINES: Final = frozenset({EVENT_NAMES[Exclusions]})
_BEGINS: Final = (Suspended, Renewed)
_ENDS: Final = (Expired, Reinstated, Lifted, ClosedByMode)
_SUSPENSIONS: Final = frozenset({EVENT_NAMES[kind] for kind in (*_BEGINS, *_ENDS)})
_FIRST_LINES: Final = 64  # newest lines that are read at first; twice as many while they do not reach back


def exclusion_history(
    log: EventLog,
    model: ModelId,
    *,
    since: datetime,
    listing: Listing | None = None,
    builtin: frozenset[str] = frozenset(),
) -> History:
    """Read what was to be ignored of a model, at least from `since` on, as far back as the log goes.

    Args:
        listing: The last believed one; it says which routes are tiers.
        builtin: Names of the built-in layer of now: where a suspension names one too, it has no end.
    Raises:
        StoreError: The log cannot be read.
    """
    runtime = [stored for stored in log.read(kinds=RUNTIME_KINDS) if touched_by(stored, model)]
    events = sorted(
        [*_lines_since(log, model, since), *log.read(0, model, kinds=_SUSPENSIONS)],
        key=lambda stored: stored.seq,
    )
    people = frozenset(name for stored in runtime for name in touched_by(stored, model))
    spans: dict[str, list[Span]] = {}
    for span in (*_merged(events, people - builtin, builtin), *_runtime(runtime, model)):
        if span.until is None or span.since < span.until:
            spans.setdefault(span.name, []).append(span)
    routes = () if listing is None else listing.routes
    return History(
        spans={name: sorted(found, key=lambda span: span.since) for name, found in sorted(spans.items())},
        tiers=frozenset(RouteId(route.tag) for route in routes if route.tier is not None),
    )


def _lines_since(log: EventLog, model: ModelId, since: datetime) -> Sequence[StoredEvent]:
    limit = _FIRST_LINES
    while True:
        lines = log.newest(limit, model, kinds=_LINES)
        if len(lines) < limit or lines[0].at <= since:
            return lines
        limit *= 2


def _merged(events: Iterable[StoredEvent], people: frozenset[str], builtin: frozenset[str]) -> Iterator[Span]:
    """Follow the names from line to line; those of the runtime layer are told by its own events."""
    held: dict[str, Suspended | Renewed] = {}
    open_spans: dict[str, Span] = {}
    for stored in events:
        event = event_from_json(stored.body)
        if isinstance(event, _BEGINS):
            held[event.route] = event
        elif isinstance(event, _ENDS):
            held.pop(event.route, None)
        elif isinstance(event, Exclusions):
            now = {
                name: _span(name, event.at, None if name in builtin else held.get(name))
                for name in event.ignore
                if name in held or name not in people
            }
            for name, known in sorted(open_spans.items()):
                follows = now.get(name)
                if follows is not None and _same(known, follows):
                    now[name] = known
                else:
                    yield _ended(known, event.at)
            open_spans = now
    yield from open_spans.values()


def _span(name: str, since: datetime, suspension: Suspended | Renewed | None) -> Span:
    if suspension is None:
        return Span(name=name, layer=Layer.BUILTIN, since=since)
    return Span(
        name=name,
        layer=Layer.CANARY,
        since=since,
        until=suspension.until,
        contracts=suspension.contracts,
        locales=suspension.locales,
    )


def _same(known: Span, follows: Span) -> bool:
    """Say whether a name goes on as it was; a renewal begins anew, for its old end was heeded till then."""
    return (known.layer, known.until) == (follows.layer, follows.until)


def _ended(span: Span, at: datetime) -> Span:
    until = at if span.until is None else min(span.until, at)
    return Span(
        name=span.name,
        layer=span.layer,
        since=span.since,
        until=until,
        contracts=span.contracts,
        locales=span.locales,
    )


def _runtime(events: Iterable[StoredEvent], model: ModelId) -> Iterator[Span]:
    """Follow what people excluded; one entry for a model and one for all may name the same."""
    known: dict[tuple[str, str], Span] = {}
    for stored in events:
        for name in touched_by(stored, model):
            key = (name, str(stored.body.get("models")))
            before = known.pop(key, None)
            if before is not None:
                yield _ended(before, stored.at)
            if stored.kind == ADDED:
                entry = from_json(RuntimeEntry, stored.body)
                known[key] = Span(name=name, layer=Layer.RUNTIME, since=entry.created, until=entry.expires)
    yield from known.values()
