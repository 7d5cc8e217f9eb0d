"""What the SQLite file promises beyond `test_store.py`: opening, shape, and resistance to tampering."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

import routecanary.adapters.store
import tests
from routecanary.adapters.store import sqlite as store_module
from routecanary.adapters.store.connection import Connection, store_error
from routecanary.adapters.store.migrate import migrate
from routecanary.adapters.store.queries import MIGRATIONS, QUERIES, Migration, statements
from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.domain.log import EMPTY_LOG, ChainBreak
from routecanary.errors import StoreError
from tests.conformance.stored import MODEL, NOON, a_draft, a_transcript, a_verdict

NOBODY = 65534


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def filled(path: Path) -> None:
    """Make a store with five events and a transcript."""
    with SqliteStore(path) as store:
        packed = store.pack(a_transcript(), at=NOON, verdicts=a_verdict())
        store.append([a_draft(n=n) for n in range(1, 6)], EMPTY_LOG, transcripts=[packed])


@contextmanager
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file as a stranger would, past the store."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def test_a_store_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    """The file, its write-ahead log and every folder made for it are private, whatever the umask."""
    path = tmp_path / "new" / "folder" / "store.db"
    before = os.umask(0o000)
    try:
        with SqliteStore(path) as store:
            store.append([a_draft()], EMPTY_LOG)
            made = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert made == {"store.db": 0o600, "store.db-wal": 0o600, "store.db-shm": 0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.parent.parent.stat().st_mode) == 0o700


def test_a_store_is_opened_again_with_all_that_was_kept(path: Path) -> None:
    """Events and transcripts outlive the process that wrote them."""
    filled(path)
    with SqliteStore(path) as store:
        assert [event.body for event in store.read()] == [{"n": n} for n in range(1, 6)]
        (entry,) = store.find(MODEL)
        kept = store.get(entry.id)
        assert kept is not None
        assert kept.transcript == a_transcript()
        assert store.verify() is None


def test_the_log_is_durable_at_once(path: Path) -> None:
    """The connection keeps a write-ahead log and waits for the disk at each commit."""
    with SqliteStore(path) as store:
        connection = store._connection._sqlite
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2, "FULL"
        assert connection.execute("PRAGMA foreign_keys").fetchone()[0] == 1
        assert connection.execute("PRAGMA busy_timeout").fetchone()[0] == 5000


def test_a_path_is_taken_by_its_letters(tmp_path: Path) -> None:
    """No character of a name has a meaning of its own."""
    for name in (":memory:", "a?mode=memory", "50%25#x", "ünï.db", "file:x"):
        path = tmp_path / name
        filled(path)
        assert path.stat().st_size > 0


BAD_CONTENT = {
    "text": b"what a nice day\n" * 100,
    "five bytes": b"hello",
    "noise": bytes(range(256)) * 64,
    "json": b'{"model": "acme/llama-70b"}',
    "other magic": b"SQLite format 2\0" + bytes(8192),
    "cut short": b"SQLite format 3\0" + bytes(40),
}


@pytest.mark.parametrize("name", BAD_CONTENT)
def test_a_file_that_is_no_store_is_left_alone(path: Path, name: str) -> None:
    """The error names the file, and the file has the same bytes as before, with nothing beside it."""
    path.write_bytes(BAD_CONTENT[name])
    with pytest.raises(StoreError, match=rf"'{re.escape(str(path))}' is not a database"):
        SqliteStore(path)
    assert path.read_bytes() == BAD_CONTENT[name]
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("application_id", [0, 4711])
def test_the_database_of_another_program_is_left_alone(path: Path, application_id: int) -> None:
    """Its bytes stay, its journal mode too."""
    with raw(path) as connection:
        connection.execute(f"PRAGMA application_id = {application_id}")
        connection.execute("CREATE TABLE theirs (x)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is the database of another program"):
        SqliteStore(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_path_that_can_hold_no_store_is_refused(tmp_path: Path) -> None:
    """A folder, a pipe, a file for a folder, a dangling link, a NUL, a name too long."""
    file = tmp_path / "file"
    file.write_text("x")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    cases = {
        tmp_path: "is not a regular file",
        pipe: "is not a regular file",
        file / "store.db": "cannot be made: Not a directory",
        link: "cannot be made: No such file or directory",
        tmp_path / "a\0b": "cannot be made: .*embedded null",
        tmp_path / ("x" * 300): "cannot be made: File name too long",
    }
    for path, said in cases.items():
        with pytest.raises(StoreError, match=said) as caught:
            SqliteStore(path)
        assert repr(str(path)) in str(caught.value)
    assert file.read_text() == "x"


@contextmanager
def unprivileged() -> Iterator[Path]:
    """Give a folder that anybody may enter, and drop what root may do beyond others."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@contextmanager
