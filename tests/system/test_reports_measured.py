"""A short version of `benchmarks/reports.py`, which measures how often the answer names the route."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "reports.py"


def test_most_complaints_find_their_route() -> None:
    """Forty of one seed reach the goals of the short version, and a calibration is printed."""
    done = subprocess.run(
        [sys.executable, SCRIPT, "--brief"], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mean stated" in done.stdout
    assert "Brier" in done.stdout
