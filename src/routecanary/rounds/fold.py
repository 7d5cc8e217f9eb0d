"""What does the log say? Everything that the house remembers, folded from its events.

Four kinds of things stand in the log: the decision's own events, the operating events, the runtime layer's
entries, and the listings as they changed. A fold starts at each model's last checkpoint, and at the last one
of the canary itself, and is then kept up event by event.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from routecanary.decide.evolve import evolve
from routecanary.domain.codec import from_json, to_json
from routecanary.domain.event import EVENT_NAMES, Event, event_from_json
from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.log import EMPTY_LOG, PRUNED, Head, StoredDraft, StoredEvent
from routecanary.domain.names import ModelId
from routecanary.domain.operating import OperatingState, evolve_operating
from routecanary.domain.operation import OPERATED, operation_from_json
from routecanary.domain.route import Listing
from routecanary.domain.state import ModelState
from routecanary.errors import StoreError
from routecanary.rounds.complaints import RECEIVED
from routecanary.rounds.conditions import Conditions, OpenConditions
from routecanary.rounds.labels import LABELLED
from routecanary.rounds.notices import notices_of
from routecanary.rounds.ports import PrunedLog
from routecanary.rounds.runtime import RUNTIME_KINDS, RuntimeEntries
from routecanary.rounds.studies import STUDY_KINDS

LISTED: Final = "listing_changed"
REMEMBERED: Final = "operating_checkpoint"
"""The kind of an event whose body is `Remembered`; what came before it need not be read for that."""
DECIDED: Final = frozenset(EVENT_NAMES.values())
SAID_ONLY: Final = frozenset({LABELLED, PRUNED, RECEIVED}) | STUDY_KINDS
"""Kinds of events that are read where they are asked for, and change nothing that is folded here."""
KINDS: Final = DECIDED | OPERATED | RUNTIME_KINDS | SAID_ONLY | {LISTED, REMEMBERED}
"""Every kind of event that a log may hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What is folded over the events of all models: a checkpoint of it bounds what a restart reads."""

    operating: OperatingState
    conditions: OpenConditions
    runtime: tuple[RuntimeEntry, ...] = ()


class Fold:
    """States, listings, runtime entries, the canary's own state and what people were told, as of `head`."""

    def __init__(self, log: PrunedLog) -> None:
        self._log = log
        self._loaded = False
        self._begin()

    def _begin(self) -> None:
        """Know nothing."""
        self.head: Head = EMPTY_LOG
        self.states: dict[ModelId, ModelState] = {}
        self.listings: dict[ModelId, Listing] = {}
        self.runtime = RuntimeEntries()
        self.operating = OperatingState()
        self.conditions = Conditions()

    def catch_up(self) -> None:
        """Fold what was appended since the last look.

        Raises:
            StoreError: The log cannot be read, or holds what this version does not know.
        """
        while not (self._loaded and self._follow()):
            anchor = self._log.anchor()
            self._begin()
            self._load()
            self._loaded = self._log.anchor() == anchor  # else pruned while it was read

    def _follow(self) -> bool:
        """Take in what comes after the head; False where it was pruned meanwhile, as after a long sleep."""
        for stored in self._log.read(self.head.seq):
            if stored.seq != self.head.seq + 1:
                return False
            self._take_in(stored)
            self.head = stored.head
        return True

    def _load(self) -> None:
        """Begin at the checkpoints, as of one head."""
        head = self._log.head()
        remembered = next(iter(self._log.newest(1, kinds={REMEMBERED})), None)
        begin = 0 if remembered is None else remembered.seq
        if remembered is not None:
            self._take_in(remembered)
        known: dict[ModelId, int] = {}  # up to which event a model's state is folded
        for model in self._log.models():
            checkpoint = self._log.last_checkpoint(model)
            if checkpoint is not None:
                self._decided(event_from_json(checkpoint.body))
            for listed in self._log.newest(1, model, kinds={LISTED}):
                self._take_in(listed)
            known[model] = 0 if checkpoint is None else checkpoint.seq
            for stored in self._log.read(known[model], model, kinds=DECIDED):
                if stored.seq > begin:
                    break
                self._decided(event_from_json(stored.body))
                known[model] = stored.seq
        for stored in self._log.read(begin, kinds=DECIDED | OPERATED | RUNTIME_KINDS):
            if stored.seq > head.seq:
                break
            self._take_in(stored, decided=stored.model is None or stored.seq > known.get(stored.model, 0))
        self.head = head

    def _take_in(self, stored: StoredEvent, *, decided: bool = True) -> None:
        """Fold one event; with `decided` false, its model's state is past it already."""
        if stored.kind in DECIDED:
            event = event_from_json(stored.body)
            if decided:
                self._decided(event)
            notices_of(self.conditions, event)
        elif stored.kind in RUNTIME_KINDS:
            self.runtime.take_in(stored)
        elif stored.kind in OPERATED:
            operation = operation_from_json(stored.body)
            self.operating = evolve_operating(self.operating, operation)
            notices_of(self.conditions, operation)
        elif stored.kind == REMEMBERED:
            remembered = from_json(Remembered, stored.body)
            self.operating = remembered.operating
            self.conditions = Conditions(remembered.conditions)
            self.runtime = RuntimeEntries(remembered.runtime)
        elif stored.kind == LISTED:
            listing = from_json(Listing, stored.body)
            self.listings[listing.model] = listing
        elif stored.kind not in SAID_ONLY:
            raise StoreError(f"event log: event {stored.seq} is of the unknown kind {stored.kind!r}")

    def _decided(self, event: Event) -> None:
        state = self.states.get(event.model, ModelState.empty(event.model))
        self.states[event.model] = evolve(state, event)


def remembered_draft(
    at: datetime, operating: OperatingState, conditions: Conditions, runtime: RuntimeEntries
) -> StoredDraft:
    """Make the checkpoint of what is folded over all models."""
    remembered = Remembered(operating=operating, conditions=conditions.known(), runtime=runtime.all())
    return StoredDraft(kind=REMEMBERED, at=at, body=to_json(remembered))


def listing_changed(listing: Listing, known: Mapping[ModelId, Listing]) -> tuple[StoredDraft, ...]:
    """Make the event of a listing that differs from the last one kept; none when it does not."""
    last = known.get(listing.model)
    if last is not None and _told(last) == _told(listing):
        return ()
    return (listing_draft(listing),)


def _told(listing: Listing) -> tuple[object, ...]:
    return (listing.routes, listing.accepted_models, listing.gateway)


def listing_draft(listing: Listing) -> StoredDraft:
    """Make the event that keeps a listing."""
    return StoredDraft(kind=LISTED, at=listing.at, body=to_json(listing), model=listing.model)
