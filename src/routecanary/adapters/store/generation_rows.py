"""How does a generation become a row, and again a generation?"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

from routecanary.adapters.store.chain import name_text
from routecanary.adapters.store.connection import Cell
from routecanary.domain.generation import Generation, Source
from routecanary.domain.names import Locale, ModelId, RouteId
from routecanary.errors import StoreError

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_MOST: Final = 2**63 - 1  # SQLite's largest integer


def microseconds(at: datetime) -> int:
    """Count from 1970 to an instant.

    Raises:
        StoreError: It has no zone.
    """
    if at.utcoffset() is None:
        raise StoreError(f"a time without a zone cannot be stored: {at.isoformat()}")
    return (at - _EPOCH) // _MICROSECOND


def cells_from_generation(generation: Generation) -> tuple[Cell, ...]:
    """Make the cells of a row, in the order of the table from `key` on.

    Raises:
        StoreError: A value is not storable.
    """
    written = generation.list_written_at
    return (
        name_text(generation.key, "a generation's key"),
        generation.source.value,
        name_text(generation.model, "a generation's model"),
        microseconds(generation.started_at),
        _text(generation.id, "id"),
        _text(generation.provider, "provider"),
        _tags(generation.candidates),
        _tags(generation.carried),
        _text(generation.unchanged, "reason"),
        None if written is None else microseconds(written),
        _count(generation.ttft_ms),
        _count(generation.duration_ms),
        _count(generation.status),
        _text(generation.finish_reason, "finish reason"),
        None if generation.empty is None else int(generation.empty),
        _count(generation.prompt_tokens),
        _count(generation.completion_tokens),
        _text(generation.conversation, "conversation"),
        _text(generation.locale, "locale"),
    )


def generation_from_row(row: sqlite3.Row) -> Generation:
    """Read a generation back.

    Raises:
        StoreError: The row is not what is written here.
    """
    try:
        written, empty, locale = row["list_written_us"], row["empty"], row["locale"]
        return Generation(
            key=row["key"],
            source=Source(row["source"]),
            model=ModelId(row["model"]),
            started_at=_instant(row["started_us"]),
            id=row["id"],
            provider=row["provider"],
            candidates=_routes(row["candidates"]),
            carried=_routes(row["carried"]),
            unchanged=row["unchanged"],
            list_written_at=None if written is None else _instant(written),
            ttft_ms=row["ttft_ms"],
            duration_ms=row["duration_ms"],
            status=row["status"],
            finish_reason=row["finish_reason"],
            empty=None if empty is None else bool(empty),
            prompt_tokens=row["prompt_tokens"],
            completion_tokens=row["completion_tokens"],
            conversation=row["conversation"],
            locale=None if locale is None else Locale(locale),
        )
    except (ValueError, OverflowError) as error:
        raise StoreError(f"generation {row['number']} cannot be read: {error}") from error


def _text(text: str | None, what: str) -> str | None:
    return None if text is None else name_text(text, f"a generation's {what}")


def _count(number: int | None) -> int | None:
    if number is not None and not 0 <= number <= _MOST:
        raise StoreError("a generation's number cannot be stored; allowed: 0 to 2^63 - 1")
    return number


def _tags(routes: Iterable[RouteId]) -> str | None:
    """Join tags, which hold no space; None where there are none."""
    tags = sorted(routes)
    joined = " ".join(name_text(tag, "a generation's route") for tag in tags)
    if joined.split() != tags:
        raise StoreError(f"a generation's routes cannot be stored: {joined[:120]!a}; allowed: tags")
    return joined or None


def _routes(joined: str | None) -> frozenset[RouteId]:
    return frozenset(map(RouteId, joined.split())) if joined else frozenset()


def _instant(count: int) -> datetime:
    return _EPOCH + count * _MICROSECOND
