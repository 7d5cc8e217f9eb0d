"""Is a text exactly one JSON document, by the letter of the standard?

Python's own reader is lenient: it takes NaN, keeps the last of two equal keys, and gives up on deep
nesting with an exception of another family. Here each of these is an outcome.

Source: RFC 8259.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from routecanary.domain.probe import Json

_MAX_DIGITS: Final = 400  # of one number; beyond it nobody means a number


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document that parses; `duplicates` names the keys that stand twice in one object."""

    value: Json
    duplicates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotJson:
    """Why a text is no document, and where."""

    problem: str
    position: int  # characters from the start
    at_end: bool = False  # it only ended too early


def parse(text: str) -> Document | NotJson:
    """Parse a whole text strictly; white space around the document is fine."""
    duplicates: list[str] = []

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        if len(table) != len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    duplicates.append(key)
                seen.add(key)
        return table

    try:
        value = json.loads(
            text,
            object_pairs_hook=unique,
            parse_constant=_no_constant,
            parse_int=_integer,
            parse_float=_number,
        )
    except json.JSONDecodeError as error:
        return NotJson(problem=error.msg, position=error.pos, at_end=_ended_early(text, error))
    except RecursionError:
        return NotJson(problem="nested too deeply to be meant", position=0)
    except ValueError as error:
        return NotJson(problem=str(error)[:100], position=0)
    return Document(value=value, duplicates=tuple(dict.fromkeys(duplicates)))


def parse_prefix(text: str) -> tuple[Json, int] | None:
    """Parse the one object or array that a text starts with; also return where it ends."""
    if text[:1] not in ("{", "["):
        return None
    try:
        value, end = _PREFIX.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value, end


def _ended_early(text: str, error: json.JSONDecodeError) -> bool:
    return error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is no JSON number")


def _integer(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def _number(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError("a number beyond every range")
    return value


_PREFIX: Final = json.JSONDecoder(parse_constant=_no_constant, parse_int=_integer, parse_float=_number)
