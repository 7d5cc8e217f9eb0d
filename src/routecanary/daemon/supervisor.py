"""Who keeps the rounds going? One loop a model, and a border around each round.

What goes wrong inside a round is logged and counted, and the next round comes all the same: a daemon that
dies of one bad answer lets its suspensions grow stale.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from routecanary.daemon.schedule import next_due
from routecanary.domain.names import ModelId
from routecanary.domain.times import format_duration, format_instant
from routecanary.errors import ClockError, GatewayError, InputError, RoutecanaryError
from routecanary.rounds.run import RoundResult, run_round
from routecanary.rounds.world import World

LOG: Final = logging.getLogger("routecanary.daemon")

LONGEST_NAP: Final = 60.0
"""Seconds after which the wall clock is read again: it may have been set, or the machine may have slept."""


class Supervisor:
    """Runs the rounds of every configured model until it is told to stop."""

    def __init__(self, world: World, *, on_round: Callable[[RoundResult], None] = lambda _: None) -> None:
        """Hold the world.

        Args:
            on_round: Called after each round that was made; what it raises is logged like a round's failure.
        """
        self._world = world
        self._on_round = on_round
        self._stop = asyncio.Event()
        self.counts: Counter[str] = Counter()  # rounds by how they ended

    def stop(self) -> None:
        """Begin no further round; one that is running is cancelled and leaves nothing behind."""
        self._stop.set()

    async def run(self) -> None:
        """Watch all models until stopped; SIGINT and SIGTERM stop.

        Raises:
            StoreError: The log could not be read at the start.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._signalled, number)
        try:
            watching = [
                asyncio.create_task(self._watch(model.model)) for model in self._world.settings.models
            ]
            stopping = asyncio.create_task(self._stop.wait())
            await asyncio.wait([*watching, stopping], return_when=asyncio.FIRST_COMPLETED)
            for task in (*watching, stopping):
                task.cancel()
            outcomes = await asyncio.gather(*watching, stopping, return_exceptions=True)
            for outcome in outcomes:
                if isinstance(outcome, Exception):
                    raise outcome
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    def _signalled(self, number: signal.Signals) -> None:
        LOG.info("stopping signal=%s", number.name)
        self.stop()

    async def _watch(self, model: ModelId) -> None:
        world = self._world
        state = world.ledger.state(model)
        tried = state.last_round_at
        LOG.info(
            "watching model=%s mode=%s period=%s rounds=%d last_round=%s",
            model,
            (state.mode if state.last_line_at is not None else world.settings.initial_mode).value,
            format_duration(world.settings.schedule.period),
            state.rounds,
            "never" if tried is None else format_instant(tried),
        )
        while True:
            await self._wait_after(model, tried)
            await self._round(model)
            tried = world.clock.now()

    async def _wait_after(self, model: ModelId, tried: datetime | None) -> None:
        """Sleep until the next round is due, by the wall clock, and a drawn jitter more."""
        world = self._world
        schedule = world.settings.schedule
        jitter = timedelta(seconds=world.rng.uniform(0.0, schedule.jitter.total_seconds()))
        told = False
        while True:
            now = world.clock.now()
            if tried is not None and now < tried and not told:
                told = True
                self.counts["clock"] += 1
                LOG.error(
                    "clock stepped back model=%s no_round_before=%s now=%s",
                    model,
                    format_instant(tried),
                    format_instant(now),
                )
            left = (next_due(tried, now, schedule.period) + jitter - now).total_seconds()
            if left <= 0:
                return
            await world.clock.sleep(min(left, LONGEST_NAP))

    async def _round(self, model: ModelId) -> None:
        """Make one round; this is the border at which our own bugs stop."""
        began = self._world.clock.monotonic()
        try:
            result = await run_round(self._world, model)
            how = "finished" if result.believed else "doubted"
            self.counts[how] += 1
            LOG.info(
                "round %s model=%s routes=%d suspended=%d seconds=%.1f",
                how,
                model,
                len(result.listing.routes),
                len(result.state.suspensions()),
                self._world.clock.monotonic() - began,
            )
            self._on_round(result)
        except ClockError as error:
            self._failed("clock", model, error)
        except GatewayError as error:
            self._failed("gateway", model, error)
        except InputError as error:
            self._failed("input", model, error)
        except RoutecanaryError as error:
            self._failed("failed", model, error)
        except Exception as error:
            self.counts["crashed"] += 1
            LOG.exception("round crashed model=%s error=%s", model, type(error).__name__)

    def _failed(self, how: str, model: ModelId, error: RoutecanaryError) -> None:
        self.counts[how] += 1
        LOG.error("round not recorded model=%s why=%s error=%s", model, how, error)
