"""A store that is full, locked or read-only for a while: no round is half kept, and the watch goes on."""

from __future__ import annotations

import resource
import signal
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.client import Canary
from routecanary.domain.names import ModelId
from routecanary.domain.operation import RoundCrashed
from routecanary.domain.policy import Policy
from routecanary.domain.round import Mode
from routecanary.rounds.record import Ledger
from tests.commandline import MODEL, SPOILED, a_lab, a_scenario
from tests.desk import DeskGateway
from tests.system.test_daemon import the_daemon, until
from tests.virtual_time import VirtualClock
from tests.watched import NAME, START, a_watch, run, some_settings

MINUTE = timedelta(minutes=1)


@dataclass
class Fire:
    """What befalls a store, and how it ends; `says` is what the log tells of it."""

    begin: Callable[[SqliteStore, sqlite3.Connection], object]
    end: Callable[[SqliteStore, sqlite3.Connection], object]
    says: str


def inside(statement: str) -> Callable[[SqliteStore, sqlite3.Connection], object]:
    """Run a statement on the store's own connection."""
    return lambda store, _: store._connection._sqlite.execute(statement).fetchall()


def outside(statement: str) -> Callable[[SqliteStore, sqlite3.Connection], object]:
    """Run a statement on another process's connection, as it were."""
    return lambda _, other: other.execute(statement)


FIRES = {
    "full": Fire(
        inside("PRAGMA max_page_count = 1"),  # that is, as many as there are
        inside("PRAGMA max_page_count = 1000000"),
        "has no room left on its disk",
    ),
    "locked": Fire(outside("BEGIN IMMEDIATE"), outside("ROLLBACK"), "is locked by another process"),
    "read-only": Fire(
        inside("PRAGMA query_only = ON"), inside("PRAGMA query_only = OFF"), "cannot be written"
    ),
}


@pytest.mark.parametrize("name", FIRES)
def test_rounds_that_cannot_be_kept_leave_nothing_and_the_next_one_is_kept(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Two rounds are lost and told of; what a client merges stands all the time; the chain is whole."""
    fire, clock, seen = FIRES[name], VirtualClock(START), list[object]()
    path = tmp_path / "events.sqlite3"
    store = SqliteStore(path, busy_seconds=0.001)
    other = sqlite3.connect(path, isolation_level=None, timeout=0)
    settings = some_settings(tmp_path, store_path=str(path), initial_mode=Mode.ENFORCE)
    watched = a_watch(settings, [], clock=clock, store=store)
    watched.world.gateway = DeskGateway(a_scenario(), clock)
    canary = Canary(tmp_path / "snapshot.json", clock=lambda: clock.now().timestamp(), thread=False)

    def look() -> None:
        canary.refresh()
        seen.append(canary.provider_preferences(MODEL).get("ignore"))

    clock.after(65 * MINUTE, lambda: (fire.begin(store, other), None)[1])  # 11:52, after three rounds
    clock.after(80 * MINUTE, look)
    clock.after(110 * MINUTE, look)
    clock.after(120 * MINUTE, lambda: (fire.end(store, other), None)[1])  # 12:47, after two more
    clock.after(140 * MINUTE, look)
    clock.after(141 * MINUTE, watched.supervisor.stop)
    run(watched)
    assert seen == [[SPOILED]] * 3
    assert watched.supervisor.counts == {"finished": 4, "store": 2}
    crashes = watched.operations(RoundCrashed)
    most = 2 if name == "full" else 1
    assert 1 <= len(crashes) <= most, (
        "where a round has no room, a line may have, as long as its page has some"
    )
    assert all(fire.says in crash.error for crash in crashes)
    assert "round_crashed" not in watched.world.ledger.conditions().of(NAME)
    assert store.verify() is None
    assert store.count(kinds={"round_closed"}) == 4
    assert sum("round not recorded" in line for line in caplog.messages) == 2
    other.close()
    store.close()


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of another process is set")
def test_a_daemon_whose_files_cannot_grow_goes_on_when_they_can(tmp_path: Path) -> None:
    """As a process, by the system's own refusal: the write-ahead file hits a limit, which is then lifted."""
    store = tmp_path / "events.sqlite3"

    def log() -> str:
        return (tmp_path / "log").read_text(encoding="utf-8")

    with a_lab() as lab, the_daemon(tmp_path, lab.base_url) as process:
        until(lambda: "round finished" in log())
        full = store.with_name("events.sqlite3-wal").stat().st_size
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (full, resource.RLIM_INFINITY))
        until(lambda: "why=store" in log())
        known = log().count("round finished")
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        until(lambda: log().count("round finished") > known)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0
    with SqliteStore(store) as kept:
        assert kept.verify() is None
        assert kept.count(kinds={"round_crashed"}) >= 1
        assert Ledger(kept, Policy()).state(ModelId(MODEL)).rounds == log().count("round finished")
