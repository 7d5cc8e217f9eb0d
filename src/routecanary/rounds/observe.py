"""What does a round show of the canary itself?

Its account, its pins, its judges, its controls, and the routes that have fallen silent: what is out of order
is said by every round that meets it or once, as `domain.operation` states, and what is in order again once.
Pure: what the round saw and how things stood before → operating events.

Source: policy.md, verdicts and §6 (no control, stale); docs/operating.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from routecanary.domain.answer import read_answer
from routecanary.domain.names import ContractName, ModelId, RouteId
from routecanary.domain.operating import ModelOperation, OperatingState
from routecanary.domain.operation import (
    AccountFault,
    AccountRestored,
    ControlAbsent,
    ControlPresent,
    JudgeCrashed,
    ListingBelieved,
    ListingShrunk,
    Operation,
    PinViolated,
    RoundReturned,
    RouteFresh,
    RouteStale,
)
from routecanary.domain.route import Listing
from routecanary.domain.state import ModelState
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import VerdictKind
from routecanary.rounds.examine import JUDGE_CRASHED, Attempt
from routecanary.rounds.preflight import OF_ONE_REQUEST

PIN_CODES: Final = frozenset({"provider_mismatch", "cached"})
"""Reason codes of an answer that somebody else gave, or a cache."""

_HEARD: Final = frozenset({VerdictKind.PASS, VerdictKind.FAIL, VerdictKind.INCONCLUSIVE})
"""Verdicts on an answer: whoever got it was let in by the gateway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What a round saw."""

    model: ModelId
    attempts: tuple[Attempt, ...]  # all of them, confirmations included
    expected: frozenset[RouteId]  # whom a round over everybody asks; nobody waits for an answer of others


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long silence is borne."""

    stale_after: timedelta  # of a route
    control_max_age: timedelta  # since a control failed
    contracts: frozenset[ContractName]  # that are in use


def observe(
    sight: Sight, patience: Patience, *, at: datetime, before: OperatingState, after: ModelState
) -> tuple[Operation, ...]:
    """Say what a round shows of the canary itself.

    Args:
        at: The round's time.
        before: How the canary stood.
        after: The model's state with this round taken in.
    """
    known = before.model(sight.model)
    return (
        *_listing(sight, known, at),
        *_returned(sight, known, at),
        *_account(sight, known, at),
        *_pins(sight, at),
        *_judges(sight, at),
        *_controls(sight, patience, known, at, after),
        *_silence(sight, patience, known, at, after),
    )


def doubted(
    listing: Listing, believed: Listing | None, *, at: datetime, before: OperatingState
) -> tuple[Operation, ...]:
    """Say that a listing is not believed, unless just that was said already."""
    fewer, more = len(listing.routes), 0 if believed is None else len(believed.routes)
    known = before.model(listing.model).listing
    if known is not None and (known.before, known.after) == (more, fewer):
        return ()
    return (ListingShrunk(at=at, model=listing.model, before=more, after=fewer),)


def _listing(sight: Sight, known: ModelOperation, at: datetime) -> Iterator[Operation]:
    """A round is only made of a listing that is believed."""
    if known.listing is not None:
        yield ListingBelieved(at=at, model=sight.model)


def _returned(sight: Sight, known: ModelOperation, at: datetime) -> Iterator[Operation]:
    if known.overdue_said_at is not None:
        yield RoundReturned(at=at, model=sight.model)


def _account(sight: Sight, known: ModelOperation, at: datetime) -> Iterator[Operation]:
    """Tell the account's most frequent fault; it is restored when an answer comes and none blames it.

    A fault of one request, where others are answered, is that route's oddity.
    """
    said = [verdict for attempt in sight.attempts for verdict in attempt.verdicts.values()]
    answered = any(verdict.kind.conclusive for verdict in said)
    faults = [
        verdict
        for verdict in said
        if verdict.kind is VerdictKind.ACCOUNT and not (answered and verdict.code in OF_ONE_REQUEST)
    ]
    if faults:
        counts = Counter(verdict.code or "account" for verdict in faults)
        code = min(counts, key=lambda name: (-counts[name], name))
        detail = next(verdict.detail for verdict in faults if (verdict.code or "account") == code)
        yield AccountFault(at=at, model=sight.model, code=code, detail=detail)
    elif known.account is not None and any(verdict.kind in _HEARD for verdict in said):
        yield AccountRestored(at=at, model=sight.model)


def _pins(sight: Sight, at: datetime) -> Iterator[Operation]:
    """Tell each route once whose question somebody else answered; the first attempt speaks."""
    told: dict[RouteId, Transcript] = {}
    for attempt in sight.attempts:
        if any(verdict.code in PIN_CODES for verdict in attempt.verdicts.values()):
            told.setdefault(attempt.probe.route, attempt.transcript)
    for route, transcript in sorted(told.items()):
        yield PinViolated(at=at, model=sight.model, route=route, served_by=_stranger(transcript))


def _stranger(transcript: Transcript) -> str | None:
    """Name the provider that answered in the pinned one's place; None for an answer from a cache."""
    pinned = {name.casefold() for name in transcript.provider_names}
    return next((name for name in read_answer(transcript).providers if name.casefold() not in pinned), None)


def _judges(sight: Sight, at: datetime) -> Iterator[Operation]:
    crashes: dict[ContractName, str] = {}
    for attempt in sight.attempts:
        for name, verdict in attempt.verdicts.items():
            if verdict.code == JUDGE_CRASHED:
                crashes.setdefault(name, verdict.detail)
    for name, error in sorted(crashes.items()):
        yield JudgeCrashed(at=at, model=sight.model, contract=name, error=error)


def _controls(
    sight: Sight, patience: Patience, known: ModelOperation, at: datetime, after: ModelState
) -> Iterator[Operation]:
    """Tell whose passes are unproven; where no control ever failed, the time runs from the first round."""
    first = min((route.seen_at for route in after.routes.values() if route.seen_at is not None), default=at)
    for name in sorted(patience.contracts):
        since = after.control_failed_at.get(name, first)
        absent = at - since > patience.control_max_age
        if absent and name not in known.control_absent:
            yield ControlAbsent(at=at, model=sight.model, contract=name)
        elif not absent and name in known.control_absent:
            yield ControlPresent(at=at, model=sight.model, contract=name)


def _silence(
    sight: Sight, patience: Patience, known: ModelOperation, at: datetime, after: ModelState
) -> Iterator[Operation]:
    """Tell who gave no evidence for too long: frozen in every round, not asked, or not listed any more.

    Nobody waits for a listed route that is never asked, or for one that vanished before it said anything.
    """
    for tag, route in sorted(after.routes.items()):
        last = route.streak.last_at
        if last is None and tag in sight.expected & after.named:
            last = route.seen_at
        silent = last is not None and at - last > patience.stale_after
        if silent and tag not in known.stale and (tag in sight.expected or tag not in after.named):
            yield RouteStale(at=at, model=sight.model, route=tag)
        elif not silent and tag in known.stale:
            yield RouteFresh(at=at, model=sight.model, route=tag)
