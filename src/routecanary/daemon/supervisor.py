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

from routecanary.daemon.schedule import next_due
from routecanary.domain.names import ModelId
from routecanary.errors import ClockError, GatewayError, RoutecanaryError
from routecanary.rounds.run import RoundResult, run_round
from routecanary.rounds.world import World

LOG = logging.getLogger("routecanary.daemon")


class Supervisor:
    """Runs the rounds of every configured model until it is told to stop."""

    def __init__(self, world: World, *, on_round: Callable[[RoundResult], None] = lambda _: None) -> None:
        """Hold the world.

        Args:
            on_round: Called after each round that was recorded.
        """
        self._world = world
        self._on_round = on_round
        self._stop = asyncio.Event()
        self.counts: Counter[str] = Counter()  # rounds by how they ended

    def stop(self) -> None:
        """Begin no further round; one that is running is cancelled and leaves nothing behind."""
        self._stop.set()

    async def run(self) -> None:
        """Watch all models until stopped; SIGINT and SIGTERM stop."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.stop)
        try:
            watching = [
                asyncio.create_task(self._watch(model.model)) for model in self._world.settings.models
            ]
            stopping = asyncio.create_task(self._stop.wait())
            await asyncio.wait([*watching, stopping], return_when=asyncio.FIRST_COMPLETED)
            for task in (*watching, stopping):
                task.cancel()
            outcomes = await asyncio.gather(*watching, return_exceptions=True)
            for outcome in outcomes:
                if isinstance(outcome, Exception):
                    raise outcome
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    async def _watch(self, model: ModelId) -> None:
        world = self._world
        schedule = world.settings.schedule
        tried = world.ledger.state(model).last_round_at
        while True:
            now = world.clock.now()
            due = next_due(tried, now, schedule.period)
            jitter = world.rng.uniform(0.0, schedule.jitter.total_seconds())
            await world.clock.sleep(max(0.0, (due - now).total_seconds()) + jitter)
            await self._round(model)
            tried = world.clock.now()

    async def _round(self, model: ModelId) -> None:
        """Make one round; this is the border at which our own bugs stop."""
        try:
            result = await run_round(self._world, model)
        except ClockError as error:
            self._failed("clock", model, error)
        except GatewayError as error:
            self._failed("gateway", model, error)
        except RoutecanaryError as error:
            self._failed("failed", model, error)
        except Exception as error:
            self.counts["crashed"] += 1
            LOG.exception("round crashed model=%s error=%s", model, type(error).__name__)
        else:
            self.counts["finished" if result.believed else "doubted"] += 1
            LOG.info(
                "round %s model=%s routes=%d suspended=%d",
                "finished" if result.believed else "doubted",
                model,
                len(result.listing.routes),
                len(result.state.suspensions()),
            )
            self._on_round(result)

    def _failed(self, how: str, model: ModelId, error: RoutecanaryError) -> None:
        self.counts[how] += 1
        LOG.error("round not recorded model=%s why=%s error=%s", model, how, error)
