"""A store for as long as the process lives: the same rules, nothing on disk."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from threading import RLock
from types import TracebackType
from typing import Self

from routecanary.adapters.store.chain import Row, at_text, event_from_row, first_break, link
from routecanary.adapters.store.codec import pack, unpack
from routecanary.adapters.store.deliveries import MemoryOutbox, row_from_outgoing
from routecanary.adapters.store.generations import NEWEST, MemoryGenerations
from routecanary.adapters.store.pruning import NEVER
from routecanary.domain.archive import PackedTranscript, StoredTranscript, TranscriptEntry
from routecanary.domain.generation import Generation
from routecanary.domain.log import (
    CHECKPOINT,
    EMPTY_LOG,
    PRUNED,
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
from routecanary.errors import HeadMovedError, StoreError


class MemoryStore:
    """Lists and a dict, with the meaning of `rounds.ports.Store`. One lock; any thread may call."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._rows: list[Row] = []  # those after the anchor
        self._pruning: Pruning | None = None
        self._transcripts: dict[str, PackedTranscript] = {}  # in the order of keeping
        self._outbox = MemoryOutbox()
        self._generations = MemoryGenerations()
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
        after, given = max(after, 0), 0
        while limit is None or given < limit:
            with self._lock:
                index = max(after - self.anchor().seq, 0)
                if index >= len(self._rows):
                    return
                row = self._rows[index]
            after = row.seq
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
        return first_break(self._rows, self.anchor())

    def anchor(self) -> Head:
        self._check_open()
        return EMPTY_LOG if self._pruning is None else self._pruning.through

    def last_pruning(self) -> Pruning | None:
        self._check_open()
        return self._pruning

    def prunable(self, before: datetime, now: datetime) -> Head | None:
        with self._lock:
            self._check_open()
            kept = [packed.entry for packed in self._transcripts.values()]
            oldest = at_text(min([before, *(entry.at for entry in kept)]))
            evidence = min((entry.seq for entry in kept if entry.seq is not None), default=None)
            last: Row | None = None
            for row in self._rows:
                if oldest <= row.at <= at_text(now) or (evidence is not None and row.seq >= evidence):
                    break
                last = row
            return None if last is None else Head(seq=last.seq, hash=last.hash)

    def prune_events(self, through: Head, *, at: datetime) -> int:
        with self._lock:
            count = through.seq - self.anchor().seq
            known = self._rows[count - 1] if 0 < count <= len(self._rows) else None
            if count == 0:
                return 0
            announced = any(row.kind == PRUNED for row in self._rows[max(count, 0) :])
            if known is None or known.hash != through.hash or not announced:
                raise StoreError(
                    "the store in memory refused a row: "
                    "a pruning must follow the last one, and the event that announces it"
                )
            entries = (packed.entry for packed in self._transcripts.values())
            if any(entry.seq is not None and entry.seq <= through.seq for entry in entries):
                raise StoreError("the store in memory refused a row: a kept transcript names an event")
            self._pruning = replace(self._pruning or NEVER, at=at, through=through)
            del self._rows[:count]
            return count

    def prune_transcripts(
        self, passes_before: datetime, failures_before: datetime, *, at: datetime, limit: int
    ) -> tuple[int, int]:
        with self._lock:
            self._check_open()
            self._pruning = replace(
                self._pruning or NEVER, at=at, passes_before=passes_before, failures_before=failures_before
            )
            old = self._old(passes_before, failures_before)
            old.sort(key=lambda packed: packed.entry.failed)
            for packed in old[:limit]:
                del self._transcripts[packed.entry.id]
            failures = sum(packed.entry.failed for packed in old[:limit])
            return len(old[:limit]) - failures, failures

    def count_old_transcripts(self, passes_before: datetime, failures_before: datetime) -> tuple[int, int]:
        with self._lock:
            old = self._old(passes_before, failures_before)
            failures = sum(packed.entry.failed for packed in old)
            return len(old) - failures, failures

    def _old(self, passes_before: datetime, failures_before: datetime) -> list[PackedTranscript]:
        self._check_open()
        return [
            packed
            for packed in self._transcripts.values()
            if packed.entry.at < (failures_before if packed.entry.failed else passes_before)
        ]

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

    def keep_generations(self, generations: Sequence[Generation], *, at: datetime) -> int:
        with self._lock:
            self._check_open()
            return self._generations.keep(generations, at=at)

    def generations(
        self,
        model: ModelId,
        *,
        since: datetime,
        until: datetime,
        conversation: str | None = None,
        limit: int | None = None,
    ) -> Iterator[Generation]:
        with self._lock:
            self._check_open()
            found = self._generations.find(model=model, conversation=conversation)
        window = [each for each in found if since <= each.started_at < until]
        yield from window if limit is None else window[: max(limit, 0)]

    def find_generations(
        self, *, generation: str | None = None, conversation: str | None = None
    ) -> tuple[Generation, ...]:
        with self._lock:
            self._check_open()
            if generation is None and conversation is None:
                return ()
            return tuple(self._generations.find(id=generation, conversation=conversation)[-NEWEST:])

    def generations_after(
        self, number: int, *, received_before: datetime, limit: int
    ) -> tuple[tuple[int, Generation], ...]:
        with self._lock:
            self._check_open()
            return self._generations.after(number, received_before=received_before, limit=limit)

    def forget_generations(self, before: datetime, *, limit: int) -> int:
        with self._lock:
            self._check_open()
            return self._generations.forget(before, limit=limit)

    def count_old_generations(self, before: datetime) -> int:
        with self._lock:
            self._check_open()
            return len(self._generations.old(before))

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
