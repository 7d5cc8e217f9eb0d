"""Do applications see what the log says, whoever wrote it?

Each act publishes by itself. Should its own writing fail, or its process die between the log and the
snapshot, this looks at the log's head several times in a second and publishes what is not published.
"""

from __future__ import annotations

import logging
from typing import Final

from routecanary.errors import SnapshotError, StoreError
from routecanary.rounds.world import World

LOG: Final = logging.getLogger("routecanary.daemon")

GLANCE: Final = 0.3
"""Seconds, real ones, between two looks: with the client's half a second, an act is everywhere within 1 s."""

_PATIENCE: Final = 100
"""Looks between two attempts at a snapshot that cannot be written: some 30 s."""


class Publisher:
    """Keeps the snapshot at the log's head."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._trouble: str | None = None
        self._waits = 0  # looks to let pass

    def look(self) -> None:
        """Publish if the snapshot is behind the log; what goes wrong is told once until it ends."""
        if self._waits:
            self._waits -= 1
            return
        world = self._world
        try:
            if world.published != world.ledger.head():
                world.publish()
                LOG.debug("snapshot published")
        except (StoreError, SnapshotError) as error:
            if self._trouble != type(error).__name__:
                LOG.error("snapshot not published error=%s", error)
            self._trouble, self._waits = type(error).__name__, _PATIENCE
        else:
            if self._trouble is not None:
                LOG.info("snapshot published again")
            self._trouble = None

    async def keep_looking(self) -> None:
        """Look until cancelled."""
        clock = self._world.clock
        while True:
            self.look()
            await clock.sleep(GLANCE * clock.rate)
