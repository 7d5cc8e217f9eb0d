"""What else is due, besides the rounds? Ends of pauses, news of rounds that did not happen, what users were
served, old evidence, and whatever could not be said before.

All of it goes by the wall clock, so that none of it is done while that has just been set.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from routecanary.daemon.reports import Reports
from routecanary.domain.names import ModelId
from routecanary.errors import SnapshotError, StoreError
from routecanary.rounds.act import resume_due
from routecanary.rounds.clock_watch import ClockWatch
from routecanary.rounds.leaks import LeakAudit
from routecanary.rounds.overdue import tell_overdue
from routecanary.rounds.passive_watch import PassiveWatch
from routecanary.rounds.retention import prune_if_due
from routecanary.rounds.world import World

LOG: Final = logging.getLogger("routecanary.daemon")

BREAK: Final = 5.0
"""Seconds between two looks."""

_BETWEEN_PRUNINGS: Final = 60.0  # seconds between two looks whether a pruning is due


class Chores:
    """Looks after what is due, again and again."""

    def __init__(self, world: World, reports: Reports) -> None:
        self._world = world
        self._reports = reports
        self._clock = ClockWatch(world.clock)
        self._held_until = 0.0  # elapsed seconds before which nothing is done by the wall clock
        self._leaks = LeakAudit(world)
        self._traffic = PassiveWatch(world)
        self._prune_at = 0.0  # elapsed seconds
        self._watched: tuple[ModelId, ...] = ()
        self._watched_since = 0.0  # elapsed seconds
        self._trouble: str | None = None

    async def keep_looking(self) -> None:
        """Look until cancelled; what goes wrong is told once until it ends."""
        while True:
            try:
                await self.look()
            except (StoreError, SnapshotError) as error:
                if self._trouble != str(error):
                    LOG.error("chores not done error=%s", error)
                self._trouble = str(error)
            else:
                self._trouble = None
            await self._world.clock.sleep(BREAK)

    async def look(self) -> None:
        """Do what is due now.

        Raises:
            StoreError: The log failed.
            SnapshotError: What was done could not be published.
        """
        world = self._world
        self._reports.say_again()
        if not self._clock_is_steady():
            return
        for decision in resume_due(world):
            LOG.info("pause ended model=%s", decision.state.model)
        self._tell_overdue()
        await self._prune()
        # last, so that trouble with what comes from outside stops nothing else
        await asyncio.to_thread(self._look_at_traffic)

    async def _prune(self) -> None:
        """Let go what is old, where a day has passed."""
        world = self._world
        if world.clock.elapsed() < self._prune_at or self._clock_is_behind():
            return
        self._prune_at = world.clock.elapsed() + _BETWEEN_PRUNINGS
        pruned = await asyncio.to_thread(prune_if_due, world)
        if pruned:
            LOG.info(
                "pruned events=%d transcripts_of_passes=%d transcripts_of_failures=%d generations=%d",
                pruned.events,
                pruned.passes,
                pruned.failures,
                pruned.generations,
            )

    def _look_at_traffic(self) -> None:
        """Look at what users were served; in a thread, for there may be much of it."""
        self._leaks.look()
        self._traffic.look()

    def _tell_overdue(self) -> None:
        """Tell of models without a round for too long; what was not made before our time is nobody's news."""
        settings, elapsed = self._world.settings, self._world.clock.elapsed()
        models = tuple(model.model for model in settings.models)
        if models != self._watched:
            self._watched, self._watched_since = models, elapsed
        if elapsed - self._watched_since > settings.overdue_after().total_seconds():
            tell_overdue(self._world)

    def _clock_is_steady(self) -> bool:
        """Say whether the wall clock has been right for one period of the schedule."""
        schedule, now = self._world.settings.schedule, self._world.clock.elapsed()
        if abs(self._clock.leap()) > schedule.max_clock_leap:
            self._held_until = now + schedule.period.total_seconds()
        self._clock.believe()
        return now >= self._held_until

    def _clock_is_behind(self) -> bool:
        """Say whether the log knows later rounds: by such a clock it cannot be told what is old."""
        now = self._world.clock.now()
        return any(
            state.last_round_at is not None and state.last_round_at > now
            for state in self._world.ledger.states()
        )
