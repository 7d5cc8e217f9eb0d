"""What is kept, and in which order?

The event log is one chain per store: each event carries the hash of the one before. The state of a model
is the fold of its events; nothing else is stored of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from routecanary.domain.names import ModelId
from routecanary.domain.probe import Json

CHECKPOINT: Final = "checkpoint"
"""The kind of an event whose body is a model's folded state; a fold may start from it."""

PRUNED: Final = "log_pruned"
"""The kind of an event that announces what is pruned: its body's `through` is the last event that goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The end of the log: the last event's number and hash."""

    seq: int
    hash: str  # SHA-256, 64 hexadecimal digits


EMPTY_LOG: Final = Head(seq=0, hash="0" * 64)
"""The head of a log without events; the first event names its hash as the one before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDraft:
    """An event that is to be appended: a plain JSON body under a kind, dated, of one model or of all."""

    kind: str
    at: datetime  # aware; kept in UTC with microseconds
    body: Mapping[str, Json]
    model: ModelId | None = None  # None = of no single model


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvent:
    """An event as the log gives it back. Its numbers run 1, 2, 3 … without a gap."""

    seq: int
    at: datetime  # UTC
    kind: str
    body: Mapping[str, Json]
    model: ModelId | None
    previous: str  # hash of the event before
    hash: str

    @property
    def head(self) -> Head:
        """The head of the log just after this event."""
        return Head(seq=self.seq, hash=self.hash)


def pruned_through(body: Mapping[str, Json]) -> Head | None:
    """Read which event a `PRUNED` event names; None where it names none."""
    match body:
        case {"through": {"seq": int(seq), "hash": str(digest)}}:
            return Head(seq=seq, hash=digest)
        case _:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruning:
    """What was pruned last: the log up to an event, and transcripts of rounds before two times."""

    at: datetime  # UTC
    through: Head  # `EMPTY_LOG`: no event yet
    passes_before: datetime  # of transcripts that nothing failed
    failures_before: datetime  # of those that something failed


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainBreak:
    """The first place where the log is not what was appended."""

    seq: int  # of the event that does not fit
    problem: str
