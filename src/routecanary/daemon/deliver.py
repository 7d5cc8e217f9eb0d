"""Who takes the messages from the outbox to the people?

At least once: a message is claimed, handed over, and only then marked; whoever dies in between leaves it to
the next, who hands it over again under the same idempotency key. The daemon does so all the time; a command
that acted does it once, for a few seconds.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Final

from routecanary.clock import Clock
from routecanary.domain.outbox import Delivery
from routecanary.domain.settings import NotifySettings
from routecanary.errors import DeliveryError, StoreError
from routecanary.rounds.ports import Channel, Outbox

LOG: Final = logging.getLogger("routecanary.deliver")

NAP: Final = 5.0
"""Seconds between two looks into the outbox."""

_LEASE_BEYOND_TIMEOUT: Final = timedelta(seconds=30)
_MOST_DOUBLINGS: Final = 60
_BETWEEN_TIDYINGS: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """How persistently a message is delivered."""

    max_attempts: int = 100
    first_wait: timedelta = timedelta(seconds=5)  # before the second attempt
    longest_wait: timedelta = timedelta(hours=1)
    lease: timedelta = timedelta(seconds=40)  # longer than any attempt takes
    keep: timedelta = timedelta(days=30)  # what is over

    @classmethod
    def of(cls, settings: NotifySettings) -> Pacing:
        first, longest = settings.retry_wait
        return cls(
            max_attempts=settings.max_attempts,
            first_wait=first,
            longest_wait=longest,
            lease=settings.timeout + _LEASE_BEYOND_TIMEOUT,
            keep=settings.keep,
        )

    def wait_after(self, attempt: int, rng: Random) -> timedelta:
        """Draw how long to wait after an attempt that failed, its number 1-based.

        Example: with 5 s and 1 h, after the first attempt 2.5 to 5 s, after the third 10 to 20 s, after the
            eleventh and every later one 30 min to 1 h.
        """
        doublings = min(attempt - 1, _MOST_DOUBLINGS)
        whole = min(self.first_wait.total_seconds() * 2**doublings, self.longest_wait.total_seconds())
        return timedelta(seconds=whole * rng.uniform(0.5, 1.0))


async def deliver_pending(
    outbox: Outbox, channels: Sequence[Channel], clock: Clock, rng: Random, pacing: Pacing
) -> Counter[str]:
    """Hand over everything that is due, the channels side by side, each message of a channel after the other.

    A channel that does not take a message is left alone until the next call.

    Returns:
        How many were `delivered`, `postponed` and `failed`.
    Raises:
        StoreError: The outbox failed; what was handed over and not marked is handed over again.
    """
    counts: Counter[str] = Counter()

    async def serve(channel: Channel) -> None:
        while True:
            delivery = outbox.claim(
                channel.name,
                clock.now(),
                lease=pacing.lease,
                horizon=pacing.longest_wait + pacing.lease,
            )
            if delivery is None:
                return
            problem = await _problem_with(channel, delivery, pacing)
            if problem is None:
                outbox.delivered(delivery)
                counts["delivered"] += 1
                LOG.info("notice delivered channel=%s message=%s", channel.name, delivery.message)
            elif delivery.attempt >= pacing.max_attempts:
                outbox.failed(delivery, problem)
                counts["failed"] += 1
                LOG.error(
                    "notice given up channel=%s message=%s attempts=%d why=%s",
                    channel.name,
                    delivery.message,
                    delivery.attempt,
                    problem,
                )
            else:
                outbox.postponed(delivery, clock.now() + pacing.wait_after(delivery.attempt, rng), problem)
                counts["postponed"] += 1
                LOG.warning(
                    "notice postponed channel=%s message=%s attempt=%d why=%s",
                    channel.name,
                    delivery.message,
                    delivery.attempt,
                    problem,
                )
                return

    try:
        async with asyncio.TaskGroup() as tasks:
            for channel in channels:
                tasks.create_task(serve(channel))
    except* StoreError as errors:
        first: BaseException = errors
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None
    return counts


async def _problem_with(channel: Channel, delivery: Delivery, pacing: Pacing) -> str | None:
    """Try to hand a message over and say what stood in the way; None: nothing."""
    if delivery.attempt > pacing.max_attempts:
        return "never heard of again"  # whoever tried it last died of it
    try:
        await channel.deliver(delivery)
    except DeliveryError as error:
        return str(error)
    except Exception as error:  # a bug in a channel must not keep the others from people
        return f"an error of our own: {type(error).__name__}"  # its text may hold an address
    return None


async def keep_delivering(
    outbox: Outbox, channels: Sequence[Channel], clock: Clock, rng: Random, pacing: Pacing
) -> None:
    """Deliver until cancelled; an outbox that cannot be used is tried again at the next look."""
    usable = True
    tidied_at: datetime | None = None
    while True:
        try:
            await deliver_pending(outbox, channels, clock, rng, pacing)
            now = clock.now()
            if tidied_at is None or abs(now - tidied_at) >= _BETWEEN_TIDYINGS:
                outbox.forget_messages(now - pacing.keep)
                tidied_at = now
        except StoreError as error:
            if usable:  # once: it may last
                LOG.error("outbox not usable error=%s", error)
            usable = False
        else:
            usable = True
        await clock.sleep(NAP)
