"""What is on its way to whom?

A message is written together with the events that caused it, once for each channel, and stays pending until
that channel has taken it or was tried often enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256

_KEY_DIGITS = 32  # 128 bits


class DeliveryState(StrEnum):
    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"  # tried as often as is allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A message for one channel, about to be written."""

    message: str  # the message's id
    channel: str  # its name
    at: datetime  # when it was written, which is when it is first due
    body: str  # a JSON object


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One attempt to deliver, claimed from the outbox."""

    number: int  # of the row
    message: str
    channel: str
    at: datetime
    body: str
    attempt: int  # 1-based, this one included

    @property
    def idempotency_key(self) -> str:
        """Name what is delivered: the same at every attempt, another for another message or channel."""
        return sha256(f"{self.message}\n{self.channel}".encode()).hexdigest()[:_KEY_DIGITS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How one channel's messages stand."""

    pending: int = 0
    delivered: int = 0
    failed: int = 0
    oldest_pending_at: datetime | None = None
    problem: str | None = None  # of the last attempt that failed; None = the newest one tried went through
