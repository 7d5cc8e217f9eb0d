"""What does a text from outside say, if it is TOML at all?

The standard library's reader answers deep nesting and a huge number with exceptions of its own; this one has
a single refusal.
"""

from __future__ import annotations

import tomllib

from routecanary.domain.probe import Json
from routecanary.errors import InputError


class TomlError(InputError):
    """The text is not TOML that can be read."""


def parse_toml(text: str, *, place: str | None = None) -> dict[str, Json]:
    """Read one TOML document; its dates and times come as `datetime` values.

    Args:
        text: The document.
        place: Where it came from, for the message.
    Raises:
        TomlError: It is not TOML (with a key given twice it is not), or nests or counts deeper than can be
            read.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TomlError(f"not readable as TOML: {error}", place=place) from None
    except RecursionError:
        raise TomlError("not readable as TOML: nested too deeply", place=place) from None
    except ValueError:  # more digits than int() converts
        raise TomlError("not readable as TOML: a number has too many digits", place=place) from None
