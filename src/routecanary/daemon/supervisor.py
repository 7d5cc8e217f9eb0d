"""Who keeps everything going? One watcher a model, and beside them whatever else goes on all the time.

Signals: SIGTERM and SIGINT end it. No further probe is sent, and a round under way is dropped; all that is
kept of it is what it has cost. SIGHUP reads the configuration anew.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import Final

from routecanary.daemon.chores import Chores
from routecanary.daemon.deliver import Pacing, keep_delivering
from routecanary.daemon.gate import Gate
from routecanary.daemon.guardrail_keeper import Guarding
from routecanary.daemon.publisher import Publisher
from routecanary.daemon.reload import ReadConfiguration, Reloader
from routecanary.daemon.reports import Reports
from routecanary.daemon.watcher import Watcher
from routecanary.domain.names import ModelId
from routecanary.domain.operation import Reloaded
from routecanary.errors import DeliveryError, StoreError
from routecanary.rounds.overdue import overdue_now
from routecanary.rounds.ports import Channel, GuardrailApi, Heartbeat
from routecanary.rounds.run import RoundResult
from routecanary.rounds.sight import blind_of, changed_sight, eyesight_of
from routecanary.rounds.world import World
from routecanary.wiring import Configuration

LOG: Final = logging.getLogger("routecanary.daemon")

REST: Final = 60.0
"""Seconds after which what crashed by a bug of ours is begun again."""


class Supervisor:
    """Runs the rounds of every configured model, and the chores, until it is told to stop."""

    def __init__(
        self,
        world: World,
        *,
        on_round: Callable[[RoundResult], None] = lambda _: None,
        channels: Sequence[Channel] = (),
        heartbeat: Heartbeat | None = None,
        read: ReadConfiguration | None = None,
        on_reload: Callable[[Configuration], None] = lambda _: None,
        guardrail: GuardrailApi | None = None,
    ) -> None:
        """Hold the world.

        Args:
            on_round: Called after each round that was made; what it raises is logged and counted.
            channels: To whom messages are delivered.
            heartbeat: Asked after each round that was made, as long as no model is overdue.
            read: Reads the configuration anew; None = it stays as it is.
            on_reload: Called after another configuration was taken over.
            guardrail: The account's guardrails, where one is to be looked after.
        """
        self._world = world
        self._on_round = on_round
        self._channels = tuple(channels)
        self._heartbeat = heartbeat
        self._read = read
        self._on_reload = on_reload
        self._guardrail = guardrail
        self._gate = Gate()
        self._reports = Reports(world.ledger)
        self._guarding = Guarding(world, self._reports, self._kept)
        self._stop = asyncio.Event()
        self._asked_to_reload = asyncio.Event()
        self._watching: dict[ModelId, asyncio.Task[None]] = {}
        self._delivering: asyncio.Task[None] | None = None
        self._beating: asyncio.Task[None] | None = None
        self.counts: Counter[str] = Counter()  # rounds by how they ended

    def stop(self) -> None:
        """Begin no further round; one that is running is cancelled, and only its cost is kept."""
        self._stop.set()

    def reload(self) -> None:
        """Read the configuration anew, and take it over between the rounds."""
        self._asked_to_reload.set()

    async def run(self, *, ready: Callable[[], None] = lambda: None) -> None:
        """Watch all models until stopped.

        Args:
            ready: Called when signals are heeded.
        Raises:
            StoreError: The log could not be read at the start.
        """
        loop = asyncio.get_running_loop()
        handlers = {
            signal.SIGINT: self._told_to_stop,
            signal.SIGTERM: self._told_to_stop,
            signal.SIGHUP: self._told_to_reload,
        }
        for number, handler in handlers.items():
            loop.add_signal_handler(number, handler, number)
        try:
            ready()
            await self._run()
        finally:
            for number in handlers:
                loop.remove_signal_handler(number)

    async def _run(self) -> None:
        world = self._world
        world.ledger.head()  # a log that cannot be read ends it here, and nowhere later
        self._say_that_it_reads_well()
        besides = [
            self._kept("publishing", Publisher(world).keep_looking),
            self._kept("chores", Chores(world, self._reports).keep_looking),
        ]
        async with AsyncExitStack() as opened:
            if self._read is not None:
                reloader = Reloader(
                    world, self._read, gate=self._gate, reports=self._reports, look=self._look_at_judges
                )
                await opened.enter_async_context(reloader)
                besides.append(self._kept("reloading", lambda: self._keep_reloading(reloader)))
            self._deliver()
            await self._look_at_judges()
            self._watch_models()
            await self._guarding.take(self._guardrail)
            try:
                await self._stop.wait()
            finally:
                await _ended(*besides, *self._watching.values(), self._delivering, self._beating)
                await self._guarding.end()

    def _told_to_stop(self, number: signal.Signals) -> None:
        LOG.info("stopping signal=%s", number.name)
        self.stop()

    def _told_to_reload(self, number: signal.Signals) -> None:
        LOG.info("reloading signal=%s", number.name)
        self.reload()

    def _say_that_it_reads_well(self) -> None:
        """Take back that a configuration was refused: this daemon has started with one that was not."""
        reload = self._world.ledger.operating().reload
        if reload is not None and not reload.ok:
            self._reports.say(Reloaded(at=self._world.clock.now(), ok=True))

    async def _look_at_judges(self) -> None:
        """Show the judges what is planted for them; whoever is blind judges nobody until it sees again."""
        world = self._world
        limits, locales = world.judge_settings(), world.settings.probes.locales
        eyesight = await asyncio.to_thread(eyesight_of, limits, locales)
        world.blind = blind_of(eyesight)
        for name in sorted(world.blind):
            LOG.error("judge blind contract=%s", name)
        try:
            before = world.ledger.operating()
        except StoreError as error:
            LOG.error("log not read error=%s", error)
            return
        for operation in changed_sight(eyesight, at=world.clock.now(), before=before):
            self._reports.say(operation)

    def _watch_models(self) -> None:
        """Begin to watch the models that are configured now, and leave those that are not any more."""
        configured = [model.model for model in self._world.settings.models]
        for model in [model for model in self._watching if model not in configured]:
            LOG.info("not watching any more model=%s", model)
            self._watching.pop(model).cancel()
        for model in configured:
            if model not in self._watching:
                watcher = Watcher(
                    self._world,
                    model,
                    gate=self._gate,
                    reports=self._reports,
                    counts=self.counts,
                    on_round=self._round_made,
                )
                self._watching[model] = self._kept(f"watching {model}", watcher.watch)

    def _deliver(self) -> None:
        """Begin to deliver on the channels that are configured now; what was claimed comes again."""
        if self._delivering is not None:
            self._delivering.cancel()
        world, channels = self._world, self._channels
        pacing = Pacing.of(world.settings.notify)
        self._delivering = self._kept(
            "delivering", lambda: keep_delivering(world.store, channels, world.clock, world.rng, pacing)
        )

    async def _keep_reloading(self, reloader: Reloader) -> None:
        while True:
            await self._asked_to_reload.wait()
            self._asked_to_reload.clear()
            configuration = await reloader.reload()
            if configuration is None:
                continue
            self._channels, self._heartbeat = configuration.channels, configuration.heartbeat
            self._deliver()
            self._watch_models()
            await self._guarding.take(configuration.guardrail)
            self._on_reload(configuration)

    def _round_made(self, result: RoundResult) -> None:
        free = self._beating is None or self._beating.done()
        if self._heartbeat is not None and free and result.believed and not overdue_now(self._world):
            self._beating = asyncio.create_task(self._beat(self._heartbeat))
        self._on_round(result)

    async def _beat(self, heartbeat: Heartbeat) -> None:
        try:
            await heartbeat.beat()
        except DeliveryError as error:
            self.counts["unheard"] += 1
            LOG.warning("ping not heard why=%s", error)

    def _kept(self, name: str, work: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        """Do something all the time; after a bug of ours it begins anew."""

        async def keep() -> None:
            while True:
                try:
                    await work()
                except Exception:  # rounds go on, whatever happens beside them
                    self.counts["crashed"] += 1
                    LOG.exception("crashed what=%s", name)
                await self._world.clock.sleep(REST)

        return asyncio.create_task(keep(), name=name)


async def _ended(*tasks: asyncio.Task[None] | None) -> None:
    """Cancel tasks and wait until they are over."""
    under_way = [task for task in tasks if task is not None]
    for task in under_way:
        task.cancel()
    await asyncio.gather(*under_way, return_exceptions=True)
