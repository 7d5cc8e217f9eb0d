"""Where does time come from?

Time is handed in: `Clock` is a constructor argument of whatever waits or measures. Wall time dates,
monotonic time measures, and elapsed time tells whether the wall clock can be believed. The event loop's
library is loaded by whoever sleeps: a command that only reads the wall clock starts without it.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, Protocol


class Clock(Protocol):
    """Wall time (aware, UTC), monotonic seconds, and sleeping in the clock's own seconds."""

    @property
    def rate(self) -> float:
        """Clock seconds that pass in one real second; 1.0 for the system clock."""

    def now(self) -> datetime: ...

    def monotonic(self) -> float: ...

    def elapsed(self) -> float:
        """Seconds since some start, those that the machine slept included; nobody can set them."""

    async def sleep(self, seconds: float) -> None: ...


# Linux stops its monotonic clock while the machine sleeps and keeps this one; others keep the monotonic one.
_SLEEPLESS: Final[int] = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class SystemClock:
    """The machine's own time."""

    rate = 1.0

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def elapsed(self) -> float:
        return time.clock_gettime(_SLEEPLESS)

    async def sleep(self, seconds: float) -> None:
        import asyncio  # noqa: PLC0415 - see above

        await asyncio.sleep(seconds)


class MachineZone(tzinfo):
    """The zone that this machine's clock on the wall shows, with its summer times."""

    def utcoffset(self, at: datetime | None, /) -> timedelta:
        return _on_the_wall(at).utcoffset() or timedelta()

    def dst(self, _at: datetime | None, /) -> timedelta | None:
        return None  # not told apart

    def tzname(self, at: datetime | None, /) -> str | None:
        return _on_the_wall(at).tzname()

    def fromutc(self, at: datetime, /) -> datetime:
        return at.replace(tzinfo=UTC).astimezone().replace(tzinfo=self)


def _on_the_wall(at: datetime | None) -> datetime:
    return (datetime.now(UTC) if at is None else at.replace(tzinfo=None)).astimezone()


def zone_named(name: str) -> tzinfo | None:
    """Look a zone up by its name, such as Asia/Bangkok; None where this machine knows none of that name."""
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - few ask

    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # no key; a directory of zones; no zone of that name
        return None


class ScaledClock:
    """Two compressed times for the demo and the system tests.

    Wire time (`monotonic`, `sleep`) runs `rate` times as fast as real time. Policy time (`now`) stands
    still until `advance` moves it, so that a round is dated by its schedule and not by the machine; so does
    elapsed time, for that is all the time that passes.
    """

    def __init__(self, *, start: datetime, rate: float) -> None:
        self.rate = rate
        self._start = self._now = start

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return time.monotonic() * self.rate

    def elapsed(self) -> float:
        return (self._now - self._start).total_seconds()

    async def sleep(self, seconds: float) -> None:
        import asyncio  # noqa: PLC0415 - see above

        await asyncio.sleep(seconds / self.rate)

    def advance(self, by: timedelta) -> None:
        self._now += by
