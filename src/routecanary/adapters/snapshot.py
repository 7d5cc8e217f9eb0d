"""How does the snapshot reach the applications on this machine?

By a rename within one directory, so that a reader finds the old document or the new one, whole; and under a
lock, so that of two writers the one with the older facts is not the last.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from routecanary.domain.probe import Json
from routecanary.errors import SnapshotError

_MODE = 0o644  # applications run as other users; the document holds no secret
_PATIENCE: Final = 5.0  # seconds that one writer waits for another, which holds the file for milliseconds
_NAP: Final = 0.005  # seconds


@contextlib.contextmanager
def held_snapshot(path: Path, *, patience: float = _PATIENCE) -> Iterator[None]:
    """Keep every other writer of this snapshot waiting, in this process and in others.

    Whoever reads the facts and writes them within it never replaces newer facts by older ones. A lock file
    `.NAME.lock` beside the snapshot stays.

    Raises:
        SnapshotError: The lock could not be had in time, or not at all.
    """
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # read-only is enough for a lock, so that one user's lock file does not lock another user out
        flags = os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(target.with_name(f".{target.name}.lock"), flags, _MODE)
    except OSError as error:
        raise SnapshotError(f"{path}: not locked: {error.strerror or error}") from error
    try:
        with contextlib.suppress(OSError):  # of another user's file, which has the right mode already
            os.fchmod(descriptor, _MODE)  # whatever the umask
        deadline = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise SnapshotError(
                        f"{path}: not written: another process holds it for over {patience:g} s"
                    ) from None
            except OSError as error:
                raise SnapshotError(f"{path}: not locked: {error.strerror or error}") from error
            time.sleep(_NAP)
        yield
    finally:
        os.close(descriptor)


def write_snapshot(path: Path, snapshot: Mapping[str, Json]) -> None:
    """Replace the snapshot file; it is durable on return.

    Args:
        path: The file; missing directories are made, a symbolic link is followed and stays.
        snapshot: Plain JSON values.
    Raises:
        SnapshotError: It could not be written; what was there before is untouched.
    """
    try:
        document = json.dumps(snapshot, allow_nan=False, ensure_ascii=True, separators=(",", ":")) + "\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise SnapshotError(f"{path}: not plain JSON: {error}") from error
    try:
        _replace(Path(os.path.realpath(path)), document.encode("ascii"))
    except OSError as error:
        raise SnapshotError(f"{path}: not written: {error.strerror or error}") from error


def _replace(path: Path, document: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(8)}.tmp")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
            file.write(document)
            file.flush()
            os.fchmod(descriptor, _MODE)  # whatever the umask
            os.fsync(descriptor)
        draft.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
