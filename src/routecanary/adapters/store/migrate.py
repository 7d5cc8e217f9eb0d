"""Which shape does this file have, and how does it get ours?"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from routecanary.adapters.store.queries import Migration, statements
from routecanary.errors import StoreError

APPLICATION_ID = 0x524F5543
"""`ROUC`, in the file's header; set by the first migration."""


def pending_migrations(
    connection: sqlite3.Connection, migrations: Sequence[Migration]
) -> Sequence[Migration]:
    """Find the migrations that this database still lacks. Only reads.

    Raises:
        StoreError: It is the database of another program, was written by a newer Routecanary, or by
            migrations whose text has been changed since.
    """
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if tables == 0 and application == 0:
        return migrations
    if application != APPLICATION_ID:
        raise StoreError("is the database of another program")
    recorded = connection.execute("SELECT number, name, checksum FROM migration ORDER BY number").fetchall()
    for (number, name, checksum), shipped in zip(recorded, migrations, strict=False):
        if (number, name, checksum) != (shipped.number, shipped.name, shipped.checksum):
            raise StoreError(
                f"was made by another text of migration {number:04}_{name} than the one shipped here"
            )
    if len(recorded) > len(migrations):
        number, name, _ = recorded[len(migrations)]
        raise StoreError(
            f"was written by a newer version of Routecanary (migration {number:04}_{name}): upgrade this one"
        )
    return migrations[len(recorded) :]


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> None:
    """Bring a database to the newest shape, in one transaction that other processes wait for.

    Raises:
        StoreError: As `pending_migrations`; nothing was changed.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        for migration in pending_migrations(connection, migrations):
            for statement in statements(migration.text):
                connection.execute(statement)
            connection.execute(
                "INSERT INTO migration (number, name, checksum) VALUES (?, ?, ?)",
                (migration.number, migration.name, migration.checksum),
            )
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise
