"""What is old goes, by one path only, and the rest of the chain can still be checked."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from routecanary.adapters.store.memory import MemoryStore
from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.domain.archive import PackedTranscript
from routecanary.domain.log import EMPTY_LOG, PRUNED, ChainBreak, Head, StoredDraft
from routecanary.domain.verdict import VerdictKind
from routecanary.errors import StoreError
from routecanary.rounds.ports import Store
from tests.conformance.stored import MODEL, NOON, a_transcript, a_verdict
from tests.conformance.test_store import MAKERS

DAY = timedelta(days=1)
FAIL, PASS = VerdictKind.FAIL, VerdictKind.PASS


@pytest.fixture(params=MAKERS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with MAKERS[request.param](tmp_path) as made:
        yield made


def dated(at: datetime, kind: str = "held", **body: object) -> StoredDraft:
    return StoredDraft(kind=kind, at=at, model=MODEL, body=body)


def packed(store: Store, at: datetime, kind: VerdictKind = PASS, attempt: int = 0) -> PackedTranscript:
    return store.pack(a_transcript(attempt=attempt), at=at, verdicts=a_verdict(kind))


def a_log(store: Store, days: int) -> list[Head]:
    """Append one event a day from NOON on, and return the head after each."""
    return [store.append([dated(NOON + n * DAY, n=n)], store.head()) for n in range(days)]


def announce(store: Store, through: Head, at: datetime) -> Head:
    body = {"through": {"seq": through.seq, "hash": through.hash}}
    return store.append([StoredDraft(kind=PRUNED, at=at, body=body)], store.head())


def test_nothing_was_pruned_at_first(store: Store) -> None:
    """The anchor of a whole log is its empty beginning."""
    assert store.anchor() == EMPTY_LOG
    assert store.last_pruning() is None
    assert store.prunable(NOON, NOON) is None
    assert store.count_old_transcripts(NOON, NOON) == (0, 0)


def test_a_pruned_log_begins_after_its_anchor(store: Store) -> None:
    """What is left has its numbers, is verified from the anchor on, and goes on."""
    heads = a_log(store, 5)
    now = NOON + 5 * DAY
    through = store.prunable(NOON + 2 * DAY, now)
    assert through == heads[1], "older than two days after noon: the first two"
    announced = announce(store, heads[1], now)
    assert store.prune_events(heads[1], at=now) == 2
    assert store.anchor() == heads[1]
    pruning = store.last_pruning()
    assert pruning is not None
    assert (pruning.at, pruning.through) == (now, heads[1])
    assert [event.seq for event in store.read()] == [3, 4, 5, 6]
    assert [event.seq for event in store.read(1)] == [3, 4, 5, 6]
    assert [event.seq for event in store.read(4, limit=1)] == [5]
    assert [event.seq for event in store.newest(2)] == [5, 6]
    assert store.count() == 4
    assert store.models() == (MODEL,)
    assert store.verify() is None
    assert store.append([dated(now)], announced).seq == 7
    assert store.verify() is None


def test_a_log_can_be_pruned_again_and_again(store: Store) -> None:
    """The announcement of the last pruning is what counts; the older ones go with the rest."""
    heads = a_log(store, 3)
    now = NOON + 9 * DAY
    announce(store, heads[0], now)
    assert store.prune_events(heads[0], at=now) == 1
    later = announce(store, heads[2], now + DAY)
    assert store.prune_events(heads[2], at=now + DAY) == 2
    assert store.verify() is None
    last = announce(store, later, now + 2 * DAY)
    assert store.prune_events(later, at=now + 2 * DAY) == 2
    assert [event.seq for event in store.read()] == [last.seq]
    assert store.verify() is None
    assert store.prune_events(later, at=now + 3 * DAY) == 0


def test_all_that_is_there_may_go_once_it_is_old(store: Store) -> None:
    """After a long sleep only the announcement is left."""
    heads = a_log(store, 3)
    now = NOON + 99 * DAY
    assert store.prunable(now - DAY, now) == heads[2]
    announce(store, heads[2], now)
    assert store.prune_events(heads[2], at=now) == 3
    assert store.prunable(now - DAY, now) is None, "the announcement is young"
    assert store.verify() is None


@pytest.mark.parametrize("days", [0, -1])
def test_the_edge_of_what_is_old(store: Store, days: int) -> None:
    """An event exactly as old as the limit stays."""
    heads = a_log(store, 3)
    told = store.prunable(NOON + DAY + days * timedelta(microseconds=1), NOON + 3 * DAY)
    assert told == heads[0]
    assert store.prunable(NOON, NOON + 3 * DAY) is None


def test_an_event_of_the_future_keeps_nothing(store: Store) -> None:
    """A clock that leapt ahead and came back left one; what is older and younger goes in its time."""
    store.append([dated(NOON), dated(NOON + 9999 * DAY), dated(NOON + DAY)], EMPTY_LOG)
    young = store.append([dated(NOON + 5 * DAY)], store.head())
    through = store.prunable(NOON + 4 * DAY, NOON + 6 * DAY)
    assert through is not None
    assert through.seq == 3 == young.seq - 1


def test_events_that_a_kept_transcript_names_stay(store: Store) -> None:
    """An append goes as a whole: neither its last event nor those before it while its evidence is kept."""
    store.append([dated(NOON - DAY)], EMPTY_LOG)
    evidence = packed(store, NOON, FAIL)
    store.append([dated(NOON, n=n) for n in range(3)], store.head(), transcripts=[evidence])
    store.append([dated(NOON + DAY)], store.head())
    now = NOON + 99 * DAY
    through = store.prunable(now - DAY, now)
    assert through is not None
    assert through.seq == 1
    last = list(store.read(limit=5))[-1].head
    announce(store, last, now)
    with pytest.raises(StoreError, match="refused a row"):
        store.prune_events(last, at=now)
    assert store.count() == 6
    assert store.anchor() == EMPTY_LOG
    assert store.prune_transcripts(now, now, at=now, limit=9) == (0, 1)
    assert store.prune_events(last, at=now) == 5


@pytest.mark.parametrize("wrong", ["unannounced", "another hash", "beyond the head", "back again"])
def test_a_pruning_that_nothing_announces_is_refused(store: Store, wrong: str) -> None:
    """The log is whole afterwards."""
    heads = a_log(store, 4)
    now = NOON + 9 * DAY
    through = heads[1]
    if wrong != "unannounced":
        announced = announce(store, through, now)
        if wrong == "another hash":
            through = Head(seq=through.seq, hash="0" * 64)
        if wrong == "beyond the head":
            through = announced
        if wrong == "back again":
            store.prune_events(through, at=now)
            through = heads[0]
    before = list(store.read())
    with pytest.raises(StoreError, match="must follow the last one, and the event that announces it"):
        store.prune_events(through, at=now)
    assert list(store.read()) == before
    assert store.verify() is None


def test_transcripts_of_passes_go_before_those_of_failures(store: Store) -> None:
    """Each by its own age, the limit shared, exactly as old stays."""
    old, edge, young = NOON, NOON + DAY, NOON + 2 * DAY
    kept = [
        packed(store, at, kind, attempt)
        for at in (old, edge, young)
        for kind in (PASS, FAIL)
        for attempt in range(2)
    ]
    store.put(kept)
    assert store.count_old_transcripts(edge, edge) == (2, 2)
    assert store.count_old_transcripts(young, old) == (4, 0)
    now = NOON + 9 * DAY
    assert store.prune_transcripts(young, edge, at=now, limit=5) == (4, 1)
    assert store.prune_transcripts(young, edge, at=now, limit=5) == (0, 1)
    assert store.prune_transcripts(young, edge, at=now, limit=5) == (0, 0)
    left = [(entry.at, entry.failed) for entry in store.find(MODEL)]
    assert left == [(young, True)] * 2 + [(young, False)] * 2 + [(edge, True)] * 2
    assert store.get(kept[0].entry.id) is None
    pruning = store.last_pruning()
    assert pruning is not None
    assert (pruning.passes_before, pruning.failures_before, pruning.through) == (young, edge, EMPTY_LOG)


def test_both_kinds_of_pruning_leave_each_other_alone(store: Store) -> None:
    """Transcripts first, then events: the last row says both."""
    heads = a_log(store, 2)
    now = NOON + 9 * DAY
    store.prune_transcripts(now - DAY, now - 2 * DAY, at=now, limit=1)
    announce(store, heads[0], now)
    store.prune_events(heads[0], at=now + DAY)
    store.prune_transcripts(now, now - DAY, at=now + 2 * DAY, limit=1)
    pruning = store.last_pruning()
    assert pruning is not None
    assert pruning.through == heads[0] == store.anchor()
    assert (pruning.at, pruning.passes_before) == (now + 2 * DAY, now)


# --- the file's own guards


@pytest.fixture
def pruned(tmp_path: Path) -> Path:
    """Make a store of which one event and one transcript are pruned."""
    path = tmp_path / "store.db"
    with SqliteStore(path) as store:
        store.put([packed(store, NOON), packed(store, NOON + DAY, attempt=1)])
        heads = a_log(store, 3)
        now = NOON + 9 * DAY
        assert store.prune_transcripts(NOON + DAY, NOON, at=now, limit=9) == (1, 0)
        announce(store, heads[0], now)
        store.prune_events(heads[0], at=now)
    return path


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM event WHERE seq = 2", "an event is never deleted but by a pruning"),
        ("DELETE FROM event", "an event is never deleted but by a pruning"),
        ("DELETE FROM transcript", "a transcript is never deleted but by a pruning"),
        ("UPDATE pruning SET through = 3", "a pruning is never changed"),
        ("DELETE FROM pruning", "a pruning is never deleted"),
        ("INSERT INTO pruning SELECT 9, at, through, hash, '9', '9' FROM pruning WHERE number = 2", "follow"),
        (
            "REPLACE INTO pruning SELECT 2, at, through, hash, '9', '9' FROM pruning WHERE number = 2",
            "follow",
        ),
        (
            "INSERT INTO pruning SELECT 3, '', seq, hash, '', '' FROM event WHERE kind = 'log_pruned'",
            "the event that announces it",
        ),
        ("INSERT INTO pruning SELECT 3, '', 3, previous, '', '' FROM event WHERE seq = 3", "announces it"),
        ("INSERT INTO pruning SELECT 3, '', 0, hash, '', '' FROM pruning WHERE number = 2", "follow"),
    ],
)
def test_no_other_way_leads_out_of_the_file(pruned: Path, statement: str, said: str) -> None:
    """The file itself refuses, whoever asks."""
    with closing(sqlite3.connect(pruned, isolation_level=None)) as connection:
        before = list(connection.iterdump())
        with pytest.raises(sqlite3.IntegrityError, match=said):
            connection.execute(statement)
        assert list(connection.iterdump()) == before


def test_an_anchor_that_no_event_announces_is_a_break(pruned: Path) -> None:
    """Whoever takes the guards away and cuts the log's beginning off is found by the chain."""
    with closing(sqlite3.connect(pruned, isolation_level=None)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE pruning SET through = 2, hash = (SELECT hash FROM event WHERE seq = 2)")
        connection.execute("DELETE FROM event WHERE seq = 2")
    with SqliteStore(pruned) as store:
        assert store.verify() == ChainBreak(seq=2, problem="gone with all before it, and no event says so")


@pytest.mark.parametrize(
    ("script", "seq"),
    [
        ("DELETE FROM event WHERE seq = 2", 2),
        ("UPDATE pruning SET hash = printf('%064d', 7)", 2),
        ("UPDATE event SET body = '{}' WHERE seq = 4", 4),
        ("DELETE FROM pruning", 1),
    ],
)
def test_verify_names_the_first_break_of_a_pruned_log(pruned: Path, script: str, seq: int) -> None:
    """The chain is checked from the anchor on."""
    with closing(sqlite3.connect(pruned, isolation_level=None)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(script)
    with SqliteStore(pruned) as store:
        found = store.verify()
    assert found is not None
    assert found.seq == seq


def test_a_closed_store_prunes_nothing(store: Store) -> None:
    """Every use after closing is an error of ours."""
    assert isinstance(store, SqliteStore | MemoryStore)
    store.close()
    for call in (
        store.anchor,
        store.last_pruning,
        lambda: store.prune_events(EMPTY_LOG, at=NOON),
        lambda: store.prune_transcripts(NOON, NOON, at=NOON, limit=1),
        lambda: store.count_old_transcripts(NOON, NOON),
        lambda: store.prunable(NOON, NOON),
    ):
        with pytest.raises(StoreError, match="closed"):
            call()
