"""The store in one SQLite file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from routecanary.adapters.store import pruning
from routecanary.adapters.store.chain import Row, at_text, event_from_row, first_break, link
from routecanary.adapters.store.codec import pack
from routecanary.adapters.store.connection import BUSY_SECONDS, Cell, Connection
from routecanary.adapters.store.deliveries import delivery_from_row, row_from_outgoing, tallies
from routecanary.adapters.store.evidence import entry_from_row, row_from_packed, stored_from_row
from routecanary.adapters.store.generations import SqliteGenerations
from routecanary.domain.archive import PackedTranscript, StoredTranscript, TranscriptEntry
from routecanary.domain.log import (
    CHECKPOINT,
    EMPTY_LOG,
    ChainBreak,
    Head,
    Pruning,
    StoredDraft,
    StoredEvent,
)
from routecanary.domain.names import ContractName, ModelId, RouteId
from routecanary.domain.outbox import Delivery, DeliveryState, Outgoing, Tally
from routecanary.domain.probe import ProbeKind
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict
from routecanary.errors import HeadMovedError

_PAGE: Final = 64  # events read at once; no lock and no read transaction outlives a page
_MOST: Final = 2**63 - 1  # SQLite's largest integer
_START_OF_TIME: Final = datetime.min.replace(tzinfo=UTC)
_END_OF_TIME: Final = datetime.max.replace(tzinfo=UTC)


class SqliteStore(SqliteGenerations):
    """A file that several processes may share, with the meaning of `rounds.ports.Store`. Any thread may call.

    Opening makes the file (mode 0600) and its folder (0700) where they are missing, and brings an older
    file to today's shape. The caller closes it, best as a context manager.

    Raises:
        StoreError: The path cannot be opened as a store; a file that is none is left as it was.
    """

    def __init__(self, path: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self._connection = Connection(path, busy_seconds=busy_seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; may be called twice."""
        self._connection.close()

    def head(self) -> Head:
        for seq, digest in self._connection.rows("head"):
            return Head(seq=seq, hash=digest)
        return EMPTY_LOG

    def append(
        self,
        events: Sequence[StoredDraft],
        expected: Head,
        *,
        transcripts: Sequence[PackedTranscript] = (),
        outgoing: Sequence[Outgoing] = (),
    ) -> Head:
        rows = link(events, expected)
        messages = [row_from_outgoing(each) for each in outgoing]
        kept = [row_from_packed(packed, rows[-1].seq if rows else None) for packed in transcripts]
        with self._connection.transaction():
            head = self.head()
            if head != expected:
                raise HeadMovedError(f"the log's head is {head.seq}, not {expected.seq}: fold again")
            self._connection.insert("append_event", rows)
            self._connection.insert("keep_transcript", kept)
            self._connection.insert("put_outgoing", messages)
        return Head(seq=rows[-1].seq, hash=rows[-1].hash) if rows else expected

    def read(
        self,
        after: int = 0,
        model: ModelId | None = None,
        *,
        kinds: Collection[str] | None = None,
        limit: int | None = None,
    ) -> Iterator[StoredEvent]:
        left = _MOST if limit is None else limit
        after = min(max(after, 0), _MOST)
        while left > 0:
            rows = self._filtered("events_after", model, kinds, after=after, limit=min(left, _PAGE))
            for row in rows:
                yield event_from_row(Row(*row))
            if len(rows) < min(left, _PAGE):
                return
            left -= len(rows)
            after = rows[-1][0]

    def newest(
        self, limit: int, model: ModelId | None = None, *, kinds: Collection[str] | None = None
    ) -> tuple[StoredEvent, ...]:
        rows = self._filtered("newest_events", model, kinds, limit=min(max(limit, 0), _MOST))
        return tuple(event_from_row(Row(*row)) for row in reversed(rows))

    def last_checkpoint(self, model: ModelId) -> StoredEvent | None:
        for row in self._connection.rows("last_event_of_kind", kind=CHECKPOINT, model=model):
            return event_from_row(Row(*row))
        return None

    def models(self) -> tuple[ModelId, ...]:
        return tuple(sorted(ModelId(model) for (model,) in self._connection.rows("models")))

    def count(self, model: ModelId | None = None, *, kinds: Collection[str] | None = None) -> int:
        return sum(number for (number,) in self._filtered("count_events", model, kinds))

    def verify(self) -> ChainBreak | None:
        return first_break(self._all_rows(), self.anchor())

    def anchor(self) -> Head:
        return pruning.anchor(self._connection)

    def last_pruning(self) -> Pruning | None:
        return pruning.last_pruning(self._connection)

    def prunable(self, before: datetime, now: datetime) -> Head | None:
        return pruning.prunable(self._connection, before, now)

    def prune_events(self, through: Head, *, at: datetime) -> int:
        return pruning.prune_events(self._connection, through, at=at)

    def prune_transcripts(
        self, passes_before: datetime, failures_before: datetime, *, at: datetime, limit: int
    ) -> tuple[int, int]:
        return pruning.prune_transcripts(self._connection, passes_before, failures_before, at=at, limit=limit)

    def count_old_transcripts(self, passes_before: datetime, failures_before: datetime) -> tuple[int, int]:
        return pruning.count_old_transcripts(self._connection, passes_before, failures_before)

    def pack(
        self, transcript: Transcript, *, at: datetime, verdicts: Mapping[ContractName, Verdict]
    ) -> PackedTranscript:
        return pack(transcript, at=at, verdicts=verdicts)

    def put(self, transcripts: Sequence[PackedTranscript]) -> None:
        kept = [row_from_packed(packed, None) for packed in transcripts]
        with self._connection.transaction():
            self._connection.insert("keep_transcript", kept)

    def get(self, transcript_id: str) -> StoredTranscript | None:
        for row in self._connection.rows("transcript", id=transcript_id):
            return stored_from_row(row)
        return None

    def find(
        self,
        model: ModelId,
        route: RouteId | None = None,
        *,
        kind: ProbeKind | None = None,
        failed: bool | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Iterator[TranscriptEntry]:
        query = "transcripts_of_model" if route is None else "transcripts_of_route"
        at, number = at_text(until or _END_OF_TIME), _MOST
        while rows := self._connection.rows(
            query,
            model=model,
            route=route,
            kind=kind,
            failed=failed,
            since=at_text(since or _START_OF_TIME),
            at=at,
            number=number,
            limit=_PAGE,
        ):
            yield from map(entry_from_row, rows)
            number, at = rows[-1][0], rows[-1][3]

    def claim(self, channel: str, now: datetime, *, lease: timedelta, horizon: timedelta) -> Delivery | None:
        due = {"channel": channel, "now": at_text(now), "horizon": at_text(now + horizon)}
        if not self._connection.rows("due_outgoing", **due):  # nearly always: no lock is taken then
            return None
        with self._connection.transaction():
            for row in self._connection.rows("due_outgoing", **due):
                leased = {"number": row["number"], "next_at": at_text(now + lease)}
                self._connection.insert("lease_outgoing", [leased])
                return delivery_from_row(row)
        return None

    def delivered(self, delivery: Delivery) -> None:
        self._settle(delivery, DeliveryState.DELIVERED, delivery.at, None)

    def postponed(self, delivery: Delivery, until: datetime, problem: str) -> None:
        self._settle(delivery, DeliveryState.PENDING, until, problem)

    def failed(self, delivery: Delivery, problem: str) -> None:
        self._settle(delivery, DeliveryState.FAILED, delivery.at, problem)

    def tally(self) -> Mapping[str, Tally]:
        return tallies(self._connection.rows("tally_outbox"), self._connection.rows("outbox_problems"))

    def forget_messages(self, before: datetime) -> None:
        self._connection.insert("forget_outgoing", [{"before": at_text(before)}])

    def _settle(
        self, delivery: Delivery, state: DeliveryState, next_at: datetime, problem: str | None
    ) -> None:
        settled = {
            "number": delivery.number,
            "state": state.value,
            "next_at": at_text(next_at),
            "problem": problem,
        }
        self._connection.insert("settle_outgoing", [settled])

    def _all_rows(self) -> Iterator[Row]:
        after = 0
        while rows := self._connection.rows("events_after", after=after, limit=_PAGE):
            yield from (Row(*row) for row in rows)
            after = rows[-1][0]

    def _filtered(
        self, query: str, model: ModelId | None, kinds: Collection[str] | None, **parameters: Cell
    ) -> list[sqlite3.Row]:
        """Run the form of a query that its filters need; each form has the index that serves it."""
        if kinds is not None:
            listed = json.dumps(sorted(kinds))
            return self._connection.rows(query + "_of_kinds", model=model, kinds=listed, **parameters)
        if model is not None:
            return self._connection.rows(query + "_of_model", model=model, **parameters)
        return self._connection.rows(query, **parameters)
