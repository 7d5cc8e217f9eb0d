"""The lock of the one daemon of a store: whoever holds it, and however it ended."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from routecanary.adapters.lock import daemon_of, held_daemon_lock, lock_path
from routecanary.errors import DaemonRunningError, StoreError
from tests.privilege import bound_by_permissions

HOLD = """
import sys, time
from pathlib import Path
from routecanary.adapters.lock import held_daemon_lock
with held_daemon_lock(Path(sys.argv[1])) as lock:
    if sys.argv[2] == "announce":
        lock.announce()
    print("held", flush=True)
    time.sleep(60)
"""


def a_holder(store: Path, how: str = "announce") -> subprocess.Popen[str]:
    """Start a process that holds the lock."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, store, how], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_daemon_is_refused_and_told_of_the_first(tmp_path: Path) -> None:
    """In this process and in another; when the first ends, the way is free."""
    store = tmp_path / "deep" / "events.sqlite3"
    with held_daemon_lock(store) as lock:
        lock.announce()
        assert daemon_of(store) == os.getpid()
        with (
            pytest.raises(DaemonRunningError, match=f"process id {os.getpid()} watches"),
            held_daemon_lock(store),
        ):
            pass
    assert daemon_of(store) is None
    with held_daemon_lock(store):
        pass
    assert (tmp_path / "deep").stat().st_mode & 0o777 == 0o700
    assert lock_path(store).stat().st_mode & 0o777 == 0o600


def test_whoever_only_looks_keeps_no_daemon_from_starting(tmp_path: Path) -> None:
    """The shared lock of a look may be held at the moment at which a daemon takes its own."""
    store = tmp_path / "events.sqlite3"
    with held_daemon_lock(store):
        pass
    looking = os.open(lock_path(store), os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)
    threading.Timer(0.1, os.close, (looking,)).start()
    with held_daemon_lock(store):
        pass


def test_a_lock_left_behind_by_a_kill_is_no_obstacle(tmp_path: Path) -> None:
    """The file is there and names a process that is gone: it holds nothing, and names nobody."""
    store = tmp_path / "events.sqlite3"
    with a_holder(store) as process:
        assert daemon_of(store) == process.pid
        with pytest.raises(DaemonRunningError) as refused, held_daemon_lock(store):
            pass
        assert refused.value.pid == process.pid
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert lock_path(store).read_text() == f"{process.pid}\n"
    assert daemon_of(store) is None
    with held_daemon_lock(store):
        assert lock_path(store).read_text() == ""


def test_a_daemon_that_is_only_starting_is_not_signalled(tmp_path: Path) -> None:
    """It holds the lock and does not heed signals yet, so it names itself only when it does."""
    store = tmp_path / "events.sqlite3"
    with a_holder(store, "quiet") as process:
        assert daemon_of(store, patience=0.05) is None
        process.kill()
        process.wait()


def test_a_store_behind_a_link_has_the_lock_of_its_target(tmp_path: Path) -> None:
    """Two names of one store make one daemon."""
    (tmp_path / "link.sqlite3").symlink_to(tmp_path / "events.sqlite3")
    with (
        held_daemon_lock(tmp_path / "events.sqlite3"),
        pytest.raises(DaemonRunningError),
        held_daemon_lock(tmp_path / "link.sqlite3"),
    ):
        pass


def test_a_lock_file_that_cannot_be_used_is_an_error_of_the_files(tmp_path: Path) -> None:
    """A link in its place is not followed, and a folder is no file."""
    store = tmp_path / "events.sqlite3"
    lock_path(store).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="lock file"), held_daemon_lock(store):
        pass
    assert not (tmp_path / "elsewhere").exists()
    lock_path(store).unlink()
    lock_path(store).mkdir()
    with pytest.raises(StoreError, match="lock file"), held_daemon_lock(store):
        pass
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    with (
        bound_by_permissions(),
        pytest.raises(StoreError, match="Permission denied"),
        held_daemon_lock(closed / "events.sqlite3"),
    ):
        pass


def test_nobody_is_found_where_there_is_no_store(tmp_path: Path) -> None:
    """And looking makes no file."""
    assert daemon_of(tmp_path / "nowhere" / "events.sqlite3") is None
    assert list(tmp_path.iterdir()) == []
