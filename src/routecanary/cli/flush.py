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
def acting_records(settings: Settings, clock: Clock, *, to_act: bool = True) -> Iterator[Records]:
    """Open the log for an act, and deliver what it has to tell before it is closed.

    Args:
        to_act: As for `offline_records`; false for a command that only looks this time.
    Raises:
        ConfigError, StoreError: As `offline_records`.
    """
    with offline_records(settings, clock, to_act=to_act) as records:
        yield records
        if to_act:
            flush(records)


def flush(records: Records, *, seconds: float = PATIENCE) -> str | None:
    """Deliver what is due, for some seconds.

    Returns:
        Why nothing could be tried; None when it was, or when nothing waits.
    """
    try:
        if not _waiting(records):
            return None
    except StoreError as error:
        return str(error)
    from routecanary.cli.loop import run_async  # noqa: PLC0415 - a command that tells nobody needs no loop

    return run_async(flushed(records, seconds=seconds))


async def flushed(records: Records, *, seconds: float = PATIENCE) -> str | None:
    """Do as `flush` does, within a loop that runs already."""
    import asyncio  # noqa: PLC0415 - see above

    from routecanary.daemon.deliver import Pacing, deliver_pending  # noqa: PLC0415 - see above

    try:
        if not _waiting(records):
            return None
        channels = channels_of(records.settings, records.clock)
        pacing = Pacing.of(records.settings.notify)
        async with asyncio.timeout(seconds):
            await deliver_pending(records.store, channels, records.clock, SystemRandom(), pacing)
    except TimeoutError:
        return None  # it was tried; the rest is the daemon's
    except (ConfigError, StoreError) as error:  # a secret that only the daemon has; a store just gone
        return str(error)
    return None


def _waiting(records: Records) -> bool:
    tallies = records.store.tally()
    return any(tallies[name].pending for name in channel_names(records.settings) if name in tallies)
