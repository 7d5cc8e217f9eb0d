"""Of several writers of the snapshot, none lays older facts over newer ones."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from routecanary.adapters.snapshot import held_snapshot, write_snapshot
from routecanary.adapters.store.memory import MemoryStore
from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.probe import Json
from routecanary.errors import SnapshotError
from routecanary.rounds.act import exclude
from routecanary.rounds.records import Records
from tests.records import some_records, tell_round
from tests.story import HEALTHY


class SlowFile:
    """A snapshot file whose next writing waits until it is let go."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.reached = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()

    def held(self) -> AbstractContextManager[None]:
        return held_snapshot(self._path)

    def write(self, snapshot: Mapping[str, Json]) -> None:
        self.reached.set()
        assert self.go_on.wait(20)
        write_snapshot(self._path, snapshot)


def targets(path: Path) -> list[str]:
    return [entry["target"] for entry in json.loads(path.read_bytes())["runtime"]]


def entry(records: Records, target: str) -> RuntimeEntry:
    return RuntimeEntry(target=target, models=None, reason="r", actor="a", created=records.clock.now())


def test_a_slow_writer_does_not_undo_an_act(tmp_path: Path) -> None:
    """The daemon read its facts before the act and writes them after it: the act waits, and is there."""
    path = tmp_path / "snapshot.json"
    store = MemoryStore()
    daemon, person = some_records(store), some_records(store)
    slow = daemon.snapshot_file = SlowFile(path)
    person.snapshot_file = SlowFile(path)
    tell_round(daemon, "0m", HEALTHY)
    slow.go_on.clear()
    publishing = threading.Thread(target=daemon.publish)
    publishing.start()
    assert slow.reached.wait(20)
    acting = threading.Thread(target=exclude, args=(person, entry(person, "h1")))
    acting.start()
    while store.count(kinds={"exclusion_added"}) == 0:
        pass
    assert not path.exists(), "the daemon still writes what it knew before the act"
    slow.go_on.set()
    publishing.join(20)
    acting.join(20)
    assert targets(path) == ["h1"]


def test_whoever_is_last_knows_everything(tmp_path: Path) -> None:
    """Many writers at once, each with its own view of one log: the last document has every act."""
    path = tmp_path / "snapshot.json"
    store = MemoryStore()

    def act_often(writer: int) -> None:
        records = some_records(store)
        records.snapshot_file = SlowFile(path)
        for number in range(15):
            exclude(records, entry(records, f"host{writer}-{number:02}"))
            known = targets(path)
            assert f"host{writer}-{number:02}" in known, "an act is published when it returns"

    writers = [threading.Thread(target=act_often, args=(writer,)) for writer in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert targets(path) == sorted(f"host{writer}-{number:02}" for writer in range(4) for number in range(15))


def test_a_lock_that_nobody_lets_go_is_an_error(tmp_path: Path) -> None:
    """Every wait is bounded; the file stays as it was."""
    path = tmp_path / "snapshot.json"
    with (
        held_snapshot(path),
        pytest.raises(
            SnapshotError, match=r"snapshot\.json: not written: another process holds it for over 0"
        ),
        held_snapshot(path, patience=0.02),
    ):
        pass
    with held_snapshot(path, patience=0.02):
        pass


def test_the_lock_is_let_go_by_an_error_and_by_death(tmp_path: Path) -> None:
    """The system lets a dead process's lock go; an exception inside lets it go too."""
    path = tmp_path / "snapshot.json"
    with pytest.raises(ZeroDivisionError), held_snapshot(path):
        raise ZeroDivisionError
    die_holding = "import fcntl, os; fcntl.flock(os.open('.snapshot.json.lock', os.O_RDONLY), fcntl.LOCK_EX)"
    subprocess.run([sys.executable, "-c", die_holding + "; os._exit(0)"], cwd=tmp_path, check=True)
    with held_snapshot(path, patience=0.02):
        pass


def test_any_user_may_take_the_lock(tmp_path: Path) -> None:
    """It needs no right to write, and lies beside the file that a link leads to."""
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "snapshot.json", tmp_path / "link.json"
    link.symlink_to(target)
    mask = os.umask(0o077)
    try:
        with held_snapshot(link):
            pass
    finally:
        os.umask(mask)
    (lock,) = (tmp_path / "real").iterdir()
    assert (lock.name, stat.S_IMODE(lock.stat().st_mode)) == (".snapshot.json.lock", 0o644)


def test_a_place_where_no_lock_can_be_is_named(tmp_path: Path) -> None:
    """A file for a folder, and a link in the lock's place."""
    (tmp_path / "file").touch()
    with pytest.raises(SnapshotError, match="not locked"), held_snapshot(tmp_path / "file" / "snapshot.json"):
        pass
    (tmp_path / ".snapshot.json.lock").symlink_to(tmp_path / "file")
    with pytest.raises(SnapshotError, match="not locked"), held_snapshot(tmp_path / "snapshot.json"):
        pass
