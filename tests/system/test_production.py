"""The promises of `benchmarks/production.py`, kept in a short run of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(900)  # nine client libraries are imported twice each
def test_no_user_of_any_hook_meets_a_host_that_is_excluded() -> None:
    """Every path carries the list in time, fails nobody, and is told of; the audit agrees."""
    done = subprocess.run(
        [sys.executable, "benchmarks/production.py", "--requests", "270", "--seconds", "60", "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=850,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    result = json.loads(done.stdout)
    assert all(result["promises"].values())
    assert len(result["rows"]) == 9
    for row in result["rows"]:
        assert row["requests"] == 30
        assert row["told"] is None or row["told"] >= 30
    assert result["whole"]["without_faulty"] > 0.1
    assert result["whole"]["after"] > 0
