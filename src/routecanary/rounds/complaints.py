"""Which complaints were passed on, and what was answered then?

A complaint is kept as a label is: an event that no fold reads. It holds no content; its answer stands beside
it as it was given, with the version of the method, so that a later look can be laid beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from routecanary.complaint.value import METHOD, Complaint, Sureness, Suspect
from routecanary.domain.codec import from_json, to_json
from routecanary.domain.log import StoredDraft, StoredEvent
from routecanary.domain.names import ModelId, RouteId
from routecanary.rounds.ports import EventLog

RECEIVED: Final = "complaint_received"

MOST_READ: Final = 10_000
"""Complaints that are looked through at once, the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A complaint with the answer that was given to it."""

    complaint: Complaint
    sureness: Sureness
    no_fault: float
    suspects: tuple[Suspect, ...] = ()  # the first few
    generations: int = 0
    guessed: bool = False
    incidents: tuple[int, ...] = ()
    asked: tuple[RouteId, ...] = ()  # of the targeted round that was asked for
    method: int = METHOD


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptComplaint:
    """One as the log has it."""

    id: int  # number of its event
    received: Received


def received_draft(received: Received) -> StoredDraft:
    """Make the event of a complaint."""
    complaint = received.complaint
    return StoredDraft(kind=RECEIVED, at=complaint.at, body=to_json(received), model=complaint.model)


def received_from(stored: StoredEvent) -> Received:
    """Read a complaint back.

    Raises:
        StoreError: The body is not what was written.
    """
    return from_json(Received, stored.body)


def complaints_of(
    log: EventLog, model: ModelId | None = None, *, limit: int = MOST_READ
) -> tuple[KeptComplaint, ...]:
    """List the newest complaints that the log holds, the oldest of them first.

    Raises:
        StoreError: The log cannot be read.
    """
    return tuple(
        KeptComplaint(id=stored.seq, received=received_from(stored))
        for stored in log.newest(limit, model, kinds={RECEIVED})
    )


def complaint_of(log: EventLog, number: int) -> KeptComplaint | None:
    """Look one up by its number; None where that is no complaint's.

    Raises:
        StoreError: The log cannot be read.
    """
    for stored in log.read(number - 1, limit=1):
        if stored.seq == number and stored.kind == RECEIVED:
            return KeptComplaint(id=number, received=received_from(stored))
    return None
