"""What does one line of a trace say?

A trace comes from outside: a line that is not exactly what docs/policy.md describes is rejected whole, and
the error names the key, the value and what is allowed. Keys that the page does not name are ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, TypeVar

from routecanary.domain.names import ContractName, Locale, ModelId, RouteId
from routecanary.domain.round import Lift, Line, Mode, Pause, Resume, Round, RouteReport, SwitchMode
from routecanary.domain.times import parse_instant
from routecanary.domain.verdict import VerdictKind
from routecanary.errors import InputError, TraceError

MAX_LINE_BYTES: Final = 4 * 1024 * 1024
"""A round of 3,000 routes takes about 0.6 MB."""

_Object = Mapping[str, object]
_Value = TypeVar("_Value")
_Word = TypeVar("_Word", bound=StrEnum)
LATEST_LINE: Final = datetime(9_800, 1, 1, tzinfo=UTC)
"""So that a time plus any step of the ladder is still a date."""

_NO_FIELDS: Final[_Object] = {}
_NO_NAMES: Final[Sequence[str]] = ()
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_./:@+-]{1,80}")
_HALF_PAIR = re.compile("[\ud800-\udfff]")
_SHOWN_KEY = 80  # characters
_MOST_ATTEMPTS = 1_000  # of one contract in one round


def parse_line(raw: bytes) -> Line | None:
    """Read one line; None for a blank one.

    Raises:
        TraceError: The line is rejected whole; its place is for the caller to add.
    """
    if len(raw) > MAX_LINE_BYTES:
        raise TraceError(
            "line too long", value=f"over {MAX_LINE_BYTES} bytes", allowed=f"{MAX_LINE_BYTES} bytes"
        )
    if not raw.strip():
        return None
    line = _decode(raw)
    kind = _required(line, "kind", _text)
    reader = _KINDS.get(kind)
    if reader is None:
        raise TraceError("unknown kind", key="kind", value=kind, allowed=", ".join(_KINDS))
    at = _required(line, "at", _line_time)
    return reader(line, at, ModelId(_required(line, "model", _text)))


# From bytes to an object


def _decode(raw: bytes) -> _Object:
    try:
        line = json.loads(raw.decode("utf-8"), object_pairs_hook=_object, parse_constant=_no_constant)
    except UnicodeDecodeError as problem:
        raise TraceError("not UTF-8", value=problem.reason, allowed="one JSON object in UTF-8") from problem
    except RecursionError as problem:
        raise TraceError("nested too deep", allowed="one JSON object as docs/policy.md shows it") from problem
    except ValueError as problem:
        raise TraceError(f"not JSON: {problem}", allowed="one JSON object") from problem
    if not isinstance(line, dict):
        raise TraceError("not an object", value=_named_type(line), allowed="one JSON object")
    return line


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise TraceError("key stated twice", key=_path(twice), allowed="each key once")
    return found


def _no_constant(name: str) -> None:
    raise TraceError("not JSON", value=name, allowed="numbers; neither NaN nor Infinity")


# Kinds of lines


def _round(line: _Object, at: datetime, model: ModelId) -> Round:
    routes = {
        RouteId(_name(name, "routes")): _report(report, f"routes.{_path(name)}")
        for name, report in _optional(line, "routes", _mapping, default=_NO_FIELDS).items()
    }
    swallows = {
        _name(entry, "swallows"): frozenset(map(RouteId, _names(listed, f"swallows.{_path(entry)}")))
        for entry, listed in _optional(line, "swallows", _mapping, default=_NO_FIELDS).items()
    }
    locale = _optional(line, "locale", _nullable(_text), default=None)
    return Round(
        at=at,
        model=model,
        routes=routes,
        locale=None if locale is None else Locale(locale),
        builtin=frozenset(_optional(line, "builtin", _names, default=_NO_NAMES)),
        runtime=frozenset(_optional(line, "runtime", _names, default=_NO_NAMES)),
        swallows=swallows,
        acted=frozenset(map(RouteId, _optional(line, "acted", _names, default=_NO_NAMES))),
    )


def _report(value: object, key: str) -> RouteReport:
    report = _mapping(value, key)
    verdicts = {
        ContractName(_name(contract, f"{key}.verdicts")): _word(
            VerdictKind, kind, f"{key}.verdicts.{_path(contract)}"
        )
        for contract, kind in _optional(report, "verdicts", _mapping, default=_NO_FIELDS, under=key).items()
    }
    attempts = {
        ContractName(_name(contract, f"{key}.attempts")): _attempts(
            stated, f"{key}.attempts.{_path(contract)}"
        )
        for contract, stated in _optional(report, "attempts", _mapping, default=_NO_FIELDS, under=key).items()
    }
    swallows = _optional(report, "swallows", _names, default=None, under=key)
    return RouteReport(
        verdicts=verdicts,
        attempts=attempts,
        swallows=None if swallows is None else frozenset(map(RouteId, swallows)),
        control_for=frozenset(
            map(ContractName, _optional(report, "control_for", _name_or_names, default=_NO_NAMES, under=key))
        ),
        admitted=_optional(report, "admitted", _switch, default=True, under=key),
    )


def _attempts(value: object, key: str) -> tuple[bool, ...]:
    allowed = f"a list of at most {_MOST_ATTEMPTS} times 0 (pass) or 1 (fail)"
    if not isinstance(value, list) or len(value) > _MOST_ATTEMPTS:
        raise TraceError("not a list of attempts", key=key, value=_named_type(value), allowed=allowed)
    for one in value:
        if isinstance(one, bool) or not isinstance(one, int) or one not in (0, 1):
            raise TraceError("not an attempt", key=key, value=_named_type(one), allowed=allowed)
    return tuple(one == 1 for one in value)


def _lift(line: _Object, at: datetime, model: ModelId) -> Lift:
    return Lift(
        at=at,
        model=model,
        route=RouteId(_required(line, "route", _text)),
        false_positive=_optional(line, "false_positive", _switch, default=False),
        hold_until=_optional(line, "hold_until", _nullable(_instant), default=None),
    )


def _mode(line: _Object, at: datetime, model: ModelId) -> SwitchMode:
    return SwitchMode(
        at=at, model=model, mode=_required(line, "mode", lambda value, key: _word(Mode, value, key))
    )


def _pause(_line: _Object, at: datetime, model: ModelId) -> Pause:
    return Pause(at=at, model=model)


def _resume(_line: _Object, at: datetime, model: ModelId) -> Resume:
    return Resume(at=at, model=model)


_KINDS: Final[Mapping[str, Callable[[_Object, datetime, ModelId], Line]]] = {
    "round": _round,
    "lift": _lift,
    "mode": _mode,
    "pause": _pause,
    "resume": _resume,
}


# Fields: a reader takes a value and the key to name in an error


def _required(line: _Object, key: str, read: Callable[[object, str], _Value]) -> _Value:
    if key not in line:
        raise TraceError("missing", key=key, allowed="this key is needed")
    return read(line[key], key)


def _optional(
    line: _Object, key: str, read: Callable[[object, str], _Value], *, default: _Value, under: str = ""
) -> _Value:
    return read(line[key], f"{under}.{key}" if under else key) if key in line else default


def _nullable(read: Callable[[object, str], _Value]) -> Callable[[object, str], _Value | None]:
    return lambda value, key: None if value is None else read(value, key)


def _text(value: object, key: str) -> str:
    if not isinstance(value, str):
        raise TraceError("not a text", key=key, value=_named_type(value), allowed="a text")
    return _name(value, key)


def _name(text: str, key: str) -> str:
    """Check a name that is already a text: model, route, contract, entry."""
    if not text:
        raise TraceError("empty name", key=key, allowed="a text that is not empty")
    if _HALF_PAIR.search(text):
        raise TraceError("half a surrogate pair in a text", key=key, value=text, allowed="whole characters")
    return text


def _names(value: object, key: str) -> Sequence[str]:
    if not isinstance(value, list):
        raise TraceError("not a list", key=key, value=_named_type(value), allowed="a list of texts")
    return [_text(one, key) for one in value]


def _name_or_names(value: object, key: str) -> Sequence[str]:
    return [_name(value, key)] if isinstance(value, str) else _names(value, key)


def _mapping(value: object, key: str) -> _Object:
    if not isinstance(value, dict):
        raise TraceError("not an object", key=key, value=_named_type(value), allowed="an object")
    return value


def _switch(value: object, key: str) -> bool:
    if not isinstance(value, bool):
        raise TraceError("not a switch", key=key, value=_named_type(value), allowed="true or false")
    return value


def _word(words: type[_Word], value: object, key: str) -> _Word:
    if isinstance(value, str):
        with suppress(ValueError):
            return words(value)
    raise TraceError("unknown word", key=key, value=_named_type(value), allowed=", ".join(words))


def _instant(value: object, key: str) -> datetime:
    if not isinstance(value, str):
        raise TraceError(
            "not a time", key=key, value=_named_type(value), allowed="a text, RFC 3339 with a zone"
        )
    try:
        return parse_instant(value)
    except InputError as problem:
        raise TraceError(problem.problem, key=key, value=problem.value, allowed=problem.allowed) from problem


def _line_time(value: object, key: str) -> datetime:
    at = _instant(value, key)
    if at >= LATEST_LINE:
        raise TraceError("time too far ahead", key=key, value=value, allowed="before the year 9800")
    return at


def _named_type(value: object) -> str:
    """Say what stands there instead, in JSON's words; nested values are not repeated."""
    match value:
        case None:
            return "null"
        case bool() | int() | float():
            return str(value)
        case str():
            return value
        case list():
            return "a list"
        case _:
            return "an object"


def _path(key: str) -> str:
    """Write a key of the input so that it stays on one line."""
    if _PLAIN_KEY.fullmatch(key):
        return key
    return json.dumps(key[:_SHOWN_KEY])
