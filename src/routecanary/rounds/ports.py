"""What does a round need of the world?

Protocols only, sized to what is called; `wiring` chooses the classes behind them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Final, Protocol

from routecanary.domain.archive import PackedTranscript, StoredTranscript, TranscriptEntry
from routecanary.domain.generation import Generation
from routecanary.domain.guardrail import CanaryKey, Coverage, Guardrail
from routecanary.domain.log import ChainBreak, Head, Pruning, StoredDraft, StoredEvent
from routecanary.domain.names import ContractName, ModelId, RouteId
from routecanary.domain.outbox import Delivery, Outgoing, Tally
from routecanary.domain.probe import Json, Probe, ProbeKind
from routecanary.domain.route import Listing
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict


class EventLog(Protocol):
    """The append-only log. Calls are synchronous, short and may come from any thread.

    Every method raises `StoreError` when the log cannot be read or written.
    """

    def head(self) -> Head:
        """Return the end of the log; that of an empty log is `EMPTY_LOG`."""

    def append(
        self,
        events: Sequence[StoredDraft],
        expected: Head,
        *,
        transcripts: Sequence[PackedTranscript] = (),
        outgoing: Sequence[Outgoing] = (),
    ) -> Head:
        """Append all events or none, durable on return, and return the new head.

        Args:
            events: In their order; may be empty.
            expected: The head on which the events were decided. Read it before the fold: what is
                appended in between then moves the head, and the decision is made again.
            transcripts: Kept with the events, or not at all.
            outgoing: Messages that tell of the events, likewise; no two of one id for one channel.

        Raises:
            HeadMovedError: Another writer appended first; nothing was written.
            StoreError: An event is not storable (a body over 8 MiB or not plain JSON, a time without a
                zone), or the store failed; nothing was written.
        """

    def read(
        self,
        after: int = 0,
        model: ModelId | None = None,
        *,
        kinds: Collection[str] | None = None,
        limit: int | None = None,
    ) -> Iterator[StoredEvent]:
        """Yield events in order, each checked against its own hash.

        Args:
            after: Number of the last event that is already known; 0 for all.
            model: Only events of this model; None for all, also those of no model.
            kinds: Only events of these kinds; None for all.
            limit: At most so many; None for all. What is appended meanwhile is seen too.
        """

    def newest(
        self, limit: int, model: ModelId | None = None, *, kinds: Collection[str] | None = None
    ) -> tuple[StoredEvent, ...]:
        """Return the last `limit` events that pass the filters of `read`, oldest first."""

    def last_checkpoint(self, model: ModelId) -> StoredEvent | None:
        """Return the newest `checkpoint` event of a model; a fold reads on after its number."""

    def models(self) -> tuple[ModelId, ...]:
        """Return every model that has an event, sorted."""

    def count(self, model: ModelId | None = None, *, kinds: Collection[str] | None = None) -> int:
        """Count the events that pass the filters of `read`."""

    def verify(self) -> ChainBreak | None:
        """Recompute the whole chain; return its first break, None when it is whole."""


class PrunedLog(EventLog, Protocol):
    """A log whose beginning may be gone."""

    def anchor(self) -> Head:
        """Return the last event that was pruned, to which the first one left is linked; else `EMPTY_LOG`."""


class TranscriptStore(Protocol):
    """The evidence. Calls are synchronous and may come from any thread.

    Every method raises `StoreError` when the store cannot be read or written.
    """

    def pack(
        self, transcript: Transcript, *, at: datetime, verdicts: Mapping[ContractName, Verdict]
    ) -> PackedTranscript:
        """Make a transcript ready for keeping; nothing is written yet.

        Its `entry.id` can be named in an event before both are appended. Best done as each probe ends: it
        is most of the cost, and a packed transcript takes a fraction of the memory.

        Args:
            transcript: It names its model.
            at: The round's time, aware.
            verdicts: What each contract said of this attempt.

        Raises:
            StoreError: It names no model, is over 64 MiB, or holds what no JSON can.
        """

    def put(self, transcripts: Sequence[PackedTranscript]) -> None:
        """Keep all of them or none, without events; one that is there already stays as it is."""

    def get(self, transcript_id: str) -> StoredTranscript | None:
        """Read one back, checked against the hash in its id; None where there is none.

        Raises:
            StoreError: Its bytes were altered.
        """

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
        """Yield the entries that pass all filters, the newest round first, last kept first.

        Args:
            model: The model asked.
            route: Only this route's; None for all.
            kind: Only of this probe.
            failed: Only those where a contract failed, or where none did.
            since: Rounds at or after this time.
            until: Rounds at or before this time.
        """


class Outbox(Protocol):
    """Messages on their way. Calls are synchronous and short, and may come from any thread and process.

    Every method raises `StoreError` when the store cannot be read or written.
    """

    def claim(self, channel: str, now: datetime, *, lease: timedelta, horizon: timedelta) -> Delivery | None:
        """Take the oldest message of a channel that is due; None when none is.

        It counts as an attempt at once, and is not due again before `lease` has passed: whoever dies while
        delivering leaves it to the next.

        Args:
            horizon: A message that is to wait longer than this was postponed by a clock that has stepped
                back since, and is due now.
        """

    def delivered(self, delivery: Delivery) -> None:
        """Note that the channel took it."""

    def postponed(self, delivery: Delivery, until: datetime, problem: str) -> None:
        """Note that it did not, and when to try again."""

    def failed(self, delivery: Delivery, problem: str) -> None:
        """Note that it did not, and that nobody will try again."""

    def tally(self) -> Mapping[str, Tally]:
        """Count the messages of every channel that has any, sorted by channel."""

    def forget_messages(self, before: datetime) -> None:
        """Drop what was written before a time and is not pending."""


class Retention(Protocol):
    """What is old may go, and the chain of what is left can still be checked.

    Every method raises `StoreError` when the store cannot be read or written.
    """

    def last_pruning(self) -> Pruning | None:
        """Return what was pruned last; None where nothing ever was."""

    def prunable(self, before: datetime, now: datetime) -> Head | None:
        """Find the last event of the oldest run of events that may go; None where none may.

        A run ends before the first event that is not older than `before`, before the events of the oldest
        transcript that is kept, and at the log's head. An event dated after `now` ends no run: a clock that
        leapt ahead must not keep everything for ever.
        """

    def prune_events(self, through: Head, *, at: datetime) -> int:
        """Delete all events up to `through`, and return how many.

        Raises:
            StoreError: There is no such event, a kept transcript names one that would go, or no later
                `PRUNED` event says so; nothing was deleted.
        """

    def prune_transcripts(
        self, passes_before: datetime, failures_before: datetime, *, at: datetime, limit: int
    ) -> tuple[int, int]:
        """Delete transcripts of rounds before these times, at most `limit` in one short transaction.

        Args:
            passes_before: For those that no contract failed.
            failures_before: For those that one failed.
            at: Now.
        Returns:
            How many went, of those that passed and of those that failed; both 0 when none is left to go.
        """

    def count_old_transcripts(self, passes_before: datetime, failures_before: datetime) -> tuple[int, int]:
        """Count what `prune_transcripts` would delete in the end."""


class Generations(Protocol):
    """What users were served. Calls are synchronous and may come from any thread and process.

    Every method raises `StoreError` when the store cannot be read or written.
    """

    def keep_generations(self, generations: Sequence[Generation], *, at: datetime) -> int:
        """Keep all of them or none, durable on return and received at `at`; return how many were not known.

        One whose key or gateway id is known completes what is kept: what was missing is filled in, what was
        said stays.

        Raises:
            StoreError: A value is not storable, or the store failed; nothing was kept.
        """

    def generations(
        self,
        model: ModelId,
        *,
        since: datetime,
        until: datetime,
        conversation: str | None = None,
        limit: int | None = None,
    ) -> Iterator[Generation]:
        """Yield a model's generations with `since <= started_at < until`, the earliest first."""

    def find_generations(
        self, *, generation: str | None = None, conversation: str | None = None
    ) -> tuple[Generation, ...]:
        """Return those of one gateway id, or of one conversation (the newest thousand), earliest first."""

    def generations_after(
        self, number: int, *, received_before: datetime, limit: int
    ) -> tuple[tuple[int, Generation], ...]:
        """Return those kept after `number`, in the order of keeping, each with its number.

        They end before the first that was not received before that time, so a reader that goes on after the
        last number sees each once, some time after it was told first and may have been completed.
        """

    def forget_generations(self, before: datetime, *, limit: int) -> int:
        """Delete those that started before a time, at most `limit`; return how many went."""

    def count_old_generations(self, before: datetime) -> int:
        """Count what `forget_generations` would delete in the end."""


