"""How does a kept transcript lie in its table?"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import datetime

from routecanary.adapters.store.chain import at_text
from routecanary.adapters.store.codec import FORMAT, unpack, verdicts_from_text
from routecanary.adapters.store.connection import Cell
from routecanary.domain.archive import PackedTranscript, StoredTranscript, TranscriptEntry
from routecanary.domain.names import Locale, ModelId, RouteId
from routecanary.domain.probe import ProbeKind
from routecanary.errors import StoreError


def row_from_packed(packed: PackedTranscript, seq: int | None) -> Mapping[str, Cell]:
    """Make the row that keeps a transcript, appended together with event `seq`."""
    entry = packed.entry
    return {
        "id": entry.id,
        "seq": seq,
        "at": at_text(entry.at),
        "model": entry.model,
        "route": entry.route,
        "kind": entry.kind.value,
        "locale": entry.locale,
        "attempt": entry.attempt,
        "failed": entry.failed,
        "verdicts": packed.verdicts,
        "format": FORMAT,
        "data": packed.data,
    }


def entry_from_row(row: sqlite3.Row) -> TranscriptEntry:
    """Read the columns that `transcript` and `transcripts_of_model` share.

    Raises:
        StoreError: A column does not hold what was kept.
    """
    try:
        return TranscriptEntry(
            id=row["id"],
            at=datetime.fromisoformat(row["at"]),
            model=ModelId(row["model"]),
            route=None if row["route"] is None else RouteId(row["route"]),
            kind=ProbeKind(row["kind"]),
            locale=None if row["locale"] is None else Locale(row["locale"]),
            attempt=row["attempt"],
            verdicts=verdicts_from_text(row["verdicts"]),
            size=row["size"],
            seq=row["seq"],
        )
    except ValueError as error:
        raise StoreError(f"the entry of transcript {row['id']} cannot be read: {error}") from error


def stored_from_row(row: sqlite3.Row) -> StoredTranscript:
    """Read a row of `transcript`.

    Raises:
        StoreError: It was altered, or kept in a format of a newer version.
    """
    entry = entry_from_row(row)
    if row["format"] != FORMAT:
        raise StoreError(f"transcript {entry.id} is kept in format {row['format']}; allowed: {FORMAT}")
    return unpack(PackedTranscript(entry=entry, verdicts=row["verdicts"], data=row["data"]))
