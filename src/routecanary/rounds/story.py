"""What is one suspension's story? From the first failed round of its streak to its end.

One that evidence asked for begins with the round in which its attempts began to add up.

Everything is read from the log and the store: the rounds with the route's verdicts and those of its peers in
the same rounds, every attempt with its transcript, and whatever else happened that touched it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from routecanary.decide.attempts import implied_attempts
from routecanary.decide.evolve import evolve
from routecanary.domain.archive import TranscriptEntry
from routecanary.domain.event import (
    EVENT_NAMES,
    Checkpoint,
    Exclusions,
    RoundClosed,
    RouteOutcome,
    RoutesNamed,
    Suspended,
    event_from_json,
)
from routecanary.domain.log import CHECKPOINT, EMPTY_LOG, StoredEvent
from routecanary.domain.names import ContractName, RouteId, swallowed
from routecanary.domain.operation import OPERATED, OPERATION_NAMES, Reserved, Settled
from routecanary.domain.round import RoundClass
from routecanary.domain.state import ModelState
from routecanary.domain.verdict import VerdictKind
from routecanary.errors import StoreError
from routecanary.rounds.fold import DECIDED
from routecanary.rounds.incidents import Incident
from routecanary.rounds.labels import LABELLED, label_from
from routecanary.rounds.ports import Store
from routecanary.rounds.runtime import RUNTIME_KINDS, touched_by

CLOSED: Final = EVENT_NAMES[RoundClosed]
_BOOKKEEPING: Final = {
    *(EVENT_NAMES[kind] for kind in (RoundClosed, RoutesNamed, Exclusions, Checkpoint)),
    *(OPERATION_NAMES[kind] for kind in (Reserved, Settled)),
}
TOLD: Final = (DECIDED | OPERATED | RUNTIME_KINDS | {LABELLED}) - _BOOKKEEPING
"""Kinds of events that a story repeats; its rounds are told apart."""

_LINE_ENDS: Final = EVENT_NAMES[Exclusions]

_FIRST_LOOK: Final = 1_000  # events back from the suspension, in which the streak's beginning is looked for
_WIDER: Final = 8  # times, where it is not among them
_SLACK: Final = timedelta(hours=1)  # transcripts are dated just before their round is decided


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryRound:
    """One round of the story, as it was for the route and for its peers."""

    seq: int  # of the event that closed it
    hash: str  # of that event
    at: datetime
    outcome: RouteOutcome
    peers: Mapping[ContractName, Mapping[RouteId, VerdictKind]]  # of the incident's contracts
    tries: Mapping[
        ContractName, Mapping[RouteId, tuple[bool, ...]]
    ]  # theirs and the route's, true for a fail
    attempts: tuple[TranscriptEntry, ...]  # of the route, in the order of keeping

    @property
    def failed(self) -> bool:
        return self.outcome.round_class is RoundClass.FAILED


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """An incident with all that led to it and came of it."""

    incident: Incident
    rounds: tuple[StoryRound, ...]
    events: tuple[StoredEvent, ...]  # those that touched the route, its contracts or the whole model

    @property
    def evidence(self) -> tuple[StoryRound, ...]:
        """The rounds that the suspension rests on."""
        return tuple(each for each in self.rounds if each.seq < self.incident.id)


def story_of(store: Store, incident: Incident) -> Story:
    """Tell an incident's story.

    Raises:
        StoreError: The store cannot be read.
    """
    end = incident.ended_seq if incident.ended_seq is not None else store.head().seq
    first = _first_round(store, incident)
    begin = incident.id if first is None else first.seq
    closed = [stored for stored in store.read(begin - 1, incident.model, kinds={CLOSED}) if stored.seq <= end]
    return Story(
        incident=incident,
        rounds=tuple(_rounds(store, incident, closed)),
        events=tuple(
            stored for stored in store.read(begin - 1, kinds=TOLD) if _touches(stored, incident, end)
        ),
    )


def state_after(store: Store, incident: Incident) -> ModelState | None:
    """Fold the model's events up to the end of the line in which an incident began; None where pruned.

    Raises:
        StoreError: The store cannot be read.
    """
    state = ModelState.empty(incident.model) if store.anchor() == EMPTY_LOG else None
    after = 0
    for stored in store.read(0, incident.model, kinds={CHECKPOINT}):
        if stored.seq > incident.id:
            break
        state, after = evolve(ModelState.empty(incident.model), event_from_json(stored.body)), stored.seq
    if state is None:
        return None
    for stored in store.read(after, incident.model, kinds=DECIDED):
        state = evolve(state, event_from_json(stored.body))
        if stored.seq >= incident.id and stored.kind == _LINE_ENDS:
            break
    return state


def _first_round(store: Store, incident: Incident) -> StoredEvent | None:
    """Find the round that began the streak, or the weighing of attempts; None where it was pruned."""
    weighed = _weighed(store, incident)
    asked = {*weighed, *([None] if incident.contracts - weighed else [])}  # None: the streak
    back = _FIRST_LOOK
    while True:
        after = max(0, incident.id - back)
        first: dict[ContractName | None, StoredEvent] = {}
        for stored in store.read(after, incident.model, kinds={CLOSED}):
            if stored.seq > incident.id:
                break
            outcome = _closed(stored).outcomes.get(incident.route)
            if outcome is not None:
                first |= dict.fromkeys(_begun_by(outcome, asked), stored)
        if first.keys() == asked or after == 0:
            return min(first.values(), key=lambda stored: stored.seq, default=None)
        back *= _WIDER


def _weighed(store: Store, incident: Incident) -> frozenset[ContractName]:
    """List the contracts that evidence asked for, and no streak."""
    for stored in store.read(incident.id - 1, incident.model, limit=1):
        event = event_from_json(stored.body)
        return frozenset(event.evidence) if isinstance(event, Suspended) else frozenset()
    return frozenset()


def _begun_by(outcome: RouteOutcome, asked: Collection[ContractName | None]) -> Iterator[ContractName | None]:
    """Say what began in a round: a fail streak (None), or the weighing of a contract's attempts anew."""
    for contract in asked:
        if contract is None:
            if outcome.counted and outcome.streak.failed == 1:
                yield None
        elif contract in outcome.evidence:
            weighed = outcome.evidence[contract]
            if weighed.after.attempts <= weighed.attempts:
                yield contract


