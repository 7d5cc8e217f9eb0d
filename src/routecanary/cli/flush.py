"""Who delivers the messages of a command that acted?

The command itself, as far as a few seconds allow; what is left waits for the daemon. An act is never undone
or delayed further by a receiver that is down.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import SystemRandom
from typing import Final

from routecanary.clock import Clock
from routecanary.domain.settings import Settings
from routecanary.errors import ConfigError, StoreError
from routecanary.rounds.records import Records
from routecanary.wiring import channel_names, channels_of, offline_records

PATIENCE: Final = 3.0
"""Seconds that a command gives its receivers."""


@contextmanager
def acting_records(settings: Settings, clock: Clock) -> Iterator[Records]:
    """Open the log for an act, and deliver what it has to tell before it is closed.

    Raises:
        ConfigError, StoreError: As `offline_records`.
    """
    with offline_records(settings, clock, to_act=True) as records:
        yield records
        flush(records)


def flush(records: Records, *, seconds: float = PATIENCE) -> str | None:
    """Deliver what is due, for some seconds.

    Returns:
        Why nothing could be tried; None when it was, or when nothing waits.
    """
    try:
        tallies = records.store.tally()
        if not any(tallies[name].pending for name in channel_names(records.settings) if name in tallies):
            return None
        channels = channels_of(records.settings, records.clock)
    except (ConfigError, StoreError) as error:  # a secret that only the daemon has; a store just gone
        return str(error)

    import asyncio  # noqa: PLC0415 - a command that tells nobody starts without it

    from routecanary.cli.loop import run_async  # noqa: PLC0415 - likewise
    from routecanary.daemon.deliver import Pacing, deliver_pending  # noqa: PLC0415 - likewise

    async def go() -> None:
        async with asyncio.timeout(seconds):
            await deliver_pending(
                records.store,
                channels,
                records.clock,
                SystemRandom(),
                Pacing.of(records.settings.notify),
            )

    try:
        run_async(go())
    except TimeoutError:
        return None  # tried; the rest is the daemon's
    except StoreError as error:
        return str(error)
    return None
