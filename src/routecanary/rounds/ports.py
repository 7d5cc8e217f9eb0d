"""What does a round need of the world?

Protocols only, sized to what is called; `wiring` chooses the classes behind them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

from routecanary.domain.log import ChainBreak, Head, StoredDraft, StoredEvent
from routecanary.domain.names import ModelId


class EventLog(Protocol):
    """The append-only log. Calls are synchronous, short and may come from any thread.

    Every method raises `StoreError` when the log cannot be read or written.
    """

    def head(self) -> Head:
        """Return the end of the log; that of an empty log is `EMPTY_LOG`."""

    def append(self, events: Sequence[StoredDraft], expected: Head) -> Head:
        """Append all events or none, durable on return, and return the new head.

        Args:
            events: In their order; may be empty.
            expected: The head on which the events were decided. Read it before the fold: what is
                appended in between then moves the head, and the decision is made again.

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
