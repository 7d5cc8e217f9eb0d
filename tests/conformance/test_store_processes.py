"""What a store promises to several processes, and to one that is killed."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

import tests
from routecanary.adapters.store.sqlite import SqliteStore
from tests.conformance.stored import MODEL

ROOT = Path(tests.__file__).parent.parent


def start_writer(path: Path, writer: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.conformance.store_writer", str(path), writer, str(count)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


def whole_appends(path: Path) -> list[tuple[str, int]]:
    """Read the appends in order, each checked to be whole: both events, and the transcript they name."""
    with SqliteStore(path) as store:
        assert store.verify() is None
        events = list(store.read())
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        appends = []
        for first, second in zip(events[::2], events[1::2], strict=True):
            assert first.body | {"half": 2} == second.body
            kept = store.get(first.body["evidence"])
            assert kept is not None
            assert kept.entry.seq == second.seq
            appends.append((first.body["writer"], first.body["n"]))
        assert sum(1 for _ in store.find(MODEL)) == len(appends)
        return appends


def test_processes_that_race_lose_and_double_nothing(tmp_path: Path) -> None:
    """Three processes make and open one file at once; each append is there once, in its writer's order."""
    path = tmp_path / "store.db"
    names, count = ("ann", "bob", "cem"), 25
    writers = [start_writer(path, name, count) for name in names]
    outputs = [writer.communicate()[0] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    appends = whole_appends(path)
    assert sorted(appends) == [(name, n) for name in names for n in range(count)]
    assert all([n for writer, n in appends if writer == name] == list(range(count)) for name in names)
    told = [int(line) for output in outputs for line in output.split()]
    assert sorted(told) == list(range(2, 2 * len(appends) + 1, 2)), "each head was told to one writer"


@pytest.mark.parametrize("seed", range(5))
def test_a_killed_writer_loses_nothing_that_was_told(tmp_path: Path, seed: int) -> None:
    """After kill -9 at a random moment, all told appends are there, each whole, and the store goes on."""
    path = tmp_path / "store.db"
    writer = start_writer(path, "ann", 100_000)
    with writer:
        assert writer.stdout is not None
        told = 0
        for _ in range(random.Random(seed).randint(1, 40)):
            told = int(writer.stdout.readline())
        writer.kill()
        told = max([told, *(int(line) for line in writer.stdout.read().split())])
    appends = whole_appends(path)
    assert appends == [("ann", n) for n in range(len(appends))]
    assert 2 * len(appends) in {told, told + 2}, "at most the one append that was not yet told is there too"
    with start_writer(path, "bob", 1) as heir:
        heir.communicate()
    assert heir.returncode == 0
    assert whole_appends(path) == [*appends, ("bob", 0)]
