"""How the snapshot file is replaced."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from routecanary.adapters.snapshot import write_snapshot
from routecanary.errors import SnapshotError


def test_the_file_is_replaced_whole(tmp_path: Path) -> None:
    """Directories are made, all users may read it whatever the umask, and no draft stays behind."""
    path = tmp_path / "state" / "routecanary" / "snapshot.json"
    mask = os.umask(0o077)
    try:
        write_snapshot(path, {"version": 1})
        write_snapshot(path, {"version": 2, "name": "é\ud800"})
    finally:
        os.umask(mask)
    assert json.loads(path.read_text("ascii")) == {"version": 2, "name": "é\ud800"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [entry.name for entry in path.parent.iterdir()] == ["snapshot.json"]


def test_a_symbolic_link_stays(tmp_path: Path) -> None:
    """The file that it leads to is replaced."""
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "snapshot.json", tmp_path / "link.json"
    link.symlink_to(target)
    write_snapshot(link, {"version": 1})
    assert link.is_symlink()
    assert json.loads(target.read_text()) == {"version": 1}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"x", object()])
def test_what_is_no_json_leaves_the_file_as_it_was(tmp_path: Path, value: object) -> None:
    """The document is made before anything is touched."""
    path = tmp_path / "snapshot.json"
    write_snapshot(path, {"version": 1})
    with pytest.raises(SnapshotError, match="not plain JSON"):
        write_snapshot(path, {"version": value})
    assert json.loads(path.read_text()) == {"version": 1}


def test_a_document_without_end_is_refused(tmp_path: Path) -> None:
    """Nesting beyond what can be written is an error of ours, not a crash."""
    loop: dict[str, Any] = {}
    loop["again"] = loop
    with pytest.raises(SnapshotError, match="not plain JSON"):
        write_snapshot(tmp_path / "snapshot.json", loop)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """The error names the path, and no draft stays behind."""
    path = tmp_path / "snapshot.json"
    path.mkdir()
    (path / "in-the-way").touch()
    with pytest.raises(SnapshotError, match=r"snapshot\.json: not written"):
        write_snapshot(path, {"version": 1})
    assert [entry.name for entry in tmp_path.iterdir()] == ["snapshot.json"]
    with pytest.raises(SnapshotError, match="not written"):
        write_snapshot(path / "in-the-way" / "snapshot.json", {"version": 1})


def test_a_failure_while_writing_leaves_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk, say: the old file stays, alone."""
    path = tmp_path / "snapshot.json"
    write_snapshot(path, {"version": 1})

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SnapshotError, match="No space left on device"):
        write_snapshot(path, {"version": 2})
    assert json.loads(path.read_text()) == {"version": 1}
    assert [entry.name for entry in tmp_path.iterdir()] == ["snapshot.json"]


def test_a_reader_never_sees_part_of_a_document(tmp_path: Path) -> None:
    """While two writers replace it again and again, every reading is one of the documents, whole."""
    path = tmp_path / "snapshot.json"
    documents = [{"name": letter * 50_000} for letter in "ab"]
    write_snapshot(path, documents[0])
    done = threading.Event()

    def write(document: dict[str, str]) -> None:
        for _ in range(40):
            write_snapshot(path, document)
        done.set()

    writers = [threading.Thread(target=write, args=(document,)) for document in documents]
    for writer in writers:
        writer.start()
    readings = 0
    while not done.is_set() or readings == 0:
        assert json.loads(path.read_bytes()) in documents
        readings += 1
    for writer in writers:
        writer.join()
    assert [entry.name for entry in tmp_path.iterdir()] == ["snapshot.json"]
