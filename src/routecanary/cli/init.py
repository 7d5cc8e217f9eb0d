"""`routecanary init`: write a commented configuration."""

from __future__ import annotations

from pathlib import Path

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import say, say_json
from routecanary.wiring import write_template


def init(path: Path | None = None, /, *, json: bool = False) -> int:
    """Write a commented configuration file with every option at its default.

    A model starts in observe mode: nothing is kept away from any route until you switch it to enforce.

    Parameters
    ----------
    path
        Where to write it; default: routecanary.toml here. A file that is there already is left alone.
    json
        Print one JSON object.
    """
    written = write_template(path)
    if json:
        say_json({"written": str(written)})
    else:
        say(f"wrote {written}; name your model in it, set the key, then: routecanary check")
    return ExitCode.OK
