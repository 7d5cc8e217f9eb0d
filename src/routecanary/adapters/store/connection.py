"""How is one SQLite file opened, shared between threads, and how do its errors become ours?"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Lock, RLock
from typing import Final

from routecanary.adapters.store.migrate import migrate, pending_migrations
from routecanary.adapters.store.queries import MIGRATIONS, QUERIES, Migration
from routecanary.errors import StoreError

Cell = str | int | bytes | None
"""What a statement takes as a parameter."""

BUSY_SECONDS: Final = 5.0  # how long a call waits for another writer's transaction
PAGE_BYTES: Final = 8192  # transcripts of some KB lie in fewer overflow pages; measured in docs/store.md
_WAL_RETRY_SECONDS: Final = 0.01

PROBLEMS: Final[Mapping[int, str]] = {
    sqlite3.SQLITE_BUSY: "is locked by another process",
    sqlite3.SQLITE_LOCKED: "is locked by another connection of this process",
    sqlite3.SQLITE_PROTOCOL: "is locked by another process",
    sqlite3.SQLITE_NOTADB: "is not a database",
    sqlite3.SQLITE_FORMAT: "is not a database that can be read here",
    sqlite3.SQLITE_CORRUPT: "is damaged",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened",
    sqlite3.SQLITE_READONLY: "cannot be written",
    sqlite3.SQLITE_PERM: "cannot be accessed",
    sqlite3.SQLITE_AUTH: "cannot be accessed",
    sqlite3.SQLITE_FULL: "has no room left on its disk",
    sqlite3.SQLITE_IOERR: "could not be read or written by the system",
    sqlite3.SQLITE_NOLFS: "is larger than the system can read",
    sqlite3.SQLITE_NOMEM: "needs more memory than there is",
    sqlite3.SQLITE_TOOBIG: "refused a value that is too big",
    sqlite3.SQLITE_CONSTRAINT: "refused a row",
    sqlite3.SQLITE_INTERRUPT: "was interrupted",
    sqlite3.SQLITE_ABORT: "was interrupted",
}
"""What a primary result code of SQLite means to the person who reads it."""

# Closing any descriptor of a file drops all of the process's POSIX locks on it, SQLite's too; so no
# connection of ours may be opened between the making of a file and the closing of that descriptor.
# https://www.sqlite.org/howtocorrupt.html §2.2
_OPENING = Lock()


def store_error(path: Path, error: Exception) -> StoreError:
    """Map an exception of sqlite3 to ours, naming the file."""
    code = getattr(error, "sqlite_errorcode", None)
    problem = "could not be used" if code is None else PROBLEMS.get(code & 0xFF, "could not be used")
    return StoreError(f"the store {str(path)!r} {problem}: {error}")


@contextmanager
def _mapped(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise store_error(path, error) from error


class Connection:
    """One connection behind one lock: any thread may call, one at a time; not to be used after a fork.

    Each statement is its own transaction, save inside of `transaction`.
    """

    def __init__(
        self,
        path: Path,
        *,
        busy_seconds: float = BUSY_SECONDS,
        migrations: Sequence[Migration] = MIGRATIONS,
    ) -> None:
        self.path = path
        self._lock = RLock()
        with _OPENING, _mapped(path):
            _make_file(path)
            # the path as a URI: `mode=rw` never makes a file, and a name such as `:memory:` is a name
            self._sqlite = sqlite3.connect(
                path.absolute().as_uri() + "?mode=rw",
                uri=True,
                timeout=busy_seconds,
                isolation_level=None,
                check_same_thread=False,
            )
            try:
                self._prepare(busy_seconds, migrations)
            except BaseException:
                self._sqlite.close()
                raise

    def _prepare(self, busy_seconds: float, migrations: Sequence[Migration]) -> None:
        try:
            # nothing is written before the file is known to be ours or empty
            if pending_migrations(self._sqlite, migrations):
                self._sqlite.execute(f"PRAGMA page_size = {PAGE_BYTES}")  # heeded by an empty file only
                migrate(self._sqlite, migrations)
        except StoreError as error:
            raise StoreError(f"the store {str(self.path)!r} {error}") from error
        self._use_write_ahead_log(busy_seconds)
        self._sqlite.execute("PRAGMA synchronous = FULL")
        self._sqlite.execute("PRAGMA foreign_keys = ON")
        self._sqlite.row_factory = sqlite3.Row
        # bytes that are no Unicode can only stem from tampering: let the hash find it
        self._sqlite.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")

    def _use_write_ahead_log(self, busy_seconds: float) -> None:
        """Switch the file to WAL; SQLite does not wait for other openers here, so this does."""
        deadline = time.monotonic() + busy_seconds
        while True:
            try:
                (mode,) = self._sqlite.execute("PRAGMA journal_mode = WAL").fetchone()
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                    raise
                time.sleep(_WAL_RETRY_SECONDS)
                continue
            if mode != "wal":
                raise StoreError(
                    f"the store {str(self.path)!r} lies where no write-ahead log can be kept"
                    " (a network file system?)"
                )
            return

    def close(self) -> None:
        """Close the file; may be called twice."""
        with self._lock, _mapped(self.path):
            self._sqlite.close()

    def rows(self, query: str, **parameters: Cell) -> list[sqlite3.Row]:
        """Run a named query and return its rows; a name that is no Unicode names nothing."""
        with self._lock, _mapped(self.path):
            try:
                return self._sqlite.execute(QUERIES[query], parameters).fetchall()
            except UnicodeEncodeError:
                return []

    def insert(self, query: str, rows: Iterable[Sequence[Cell] | Mapping[str, Cell]]) -> None:
        """Run a named statement once for each row."""
        with self._lock, _mapped(self.path):
            self._sqlite.executemany(QUERIES[query], rows)

    def change(self, query: str, **parameters: Cell) -> int:
        """Run a named statement and return how many rows it changed."""
        with self._lock, _mapped(self.path):
            return self._sqlite.execute(QUERIES[query], parameters).rowcount

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the write lock over several statements: all of them last, or none."""
        with self._lock, _mapped(self.path):
            self._sqlite.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._sqlite.execute("COMMIT")
            except BaseException:
                self._sqlite.rollback()
                raise


def _make_file(path: Path) -> None:
    """Make an empty file that only its owner can read, unless there is one.

    Raises:
        StoreError: The path cannot be a store.
    """
    try:
        _make_folder(path.parent)
        try:
            made = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            if not stat.S_ISREG(path.stat().st_mode):
                raise StoreError(f"the store {str(path)!r} is not a regular file") from None
            # the log's write-ahead file lies beside it; SQLite itself would open the file for reading only
            if not (_writable(path) and _writable(path.parent)):
                raise StoreError(
                    f"the store {str(path)!r} cannot be written: its file or folder refuses"
                ) from None
        else:
            os.fchmod(made, 0o600)  # whatever the umask took away
            os.close(made)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise StoreError(f"the store {str(path)!r} cannot be made: {reason}") from error


def _make_folder(folder: Path) -> None:
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def _writable(path: Path) -> bool:
    return os.access(path, os.R_OK | os.W_OK, effective_ids=os.access in os.supports_effective_ids)
