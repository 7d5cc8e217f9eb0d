"""What if the configuration changes while the daemon runs?

It is read and checked as a whole, beside the rounds; a bad one changes nothing. A good one takes the old
one's place between the rounds, never during one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Final, Self

from routecanary.daemon.gate import Gate
from routecanary.daemon.reports import Reports
from routecanary.domain.operation import Reloaded
from routecanary.errors import ConfigError, RoutecanaryError
from routecanary.rounds.world import World
from routecanary.wiring import Configuration, reconfigure

LOG: Final = logging.getLogger("routecanary.daemon")

ReadConfiguration = Callable[[], Configuration]
"""Read the configuration anew, from where the daemon found it at its start; raises `InputError`."""


class Reloader:
    """Replaces a world's configuration. Enter it before use; leaving closes the gateway that it opened."""

    def __init__(
        self,
        world: World,
        read: ReadConfiguration,
        *,
        gate: Gate,
        reports: Reports,
        look: Callable[[], Awaitable[None]],
    ) -> None:
        """Hold the world.

        Args:
            look: Looks whether the judges see, under what was taken over, before another round is made.
        """
        self._world = world
        self._read = read
        self._look = look
        self._gate = gate
        self._reports = reports
        self._opened = AsyncExitStack()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._opened.aclose()

    async def reload(self) -> Configuration | None:
        """Read the configuration and take it over; None when it was refused.

        How it went is kept in the log, where `status` finds it.
        """
        try:
            # in a thread: reading texts would hold up the clock of the answers that are coming in
            configuration = await asyncio.to_thread(self._read)
            self._same_world(configuration)
        except RoutecanaryError as error:
            self._refused(str(error).replace("\n", "; "))
            return None
        except Exception as error:  # a bug of ours must not end the watch
            LOG.exception("configuration not read")
            self._refused(f"an error of our own: {type(error).__name__}")
            return None
        if self._gate.rounds:
            LOG.info("configuration read, waiting for the rounds under way rounds=%d", self._gate.rounds)
        async with self._gate.change():
            await self._take_over(configuration)
        LOG.info(
            "configuration taken over config=%s models=%d",
            configuration.settings.place,
            len(configuration.settings.models),
        )
        self._reports.say(Reloaded(at=self._world.clock.now(), ok=True))
        return configuration

    async def _take_over(self, configuration: Configuration) -> None:
        old, self._opened = self._opened, AsyncExitStack()
        await self._opened.enter_async_context(configuration.gateway)
        reconfigure(self._world, configuration)
        await self._look()
        await old.aclose()

    def _same_world(self, configuration: Configuration) -> None:
        now, then = self._world.settings, configuration.settings
        for key, old, new in (
            ("store.path", now.store_path, then.store_path),
            ("gateway.kind", now.gateway.kind.value, then.gateway.kind.value),
        ):
            if new != old:
                raise ConfigError(
                    "cannot be changed while the daemon runs",
                    place=then.place,
                    key=key,
                    value=new,
                    allowed=f"{old!r} until a restart",
                )

    def _refused(self, detail: str) -> None:
        LOG.error("configuration refused, the old one stays error=%s", detail)
        self._reports.say(Reloaded(at=self._world.clock.now(), ok=False, detail=detail))
