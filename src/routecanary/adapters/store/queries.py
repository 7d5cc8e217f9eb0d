"""Where is the SQL? In `queries.sql` and `migrations/`, read once when the store is imported."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib.resources import files
from typing import Final, NamedTuple

_NAME: Final = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_MIGRATION: Final = re.compile(r"(\d{4})_(\w+)\.sql")


class Migration(NamedTuple):
    """One step of the schema. A step that was shipped is never edited; the next one follows it."""

    number: int  # 1, 2, 3 …
    name: str
    text: str

    @property
    def checksum(self) -> str:
        return sha256(self.text.encode()).hexdigest()


def named_queries(text: str) -> Mapping[str, str]:
    """Split a file at its `-- name:` lines: one statement a name."""
    parts = _NAME.split(text)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def statements(script: str) -> Iterator[str]:
    """Split a script into whole statements; a trigger's body stays in one piece.

    `executescript` would commit the transaction that a migration runs in.
    """
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""


def _migrations() -> tuple[Migration, ...]:
    # text mode: a checkout that changes line ends does not change the checksum
    return tuple(
        sorted(
            Migration(int(match[1]), match[2], file.read_text(encoding="utf-8"))
            for file in files(__package__).joinpath("migrations").iterdir()
            if (match := _MIGRATION.fullmatch(file.name))
        )
    )


QUERIES: Final = named_queries(files(__package__).joinpath("queries.sql").read_text(encoding="utf-8"))
MIGRATIONS: Final = _migrations()
