"""How does a store keep what users were served, in its file and in memory?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from routecanary.adapters.store.connection import Connection
from routecanary.adapters.store.generation_rows import (
    cells_from_generation,
    generation_from_row,
    microseconds,
)
from routecanary.adapters.store.settling import settle
from routecanary.domain.generation import Generation
from routecanary.domain.names import ModelId

NEWEST: Final = 1000  # of one conversation
_PAGE: Final = 256  # read at once; no read transaction outlives a page
_MOST: Final = 2**63 - 1  # SQLite's largest integer
_LEAP: Final = timedelta(days=1)  # received later than this after now: by a clock that has stepped back since


class SqliteGenerations:
    """The table in a file; a part of `SqliteStore`."""

    _connection: Connection

    def keep_generations(self, generations: Sequence[Generation], *, at: datetime) -> int:
        received = microseconds(at)
        # made before the lock is taken: the daemon's appends wait for it
        cells = {id(each): cells_from_generation(each) for each in generations}
        keys = json.dumps([each.key for each in generations])
        ids = json.dumps([each.id for each in generations if each.id is not None])
        if not generations:
            return 0
        with self._connection.transaction():
            rows = self._connection.rows("known_generations", keys=keys, ids=ids)
            settled = settle({row["number"]: generation_from_row(row) for row in rows}, generations)
            self._connection.insert("drop_generation", [(number,) for number in settled.gone])
            self._connection.insert(
                "complete_generation",
                [(*cells_from_generation(each), number) for number, each in settled.changed],
            )
            self._connection.insert(
                "keep_generation",
                [(received, *(cells.get(id(each)) or cells_from_generation(each))) for each in settled.fresh],
            )
        return len(settled.fresh)

    def generations(
        self,
        model: ModelId,
        *,
        since: datetime,
        until: datetime,
        conversation: str | None = None,
        limit: int | None = None,
    ) -> Iterator[Generation]:
        query = "generations_of_model" if conversation is None else "generations_of_conversation"
        left = _MOST if limit is None else limit
        at, number = microseconds(since), -1
        while left > 0:
            wanted = min(left, _PAGE)
            rows = self._connection.rows(
                query,
                model=model,
                conversation=conversation,
                until=microseconds(until),
                at=at,
                number=number,
                limit=wanted,
            )
            yield from map(generation_from_row, rows)
            if len(rows) < wanted:
                return
            left -= wanted
            at, number = rows[-1]["started_us"], rows[-1]["number"]

    def find_generations(
        self, *, generation: str | None = None, conversation: str | None = None
    ) -> tuple[Generation, ...]:
        if generation is not None:
            rows = self._connection.rows("generation", id=generation)
        elif conversation is not None:
            rows = self._connection.rows("newest_of_conversation", conversation=conversation, limit=NEWEST)
        else:
            return ()
        found = [generation_from_row(row) for row in reversed(rows)]
        return tuple(each for each in found if conversation in {None, each.conversation})

    def generations_after(
        self, number: int, *, received_before: datetime, limit: int
    ) -> tuple[tuple[int, Generation], ...]:
        after, most = min(max(number, 0), _MOST), min(max(limit, 0), _MOST)
        rows = self._connection.rows("generations_after", after=after, limit=most)
        ready = _ready([row["received_us"] for row in rows], received_before)
        return tuple((row["number"], generation_from_row(row)) for row in rows[:ready])

    def forget_generations(self, before: datetime, *, limit: int) -> int:
        most = min(max(limit, 0), _MOST)
        return self._connection.change("forget_generations", before=microseconds(before), limit=most)

    def count_old_generations(self, before: datetime) -> int:
        rows = self._connection.rows("count_old_generations", before=microseconds(before))
        return sum(number for (number,) in rows)


class _Kept(NamedTuple):
    received_us: int
    generation: Generation


class MemoryGenerations:
    """The table in memory, for a caller that holds a lock."""

    def __init__(self) -> None:
        self._kept: dict[int, _Kept] = {}  # by number, in the order of keeping
        self._last = 0

    def keep(self, generations: Sequence[Generation], *, at: datetime) -> int:
        received = microseconds(at)
        for each in generations:
            cells_from_generation(each)  # as storable here as in a file
        keys, ids = {each.key for each in generations}, {each.id for each in generations} - {None}
        known = {
            number: kept.generation
            for number, kept in self._kept.items()
            if kept.generation.key in keys or kept.generation.id in ids
        }
        settled = settle(known, generations)
        for number in settled.gone:
            del self._kept[number]
        for number, each in settled.changed:
            self._kept[number] = _Kept(self._kept[number].received_us, each)
        for each in settled.fresh:
            self._last += 1
            self._kept[self._last] = _Kept(received, each)
        return len(settled.fresh)

    def find(self, **equal: object) -> list[Generation]:
        """List those of which these fields have these values, None for any; the earliest first."""
        found = [
            kept.generation
            for kept in self._kept.values()
            if all(value in (None, getattr(kept.generation, name)) for name, value in equal.items())
        ]
        return sorted(found, key=lambda each: each.started_at)  # stable: the order of keeping decides

    def after(
        self, number: int, *, received_before: datetime, limit: int
    ) -> tuple[tuple[int, Generation], ...]:
        later = [(place, kept) for place, kept in self._kept.items() if place > number][: max(limit, 0)]
        ready = _ready([kept.received_us for _, kept in later], received_before)
        return tuple((place, kept.generation) for place, kept in later[:ready])

    def old(self, before: datetime) -> list[int]:
        return [place for place, kept in self._kept.items() if kept.generation.started_at < before]

    def forget(self, before: datetime, *, limit: int) -> int:
        old = self.old(before)[: max(limit, 0)]
        for place in old:
            del self._kept[place]
        return len(old)


def _ready(received: Iterable[int], before: datetime) -> int:
    """Count those up to the first that was received too late: a reader's place must not pass it.

    One that is dated far ahead, by a clock that has stepped back since, keeps nobody waiting.
    """
    late, leapt = microseconds(before), microseconds(before) + _LEAP // timedelta(microseconds=1)
    count = 0
    for at in received:
        if late <= at <= leapt:
            break
        count += 1
    return count