def as_nobody() -> Iterator[None]:
    was = os.geteuid()
    if was == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(was)


def test_what_may_not_be_written_is_refused_at_once() -> None:
    """A read-only file, and a folder in which no file can be made."""
    with unprivileged() as folder:
        path = folder / "store.db"
        filled(path)
        path.chmod(0o444)
        folder.chmod(0o555)
        before = path.read_bytes()
        with as_nobody():
            with pytest.raises(StoreError, match=r"store\.db' cannot be written"):
                SqliteStore(path)
            with pytest.raises(StoreError, match=r"new\.db' cannot be made: Permission denied"):
                SqliteStore(folder / "new.db")
        assert path.read_bytes() == before
        folder.chmod(0o755)


def test_a_locked_store_is_named_after_the_wait(path: Path) -> None:
    """Neither opening nor appending waits for ever; the store is what it was."""
    filled(path)
    with SqliteStore(path, busy_seconds=0.05) as store, raw(path) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="is locked by another process"):
            store.append([a_draft()], store.head())
        other.execute("ROLLBACK")
        assert store.append([a_draft()], store.head()).seq == 6
    with raw(path) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="is locked by another process"):
            SqliteStore(path, busy_seconds=0.05)


def test_every_error_of_the_library_becomes_ours() -> None:
    """Also one without a result code; the message names the file."""

    def all_below(kind: type[Exception]) -> Iterator[type[Exception]]:
        yield kind
        for each in kind.__subclasses__():
            yield from all_below(each)

    kinds = list(all_below(sqlite3.Error))
    assert len(kinds) >= 9
    for kind in kinds:
        assert str(store_error(Path("/a/b.db"), kind("why"))) == "the store '/a/b.db' could not be used: why"


def test_a_damaged_page_is_an_error_of_ours(path: Path) -> None:
    """Overwritten pages are reported, not read."""
    with SqliteStore(path) as store:
        store.append([a_draft(n=n, x="x" * 500) for n in range(200)], EMPTY_LOG)
    with raw(path) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'event'").fetchone()
    content = bytearray(path.read_bytes())
    content[8192 * (page - 1) : 8192 * page] = b"\xaa" * 8192
    path.write_bytes(content)
    with SqliteStore(path) as store, pytest.raises(StoreError, match="is damaged"):
        list(store.read())


# --- migrations


