"""How does what is old leave the file?

Each step is announced by a row of `pruning` in the transaction of its deletions; triggers refuse any other.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from routecanary.adapters.store.chain import at_text
from routecanary.adapters.store.connection import Connection
from routecanary.domain.log import EMPTY_LOG, Head, Pruning

START_OF_TIME: Final = datetime.min.replace(tzinfo=UTC)
NEVER: Final = Pruning(
    at=START_OF_TIME, through=EMPTY_LOG, passes_before=START_OF_TIME, failures_before=START_OF_TIME
)
"""What the next pruning follows in a store of which nothing was pruned."""


def anchor(connection: Connection) -> Head:
    """Read the end of what was pruned; `EMPTY_LOG` where nothing was."""
    for seq, digest in connection.rows("anchor"):
        return Head(seq=seq, hash=digest)
    return EMPTY_LOG


def last_pruning(connection: Connection) -> Pruning | None:
    """Read what was pruned last."""
    for row in connection.rows("last_pruning"):
        return Pruning(
            at=datetime.fromisoformat(row["at"]),
            through=Head(seq=row["through"], hash=row["hash"]),
            passes_before=datetime.fromisoformat(row["passes_before"]),
            failures_before=datetime.fromisoformat(row["failures_before"]),
        )
    return None


def prunable(connection: Connection, before: datetime, now: datetime) -> Head | None:
    """Find the end of the oldest run of events that may go, as `rounds.ports.Retention` says."""
    oldest = before
    for failed in (False, True):
        for (at,) in connection.rows("oldest_transcript", failed=failed):
            oldest = oldest if at is None else min(oldest, datetime.fromisoformat(at))
    young = [
        row["seq"] for row in connection.rows("first_young_event", before=at_text(oldest), now=at_text(now))
    ]
    evidence = [seq for (seq,) in connection.rows("oldest_evidence") if seq is not None]
    ends = [row["seq"] for row in connection.rows("head")] + [seq - 1 for seq in (*young, *evidence)]
    last = min(ends, default=0)
    if last <= anchor(connection).seq:
        return None
    for row in connection.rows("event_hash", seq=last):
        return Head(seq=row["seq"], hash=row["hash"])
    return None


def prune_events(connection: Connection, through: Head, *, at: datetime) -> int:
    """Delete the events up to `through`, which a later event has announced; returns how many."""
    with connection.transaction():
        known = last_pruning(connection) or NEVER
        _note(connection, replace(known, at=at, through=through))
        return connection.change("prune_events", through=through.seq)


def prune_transcripts(
    connection: Connection, passes_before: datetime, failures_before: datetime, *, at: datetime, limit: int
) -> tuple[int, int]:
    """Delete at most `limit` of the transcripts that are older; returns how many passed and failed."""
    with connection.transaction():
        known = last_pruning(connection) or NEVER
        if (passes_before, failures_before) != (known.passes_before, known.failures_before):
            known = replace(known, passes_before=passes_before, failures_before=failures_before)
            _note(connection, replace(known, at=at))
        passes = connection.change(
            "prune_transcripts", failed=False, before=at_text(passes_before), limit=limit
        )
        failures = connection.change(
            "prune_transcripts", failed=True, before=at_text(failures_before), limit=limit - passes
        )
    return passes, failures


def count_old_transcripts(
    connection: Connection, passes_before: datetime, failures_before: datetime
) -> tuple[int, int]:
    """Count the transcripts that are older, those that passed and those that failed."""
    counts = [
        number
        for failed, before in ((False, passes_before), (True, failures_before))
        for (number,) in connection.rows("count_old_transcripts", failed=failed, before=at_text(before))
    ]
    return counts[0], counts[1]


def _note(connection: Connection, pruning: Pruning) -> None:
    number = next((row["number"] for row in connection.rows("last_pruning")), 0)
    connection.insert(
        "note_pruning",
        [
            {
                "number": number + 1,
                "at": at_text(pruning.at),
                "through": pruning.through.seq,
                "hash": pruning.through.hash,
                "passes_before": at_text(pruning.passes_before),
                "failures_before": at_text(pruning.failures_before),
            }
        ],
    )
