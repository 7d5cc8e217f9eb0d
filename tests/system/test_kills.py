"""`kill -9` at random moments: the log, the list and the messages. More of them: benchmarks/kills.py."""

from __future__ import annotations

from pathlib import Path

from tests.kills import run_kills


def test_twenty_kills_lose_nothing_and_say_nothing_twice(tmp_path: Path) -> None:
    """After each the chain is whole and begins as before; each restart shows the log's list; all is told."""
    report = run_kills(tmp_path, kills=20, seed=1, longest_life=5.0)
    assert report.kills == 20
    assert report.rounds > 0
    assert report.messages > 0