class Channel(Protocol):
    """One way to a person."""

    @property
    def name(self) -> str:
        """Under which its messages lie in the outbox."""

    async def deliver(self, delivery: Delivery) -> None:
        """Hand a message over, within the channel's own time.

        Raises:
            DeliveryError: It was not taken.
        """


class Heartbeat(Protocol):
    """Somebody who notices when nothing comes any more."""

    async def beat(self) -> None:
        """Show a sign of life, within its own time; raises `DeliveryError` when nobody saw it."""


class Store(PrunedLog, TranscriptStore, Outbox, Retention, Generations, Protocol):
    """All in one place, so that events, their transcripts and messages are kept together."""


class Gateway(Protocol):
    """The gateway, as a round asks it. Raises `GatewayError` where it cannot be asked for a listing."""

    async def listing(self, model: ModelId) -> Listing:
        """Discover the routes of a model now."""

    async def ask(self, probe: Probe) -> Transcript:
        """Ask one probe and keep whatever comes; a provider's failure is never raised."""


class GuardrailApi(Protocol):
    """The account's guardrails, for whoever may manage it. Raises `GatewayError` where that cannot be done.

    What it does not tell clearly, or tells in another shape than is known, it does not tell.
    """

    async def guardrail(self, guardrail: str) -> Guardrail:
        """Read a guardrail as it stands now."""

    async def canary(self) -> CanaryKey:
        """Find out who the canary's own key is."""

    async def coverage(self, guardrail: Guardrail, canary: CanaryKey) -> Coverage:
        """Find out whom a guardrail covers, with the workspaces of the guardrail and of the key looked at."""

    async def replace_ignored(self, guardrail: str, ignored: Sequence[str]) -> None:
        """Replace the whole list of ignored providers.

        Raises:
            WriteRefusedError: Nothing was changed.
            GatewayError: Whether it was changed is not known.
        """


class SnapshotFile(Protocol):
    """Where applications read what to avoid."""

    def held(self) -> AbstractContextManager[None]:
        """Keep every other writer waiting; raises `SnapshotError` when that takes too long."""

    def write(self, snapshot: Mapping[str, Json]) -> None:
        """Replace the document; raises `SnapshotError` when it cannot be written."""


class Progress(Protocol):
    """Whoever watches a round while it runs."""

    def planned(self, probes: Sequence[Probe]) -> None: ...

    def answered(self, probe: Probe, transcript: Transcript) -> None: ...

    def judged(self, probe: Probe, verdicts: Mapping[ContractName, Verdict]) -> None: ...


class Unwatched:
    """Nobody watches."""

    def planned(self, probes: Sequence[Probe]) -> None: ...

    def answered(self, probe: Probe, transcript: Transcript) -> None: ...

    def judged(self, probe: Probe, verdicts: Mapping[ContractName, Verdict]) -> None: ...


UNWATCHED: Final = Unwatched()
