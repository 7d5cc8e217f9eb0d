"""How does a message on its way lie in its table, and how in memory?"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from routecanary.adapters.store.chain import at_text, name_text
from routecanary.adapters.store.connection import Cell
from routecanary.domain.outbox import Delivery, DeliveryState, Outgoing, Tally
from routecanary.errors import StoreError

MAX_MESSAGE: Final = 8 * 1024 * 1024  # bytes, as of an event


def row_from_outgoing(outgoing: Outgoing) -> Mapping[str, Cell]:
    """Make the row that keeps a message.

    Raises:
        StoreError: It is not storable.
    """
    if not outgoing.body.isascii() or len(outgoing.body) > MAX_MESSAGE:
        raise StoreError(f"a message is not ASCII, or longer than {MAX_MESSAGE} bytes")
    return {
        "message": name_text(outgoing.message, "a message's id"),
        "channel": name_text(outgoing.channel, "a channel's name"),
        "at": at_text(outgoing.at),
        "body": outgoing.body,
    }


def delivery_from_row(row: sqlite3.Row) -> Delivery:
    """Read a message that was just claimed."""
    return Delivery(
        number=row["number"],
        message=row["message"],
        channel=row["channel"],
        at=datetime.fromisoformat(row["at"]),
        body=row["body"],
        attempt=row["attempts"] + 1,
    )


def tallies(counts: Iterable[sqlite3.Row], problems: Iterable[sqlite3.Row]) -> dict[str, Tally]:
    """Sum up by channel what was counted by channel and state."""
    by_channel: dict[str, dict[str, sqlite3.Row]] = {}
    for row in counts:
        by_channel.setdefault(row["channel"], {})[row["state"]] = row
    last = {row["channel"]: row["problem"] for row in problems}

    def tally(channel: str, states: Mapping[str, sqlite3.Row]) -> Tally:
        count = {state: row["messages"] for state, row in states.items()}
        pending = states.get(DeliveryState.PENDING)
        return Tally(
            pending=count.get(DeliveryState.PENDING, 0),
            delivered=count.get(DeliveryState.DELIVERED, 0),
            failed=count.get(DeliveryState.FAILED, 0),
            oldest_pending_at=None if pending is None else datetime.fromisoformat(pending["oldest"]),
            problem=last.get(channel),
        )

    return {channel: tally(channel, states) for channel, states in sorted(by_channel.items())}


@dataclass(slots=True, kw_only=True)
class _Kept:
    """A message in memory."""

    number: int
    outgoing: Outgoing
    next_at: datetime
    state: DeliveryState = DeliveryState.PENDING
    attempts: int = 0
    problem: str | None = None


class MemoryOutbox:
    """The table in memory, for a caller that holds a lock."""

    def __init__(self) -> None:
        self._kept: dict[int, _Kept] = {}  # by number, in the order of writing
        self._last = 0

    def put(self, outgoing: Sequence[Outgoing]) -> None:
        known = {(kept.outgoing.message, kept.outgoing.channel) for kept in self._kept.values()}
        for each in outgoing:
            if (each.message, each.channel) in known:
                raise StoreError("the store in memory refused a row: a message is there already")
            known.add((each.message, each.channel))
        for each in outgoing:
            self._last += 1
            self._kept[self._last] = _Kept(number=self._last, outgoing=each, next_at=each.at)

    def claim(self, channel: str, now: datetime, *, lease: timedelta, horizon: timedelta) -> Delivery | None:
        for kept in self._kept.values():
            due = kept.next_at <= now or kept.next_at > now + horizon
            if kept.outgoing.channel == channel and kept.state is DeliveryState.PENDING and due:
                kept.attempts += 1
                kept.next_at = now + lease
                return Delivery(
                    number=kept.number,
                    message=kept.outgoing.message,
                    channel=channel,
                    at=kept.outgoing.at,
                    body=kept.outgoing.body,
                    attempt=kept.attempts,
                )
        return None

    def settle(
        self, delivery: Delivery, state: DeliveryState, next_at: datetime, problem: str | None
    ) -> None:
        kept = self._kept.get(delivery.number)
        if kept is not None and kept.state is DeliveryState.PENDING:
            kept.state, kept.next_at, kept.problem = state, next_at, problem

    def tally(self) -> dict[str, Tally]:
        def of(channel: str) -> Tally:
            here = [kept for kept in self._kept.values() if kept.outgoing.channel == channel]
            pending = [kept.outgoing.at for kept in here if kept.state is DeliveryState.PENDING]
            tried = [kept.problem for kept in here if kept.attempts]
            return Tally(
                pending=len(pending),
                delivered=sum(kept.state is DeliveryState.DELIVERED for kept in here),
                failed=sum(kept.state is DeliveryState.FAILED for kept in here),
                oldest_pending_at=min(pending, default=None),
                problem=tried[-1] if tried else None,
            )

        return {channel: of(channel) for channel in sorted({k.outgoing.channel for k in self._kept.values()})}

    def forget(self, before: datetime) -> None:
        self._kept = {
            number: kept
            for number, kept in self._kept.items()
            if kept.state is DeliveryState.PENDING or kept.outgoing.at >= before
        }
