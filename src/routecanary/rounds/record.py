"""How does a decision become lasting? The event log first, then the world.

Deciding and appending are one step: where another writer appended meanwhile, what it wrote is folded in and
the decision is made again, on the newer state.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from routecanary.decide.evolve import evolve
from routecanary.decide.step import step
from routecanary.domain.archive import PackedTranscript
from routecanary.domain.event import EVENT_NAMES, Checkpoint, Event, event_to_json
from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.log import PRUNED, Head, StoredDraft
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.operating import OperatingState, evolve_operating
from routecanary.domain.operation import (
    OPERATED,
    OPERATION_NAMES,
    Operation,
    PolicyTaken,
    Settled,
    operation_draft,
    operation_from_json,
    operation_to_json,
)
from routecanary.domain.policy import Policy, policy_to_mapping
from routecanary.domain.redaction import Redactor
from routecanary.domain.round import Line, Round
from routecanary.domain.route import Listing
from routecanary.domain.state import ModelState
from routecanary.errors import HeadMovedError, StoreError
from routecanary.rounds.acted import MODE_CHANGED, TOUCHING, routes_touched
from routecanary.rounds.conditions import Conditions
from routecanary.rounds.fold import (
    DECIDED,
    LISTED,
    REMEMBERED,
    Fold,
    listing_changed,
    listing_draft,
    remembered_draft,
)
from routecanary.rounds.messages import messages_of, outgoing_of
from routecanary.rounds.notices import notices_of
from routecanary.rounds.ports import PrunedLog

ROUNDS_BETWEEN_CHECKPOINTS: Final = 48
"""A fold after a restart reads about a day of rounds at most."""

TRIES: Final = 100
"""Appends lost in a row to other writers before something must be wrong."""

_WIDER: Final = 8  # times, where too few of the last settlements are those of rounds

NO_SECRETS: Final = Redactor()
"""Hides nothing."""

MakeLine = Callable[[datetime, frozenset[RouteId]], Line]
"""The time of deciding and the routes touched by acts since the round began → the line to decide on."""

Observe = Callable[[OperatingState, ModelState, datetime], Sequence[Operation]]
"""How the canary stood before a line, the model's state after it, the line's time → what it shows."""


def nothing_observed(_before: OperatingState, _after: ModelState, _at: datetime) -> Sequence[Operation]:
    """Show nothing, as an act does."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What one line led to."""

    events: tuple[Event, ...]
    state: ModelState  # after it


