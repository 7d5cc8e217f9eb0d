"""Who says that a route must be avoided, for which models, and why?

Three layers: *built-in* (a reviewed file), *runtime* (acts of the administrator) and *canary* (suspensions).
The first two are merged in every mode and state.

Source: policy.md §8; docs/routing.md, "The three layers".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Final

from routecanary.domain.exclusion import BuiltinEntry, RuntimeEntry
from routecanary.domain.names import CONTRACT_NAMES, ContractName, ModelId, parse_model, parse_route
from routecanary.domain.probe import Json
from routecanary.domain.strict_toml import TomlError, parse_toml
from routecanary.errors import ConfigError, InputError

MAX_FILE: Final = 1024 * 1024  # characters
MAX_ENTRIES: Final = 1_000
MAX_TEXT: Final = 2_000  # characters of a reason, of the evidence

_KIND_NAMES: Final = {
    bool: "a boolean",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}
_KEYS: Final = ("route", "provider", "models", "reason", "evidence", "reviewer", "date", "control_for")


def builtin_for(entries: Iterable[BuiltinEntry], model: ModelId) -> tuple[BuiltinEntry, ...]:
    """Select the entries that apply to a model, in their order."""
    return tuple(entry for entry in entries if entry.models is None or model in entry.models)


def runtime_for(entries: Iterable[RuntimeEntry], model: ModelId) -> tuple[RuntimeEntry, ...]:
    """Select the entries that apply to a model, in their order; expired ones too."""
    return tuple(entry for entry in entries if entry.models is None or model in entry.models)


def builtin_from_toml(text: str, place: str) -> tuple[BuiltinEntry, ...]:
    """Read a file of the built-in layer.

    Args:
        text: Its content: `[[exclusions]]` tables, or none.
        place: How errors name the file.
    Raises:
        ConfigError: It is not TOML, or an entry has an unknown key, lacks its reason, evidence, reviewer or
            date, or has a malformed value; the first one is named as `exclusions[2].date`, counting from 0.
    """
    if len(text) > MAX_FILE:
        raise ConfigError(f"longer than {MAX_FILE} characters", place=place)
    try:
        table = parse_toml(text)
    except TomlError as error:
        raise ConfigError(error.problem, place=place) from None
    for key in table:
        if key != "exclusions":
            raise ConfigError("unknown key", place=place, key=key, allowed="exclusions")
    entries = table.get("exclusions", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ConfigError("not a list of tables", place=place, key="exclusions", allowed="[[exclusions]]")
    if len(entries) > MAX_ENTRIES:
        raise ConfigError(
            "too many entries",
            place=place,
            key="exclusions",
            value=len(entries),
            allowed=f"at most {MAX_ENTRIES}",
        )
    return tuple(
        _EntryTable(entry, place, f"exclusions[{number}].").read() for number, entry in enumerate(entries)
    )


class _EntryTable:
    """One entry as it stands in the file; errors name its place and key."""

    def __init__(self, table: Mapping[str, Json], place: str, prefix: str) -> None:
        self._table = table
        self._place = place
        self._prefix = prefix

    def read(self) -> BuiltinEntry:
        for key in self._table:
            if key not in _KEYS:
                raise self._error(key, "unknown key", allowed=", ".join(_KEYS))
        return BuiltinEntry(
            target=self._target(),
            models=self._models(),
            reason=self._text("reason", MAX_TEXT),
            evidence=self._text("evidence", MAX_TEXT),
            reviewer=self._text("reviewer", 200),
            date=self._date(),
            control_for=self._control_for(),
        )

    def _error(self, key: str, problem: str, value: object = None, allowed: str | None = None) -> ConfigError:
        if value is not None and not isinstance(value, str):  # its text could be long without end
            problem, value = f"{problem} but {_KIND_NAMES.get(type(value), 'a date or time')}", None
        return ConfigError(problem, place=self._place, key=self._prefix + key, value=value, allowed=allowed)

    def _target(self) -> str:
        given = [key for key in ("route", "provider") if key in self._table]
        if len(given) != 1:
            problem = "missing" if not given else "given beside route"
            key = "route" if not given else "provider"
            raise self._error(key, problem, allowed="exactly one of route, provider")
        key = given[0]
        try:
            target = parse_route(self._text(key, 200))
        except InputError as error:
            raise self._error(key, error.problem, error.value, error.allowed) from None
        if not target.isprintable():
            raise self._error(key, "not a route tag", target, "printable characters")
        return target

    def _models(self) -> frozenset[ModelId] | None:
        if "models" not in self._table:
            return None
        names = self._table["models"]
        allowed = "a list, or left out for all models"
        if not isinstance(names, list):
            raise self._error("models", "not a list of models", names, allowed)
        if not names:
            raise self._error("models", "an empty list", allowed=allowed)
        models = []
        for number, name in enumerate(names):
            try:
                models.append(parse_model(name if isinstance(name, str) else ""))
            except InputError as error:
                raise self._error(f"models[{number}]", error.problem, name, error.allowed) from None
        return frozenset(models)

    def _text(self, key: str, limit: int) -> str:
        if key not in self._table:
            raise self._error(key, "missing", allowed=f"a text of 1 to {limit} characters")
        value = self._table[key]
        if not isinstance(value, str) or not value.strip() or len(value) > limit:
            raise self._error(key, "not a text", value, f"1 to {limit} characters")
        return value.strip()

    def _date(self) -> str:
        allowed = "the day of the review, such as 2026-01-05"
        if "date" not in self._table:
            raise self._error("date", "missing", allowed=allowed)
        value = self._table["date"]
        if isinstance(value, date) and not isinstance(value, datetime):
            return value.isoformat()
        try:
            if not isinstance(value, str) or len(value) != len("2026-01-05"):
                raise ValueError
            return date.fromisoformat(value).isoformat()
        except ValueError:
            raise self._error("date", "not a day", value, allowed) from None

    def _control_for(self) -> frozenset[ContractName]:
        names = self._table.get("control_for", [])
        if not isinstance(names, list):
            raise self._error("control_for", "not a list of contracts", names, ", ".join(CONTRACT_NAMES))
        for number, name in enumerate(names):
            if name not in CONTRACT_NAMES:
                raise self._error(
                    f"control_for[{number}]", "no such contract", name, ", ".join(CONTRACT_NAMES)
                )
        return frozenset(map(ContractName, names))
