"""What does a text from outside say, if it is JSON at all?

The standard library's reader accepts `NaN`, lets a repeated key win silently, and answers deep nesting or a
huge number with exceptions of its own; this one has a single refusal.
"""

from __future__ import annotations

import json
from typing import NoReturn

from routecanary.domain.probe import Json
from routecanary.errors import InputError


class JsonError(InputError):
    """The text is not strict JSON."""


def parse_json(text: str | bytes, *, place: str | None = None) -> Json:
    """Read one JSON document, and nothing but that.

    Args:
        text: The document; bytes must be UTF-8, a leading byte order mark is dropped.
        place: Where it came from, for the message.
    Raises:
        JsonError: It is not UTF-8, not one document, repeats a key in an object, holds `NaN` or an infinity
            (also as an overflowing number such as `1e999`), or nests or counts deeper than can be read.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        return _DECODER.decode(text)
    except JsonError as error:
        raise JsonError(error.problem, place=place, value=error.value) from None
    except UnicodeDecodeError as error:
        raise JsonError(f"not UTF-8 at byte {error.start}", place=place) from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise JsonError(f"not JSON: {error.msg} at {where}", place=place) from None
    except RecursionError:
        raise JsonError("nested too deeply", place=place) from None
    except ValueError:  # more digits than int() converts
        raise JsonError("a number has too many digits", place=place) from None


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise JsonError("a key is repeated in one object", value=key)
            seen.add(key)
    return found


def _float(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise JsonError("a number is too large", value=digits)
    return number


def _constant(name: str) -> NoReturn:
    raise JsonError("not a JSON number", value=name)


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_constant=_constant)
