"""How is a text file read?

Whole, bounded, as UTF-8; every way in which that fails is a `ConfigError` that names the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from routecanary.errors import ConfigError

MAX_FILE: Final = 1024 * 1024  # bytes


def read_text_file(path: Path, *, key: str | None = None, limit: int = MAX_FILE) -> str:
    """Read a file; a leading byte order mark is dropped.

    Args:
        key: The option that named the file, for the message.
        limit: Bytes; a longer file is refused.
    Raises:
        ConfigError: There is no such file, it is a directory, it may not be read, it is too long, or it is
            not UTF-8.
    """
    place = str(path)
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError:
        raise ConfigError("no such file", place=place, key=key) from None
    except IsADirectoryError:
        raise ConfigError("a directory where a file belongs", place=place, key=key) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a usable path"
        raise ConfigError(f"cannot be read: {reason}", place=place, key=key) from None
    if len(data) > limit:
        raise ConfigError(f"longer than {limit} bytes", place=place, key=key)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"not UTF-8 at byte {error.start}", place=place, key=key) from None
