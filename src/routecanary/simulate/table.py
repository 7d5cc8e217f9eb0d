"""How is one table of a scenario file read? Key by key, and what is wrong is collected, not raised.

A reader that refuses a value returns one of the right type, so that the rest of the file is still read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Final, TypeVar

from routecanary.domain.names import CONTRACT_NAMES, ContractName, RouteId
from routecanary.domain.times import DURATION_FORM, LONGEST_DURATION, format_duration, parse_duration
from routecanary.errors import InputError, ScenarioError

MOST_TABLES: Final = 1_000
_MOST_TEXT: Final = 500  # characters
_NOTHING: Final = timedelta()

_Value = TypeVar("_Value")


class Table:
    """A table under a key of the file; every key that is asked for is known, and no other is allowed."""

    def __init__(
        self, content: Mapping[str, object], key: str, place: str, faults: list[ScenarioError]
    ) -> None:
        self._content, self._key, self._place, self._faults = content, key, place, faults
        self._known: set[str] = set()

    def refuse(self, problem: str, key: str, value: object, allowed: str) -> None:
        shown = value if isinstance(value, str | int | float) or value is None else type(value).__name__
        place = f"{self._key}.{key}" if self._key else key
        self._faults.append(
            ScenarioError(problem, place=self._place, key=place, value=shown, allowed=allowed)
        )

    def end(self) -> None:
        """Refuse every key that nobody asked for."""
        for key in sorted(self._content.keys() - self._known):
            self.refuse("unknown key", key[:80], None, ", ".join(sorted(self._known)))

    def has(self, key: str) -> bool:
        self._known.add(key)
        return key in self._content

    def number(self, key: str, low: float, high: float, *, default: float | None = None) -> float:
        value = self._get(key, default)
        allowed = f"a number from {low:g} to {high:g}"
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            return self._refused(key, value, allowed, low)
        return float(value)

    def whole(self, key: str, low: int, high: int, *, default: int) -> int:
        value = self._get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            return self._refused(key, value, f"a whole number from {low} to {high}", low)
        return value

    def span(
        self,
        key: str,
        *,
        least: timedelta = _NOTHING,
        most: timedelta = LONGEST_DURATION,
        default: timedelta | None = None,
    ) -> timedelta:
        if not self.has(key) and default is not None:
            return default
        value = self._content.get(key)
        allowed = f"{DURATION_FORM}, from {format_duration(least)} to {format_duration(most)}"
        try:
            span = parse_duration(value) if isinstance(value, str) else None
        except InputError:
            span = None
        if span is None or not least <= span <= most:
            return self._refused(key, value, allowed, max(least, timedelta(seconds=1)))
        return span

    def switch(self, key: str, *, default: bool) -> bool:
        value = self._get(key, default)
        return value if isinstance(value, bool) else self._refused(key, value, "true or false", default)

    def text(self, key: str, *, default: str) -> str:
        value = self._get(key, default)
        allowed = f"a text of at most {_MOST_TEXT} characters"
        if not isinstance(value, str) or len(value) > _MOST_TEXT:
            return self._refused(key, value, allowed, default)
        return value

    def word(self, key: str, words: Sequence[str], *, default: str | None = None) -> str:
        value = self._get(key, default)
        if not isinstance(value, str) or value not in words:
            return self._refused(key, value, ", ".join(words), words[0])
        return value

    def name(self, key: str, parse: Callable[[str], RouteId]) -> RouteId:
        value = self._get(key, None)
        try:
            if isinstance(value, str):
                return parse(value)
        except InputError:
            pass  # refused below, as what is no text at all
        return self._refused(key, value, "a name such as host or host/fp8", RouteId("?"))

    def contracts(self, key: str) -> frozenset[ContractName]:
        value = self._get(key, None)
        if not isinstance(value, list) or not value or any(each not in CONTRACT_NAMES for each in value):
            return self._refused(key, value, f"a list of {', '.join(CONTRACT_NAMES)}", frozenset())
        return frozenset(map(ContractName, value))

    def whole_or_names(self, key: str, *, default: int) -> int | tuple[str, ...]:
        value = self._get(key, default)
        if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
            return tuple(value)
        if isinstance(value, bool) or not isinstance(value, int):
            return self._refused(key, value, "how many hosts, or a list of their names", default)
        return value

    def table(self, key: str) -> Table:
        """Open the table under a key; one that is absent is empty."""
        value = self._content.get(key, {}) if self.has(key) else {}
        if not isinstance(value, dict):
            value = self._refused(key, value, f"a table [{key}]", {})
        return Table(value, self._path(key), self._place, self._faults)

    def tables(self, key: str) -> list[Table]:
        """Open the tables under a key, none if it is absent."""
        value = self._content.get(key, []) if self.has(key) else []
        if (
            not isinstance(value, list)
            or len(value) > MOST_TABLES
            or any(type(one) is not dict for one in value)
        ):
            value = self._refused(key, value, f"at most {MOST_TABLES} tables [[{key}]]", [])
        return [
            Table(one, f"{self._path(key)}[{number}]", self._place, self._faults)
            for number, one in enumerate(value)
        ]

    def _path(self, key: str) -> str:
        return f"{self._key}.{key}" if self._key else key

    def _get(self, key: str, default: object) -> object:
        return self._content.get(key, default) if self.has(key) else default

    def _refused(self, key: str, value: object, allowed: str, instead: _Value) -> _Value:
        self.refuse("missing" if key not in self._content else "not allowed", key, value, allowed)
        return instead
