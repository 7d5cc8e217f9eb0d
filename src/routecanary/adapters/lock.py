"""Who watches this store? One daemon at most, which others can find.

A lock file `.NAME.daemon` beside the store names the daemon's process. The lock is the system's own
(`flock`): it ends with the process however that ends, so a file that is left behind stands in nobody's way.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from routecanary.errors import DaemonRunningError, StoreError

_MOST: Final = 32  # bytes that a process id may have
_PATIENCE: Final = 2.0  # seconds that a starting daemon is given to name itself
_GLANCE: Final = 0.5  # seconds; far longer than anybody holds the lock who only looks
_NAP: Final = 0.02  # seconds


class DaemonLock:
    """The lock of the one daemon that watches a store, held until it is closed."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    def announce(self) -> None:
        """Name this process, once it is ready for signals.

        Raises:
            StoreError: The file cannot be written.
        """
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
        except OSError as error:
            raise _trouble(self._path, error) from error


@contextlib.contextmanager
def held_daemon_lock(store: Path) -> Iterator[DaemonLock]:
    """Be the one daemon of a store.

    Args:
        store: Its path; missing folders are made as the store makes them.
    Raises:
        DaemonRunningError: Another process is.
        StoreError: The lock file cannot be used.
    """
    path = lock_path(store)
    try:
        _make_folder(path.parent)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise _trouble(path, error) from error
    try:
        try:
            if not _locked(descriptor, patience=_GLANCE):
                raise DaemonRunningError(str(store), daemon_of(store))
        except OSError as error:
            raise _trouble(path, error) from error
        os.ftruncate(descriptor, 0)  # whoever was killed left its name
        yield DaemonLock(path, descriptor)
    finally:
        os.close(descriptor)


def daemon_of(store: Path, *, patience: float = _PATIENCE) -> int | None:
    """Find the process that watches a store; None when none does, or when it does not say which it is.

    Args:
        patience: Seconds that a daemon which is just starting is given.
    Raises:
        StoreError: The lock file cannot be read.
    """
    path = lock_path(store)
    deadline = time.monotonic() + patience
    before = b""
    while True:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _trouble(path, error) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            said = os.pread(descriptor, _MOST, 0)
        except OSError as error:
            raise _trouble(path, error) from error
        else:
            return None
        finally:
            os.close(descriptor)
        # twice the same: whoever has just taken the lock has yet to wipe out the name of one that was killed
        if said == before and said.endswith(b"\n") and said[:-1].isdigit():
            return int(said)
        before = said
        if time.monotonic() >= deadline:
            return None
        time.sleep(_NAP)


def _locked(descriptor: int, *, patience: float) -> bool:
    """Take the lock for ourselves; whoever only looks for the daemon has it for a moment."""
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_NAP)
        else:
            return True


def lock_path(store: Path) -> Path:
    """Name the lock file of a store; one behind a symbolic link has the lock of its target."""
    target = Path(os.path.realpath(store))
    return target.with_name(f".{target.name}.daemon")


def _make_folder(folder: Path) -> None:
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def _trouble(path: Path, error: OSError) -> StoreError:
    return StoreError(f"the lock file {str(path)!r} cannot be used: {error.strerror or error}")
