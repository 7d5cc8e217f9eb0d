"""How do domain values travel as plain JSON values?

Lossless both ways and driven by the declared types: a dataclass is an object, a set is a sorted list, an
instant an ISO 8601 text in UTC with its microseconds, a decimal its digits as text, an enum its value. A
field at its default is left out, so a default of a stored value, once shipped, stays what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, NewType, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from routecanary.errors import StoreError

JsonObject = dict[str, Any]
"""A decoded JSON object."""

_Value = TypeVar("_Value")
_Decoder = Callable[[object], object]


def to_json(value: object) -> JsonObject:
    """Write a dataclass as an object of plain values; the order of its keys is that of its fields."""
    written: JsonObject = {}
    for field in fields(value):  # type: ignore[arg-type]  # every caller hands in a dataclass
        content = getattr(value, field.name)
        if not _is_default(field, content):
            written[field.name] = _plain(content)
    return written


def from_json(kind: type[_Value], data: object) -> _Value:
    """Read a dataclass of the given kind back.

    Raises:
        StoreError: A field is missing, unknown or of the wrong type.
    """
    return cast("_Value", _decoder(cast("Hashable", kind))(data))


def member_from_json(kinds: Mapping[str, type[_Value]], data: Mapping[str, object], what: str) -> _Value:
    """Read a member of a closed union back; `event` names which one.

    Args:
        kinds: The union: name → dataclass.
        what: How an error calls a member: "event".
    Raises:
        StoreError: It is of no known kind, or a field is missing, unknown or of the wrong type.
    """
    name = data.get("event")
    kind = kinds.get(name) if isinstance(name, str) else None
    if kind is None:
        raise StoreError(f"event log: unknown {what} {name!r}")
    return from_json(kind, {key: value for key, value in data.items() if key != "event"})


def _is_default(field: Field[Any], content: object) -> bool:
    if field.default is not MISSING:
        return bool(content == field.default)
    if field.default_factory is not MISSING:
        return bool(content == field.default_factory())
    return False


def _plain(content: object) -> object:
    if content is None or isinstance(content, bool | int | float):
        return content
    if isinstance(content, StrEnum):
        return content.value
    if isinstance(content, str):
        return content
    if isinstance(content, Decimal):
        return str(content)
    if isinstance(content, datetime):
        return content.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(content, frozenset):
        return sorted(content)
    if isinstance(content, tuple | list):
        return [_plain(one) for one in content]
    if isinstance(content, Mapping):
        return {str(key): _plain(one) for key, one in sorted(content.items())}
    return to_json(content)


@cache
def _decoder(kind: Hashable) -> _Decoder:
    """Build the reader of a declared type, once."""
    if isinstance(kind, NewType):
        return _decoder(kind.__supertype__)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        (present,) = (one for one in inner if one is not NoneType)
        return _optional(_decoder(present))
    if origin is frozenset or origin is tuple:
        return _list_as(origin, _decoder(inner[0]))
    if origin is Mapping:
        return _mapping(_decoder(inner[1]))
    if kind is Any:
        return lambda data: data  # plain JSON already
    if not isinstance(kind, type):
        raise TypeError(f"no JSON form for {kind!r}")
    if issubclass(kind, datetime):
        return _instant
    if issubclass(kind, Decimal):
        return _decimal
    if issubclass(kind, StrEnum):
        return _member(kind)
    if is_dataclass(kind):
        return _dataclass(kind)
    return lambda data: _expect(kind, data)


def _optional(read: _Decoder) -> _Decoder:
    return lambda data: None if data is None else read(data)


def _list_as(build: Callable[[Iterable[object]], object], read_one: _Decoder) -> _Decoder:
    def read(data: object) -> object:
        return build(read_one(one) for one in _expect(list, data))

    return read


def _mapping(read_one: _Decoder) -> _Decoder:
    def read(data: object) -> dict[str, object]:
        return {_expect(str, key): read_one(one) for key, one in _expect(dict, data).items()}

    return read


def _member(kind: type[StrEnum]) -> _Decoder:
    def read(data: object) -> StrEnum:
        try:
            return kind(_expect(str, data))
        except ValueError as problem:
            raise StoreError(f"event log: {data!r} is no {kind.__name__}") from problem

    return read


def _instant(data: object) -> datetime:
    try:
        at = datetime.fromisoformat(_expect(str, data))
    except ValueError as problem:
        raise StoreError(f"event log: {data!r} is no time") from problem
    if at.tzinfo is None:
        raise StoreError(f"event log: {data!r} has no zone")
    return at.astimezone(UTC)


def _decimal(data: object) -> Decimal:
    try:
        return Decimal(_expect(str, data))
    except InvalidOperation as problem:
        raise StoreError(f"event log: {data!r} is no number") from problem


def _dataclass(kind: type) -> _Decoder:
    hints = get_type_hints(kind)
    readers = {field.name: _decoder(hints[field.name]) for field in fields(kind)}
    needed = {
        field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING
    }

    def read(data: object) -> object:
        content = _expect(dict, data)
        if unknown := content.keys() - readers.keys():
            raise StoreError(f"event log: {kind.__name__} has no field {min(unknown)!r}")
        if missing := needed - content.keys():
            raise StoreError(f"event log: {kind.__name__} lacks {min(missing)!r}")
        return kind(**{key: readers[key](one) for key, one in content.items()})

    return read


def _expect(kind: type[_Value], data: object) -> _Value:
    if not isinstance(data, kind) or (kind is int and isinstance(data, bool)):
        raise StoreError(f"event log: a {type(data).__name__} where a {kind.__name__} is expected")
    return data