def _rounds(store: Store, incident: Incident, closed: list[StoredEvent]) -> Iterator[StoryRound]:
    if not closed:
        return
    numbers = [stored.seq for stored in closed]
    attempts: dict[int, list[TranscriptEntry]] = {}
    for entry in store.find(
        incident.model, incident.route, since=closed[0].at - _SLACK, until=closed[-1].at + _SLACK
    ):
        # kept in the append that closed its round: the last one that was closed by then
        place = bisect_right(numbers, entry.seq or 0)
        seq = numbers[place - 1] if place else 0
        attempts.setdefault(seq, []).append(entry)
    for stored in closed:
        event = _closed(stored)
        outcome = event.outcomes.get(incident.route)
        if outcome is None:
            continue  # not listed in that round
        yield StoryRound(
            seq=stored.seq,
            hash=stored.hash,
            at=stored.at,
            outcome=outcome,
            peers=_peers(event, incident),
            tries=_tries(event, incident),
            attempts=tuple(reversed(attempts.get(stored.seq, []))),
        )


def _peers(event: RoundClosed, incident: Incident) -> Mapping[ContractName, Mapping[RouteId, VerdictKind]]:
    return {
        contract: {
            route: outcome.verdicts[contract]
            for route, outcome in sorted(event.outcomes.items())
            if route != incident.route and contract in outcome.verdicts
        }
        for contract in sorted(incident.contracts)
    }


def _tries(
    event: RoundClosed, incident: Incident
) -> Mapping[ContractName, Mapping[RouteId, tuple[bool, ...]]]:
    """List the conclusive attempts of every route that has any."""
    return {
        contract: {
            route: tries
            for route, outcome in sorted(event.outcomes.items())
            if (tries := outcome.attempts.get(contract, implied_attempts(outcome.verdicts.get(contract))))
        }
        for contract in sorted(incident.contracts)
    }


def _touches(stored: StoredEvent, incident: Incident, end: int) -> bool:
    """Say whether an event is part of the story."""
    if stored.kind == LABELLED:
        return label_from(stored).incident == incident.id
    if stored.seq > end:
        return False
    if stored.kind in RUNTIME_KINDS:
        named = touched_by(stored, incident.model)
        return any(name == incident.route or swallowed(name, {incident.route}, frozenset()) for name in named)
    if stored.model not in (None, incident.model):
        return False
    route, contract = stored.body.get("route"), stored.body.get("contract")
    if route is not None:
        return bool(route == incident.route)
    return contract is None or contract in incident.contracts


def _closed(stored: StoredEvent) -> RoundClosed:
    event = event_from_json(stored.body)
    if not isinstance(event, RoundClosed):
        raise StoreError(f"event log: event {stored.seq} is no round")
    return event
