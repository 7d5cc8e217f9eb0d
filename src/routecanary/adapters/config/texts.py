"""Where do the probes' texts come from, and an administrator's own tables of refusals?

From the package, and from the directories that `[probes] texts` and `[contracts.filtering] refusals` name.
They are only read here; what they say is understood by `probe.catalog` and `judge.refusals`.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final

from routecanary.adapters.config.files import read_text_file
from routecanary.errors import ConfigError

MAX_TEXTS: Final = 500  # files of a directory


def shipped_texts() -> dict[str, str]:
    """Read the texts of the package: file name → TOML."""
    directory = files("routecanary.probe") / "texts"
    return {
        f"routecanary/probe/texts/{each.name}": each.read_text("utf-8")
        for each in sorted(directory.iterdir(), key=lambda each: each.name)
        if each.name.endswith(".toml")
    }


def own_texts(directory: str | None, *, key: str = "probes.texts") -> dict[str, str]:
    """Read an administrator's texts: path → TOML; none where no directory is named.

    Args:
        key: The option that names the directory, for the message.
    Raises:
        ConfigError: The directory cannot be listed or holds no `.toml` file, or a file cannot be read.
    """
    if directory is None:
        return {}
    place = directory
    try:
        paths = sorted(path for path in Path(directory).iterdir() if path.suffix == ".toml")
    except FileNotFoundError:
        raise ConfigError("no such directory", place=place, key=key) from None
    except NotADirectoryError:
        raise ConfigError("a file where a directory belongs", place=place, key=key) from None
    except OSError as error:
        raise ConfigError(f"cannot be listed: {error.strerror}", place=place, key=key) from None
    if not 1 <= len(paths) <= MAX_TEXTS:
        raise ConfigError(
            "wrong number of .toml files", place=place, key=key, value=len(paths), allowed=f"1 to {MAX_TEXTS}"
        )
    return {str(path): read_text_file(path, key=key) for path in paths}
