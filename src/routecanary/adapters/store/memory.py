"""A store for as long as the process lives: the same rules, nothing on disk."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from threading import RLock
from types import TracebackType
from typing import Self

from routecanary.adapters.store.chain import Row, event_from_row, first_break, link
from routecanary.adapters.store.codec import pack, unpack
from routecanary.adapters.store.deliveries import MemoryOutbox, row_from_outgoing
from routecanary.domain.archive import PackedTranscript, StoredTranscript, TranscriptEntry
from routecanary.domain.log import CHECKPOINT, EMPTY_LOG, ChainBreak, Head, StoredDraft, StoredEvent
from routecanary.domain.names import ContractName, ModelId, RouteId
from routecanary.domain.outbox import Delivery, DeliveryState, Outgoing, Tally
from routecanary.domain.probe import ProbeKind
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict
from routecanary.errors import HeadMovedError, StoreError


class MemoryStore:
    """Lists and a dict, with the meaning of `rounds.ports.Store`. One lock; any thread may call."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._rows: list[Row] = []
        self._transcripts: dict[str, PackedTranscript] = {}  # in the order of keeping
        self._outbox = MemoryOutbox()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Refuse every later call; may be called twice."""
        self._closed = True

    def head(self) -> Head:
        self._check_open()
        return Head(seq=self._rows[-1].seq, hash=self._rows[-1].hash) if self._rows else EMPTY_LOG

    def append(
        self,
        events: Sequence[StoredDraft],
        expected: Head,
        *,
        transcripts: Sequence[PackedTranscript] = (),
        outgoing: Sequence[Outgoing] = (),
    ) -> Head:
        rows = link(events, expected)
        for each in outgoing:
            row_from_outgoing(each)  # as storable here as in a file
        with self._lock:
            head = self.head()
            if head != expected:
                raise HeadMovedError(f"the log's head is {head.seq}, not {expected.seq}: fold again")
            self._outbox.put(outgoing)
            self._keep(transcripts, rows[-1].seq if rows else None)
            self._rows.extend(rows)
            return self.head()

    def read(
        self,
        after: int = 0,
        model: ModelId | None = None,
        *,
        kinds: Collection[str] | None = None,
        limit: int | None = None,
    ) -> Iterator[StoredEvent]:
        self._check_open()
        index, given = max(after, 0), 0
        while index < len(self._rows) and (limit is None or given < limit):
            row = self._rows[index]
            index += 1
            if _passes(row, model, kinds):
                given += 1
                yield event_from_row(row)

    def newest(
        self, limit: int, model: ModelId | None = None, *, kinds: Collection[str] | None = None
    ) -> tuple[StoredEvent, ...]:
        self._check_open()
        found: list[StoredEvent] = []
        for row in reversed(self._rows):
            if len(found) >= limit:
                break
            if _passes(row, model, kinds):
                found.append(event_from_row(row))
        return tuple(reversed(found))

    def last_checkpoint(self, model: ModelId) -> StoredEvent | None:
        return next(iter(self.newest(1, model, kinds={CHECKPOINT})), None)

    def models(self) -> tuple[ModelId, ...]:
        self._check_open()
        return tuple(sorted({ModelId(row.model) for row in self._rows if row.model is not None}))

    def count(self, model: ModelId | None = None, *, kinds: Collection[str] | None = None) -> int:
        self._check_open()
        return sum(_passes(row, model, kinds) for row in self._rows)

    def verify(self) -> ChainBreak | None:
        self._check_open()
        return first_break(self._rows)

    def pack(
        self, transcript: Transcript, *, at: datetime, verdicts: Mapping[ContractName, Verdict]
    ) -> PackedTranscript:
        return pack(transcript, at=at, verdicts=verdicts)

    def put(self, transcripts: Sequence[PackedTranscript]) -> None:
        with self._lock:
            self._check_open()
            self._keep(transcripts, None)

    def get(self, transcript_id: str) -> StoredTranscript | None:
        self._check_open()
        kept = self._transcripts.get(transcript_id)
        if kept is None:
            return None
        return unpack(kept)

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
        with self._lock:
            self._check_open()
            kept = [packed.entry for packed in self._transcripts.values()]
        found = [
            entry
            for entry in kept
            if entry.model == model
            and (route is None or entry.route == route)
            and (kind is None or entry.kind == kind)
            and (failed is None or entry.failed == failed)
            and (since is None or entry.at >= since)
            and (until is None or entry.at <= until)
        ]
        found.sort(key=lambda entry: entry.at)  # stable: the order of keeping decides among equals
        yield from reversed(found)

    def claim(self, channel: str, now: datetime, *, lease: timedelta, horizon: timedelta) -> Delivery | None:
        with self._lock:
            self._check_open()
            return self._outbox.claim(channel, now, lease=lease, horizon=horizon)

    def delivered(self, delivery: Delivery) -> None:
        self._settle(delivery, DeliveryState.DELIVERED, delivery.at, None)

    def postponed(self, delivery: Delivery, until: datetime, problem: str) -> None:
        self._settle(delivery, DeliveryState.PENDING, until, problem)

    def failed(self, delivery: Delivery, problem: str) -> None:
        self._settle(delivery, DeliveryState.FAILED, delivery.at, problem)

    def tally(self) -> Mapping[str, Tally]:
        with self._lock:
            self._check_open()
            return self._outbox.tally()

    def forget_messages(self, before: datetime) -> None:
        with self._lock:
            self._check_open()
            self._outbox.forget(before)

    def _settle(
        self, delivery: Delivery, state: DeliveryState, next_at: datetime, problem: str | None
    ) -> None:
        with self._lock:
            self._check_open()
            self._outbox.settle(delivery, state, next_at, problem)

    def _keep(self, transcripts: Sequence[PackedTranscript], seq: int | None) -> None:
        for packed in transcripts:
            self._transcripts.setdefault(
                packed.entry.id, replace(packed, entry=replace(packed.entry, seq=seq))
            )

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("the store in memory is closed")


def _passes(row: Row, model: ModelId | None, kinds: Collection[str] | None) -> bool:
    return (model is None or row.model == model) and (kinds is None or row.kind in kinds)
