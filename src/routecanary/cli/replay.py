"""`routecanary replay`: drive the decision with a trace."""

from __future__ import annotations

from pathlib import Path

from routecanary.replay.run import replay_file


def replay(trace: str, /, *, policy: Path | None = None, json: bool = False) -> int:
    """Print the events that follow from a trace, one JSON object a line.

    A rejected line prints one error on standard error, changes nothing, and makes the exit code 2.

    Parameters
    ----------
    trace
        A file with one round or act a line; - is standard input. Its shape: docs/policy.md.
    policy
        A TOML file whose table [policy] replaces the defaults.
    json
        Accepted for uniformity; the output is JSON in any case.
    """
    del json
    return replay_file(trace, policy)
