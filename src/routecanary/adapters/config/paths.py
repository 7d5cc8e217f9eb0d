"""Where do files lie when nobody says?

The XDG base directories, and a path in the configuration file counts from the file that it stands in. The
environment is handed in.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from routecanary.errors import ConfigError

CONFIG_VARIABLE: Final = "ROUTECANARY_CONFIG"
SNAPSHOT_VARIABLE: Final = "ROUTECANARY_SNAPSHOT"  # read by the application's client as well
CONFIG_NAME: Final = "routecanary.toml"


def home(environ: Mapping[str, str]) -> Path:
    """Find the user's home directory.

    Raises:
        ConfigError: The environment does not name one.
    """
    named = environ.get("HOME", "")
    if named.startswith("/"):
        return Path(named)
    try:
        return Path.home()
    except RuntimeError:
        raise ConfigError("no home directory is known", allowed="HOME in the environment") from None


def _xdg(environ: Mapping[str, str], variable: str, default: str) -> Path:
    named = environ.get(variable, "")
    return (Path(named) if named.startswith("/") else home(environ) / default) / "routecanary"


def default_store_path(environ: Mapping[str, str]) -> Path:
    """Place the event log: data that must last."""
    return _xdg(environ, "XDG_DATA_HOME", ".local/share") / "events.sqlite3"


def default_snapshot_path(environ: Mapping[str, str]) -> Path:
    """Place the snapshot where `routecanary.client` looks for it.

    Raises:
        ConfigError: The environment names a listener, where no daemon can write.
    """
    named = environ.get(SNAPSHOT_VARIABLE)
    if named and named.startswith(("http://", "https://")):
        raise ConfigError(
            "an address, which is for applications; the daemon writes a file",
            place=f"environment variable {SNAPSHOT_VARIABLE}",
            allowed="a path, or snapshot.path in the configuration",
        )
    return (
        Path(named).absolute() if named else _xdg(environ, "XDG_STATE_HOME", ".local/state") / "snapshot.json"
    )


def default_config_path(environ: Mapping[str, str]) -> Path:
    """Place the user's own configuration file."""
    return _xdg(environ, "XDG_CONFIG_HOME", ".config") / CONFIG_NAME


def find_config(named: Path | None, environ: Mapping[str, str], cwd: Path) -> Path:
    """Choose the configuration file.

    The first of: the one named on the command line, `ROUTECANARY_CONFIG`, `routecanary.toml` in the working
    directory, the user's own. The first two are taken as they are; whether they exist shows on reading.

    Raises:
        ConfigError: None is named and none exists.
    """
    if named is not None:
        return named
    if environ.get(CONFIG_VARIABLE):
        return Path(environ[CONFIG_VARIABLE])
    candidates = (cwd / CONFIG_NAME, default_config_path(environ))
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    looked = ", ".join(str(candidate) for candidate in candidates)
    raise ConfigError(
        "no configuration file", allowed=f"one of {looked}, or {CONFIG_VARIABLE}; `init` writes one"
    )


def resolve(text: str, base: Path, environ: Mapping[str, str]) -> Path:
    """Make a path of the file absolute: `~/` is the home directory, else it counts from `base`."""
    if text.startswith("~/"):
        return home(environ) / text[2:]
    return (base / text).absolute()