def shape(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    """Every table, index and trigger, with its text less comments and layout."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {(kind, name, " ".join(re.sub(r"--.*", "", sql).split())) for kind, name, sql in rows}


def test_all_migrations_together_are_the_schema() -> None:
    """`schema.sql` is what a reader is shown, and what the migrations make."""
    schema = files(routecanary.adapters.store).joinpath("schema.sql").read_text(encoding="utf-8")
    with closing(sqlite3.connect(":memory:")) as shown, closing(sqlite3.connect(":memory:")) as made:
        for statement in statements(schema):
            shown.execute(statement)
        made.isolation_level = None
        migrate(made, MIGRATIONS)
        assert shape(made) == shape(shown)
        for pragma in ("application_id", "user_version"):
            one, two = (each.execute(f"PRAGMA {pragma}").fetchone() for each in (made, shown))
            assert one == two


def test_migrations_are_numbered_without_a_gap() -> None:
    """Each is a file of its own, in order, that ends after its last statement."""
    assert [each.number for each in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))
    for each in MIGRATIONS:
        assert "".join(statements(each.text)) == each.text.rstrip() + "\n"


def test_an_older_file_is_brought_up_to_date(path: Path) -> None:
    """Its events are kept."""
    with closing(Connection(path, migrations=MIGRATIONS[:1])):
        pass
    with raw(path) as connection:
        assert connection.execute("SELECT number, name FROM migration").fetchall() == [(1, "event_log")]
    filled(path)
    with raw(path) as connection:
        recorded = connection.execute("SELECT number, name, checksum FROM migration").fetchall()
    assert recorded == [(each.number, each.name, each.checksum) for each in MIGRATIONS]


def test_a_newer_file_is_refused_and_left_alone(path: Path) -> None:
    """The error says which migration is not known here."""
    future = Migration(len(MIGRATIONS) + 1, "tomorrow", "CREATE TABLE tomorrow (x);\n")
    with closing(Connection(path, migrations=[*MIGRATIONS, future])):
        pass
    before = path.read_bytes()
    with pytest.raises(
        StoreError, match=rf"newer version of Routecanary \(migration {future.number:04}_tomorrow\)"
    ):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_a_migration_whose_text_changed_is_refused(path: Path) -> None:
    """A file made by another text has another shape than the one expected."""
    with closing(
        Connection(path, migrations=[MIGRATIONS[0]._replace(text=MIGRATIONS[0].text + "-- edited\n")])
    ):
        pass
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another text of migration 0001_event_log"):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_a_migration_that_fails_leaves_nothing(path: Path) -> None:
    """Half of a step is never kept, nor the steps before it in the same opening."""
    broken = Migration(2, "broken", "CREATE TABLE half (x);\nINSERT INTO nowhere VALUES (1);\n")
    with pytest.raises(StoreError, match="no such table: nowhere"):
        Connection(path, migrations=[MIGRATIONS[0], broken])
    with raw(path) as connection:
        assert shape(connection) == set()
    filled(path)


def test_every_query_is_used_and_fits_the_schema(path: Path) -> None:
    """No statement is left over, and each can be prepared."""
    folder = Path(store_module.__file__).parent
    source = "".join(each.read_text(encoding="utf-8") for each in folder.glob("*.py"))
    suffixes = ("_of_model", "_of_kinds")
    for name, text in QUERIES.items():
        stem = next((name.removesuffix(end) for end in suffixes if name.endswith(end)), name)
        assert f'"{name}"' in source or f'"{stem}"' in source, f"{name} is not used"
        assert len(list(statements(text.rstrip() + "\n"))) == 1, f"{name} is not one statement"
    with SqliteStore(path) as store:
        connection = store._connection._sqlite
        for text in QUERIES.values():
            names = set(re.findall(r":(\w+)", text))
            values = dict.fromkeys(names) if names else [None] * text.count("?")
            assert connection.execute("EXPLAIN " + text, values).fetchall()


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("events_after", "INTEGER PRIMARY KEY"),
        ("events_after_of_model", "event_by_model"),
        ("events_after_of_kinds", "COVERING INDEX event_by_kind"),
        ("newest_events_of_model", "event_by_model"),
        ("newest_events_of_kinds", "COVERING INDEX event_by_kind"),
        ("last_event_of_kind", "event_by_kind"),
        ("models", "COVERING INDEX event_by_model"),
        ("count_events_of_kinds", "COVERING INDEX event_by_kind"),
        ("transcripts_of_model", "transcript_by_model"),
        ("transcripts_of_route", "transcript_by_route"),
        ("oldest_transcript", "COVERING INDEX transcript_by_age"),
        ("oldest_evidence", "COVERING INDEX transcript_by_seq"),
        ("count_old_transcripts", "COVERING INDEX transcript_by_age"),
        ("prune_transcripts", "COVERING INDEX transcript_by_age"),
    ],
)
def test_listings_are_served_by_an_index(path: Path, query: str, index: str) -> None:
    """No listing walks through the bodies of the whole log."""
    with SqliteStore(path) as store:
        names = set(re.findall(r":(\w+)", QUERIES[query]))
        plan = store._connection._sqlite.execute(
            "EXPLAIN QUERY PLAN " + QUERIES[query], dict.fromkeys(names)
        ).fetchall()
    steps = [row["detail"] for row in plan]
    assert any(index in step for step in steps), steps
    assert not {"SCAN event", "SCAN transcript"}.intersection(steps), steps


# --- tampering


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE event SET body = '{}' WHERE seq = 2", "an event is never changed"),
        ("UPDATE event SET hash = hash", "an event is never changed"),
        ("DELETE FROM event WHERE seq = 5", "an event is never deleted"),
        ("DELETE FROM event", "an event is never deleted"),
        ("REPLACE INTO event SELECT * FROM event WHERE seq = 5", "must follow the last one"),
        (
            "INSERT INTO event SELECT 7, at, model, kind, body, hash, previous FROM event WHERE seq = 5",
            "must follow the last one",
        ),
        (
            "INSERT INTO event SELECT 6, at, model, kind, body, previous, hash FROM event WHERE seq = 5",
            "must follow the last one",
        ),
        ("UPDATE transcript SET failed = 0", "a transcript is never changed"),
        ("DELETE FROM transcript", "a transcript is never deleted"),
    ],
)
def test_rows_are_immutable(path: Path, statement: str, said: str) -> None:
    """The file itself refuses a change, whoever asks."""
    filled(path)
    with raw(path) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        before = list(connection.iterdump())
        with pytest.raises(sqlite3.IntegrityError, match=said):
            connection.execute(statement)
        assert list(connection.iterdump()) == before


def test_a_transcript_is_not_replaced(path: Path) -> None:
    """Neither by its number nor by its id."""
    filled(path)
    with raw(path) as connection:
        before = list(connection.iterdump())
        columns = "seq, at, model, route, kind, locale, 9, 0, '[]', format, data FROM transcript"
        connection.execute(f"REPLACE INTO transcript SELECT number, 'x', {columns}")
        connection.execute(f"REPLACE INTO transcript SELECT 7, id, {columns}")
        assert list(connection.iterdump()) == before


ALTERED = "altered: its content does not have its hash"
TAMPERINGS = {
    "body": ("UPDATE event SET body = '{\"n\":7}' WHERE seq = 3", 3, ALTERED),
    "spaces": ("UPDATE event SET body = '{\"n\": 3}' WHERE seq = 3", 3, ALTERED),
    "time": ("UPDATE event SET at = '2026-11-29T12:00:00.000251Z' WHERE seq = 1", 1, ALTERED),
    "model": ("UPDATE event SET model = NULL WHERE seq = 5", 5, ALTERED),
    "kind": ("UPDATE event SET kind = 'held' WHERE seq = 4", 4, ALTERED),
    "no unicode": ("UPDATE event SET body = CAST(x'7bff7d' AS TEXT) WHERE seq = 2", 2, ALTERED),
    "bytes": ("UPDATE event SET kind = x'68656c64' WHERE seq = 2", 2, ALTERED),
    "hash": ("UPDATE event SET hash = printf('%064d', 7) WHERE seq = 3", 3, ALTERED),
    "link": (
        "UPDATE event SET previous = printf('%064d', 7) WHERE seq = 3",
        3,
        "does not carry the hash of the event before it",
    ),
    "gone": ("DELETE FROM event WHERE seq = 3", 3, "missing; the next event has number 4"),
    "first gone": ("DELETE FROM event WHERE seq = 1", 1, "missing; the next event has number 2"),
    "swapped": (
        "UPDATE event SET seq = 7 WHERE seq = 2; UPDATE event SET seq = 2 WHERE seq = 3;",
        2,
        "does not carry the hash of the event before it",
    ),
}


def tamper(path: Path, script: str) -> None:
    """Alter the file with its guards taken away."""
    with raw(path) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.executescript(script)


@pytest.mark.parametrize("name", TAMPERINGS)
def test_verify_names_the_first_break(path: Path, name: str) -> None:
    """Whatever was altered past the guards, the chain shows where."""
    script, seq, problem = TAMPERINGS[name]
    filled(path)
    tamper(path, script)
    with SqliteStore(path) as store:
        assert store.verify() == ChainBreak(seq=seq, problem=problem)


def test_a_stranger_can_check_the_chain(path: Path) -> None:
    """The lines in the documentation accept a whole log and stop at an altered event."""
    page = Path(tests.__file__).parent.parent / "docs" / "store.md"
    (_, rest) = page.read_text(encoding="utf-8").split("```python\n")
    lines = rest.split("```")[0].replace("sqlite3.connect(", "opened(")
    filled(path)

    def check() -> None:
        with closing(sqlite3.connect(path)) as connection:
            exec(lines, {"opened": lambda name: connection if name == path.name else None})

    check()
    tamper(path, "UPDATE event SET kind = 'held' WHERE seq = 4")
    with pytest.raises(AssertionError, match="4"):
        check()


@pytest.mark.parametrize("name", [name for name, (_, _, problem) in TAMPERINGS.items() if problem == ALTERED])
def test_an_altered_event_is_never_read(path: Path, name: str) -> None:
    """A fold stops at it instead of deciding on it."""
    script, seq, _ = TAMPERINGS[name]
    filled(path)
    tamper(path, script)
    with SqliteStore(path) as store, pytest.raises(StoreError, match=f"event {seq} of the log was altered"):
        list(store.read())


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("UPDATE transcript SET data = x'00'", "was altered"),
        ("UPDATE transcript SET data = x'00112233'", "cannot be read"),
        ("UPDATE transcript SET verdicts = '[]'", "was altered"),
        ("UPDATE transcript SET attempt = 0", "was altered: its entry does not describe it"),
        ("UPDATE transcript SET route = NULL", "was altered: its entry does not describe it"),
        ("UPDATE transcript SET data = zeroblob(0)", "was altered"),
        ("UPDATE transcript SET at = '2026-11-30T12:00:00.000000Z'", "was altered"),
        ("UPDATE transcript SET at = 'noon'", "entry of transcript .* cannot be read"),
        ("UPDATE transcript SET kind = 'poem'", "entry of transcript .* cannot be read"),
        ("UPDATE transcript SET verdicts = '[{}]'", "verdicts cannot be read"),
        ("UPDATE transcript SET verdicts = '['", "verdicts cannot be read"),
        ("UPDATE transcript SET format = 2", "is kept in format 2; allowed: 1"),
    ],
)
def test_an_altered_transcript_is_never_read(path: Path, script: str, said: str) -> None:
    """Evidence that is not what was kept is refused."""
    filled(path)
    with raw(path) as connection:
        (identity,) = connection.execute("SELECT id FROM transcript").fetchone()
    tamper(path, script)
    with SqliteStore(path) as store, pytest.raises(StoreError, match=said):
        store.get(identity)


def test_a_transcript_that_inflates_without_end_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading back is bounded as keeping is."""
    filled(path)
    monkeypatch.setattr("routecanary.adapters.store.codec.MAX_TRANSCRIPT", 100)
    with SqliteStore(path) as store:
        (entry,) = store.find(MODEL)
        with pytest.raises(StoreError, match="was altered"):
            store.get(entry.id)
        with pytest.raises(StoreError, match="bytes; allowed: 100"):
            store.pack(a_transcript(), at=NOON, verdicts={})


def test_an_append_that_fails_in_the_middle_leaves_nothing(path: Path) -> None:
    """Events and transcripts before the failing row are rolled back with it; the store goes on."""
    filled(path)
    with raw(path) as connection:
        connection.execute(
            "CREATE TRIGGER full_disk BEFORE INSERT ON transcript WHEN NEW.attempt = 8 "
            "BEGIN SELECT RAISE(ABORT, 'no room'); END"
        )
    with SqliteStore(path) as store:
        head = store.head()
        packed = [store.pack(a_transcript(attempt=attempt), at=NOON, verdicts={}) for attempt in (7, 8, 9)]
        with pytest.raises(StoreError, match="refused a row: no room"):
            store.append([a_draft(), a_draft()], head, transcripts=packed)
        assert store.head() == head
        assert len(list(store.find(MODEL))) == 1
        assert store.append([a_draft()], head, transcripts=packed[:1]).seq == head.seq + 1
        assert store.verify() is None


def test_a_kept_entry_keeps_its_place(path: Path) -> None:
    """What `find` lists is what `pack` said."""
    with SqliteStore(path) as store:
        packed = store.pack(a_transcript(), at=NOON, verdicts=a_verdict())
        head = store.append([a_draft()], EMPTY_LOG, transcripts=[packed])
        assert list(store.find(MODEL)) == [replace(packed.entry, seq=head.seq)]
