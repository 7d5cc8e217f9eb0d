"""Who may have served what a user complains of? Telemetry and the log are read, `complaint/` ranks.

What was served comes from telemetry; where it has nothing, a guess from prices takes its place. What the
canary knew comes from the rounds and suspensions in the log: every attempt around the time, before and after.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Final

from routecanary.complaint.knowledge import GRID, REACH, Knowledge, Sighting, Spell
from routecanary.complaint.posterior import rank, sureness_of
from routecanary.complaint.served import Served, guessed, served_of
from routecanary.complaint.value import Complaint, Ranking, Sureness, Suspect
from routecanary.complaint.window import Window, window_of
from routecanary.decide.attempts import implied_attempts
from routecanary.domain.codec import from_json
from routecanary.domain.event import EVENT_NAMES, Exclusions, RoundClosed, event_from_json
from routecanary.domain.generation import Generation
from routecanary.domain.log import StoredEvent
from routecanary.domain.names import ModelId, RouteId, swallowed
from routecanary.domain.route import Listing, Route
from routecanary.domain.times import format_instant
from routecanary.errors import InputError
from routecanary.rounds.fold import LISTED
from routecanary.rounds.incidents import INCIDENT_KINDS, Incident, incidents_of
from routecanary.rounds.ports import Store

SLICES: Final = 20
"""The window is read in so many pieces, so that a bound cuts off none of it."""

MOST_IN_A_SLICE: Final = 1_000
"""Answers of one piece that are looked at; all together they tell shares to half a percent."""

_FIRST_LOOK: Final = 64  # events back from the newest
_WIDER: Final = 4  # times, where the time looked for is not among them
_STEPS: Final = 8  # in which the stated error is looked at
_LONGEST_LOOK: Final = timedelta(days=1)  # beyond the window, at the rounds around a conversation's answers
_FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST: Final = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Who may have served it, and how sure that is."""

    ranking: Ranking
    sureness: Sureness
    incidents: tuple[int, ...] = ()  # of suspects, for what the user saw, at that time
    warnings: tuple[str, ...] = ()


def answer_to(store: Store, complaint: Complaint) -> Answer:
    """Rank who may have served it, by everything that is known now.

    Raises:
        InputError: The generation that it names was of another model.
        StoreError: The store cannot be read.
    """
    window = _window(complaint)
    warnings: list[str] = []
    named = _named(store, complaint, warnings)
    generations = named or _in_window(store, complaint.model, window, warnings)
    since, until = _span(window, generations)
    incidents = incidents_of(store.read(0, complaint.model, kinds=INCIDENT_KINDS))
    rounds = list(_rounds(store, complaint.model, since - REACH, until + REACH))
    grid = max(GRID, window.within / _STEPS)
    knowledge = _knowledge(complaint, rounds, incidents, grid)
    if not rounds:
        warnings.append("the canary made no round of this model around that time")
    if generations:
        ranking = rank(complaint, window, map(served_of, generations), knowledge, named=bool(named))
    else:
        warnings.append(_no_telemetry(store, complaint.model, window))
        shares = _guess(store, complaint.model, window, knowledge.routes)
        served: Iterator[Served] = guessed(shares, window.since, window.until, grid)
        ranking = rank(complaint, window, served, knowledge, guessed=True)
    return Answer(
        ranking=ranking,
        sureness=sureness_of(ranking),
        incidents=tuple(
            incident.id
            for incident in incidents
            if incident.route in suspected(ranking.suspects) and explains(incident, complaint)
        ),
        warnings=tuple(warnings),
    )


FITTING: Final = 0.05
"""A set below this posterior is no suspect worth following."""

LEAD: Final = timedelta(hours=2)
"""A suspension begins after two failed rounds: its fault was there before."""


def suspected(suspects: Iterable[Suspect]) -> frozenset[RouteId]:
    """List the routes of the sets that are worth following."""
    return frozenset(route for each in suspects if each.posterior >= FITTING for route in each.routes)


def explains(incident: Incident, complaint: Complaint) -> bool:
    """Say whether an incident was for a contract that the user saw broken, and at that time."""
    window = _window(complaint)
    return (
        not incident.contracts.isdisjoint(complaint.symptom.contracts)
        and incident.began_at - LEAD <= window.until
        and (incident.ended_at is None or window.since <= incident.ended_at)
    )


def _window(complaint: Complaint) -> Window:
    return window_of(complaint.readings, timedelta(seconds=complaint.within_s))


def _named(store: Store, complaint: Complaint, warnings: list[str]) -> list[Generation]:
    """Find the answers that an id or a conversation names; the id goes first."""
    found: tuple[Generation, ...] = ()
    if complaint.generation is not None:
        found = store.find_generations(generation=complaint.generation)
        if not found:
            warnings.append("telemetry has no generation of this id")
    if not found and complaint.conversation is not None:
        found = store.find_generations(conversation=complaint.conversation)
        if not found:
            warnings.append("telemetry has no generation of this conversation")
    ours = [each for each in found if each.model == complaint.model]
    if found and not ours:
        raise InputError(
            "names answers of another model", key="model", value=complaint.model, allowed=found[0].model
        )
    return ours


def _in_window(store: Store, model: ModelId, window: Window, warnings: list[str]) -> Sequence[Generation]:
    """Read what was served in a window; of more than can be looked at, the first of each slice."""
    end = window.until + timedelta(microseconds=1)
    most = SLICES * MOST_IN_A_SLICE
    found = list(store.generations(model, since=window.since, until=end, limit=most))
    if len(found) < most:
        return found
    length = (end - window.since) / SLICES
    warnings.append(
        f"more than {most} answers were served in the window: of each {length.total_seconds():.0f} s only "
        f"the first {MOST_IN_A_SLICE} were looked at"
    )
    begins = [window.since + place * length for place in range(SLICES)]
    return [
        each
        for since, until in zip(begins, [*begins[1:], end], strict=True)
        for each in store.generations(model, since=since, until=until, limit=MOST_IN_A_SLICE)
    ]


def _span(window: Window, generations: Sequence[Generation]) -> tuple[datetime, datetime]:
    """Say between which times it matters what the canary knew."""
    times = [each.started_at for each in generations]
    since, until = min([window.since, *times]), max([window.until, *times])
    return max(since, window.since - _LONGEST_LOOK), min(until, window.until + _LONGEST_LOOK)


def _rounds(store: Store, model: ModelId, since: datetime, until: datetime) -> Iterator[RoundClosed]:
    for stored in _between(store, model, {EVENT_NAMES[RoundClosed]}, since, until):
        event = event_from_json(stored.body)
        if isinstance(event, RoundClosed):
            yield event


def _between(
    store: Store, model: ModelId, kinds: Collection[str], since: datetime, until: datetime
) -> Iterator[StoredEvent]:
    look = _FIRST_LOOK
    while True:
        found = store.newest(look, model, kinds=kinds)
        if len(found) < look or found[0].at < since:
            break
        look *= _WIDER
    for stored in found:
        if since <= stored.at <= until:
            yield stored


def _knowledge(
    complaint: Complaint, rounds: Sequence[RoundClosed], incidents: Sequence[Incident], grid: timedelta
) -> Knowledge:
    sightings: list[Sighting] = []
    for closed in rounds:
        for route, outcome in closed.outcomes.items():
            for contract in complaint.symptom.contracts:
                verdict = outcome.verdicts.get(contract)
                attempts = outcome.attempts.get(contract, implied_attempts(verdict))
                if attempts:
                    sightings.append(
                        Sighting(
                            at=closed.at,
                            route=route,
                            contract=contract,
                            attempts=attempts,
                            locale=outcome.locale or closed.locale,
                        )
                    )
    routes = {route for closed in rounds for route in closed.outcomes}
    return Knowledge(routes, sightings, map(_spell, incidents), grid=grid)


def _spell(incident: Incident) -> Spell:
    return Spell(
        route=incident.route,
        contracts=incident.contracts,
        since=incident.began_at,
        until=incident.until if incident.ended_at is None else incident.ended_at,
    )


def _no_telemetry(store: Store, model: ModelId, window: Window) -> str:
    """Say what telemetry lacks."""
    first = next(iter(store.generations(model, since=_FIRST, until=_LAST, limit=1)), None)
    if first is None:
        return "no telemetry of this model: the traffic of each route is guessed from its price"
    told = (
        "no telemetry of that time"
        if first.started_at < window.since
        else f"telemetry of this model begins only at {format_instant(first.started_at)}"
    )
    return f"{told}: the traffic of each route is guessed from its price"


def _guess(
    store: Store, model: ModelId, window: Window, known: Collection[RouteId]
) -> Mapping[RouteId, float]:
    """Guess each route's share of the traffic: the gateway prefers cheap ones, by the square of the price."""
    listing = _last(store, model, LISTED, window.until)
    routes = () if listing is None else from_json(Listing, listing.body).routes
    excluded = _last(store, model, EVENT_NAMES[Exclusions], window.until)
    event = None if excluded is None else event_from_json(excluded.body)
    ignore = event.ignore if isinstance(event, Exclusions) else ()
    ordinary = {route.tag: _price(route) for route in routes if route.tier is None} or dict.fromkeys(known)
    tags = frozenset(ordinary)
    away = {tag for name in ignore for tag in {name, *swallowed(name, tags, frozenset())}}
    left = {tag: price for tag, price in ordinary.items() if tag not in away} or ordinary
    stated = [price for price in left.values() if price]
    usual = median(stated) if stated else 1.0
    weights = {tag: (usual / (price or usual)) ** 2 for tag, price in left.items()}
    whole = sum(weights.values())
    return {tag: weight / whole for tag, weight in weights.items()}


def _price(route: Route) -> float | None:
    if route.price_prompt is None or route.price_completion is None:
        return None
    return float(route.price_prompt + route.price_completion)


def _last(store: Store, model: ModelId, kind: str, until: datetime) -> StoredEvent | None:
    """Find the last event of a kind up to a time; the first one where all are later."""
    look = _FIRST_LOOK
    while True:
        found = store.newest(look, model, kinds={kind})
        before = [stored for stored in found if stored.at <= until]
        if before or len(found) < look:
            return before[-1] if before else next(iter(found), None)
        look *= _WIDER
