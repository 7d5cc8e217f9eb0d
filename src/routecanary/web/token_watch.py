"""Which tokens are in force, whatever becomes of the store?

A thread reads them anew about once a second and hands them to the guard. While the store is locked, damaged
or gone, the guard goes on with what was read last.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from routecanary.domain.settings import Settings
from routecanary.errors import StoreError
from routecanary.rounds.ports import PrunedLog
from routecanary.rounds.tokens import StoredTokens
from routecanary.web.guard import Guard
from routecanary.wiring import open_store

LOG: Final = logging.getLogger("routecanary.tokens")
INTERVAL: Final = 1.0  # seconds between two looks
PATIENCE: Final = 1.0  # seconds that a look waits for a store that is locked


class _OpenLog(PrunedLog, Protocol):
    def close(self) -> None: ...


class TokenWatch:
    """Keeps a guard informed. `problem` says why the last look found nothing; None when it did."""

    def __init__(self, guard: Guard, settings: Settings) -> None:
        self._guard = guard
        self._settings = settings
        self._log: _OpenLog | None = None
        self._file: tuple[int, int] | None = None
        self._tokens: StoredTokens | None = None
        self.problem: str | None = None

    def look(self) -> None:
        """Read the tokens now; a store that was never there holds none."""
        try:
            self._open()
            if self._tokens is not None:
                self._guard.replace(self._tokens.read())
            elif self._file is None:
                self._guard.replace(())
            problem = None
        except Exception as error:  # whatever it is, what was read last stays in force
            problem = f"{type(error).__name__}: {error}"
        if problem is not None and self.problem is None:
            LOG.warning("tokens cannot be read, those that were read last stay in force: %s", problem)
        elif problem is None and self.problem is not None:
            LOG.info("tokens are read again")
        self.problem = problem

    def close(self) -> None:
        """Let the store go."""
        if self._log is not None:
            with suppress(StoreError):
                self._log.close()
        self._log = self._tokens = None

    def _open(self) -> None:
        """Open the store, or the one that took its place."""
        try:
            status = Path(self._settings.store_path).stat()
        except (OSError, ValueError) as error:
            if self._file is None and isinstance(error, FileNotFoundError):
                return
            raise StoreError(f"the store cannot be found: {error}") from error
        file = (status.st_dev, status.st_ino)
        if self._log is not None and file == self._file:
            return
        self.close()
        self._file = file
        self._log = open_store(self._settings, busy_seconds=PATIENCE)
        self._tokens = None if self._log is None else StoredTokens(self._log)


@contextmanager
def watched_tokens(guard: Guard, settings: Settings, *, interval: float = INTERVAL) -> Iterator[TokenWatch]:
    """Keep a guard informed for as long as this is entered; it knows the tokens from the start."""
    watch, stop = TokenWatch(guard, settings), threading.Event()

    def go_on() -> None:
        while not stop.wait(interval):
            watch.look()
        watch.close()

    watch.look()
    thread = threading.Thread(target=go_on, name="tokens", daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        stop.set()
        thread.join(PATIENCE)
