"""How do generations get into the store without holding a request up?

One thread reads and keeps, one job after the other; so many may wait, and no more. The store is opened by
the first job, and anew after a failure or when another file took its place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol

from routecanary.clock import Clock
from routecanary.domain.generation import Generation
from routecanary.domain.settings import Settings
from routecanary.errors import StoreError
from routecanary.rounds.ports import Generations
from routecanary.wiring import open_store

MAX_WAITING: Final = 16  # jobs, the one under way included
PATIENCE: Final = 2.0  # seconds that a job waits for a store that is locked


class BusyError(Exception):
    """So many jobs wait already that this one was not taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What became of the generations of one job."""

    new: int
    known: int  # told before; what was missing of them was filled in


class _OpenStore(Generations, Protocol):
    def close(self) -> None: ...


class Keeper:
    """The thread that keeps, and its store."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="telemetry")
        self._waiting = 0
        self._store: _OpenStore | None = None
        self._file: tuple[int, int] | None = None

    async def keep(self, read: Callable[[datetime], Sequence[Generation]]) -> Kept:
        """Read generations and keep all of them, durably, or none.

        Args:
            read: Called in the thread with the time; what it raises is raised here.
        Raises:
            BusyError: Too many wait; `read` was not called.
            StoreError: The store cannot be written now; nothing was kept.
        """
        if self._waiting >= MAX_WAITING:
            raise BusyError
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._keep, read)
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Finish what is under way, and let the store go."""
        self._thread.shutdown(wait=True, cancel_futures=True)
        self._forget_store()

    def _keep(self, read: Callable[[datetime], Sequence[Generation]]) -> Kept:
        now = self._clock.now()
        generations = read(now)
        try:
            new = self._open().keep_generations(generations, at=now)
        except StoreError:
            self._forget_store()
            raise
        return Kept(new=new, known=len(generations) - new)

    def _open(self) -> _OpenStore:
        try:
            status = Path(self._settings.store_path).stat()
        except (OSError, ValueError) as error:
            raise StoreError(f"the store cannot be found: {error}") from error
        file = (status.st_dev, status.st_ino)
        if self._store is None or file != self._file:
            self._forget_store()
            self._store = open_store(self._settings, busy_seconds=PATIENCE)
            self._file = file
        if self._store is None:
            raise StoreError("the store is gone")
        return self._store

    def _forget_store(self) -> None:
        if self._store is not None:
            with suppress(StoreError):
                self._store.close()
        self._store = None
