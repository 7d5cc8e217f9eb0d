"""What is old goes; what a restart or kept evidence needs stays.

Source: docs/store.md, "What goes, and when".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from routecanary.domain.event import EVENT_NAMES, RoundClosed
from routecanary.domain.log import Head
from routecanary.rounds.act import BY_CLOCK
from routecanary.rounds.record import Ledger
from routecanary.rounds.records import Records

BATCH: Final = 500  # rows deleted in one transaction: other writers wait some ten milliseconds for it
PERIOD: Final = timedelta(days=1)
"""How long after the last pruning the next one is due by itself."""

_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """How much went, or would go."""

    events: int = 0
    passes: int = 0  # transcripts that no contract failed
    failures: int = 0  # transcripts that one failed
    generations: int = 0  # telemetry
    through: Head | None = None  # the last event that went; None = none did

    def __bool__(self) -> bool:
        return bool(self.events or self.passes or self.failures or self.generations)


def prune_if_due(records: Records) -> Pruned | None:
    """Prune once a day; None when it is not time yet.

    It may run in a thread of its own: it uses the store, whose calls any thread may make, and makes itself a
    ledger.

    Raises:
        StoreError: The store failed; what went is gone, what is left is whole.
    """
    now = records.clock.now()
    newest = records.store.newest(1, kinds={EVENT_NAMES[RoundClosed]}) or records.store.newest(1)
    if not newest:
        return None
    last = records.store.last_pruning()
    # a pruning from the future was dated by a wrong clock
    if last is not None and timedelta() <= now - last.at < PERIOD:
        return None
    # nor must a machine that wakes up with a wrong clock find everything old
    believed = min(now, newest[0].at + PERIOD)
    return prune(records, now=believed, actor=BY_CLOCK, reason="daily")


def prune(
    records: Records,
    *,
    now: datetime,
    actor: str,
    reason: str,
    progress: Callable[[Pruned], object] = lambda _: None,
) -> Pruned:
    """Delete what is older than the configuration says.

    Transcripts go first, for an event stays as long as its evidence does.

    Args:
        now: From which ages are counted.
        progress: Called after each short transaction with what has gone so far.
    Raises:
        StoreError: The store failed; what went is gone, what is left is whole.
    """
    store, retention = records.store, records.settings.retention
    passes = failures = generations = 0
    while True:
        forgotten = store.forget_generations(_before(now, retention.generations), limit=BATCH)
        if not forgotten:
            break
        generations += forgotten
        progress(Pruned(generations=generations))
    while True:
        gone = store.prune_transcripts(
            _before(now, retention.passes), _before(now, retention.failures), at=now, limit=BATCH
        )
        passes, failures = passes + gone[0], failures + gone[1]
        progress(Pruned(passes=passes, failures=failures, generations=generations))
        if sum(gone) < BATCH:
            break
    through = store.prunable(_before(now, retention.events), now)
    if through is None:
        return Pruned(passes=passes, failures=failures, generations=generations)
    Ledger(store, records.settings.policy).carry_over(through, now=now, actor=actor, reason=reason)
    events = store.prune_events(through, at=now)
    return Pruned(events=events, passes=passes, failures=failures, generations=generations, through=through)


def would_prune(records: Records) -> Pruned:
    """Count what `prune` would delete now; the events that only old transcripts hold back are not counted."""
    store, retention = records.store, records.settings.retention
    now = records.clock.now()
    passes, failures = store.count_old_transcripts(
        _before(now, retention.passes), _before(now, retention.failures)
    )
    through = store.prunable(_before(now, retention.events), now)
    events = 0 if through is None else through.seq - store.anchor().seq
    generations = store.count_old_generations(_before(now, retention.generations))
    return Pruned(events=events, passes=passes, failures=failures, generations=generations, through=through)


def _before(now: datetime, length: timedelta) -> datetime:
    """Count back from now, no further than the calendar."""
    return max(now - length, _EARLIEST) if now - _EARLIEST > length else _EARLIEST