class Ledger:
    """The log and what it says, and the only way to add to it."""

    def __init__(
        self, log: PrunedLog, policy: Policy, *, channels: Collection[str] = (), hide: Redactor = NO_SECRETS
    ) -> None:
        """Hold the log.

        Args:
            channels: Names of those to whom every message goes.
            hide: What takes secrets out of messages and of operating events.
        """
        self._log = log
        self._fold = Fold(log)
        self._policy = policy
        self._channels = tuple(channels)
        self._hide = hide

    def another(self) -> Ledger:
        """Make one over the same log, for another thread: a ledger is for one at a time."""
        return Ledger(self._log, self._policy, channels=self._channels, hide=self._hide)

    def replace_channels(self, channels: Collection[str], hide: Redactor) -> None:
        """Tell others, and hide other secrets, from the next line on."""
        self._channels = tuple(channels)
        self._hide = hide

    def replace_policy(self, policy: Policy) -> None:
        """Decide by other numbers from the next line on."""
        self._policy = policy

    def head(self) -> Head:
        """Return the log's head, with everything up to it folded in."""
        self._fold.catch_up()
        return self._fold.head

    def state(self, model: ModelId) -> ModelState:
        """Return a model's state as of now; a model without events is empty."""
        self._fold.catch_up()
        return self._fold.states.get(model, ModelState.empty(model))

    def states(self) -> tuple[ModelState, ...]:
        """Return the state of every model that has events, sorted by model."""
        self._fold.catch_up()
        return tuple(state for _, state in sorted(self._fold.states.items()))

    def listing(self, model: ModelId) -> Listing | None:
        """Return the last believed listing of a model."""
        self._fold.catch_up()
        return self._fold.listings.get(model)

    def runtime(self, now: datetime) -> tuple[RuntimeEntry, ...]:
        """List the runtime entries in force, sorted by target."""
        self._fold.catch_up()
        return self._fold.runtime.in_force(now)

    def runtime_entries(self) -> tuple[RuntimeEntry, ...]:
        """List the runtime entries that nobody took back, expired ones too, sorted by target."""
        self._fold.catch_up()
        return self._fold.runtime.all()

    def settlements(self, model: ModelId, limit: int) -> tuple[Settled, ...]:
        """Return what the last rounds of a model, at most `limit`, have cost; oldest first.

        What else was settled for it, a study or a trial, goes by names of its own and is passed over.

        Raises:
            StoreError: The log cannot be read.
        """
        look = limit
        while True:
            found = self._log.newest(look, model, kinds={OPERATION_NAMES[Settled]})
            read = (operation_from_json(stored.body) for stored in found)
            rounds = [
                settled
                for settled in read
                if isinstance(settled, Settled) and settled.round_id.startswith(f"{model} ")
            ]
            if len(rounds) >= limit or len(found) < look:
                return tuple(rounds[-limit:])
            look *= _WIDER

    def operating(self) -> OperatingState:
        """Return how the canary itself stands as of now."""
        self._fold.catch_up()
        return self._fold.operating

    def conditions(self) -> Conditions:
        """Return what is out of order as of now, as people were told; not to be changed."""
        self._fold.catch_up()
        return self._fold.conditions

    def decide(
        self,
        model: ModelId,
        make_line: MakeLine,
        *,
        now: Callable[[], datetime],
        began: Head | None = None,
        listing: Listing | None = None,
        transcripts: Sequence[PackedTranscript] = (),
        operations: Sequence[Operation] = (),
        observe: Observe = nothing_observed,
    ) -> Decision:
        """Decide on one line and append what follows, durable on return.

        Args:
            model: Whose line it is.
            make_line: Called once per try, so that the line carries the time at which it is decided.
            now: The clock's wall time.
            began: The log's head when the round began; acts after it freeze the routes that they touched.
            listing: What the round was made of; kept where it differs from the last one.
            transcripts: Kept together with the events.
            operations: What else happened in the round; they stand before its events, in the same append.
            observe: Called once per try: what the line shows of the canary itself, likewise.
        Raises:
            ClockError: A round from before what the model has already seen; nothing is written.
            StoreError: The log failed; nothing is written.
        """
        for _ in range(TRIES):
            head = self.head()
            state = self.state(model)
            acted = frozenset[RouteId]() if began is None else self._acted(state, began, listing)
            line = make_line(now(), acted)
            events: tuple[Event, ...] = step(state, line, self._policy)
            after = state
            for event in events:
                after = evolve(after, event)
            seen = observe(self._fold.operating, after, events[-1].at)
            noted = [self._hidden(said) for said in (*operations, *self._policy_taken(line), *seen)]
            is_checkpoint = after.rounds != state.rounds and after.rounds % ROUNDS_BETWEEN_CHECKPOINTS == 0
            if is_checkpoint:
                events = (*events, Checkpoint(at=events[-1].at, model=model, state=after))
            drafts = [*map(operation_draft, noted), *map(_draft, events)]
            if listing is not None:
                drafts = [*listing_changed(listing, self._fold.listings), *drafts]
            try:
                self._write(drafts, head, [*noted, *events], transcripts, checkpoint=is_checkpoint)
            except HeadMovedError:
                continue
            return Decision(events=events, state=self.state(model))
        raise StoreError(f"event log: lost {TRIES} appends in a row to other writers")

    def _policy_taken(self, line: Line) -> Iterator[Operation]:
        """Say by which numbers a round is decided, where the last one was decided by others."""
        known = self._fold.operating.policy
        numbers = policy_to_mapping(self._policy)
        if isinstance(line, Round) and (known is None or known.policy != numbers):
            yield PolicyTaken(at=line.at, policy=numbers)

    def note(self, *drafts: StoredDraft) -> None:
        """Append events that follow from no decision, all or none, durable on return.

        Raises:
            StoreError: The log failed; nothing is written.
        """
        self._append(lambda: drafts)

    def carry_over(self, through: Head, *, now: datetime, actor: str, reason: str) -> None:
        """Append what a restart needs of the events up to `through`, and announce that these go.

        Raises:
            StoreError: The log failed; nothing is written.
        """
        announcement = StoredDraft(
            kind=PRUNED,
            at=now,
            body={
                "through": {"seq": through.seq, "hash": through.hash},
                "actor": actor,
                "reason": reason,
            },
        )
        self._append(lambda: [*self._needed(through, now), announcement])

    def _needed(self, through: Head, now: datetime) -> Iterator[StoredDraft]:
        """Say anew what no event after `through` says, as of the fold's head."""
        fold = self._fold
        for model, state in sorted(fold.states.items()):
            checkpoint = self._log.last_checkpoint(model)
            if checkpoint is None or checkpoint.seq <= through.seq:
                yield _draft(Checkpoint(at=now, model=model, state=state))
        for model, listing in sorted(fold.listings.items()):
            if all(listed.seq <= through.seq for listed in self._log.newest(1, model, kinds={LISTED})):
                yield listing_draft(listing)
        if all(known.seq <= through.seq for known in self._log.newest(1, kinds={REMEMBERED})):
            yield remembered_draft(now, fold.operating, fold.conditions, fold.runtime)

    def operate(self, decide: Callable[[OperatingState], Sequence[Operation]]) -> tuple[Operation, ...]:
        """Append the operating events that follow from how the canary stands, all or none.

        Args:
            decide: How it stands now → what happens; called once per try, so that it never decides on what
                another writer has changed meanwhile.
        Returns:
            What was appended.
        Raises:
            StoreError: The log failed; nothing is written.
        """
        happened: Sequence[Operation] = ()

        def drafts() -> list[StoredDraft]:
            nonlocal happened
            happened = decide(self._fold.operating)
            return [operation_draft(operation) for operation in happened]

        self._append(drafts)
        return tuple(happened)

    def _append(self, make: Callable[[], Sequence[StoredDraft]]) -> None:
        """Append what `make` says as of the head that it is appended to; nothing where it says nothing."""
        for _ in range(TRIES):
            head = self.head()
            drafts = make()
            if not drafts:
                return
            happened: list[Operation] = []
            clean: list[StoredDraft] = []
            for draft in drafts:
                if draft.kind in OPERATED:
                    happened.append(self._hidden(operation_from_json(draft.body)))
                    clean.append(operation_draft(happened[-1]))
                else:
                    clean.append(draft)
            try:
                self._write(clean, head, happened)
            except HeadMovedError:
                continue
            return
        raise StoreError(f"event log: lost {TRIES} appends in a row to other writers")

    def _write(
        self,
        drafts: Sequence[StoredDraft],
        head: Head,
        happened: Sequence[Event | Operation],
        transcripts: Sequence[PackedTranscript] = (),
        *,
        checkpoint: bool = False,
    ) -> None:
        """Append events with the messages that tell of them, in one transaction.

        Args:
            head: Folded in already.
            happened: What a person may be told of, in the order of the events.
            checkpoint: Keep also what is folded over all models.
        """
        conditions = self._fold.conditions.copy()
        notices = [notice for event in happened for notice in notices_of(conditions, event)]
        if checkpoint:
            operating = self._fold.operating
            for event in happened:
                if isinstance(event, Operation):
                    operating = evolve_operating(operating, event)
            drafts = [*drafts, remembered_draft(drafts[-1].at, operating, conditions, self._fold.runtime)]
        messages = messages_of(notices, after=head, sequence=head.seq + len(drafts))
        self._log.append(
            drafts, head, transcripts=transcripts, outgoing=outgoing_of(messages, self._channels, self._hide)
        )

    def _hidden(self, operation: Operation) -> Operation:
        """Take secrets out of what an operating event says: an error may quote them."""
        return operation_from_json(json.loads(self._hide(json.dumps(operation_to_json(operation)))))

    def _acted(self, state: ModelState, began: Head, listing: Listing | None) -> frozenset[RouteId]:
        """List the routes of a model that a person touched after a head.

        The model's very first line, which puts it into the configured mode, found no route to touch.
        """
        events = list(self._log.read(began.seq, kinds=TOUCHING))
        if any(stored.kind == MODE_CHANGED and stored.model == state.model for stored in events):
            for first in self._log.read(0, state.model, kinds=DECIDED, limit=1):
                events = [stored for stored in events if stored.seq != first.seq]
        return routes_touched(events, state, listing)


def _draft(event: Event) -> StoredDraft:
    return StoredDraft(
        kind=EVENT_NAMES[type(event)], at=event.at, body=event_to_json(event), model=event.model
    )
