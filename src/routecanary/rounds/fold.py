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
from routecanary.domain.log import EMPTY_LOG, Head, StoredDraft, StoredEvent
from routecanary.domain.names import ModelId
from routecanary.domain.operating import OperatingState, evolve_operating
from routecanary.domain.operation import OPERATED, operation_from_json
from routecanary.domain.route import Listing
from routecanary.domain.state import ModelState
from routecanary.errors import StoreError
from routecanary.rounds.conditions import Conditions, OpenConditions
from routecanary.rounds.notices import notices_of
from routecanary.rounds.ports import EventLog
from routecanary.rounds.runtime import RUNTIME_KINDS, RuntimeEntries

LISTED: Final = "listing_changed"
REMEMBERED: Final = "operating_checkpoint"
"""The kind of an event whose body is `Remembered`; what came before it need not be read for that."""
DECIDED: Final = frozenset(EVENT_NAMES.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What is folded over the events of all models: a checkpoint of it bounds what a restart reads."""

    operating: OperatingState
    conditions: OpenConditions


class Fold:
    """States, listings, runtime entries, the canary's own state and what people were told, as of `head`."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._loaded = False
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
        if not self._loaded:
            self._load()
        for stored in self._log.read(self.head.seq):
            self._take_in(stored)
            self.head = stored.head

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
        for stored in self._log.read(kinds=RUNTIME_KINDS):
            if stored.seq > head.seq:
                break
            self._take_in(stored)
        for stored in self._log.read(begin, kinds=DECIDED | OPERATED):
            if stored.seq > head.seq:
                break
            self._take_in(stored, decided=stored.model is None or stored.seq > known.get(stored.model, 0))
        self.head = head
        self._loaded = True

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
        elif stored.kind == LISTED:
            listing = from_json(Listing, stored.body)
            self.listings[listing.model] = listing
        else:
            raise StoreError(f"event log: event {stored.seq} is of the unknown kind {stored.kind!r}")

    def _decided(self, event: Event) -> None:
        state = self.states.get(event.model, ModelState.empty(event.model))
        self.states[event.model] = evolve(state, event)


def remembered_draft(at: datetime, operating: OperatingState, conditions: Conditions) -> StoredDraft:
    """Make the checkpoint of what is folded over all models."""
    remembered = Remembered(operating=operating, conditions=conditions.known())
    return StoredDraft(kind=REMEMBERED, at=at, body=to_json(remembered))


def listing_changed(listing: Listing, known: Mapping[ModelId, Listing]) -> tuple[StoredDraft, ...]:
    """Make the event of a listing that differs from the last one kept; none when it does not."""
    last = known.get(listing.model)
    if last is not None and (last.routes, last.accepted_models) == (listing.routes, listing.accepted_models):
        return ()
    return (StoredDraft(kind=LISTED, at=listing.at, body=to_json(listing), model=listing.model),)
