"""What would another policy have done with the rounds that are in the log?

The lines are decided again by the real decision core, and the suspensions that come of it are laid beside
those that were. What a person did then is done again; a lift of a route that would not have been suspended
does nothing. What is not known is how the routes would have been probed: a suspended route is probed as before.

Source: policy.md §9; docs/policy.md, Trying another policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from routecanary.decide.evolve import evolve
from routecanary.decide.step import decided
from routecanary.domain.event import Checkpoint, Event, RoundClosed
from routecanary.domain.names import ModelId
from routecanary.domain.policy import Policy
from routecanary.domain.state import ModelState
from routecanary.errors import ClockError
from routecanary.rounds.history import lines_of
from routecanary.rounds.incidents import Incident, IncidentFold


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

    change: Change
    was: Incident | None
    would_be: Incident | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Backtest:
    """One model's history under two policies."""

    model: ModelId
    rounds: int  # that were decided again
    since: datetime | None  # of the first of them; None where there was none
    until: datetime | None
    pairs: tuple[Pair, ...]  # by the time that the earlier of the two began
    attempts_known: bool  # False: no round says more attempts than verdicts

    def time_out(self, *, would_be: bool) -> timedelta:
        """Add up how long routes were, or would have been, kept away within the history."""
        found = [pair.would_be if would_be else pair.was for pair in self.pairs]
        return sum((self._length(one) for one in found if one is not None), timedelta())

    def _length(self, incident: Incident) -> timedelta:
        if self.since is None or self.until is None:
            return timedelta()
        end = min(incident.ended_at or incident.until, self.until)
        return max(end - max(incident.began_at, self.since), timedelta())


def backtest(
    model: ModelId,
    events: Iterable[Event],
    logged: Sequence[Incident],
    policy: Policy,
    *,
    since: datetime | None = None,
) -> Backtest:
    """Decide a model's history again.

    Args:
        events: Of this model, in order, from the first that is left; a checkpoint among them is the state
            where the log before it is gone.
        logged: The model's incidents, as they were.
        since: Decide again from then on; what was before leads to the state from which it goes on.
    """
    state, history = _split(model, list(events), since)
    fold = IncidentFold()
    numbered = 0
    at: list[datetime] = []
    attempts = False
    for event in history:
        attempts |= isinstance(event, RoundClosed) and any(one.attempts for one in event.outcomes.values())
    for line in lines_of(history):
        try:
            followed, state = decided(state, line, policy)
        except ClockError:  # a round that the log tells of was never refused, so its clock stepped back since
            continue
        for event in followed:
            numbered += 1
            fold.take_in(event, numbered)
        if followed and any(isinstance(event, RoundClosed) for event in followed):
            at.append(line.at)
    begin = at[0] if at else None
    was = [one for one in logged if begin is not None and one.began_at >= begin]
    return Backtest(
        model=model,
        rounds=len(at),
        since=begin,
        until=at[-1] if at else None,
        pairs=_paired(was, fold.incidents()),
        attempts_known=attempts,
    )


def _split(
    model: ModelId, events: Sequence[Event], since: datetime | None
) -> tuple[ModelState, Sequence[Event]]:
    """Fold what lies before the history that is decided again."""
    state = ModelState.empty(model)
    if events and isinstance(events[0], Checkpoint):
        state, events = events[0].state, events[1:]
    for place, event in enumerate(events):
        if since is None or event.at >= since:
            return state, events[place:]
        state = evolve(state, event)
    return state, ()


def _paired(was: Sequence[Incident], would_be: Sequence[Incident]) -> tuple[Pair, ...]:
    left = list(would_be)
    pairs: list[Pair] = []
    for one in was:
        same_route = [each for each in left if each.route == one.route and _overlap(one, each)]
        if not same_route:
            pairs.append(Pair(change=Change.GONE, was=one, would_be=None))
            continue
        match = min(same_route, key=lambda each: abs(each.began_at - one.began_at))
        left.remove(match)
        pairs.append(Pair(change=_change(one, match), was=one, would_be=match))
    pairs += [Pair(change=Change.NEW, was=None, would_be=each) for each in left]
    return tuple(sorted(pairs, key=_order))


def _overlap(one: Incident, other: Incident) -> bool:
    return one.began_at <= _end(other) and other.began_at <= _end(one)


def _end(incident: Incident) -> datetime:
    return incident.ended_at or incident.until


def _change(was: Incident, would_be: Incident) -> Change:
    if would_be.began_at == was.began_at:
        return Change.SAME
    return Change.EARLIER if would_be.began_at < was.began_at else Change.LATER


def _order(pair: Pair) -> tuple[datetime, str]:
    known = [one for one in (pair.was, pair.would_be) if one is not None]
    return min(one.began_at for one in known), known[0].route
