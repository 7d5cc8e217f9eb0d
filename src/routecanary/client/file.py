"""Has the daemon renamed a new snapshot into place, and where is that place?

Source: docs/routing.md, "The snapshot file".
"""

# ruff: noqa: PTH111, PTH116, PTH117, PTH118 - pathlib would double what the application pays for the import
from __future__ import annotations

import os
import time
from stat import S_ISREG

from routecanary.errors import SnapshotError

ENVIRONMENT = "ROUTECANARY_SNAPSHOT"
"""The environment variable that names the snapshot file, or its listener, when the application does not."""

MAX_BYTES = 64 * 1024 * 1024  # of a snapshot file

_SETTLED_NS = 2_000_000_000  # a file younger than this is read again: its stamp may not show a second change


def default_path() -> str:
    """Name the snapshot: what `ROUTECANARY_SNAPSHOT` says, else a file below the user's state directory."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        return named
    state = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):  # as the XDG specification says
        state = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(state, "routecanary", "snapshot.json")


def is_url(place: str) -> bool:
    """Say whether a snapshot is asked for over HTTP."""
    return place.startswith(("http://", "https://"))


class SnapshotFile:
    """One path, and what was last read there. Not for two threads at once."""

    __slots__ = ("_content", "_settled", "_stamp", "path")

    waits = False

    def __init__(self, path: str) -> None:
        self.path = path
        self._stamp: tuple[int, ...] | None = None
        self._settled = False
        self._content: bytes | None = None

    def read_if_changed(self) -> bytes | None:
        """Return the content if it is another than at the last reading, None if it is the same.

        Raises:
            FileNotFoundError: There is none.
            OSError: It cannot be read.
            SnapshotError: It is no ordinary file, or too large.
        """
        try:
            status = os.stat(self.path)
            if self._settled and self._stamp == _stamp(status):
                return None
            if not S_ISREG(status.st_mode):  # opening a pipe could wait for ever
                raise SnapshotError("not an ordinary file")
            return self._read()
        except BaseException:
            self.forget()
            raise

    def wait(self) -> bytes | None:
        """Look at once: a file tells of no change by itself."""
        return self.read_if_changed()

    def pause(self, interval: float, *, failed: bool) -> float:
        """Look again after the interval, whatever was found."""
        del failed
        return interval

    def forget(self) -> None:
        self._stamp = self._content = None
        self._settled = False

    def after_fork(self) -> SnapshotFile:
        return SnapshotFile(self.path)

    def close(self) -> None:
        """Hold nothing open."""

    def _read(self) -> bytes | None:
        began = time.time_ns()
        with open(self.path, "rb", opener=_opener) as file:
            status = os.fstat(file.fileno())
            if not S_ISREG(status.st_mode):
                raise SnapshotError("not an ordinary file")
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise SnapshotError(f"too large; allowed: {MAX_BYTES} bytes")
        self._stamp = _stamp(status)
        self._settled = abs(began - status.st_mtime_ns) > _SETTLED_NS
        if content == self._content:
            return None
        self._content = content
        return content


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
