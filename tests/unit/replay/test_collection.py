"""The files of a labelled collection."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from routecanary.errors import CaseError
from routecanary.replay.collection import files_of, rows_of
from routecanary.replay.texts import TextRow

LINE = '{"id": "a", "text": "x", "locale": "en", "label": "comply"}\n'


def test_a_folder_is_its_files_of_lines_sorted(tmp_path: Path) -> None:
    """Those below it, too; notes and folders of such a name are none."""
    (tmp_path / "b" / "odd.jsonl").mkdir(parents=True)
    for name in ("z.jsonl", "b/a.jsonl.gz", "README.md", "a.json"):
        (tmp_path / name).write_bytes(b"")
    assert files_of(tmp_path) == (tmp_path / "b" / "a.jsonl.gz", tmp_path / "z.jsonl")
    assert files_of(tmp_path / "README.md") == (tmp_path / "README.md",)


def test_a_folder_without_such_files_is_an_error(tmp_path: Path) -> None:
    """It says which names are looked for."""
    with pytest.raises(CaseError, match=r"\.jsonl or \.jsonl\.gz"):
        files_of(tmp_path)


def test_lines_are_read_as_far_as_they_can_be(tmp_path: Path) -> None:
    """Compressed or not, a bad line is an error in its place, and the next is read."""
    plain, packed = tmp_path / "a.jsonl", tmp_path / "a.jsonl.gz"
    plain.write_text(LINE + "{\n" + LINE)
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for path in (plain, packed):
        kinds = [type(each) for each in rows_of(path, located=True)]
        assert kinds == [TextRow, CaseError, TextRow]


@pytest.mark.parametrize("name", ["none.jsonl", "none.jsonl.gz", "bad.jsonl.gz"])
def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path, name: str) -> None:
    """No such file, or not what its name says."""
    (tmp_path / "bad.jsonl.gz").write_bytes(b"no gzip at all")
    with pytest.raises(CaseError, match="cannot be read"):
        list(rows_of(tmp_path / name, located=True))
