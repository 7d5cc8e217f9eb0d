"""How is one table of a probe's text read?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from routecanary.domain.probe import Json
from routecanary.errors import ProbeTextError

MAX_ENTRIES: Final = 500  # of one list
MAX_ENTRY: Final = 80  # characters

Table = Mapping[str, Json]


class TextTable:
    """Typed access to one table; its errors name the file and the key path."""

    def __init__(self, table: Table, place: str, prefix: str) -> None:
        self._table = table
        self._place = place
        self._prefix = prefix

    def error(
        self, key: str, problem: str, value: object = None, allowed: str | None = None
    ) -> ProbeTextError:
        return ProbeTextError(
            problem, place=self._place, key=self._prefix + key, value=value, allowed=allowed
        )

    def has(self, key: str) -> bool:
        return key in self._table

    def only(self, keys: tuple[str, ...]) -> None:
        for key in self._table:
            if key not in keys:
                raise self.error(key, "unknown key", allowed=", ".join(keys))

    def present(self, *keys: str) -> None:
        for key in keys:
            if key not in self._table:
                raise self.error(key, "missing")

    def string(self, key: str, limit: int) -> str:
        self.present(key)
        value = self._table[key]
        if not isinstance(value, str):
            raise self.error(key, f"{kind_of(value)} where a string belongs")
        if not value.strip() or len(value) > limit:
            raise self.error(key, "empty or too long", value, f"1 to {limit} characters")
        return value

    def optional_string(self, key: str, limit: int) -> str | None:
        return self.string(key, limit) if key in self._table else None

    def integer(self, key: str, low: int, high: int) -> int:
        self.present(key)
        value = self._table[key]
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.error(key, f"{kind_of(value)} where a whole number belongs")
        if not low <= value <= high:
            shown = value if abs(value) < 10**18 else None  # the digits of a huge integer help nobody
            raise self.error(key, "out of range", shown, f"{low} to {high}")
        return value

    def lines(self, key: str) -> tuple[str, ...]:
        """Read an optional list of short one-line strings."""
        value = self._table.get(key, [])
        if not isinstance(value, list):
            raise self.error(key, f"{kind_of(value)} where a list of strings belongs")
        if len(value) > MAX_ENTRIES:
            raise self.error(key, "too many entries", len(value), f"at most {MAX_ENTRIES}")
        for index, each in enumerate(value):
            at = f"{key}[{index}]"
            if not isinstance(each, str):
                raise self.error(at, f"{kind_of(each)} where a string belongs")
            if not each.strip() or len(each) > MAX_ENTRY or not each.isprintable() or set(each) & set("{}"):
                raise self.error(
                    at, "not one short line", each, f"1 to {MAX_ENTRY} printable characters, no braces"
                )
        return tuple(value)

    def table(self, key: str) -> Table:
        self.present(key)
        value = self._table[key]
        if not isinstance(value, dict):
            raise self.error(key, f"{kind_of(value)} where a table belongs")
        return value

    def tables(self, key: str) -> list[Table]:
        self.present(key)
        value = self._table[key]
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise self.error(key, f"{kind_of(value)} where [[{key}]] tables belong")
        return value


def kind_of(value: Json) -> str:
    match value:
        case bool():
            return "a boolean"
        case int():
            return "a whole number"
        case float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case dict():
            return "a table"
        case _:
            return "a date or time"
