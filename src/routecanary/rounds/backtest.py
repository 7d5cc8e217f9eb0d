"""What would another policy have done with the rounds that are in the log?

The lines are decided again by the real decision core, and the suspensions that come of it are laid beside
those that were. What a person did then is done again; a lift of a route that would not have been suspended
does nothing. What is not known is how the routes would have been probed: they are taken to have been probed,
and their fails to have been confirmed, as they were.

Source: policy.md §9; docs/incidents.md, Trying another policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import chain, takewhile
from typing import Final

from routecanary.decide.evolve import evolve
from routecanary.decide.step import decided
from routecanary.domain.event import Checkpoint, Event, event_from_json
from routecanary.domain.log import CHECKPOINT, EMPTY_LOG, StoredEvent
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.operation import OPERATION_NAMES, Requalifying, operation_from_json
from routecanary.domain.policy import Policy
from routecanary.domain.round import Round
from routecanary.domain.state import ModelState, Suspension
from routecanary.rounds.fold import DECIDED
from routecanary.rounds.history import lines_of
from routecanary.rounds.incidents import INCIDENT_KINDS, Incident, IncidentFold, incidents_of
from routecanary.rounds.labels import Judgement
from routecanary.rounds.ports import PrunedLog

_TRIAL: Final = OPERATION_NAMES[Requalifying]
_READ: Final = (DECIDED - {CHECKPOINT}) | {_TRIAL}


class Change(StrEnum):
    """How a suspension of the other policy stands to the one that was."""

    SAME = "same"  # begun at the same round
    EARLIER = "earlier"
    LATER = "later"
    GONE = "gone"  # it was, and would not have been
    NEW = "new"  # it would have been, and was not


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One route's suspension as it was and as it would have been; one of them may be missing."""

    route: RouteId
    change: Change
    was: Incident | None = None
    would_be: Incident | None = None  # its number is no event's

    @property
    def began_at(self) -> datetime:
        """When the earlier of the two began."""
        return min(one.began_at for one in (self.was, self.would_be) if one is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """What would have become of the suspensions that people marked alike."""

    kept: int = 0
    gone: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Backtest:
    """One model's history under two policies."""

    model: ModelId
    rounds: int  # that were decided again
    since: datetime | None  # of the first of them; None where there was none
    until: datetime | None  # of the last
    pairs: tuple[Pair, ...]  # by the time that the earlier of the two began
    rounds_in_part: int  # of the rounds: their attempts were not kept, so each verdict was taken for one

    def count(self, change: Change) -> int:
        return sum(pair.change is change for pair in self.pairs)

    def marked(self, judgement: Judgement) -> Marked:
        """Count those that were, and that people marked so."""
        changes = [
            pair.change
            for pair in self.pairs
            if pair.was is not None and pair.was.label is not None and pair.was.label.judgement is judgement
        ]
        gone = changes.count(Change.GONE)
        return Marked(kept=len(changes) - gone, gone=gone)

    def time_out(self, *, would_be: bool) -> timedelta:
        """Add up how long routes were, or would have been, suspended within the history, shadows too."""
        found = [pair.would_be if would_be else pair.was for pair in self.pairs]
        return sum((self._length(one) for one in found if one is not None), timedelta())

    def _length(self, incident: Incident) -> timedelta:
        if self.since is None or self.until is None:
            return timedelta()
        end = min(incident.ended_at or incident.until, self.until)
        return max(end - max(incident.began_at, self.since), timedelta())


def backtest(log: PrunedLog, model: ModelId, policy: Policy, *, since: datetime | None = None) -> Backtest:
    """Decide a model's history again.

    Args:
        since: Decide again from then on; what was before leads to the state from which it goes on. None: from
            the first line whose state before it is known.
    Raises:
        StoreError: The log cannot be read.
    """
    while True:
        anchor, head = log.anchor(), log.head().seq
        after, state = _beginning(log, model, since, whole=anchor == EMPTY_LOG)
        logged = incidents_of(_through(head, log.read(0, model, kinds=INCIDENT_KINDS)))
        events = _events(_through(head, log.read(after, model, kinds=_READ)))
        found = decide_again(state, events, logged, policy, since=since)
        if log.anchor() == anchor:  # else pruned while it was read
            return found


def _through(head: int, events: Iterable[StoredEvent]) -> Iterator[StoredEvent]:
    """Leave out what is appended meanwhile."""
    return takewhile(lambda stored: stored.seq <= head, events)


def _beginning(
    log: PrunedLog, model: ModelId, since: datetime | None, *, whole: bool
) -> tuple[int, ModelState]:
    """Find the event after which to read, and the state there: the last one that is known before `since`."""
    empty = (0, ModelState.empty(model))
    found = empty if whole else None
    for stored in log.read(0, model, kinds={CHECKPOINT}):
        if found is not None and (since is None or stored.at > since):
            break
        event = event_from_json(stored.body)
        if isinstance(event, Checkpoint):
            found = (stored.seq, event.state)
    return found or empty


def _events(events: Iterable[StoredEvent]) -> Iterator[Event | Requalifying]:
    for stored in events:
        if stored.kind != _TRIAL:
            yield event_from_json(stored.body)
            continue
        operation = operation_from_json(stored.body)
        if isinstance(operation, Requalifying):
            yield operation


def decide_again(
    state: ModelState,
    events: Iterable[Event | Requalifying],
    logged: Sequence[Incident],
    policy: Policy,
    *,
    since: datetime | None = None,
) -> Backtest:
    """Decide again what followed from a state.

    Args:
        events: Of the state's model, in order, whole lines; none of them a checkpoint.
        logged: The model's incidents, as they were.
    """
    state, rest = _folded(state, iter(events), since)
    fold = IncidentFold()
    carried = set[int]()
    for route, held in state.suspensions().items():
        begun_before = _begun_before(state, route, held, logged)
        if begun_before is not None:
            fold.carry(begun_before)
            carried.add(begun_before.id)
    number = max((incident.id for incident in logged), default=0)
    begun: datetime | None = None  # the first line
    rounds: list[datetime] = []
    in_part = 0
    for line, in_full in lines_of(rest):
        begun = begun or line.at
        followed, state = decided(state, line, policy)
        for event in followed:
            number += 1
            fold.take_in(event, number)
        if isinstance(line, Round):
            rounds.append(line.at)
            in_part += not in_full
    was = [one for one in logged if one.id in carried or (begun is not None and one.began_at >= begun)]
    return Backtest(
        model=state.model,
        rounds=len(rounds),
        since=rounds[0] if rounds else None,
        until=rounds[-1] if rounds else None,
        pairs=_paired(was, fold.incidents()),
        rounds_in_part=in_part,
    )


def _folded(
    state: ModelState, events: Iterator[Event | Requalifying], since: datetime | None
) -> tuple[ModelState, Iterable[Event | Requalifying]]:
    """Fold what lies before the history that is decided again."""
    for event in events:
        if since is None or event.at >= since:
            return state, chain((event,), events)
        if not isinstance(event, Requalifying):
            state = evolve(state, event)
    return state, ()


def _begun_before(
    state: ModelState, route: RouteId, held: Suspension, logged: Sequence[Incident]
) -> Incident | None:
    """Outline a suspension in force at the beginning, under its number; None where its events were pruned.

    Both policies go on with it, each to its own end.
    """
    known = [
        one
        for one in logged
        if one.route == route and one.began_at <= held.start and (one.ended_at or one.until) >= held.start
    ]
    if not known:
        return None
    begun = known[-1]
    return Incident(
        id=begun.id,
        model=state.model,
        route=route,
        began_at=begun.began_at,
        until=held.until,
        contracts=begun.contracts,
        offence=begun.offence,
        shadow=begun.shadow,
        redundant=begun.redundant,
        collateral=begun.collateral,
        renewals=held.offence - begun.offence,
    )


def _paired(was: Sequence[Incident], would_be: Sequence[Incident]) -> tuple[Pair, ...]:
    left = list(would_be)
    pairs: list[Pair] = []
    for one in was:
        same_route = [each for each in left if each.route == one.route and _overlap(one, each)]
        if not same_route:
            pairs.append(Pair(route=one.route, change=Change.GONE, was=one))
            continue
        match = min(same_route, key=lambda each: abs(each.began_at - one.began_at))
        left.remove(match)
        pairs.append(Pair(route=one.route, change=_change(one, match), was=one, would_be=match))
    pairs += [Pair(route=each.route, change=Change.NEW, would_be=each) for each in left]
    return tuple(sorted(pairs, key=lambda pair: (pair.began_at, pair.route)))


def _overlap(one: Incident, other: Incident) -> bool:
    return one.began_at <= _end(other) and other.began_at <= _end(one)


def _end(incident: Incident) -> datetime:
    return incident.ended_at or incident.until


def _change(was: Incident, would_be: Incident) -> Change:
    if would_be.began_at == was.began_at:
        return Change.SAME
    return Change.EARLIER if would_be.began_at < was.began_at else Change.LATER
