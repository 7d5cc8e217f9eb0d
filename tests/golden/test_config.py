"""The wording of every refusal of a configuration file, pinned."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from routecanary.adapters.config.load import load_settings
from routecanary.errors import ConfigError

CORPUS = Path(__file__).parent / "config"
FILES = sorted(CORPUS.glob("*.toml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_bad_file_is_refused_in_these_words(path: Path) -> None:
    """`FILE` stands for the path, `...` for words of the standard library."""
    expected = path.with_suffix(".txt").read_text(encoding="utf-8").rstrip("\n")
    with pytest.raises(ConfigError) as caught:
        load_settings(path, {"HOME": "/home/ada"})
    said = str(caught.value).replace(str(path), "FILE")
    assert re.fullmatch(".+".join(re.escape(part) for part in expected.split("...")), said), said


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_refusal_shows_a_secret(path: Path) -> None:
    """Whatever was put where, a key or a password is not printed."""
    with pytest.raises(ConfigError) as caught:
        load_settings(path, {"HOME": "/home/ada"})
    for secret in ("sk-or", "hunter2"):
        assert secret not in str(caught.value)
        assert secret not in repr(caught.value)


def test_every_file_has_its_words() -> None:
    """No expectation without a file, no file without an expectation."""
    assert len(FILES) > 40
    assert {path.stem for path in FILES} == {path.stem for path in CORPUS.glob("*.txt")}
