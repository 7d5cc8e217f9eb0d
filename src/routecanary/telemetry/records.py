"""What does a body of `POST /v1/telemetry` say?

A body is taken whole or refused whole, and the refusal names what is wrong. A key that is not known is
refused: it could hold what a user said.

Source: docs/telemetry.md, `web/schemas/telemetry.json`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, Literal, TypeVar

import msgspec
from msgspec import Meta

from routecanary.domain.generation import Generation, Source
from routecanary.domain.names import parse_locale, parse_model, parse_route
from routecanary.errors import InputError, TelemetryError
from routecanary.routing.reading import is_name
from routecanary.telemetry.candidates import Lookup, locate

MAX_RECORDS: Final = 1000  # of one body
MAX_BYTES: Final = 1_048_576  # of one body
AHEAD: Final = timedelta(days=1)  # by which a sender's clock may be ahead of ours
LONGEST_MS: Final = 86_400_000  # a day
MOST_TOKENS: Final = 10**9
_EARLIEST: Final = datetime(2020, 1, 1, tzinfo=UTC)  # of a snapshot
_MOST_NAMES: Final = 1000  # in one `ignore`

_Opaque = Annotated[str, Meta(pattern=r"^[!-~]{1,128}\Z")]
_Id = Annotated[str, Meta(pattern=r"^[!-~]{1,200}\Z")]
_Word = Annotated[str, Meta(pattern=r"^[ -~]{1,64}\Z")]
_Reason = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,63}\Z")]
_Name = Annotated[str, Meta(min_length=1, max_length=200)]
_Milliseconds = Annotated[float, Meta(ge=0, le=LONGEST_MS)]
_Tokens = Annotated[int, Meta(ge=0, le=MOST_TOKENS)]
_Instant = Annotated[datetime, Meta(tz=True)]


class _Told(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """One record as it comes."""

    model: _Name
    started_at: _Instant
    key: _Opaque | None = None
    id: _Id | None = None
    provider: _Name | None = None
    route: _Name | None = None
    ignore: Annotated[list[_Name], Meta(max_length=_MOST_NAMES)] | None = None
    unchanged: _Reason | None = None
    list_written_at: _Instant | None = None
    ttft_ms: _Milliseconds | None = None
    duration_ms: _Milliseconds | None = None
    status: Annotated[int, Meta(ge=100, le=599)] | None = None
    finish_reason: _Word | None = None
    empty: bool | None = None
    prompt_tokens: _Tokens | None = None
    completion_tokens: _Tokens | None = None
    conversation: _Opaque | None = None
    locale: _Name | None = None
    source: Literal["hook", "proxy", "api"] = "hook"


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    generations: Annotated[list[_Told], Meta(max_length=MAX_RECORDS)]


_Parsed = TypeVar("_Parsed")

_SHAPE: Final = 'a JSON object {"generations": […]}'
_OPAQUE: Final = "1 to 128 printable ASCII characters without a space"
_TIME: Final = "a time with a zone, RFC 3339"
_NUMBER_OF_MS: Final = f"a number of 0 to {LONGEST_MS}, or null"
_NUMBER_OF_TOKENS: Final = f"a whole number of 0 to {MOST_TOKENS}, or null"
ALLOWED: Final[Mapping[str, str]] = {
    "generations": f"a list of at most {MAX_RECORDS} records",
    "model": "author/slug, optionally :variant",
    "started_at": _TIME,
    "key": f"{_OPAQUE}; or null where `id` is given",
    "id": "1 to 200 printable ASCII characters without a space, or null",
    "provider": "1 to 200 printable characters, or null",
    "route": "slug or slug/suffix, no white space, or null",
    "ignore": f"a list of at most {_MOST_NAMES} names of 1 to 200 printable characters, or null",
    "unchanged": "a reason such as no_snapshot: 1 to 64 of a-z, 0-9 and _, or null",
    "list_written_at": f"{_TIME}, or null",
    "ttft_ms": _NUMBER_OF_MS,
    "duration_ms": _NUMBER_OF_MS,
    "status": "a whole number of 100 to 599, or null",
    "finish_reason": "1 to 64 printable ASCII characters, or null",
    "empty": "true, false or null",
    "prompt_tokens": _NUMBER_OF_TOKENS,
    "completion_tokens": _NUMBER_OF_TOKENS,
    "conversation": f"{_OPAQUE}, or null",
    "locale": "a tag such as en, pt-BR, zh-Hans, or null",
    "source": "hook, proxy, api",
}
"""What each key of a record may hold, in words."""

_DECODER: Final = msgspec.json.Decoder(_Body)
_FIELD: Final = re.compile(
    r"Object (?P<what>contains unknown|missing required) field `(?P<name>.*)`", re.DOTALL
)
_STEP: Final = re.compile(r"\.(\w+)|\[(\d+)\]")


def read_generations(
    body: bytes, lookup: Lookup, *, now: datetime, keep: timedelta
) -> tuple[Generation, ...]:
    """Read a body into generations.

    Args:
        lookup: What the snapshot knows of a model.
        now: Aware.
        keep: How long generations are kept; one that is older is refused.
    Raises:
        TelemetryError: Something in it is not allowed; it names the record, the key, the value and what is.
    """
    if len(body) > MAX_BYTES:
        raise TelemetryError("the body is too long", allowed=f"{MAX_BYTES} bytes")
    try:
        told = _DECODER.decode(body)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _refusal(body, str(error)) from None
    generations = []
    for index, each in enumerate(told.generations):
        try:
            generations.append(_generation(each, lookup, now, keep))
        except InputError as error:
            raise TelemetryError(
                error.problem,
                key=f"generations[{index}].{error.key}",
                value=error.value,
                allowed=error.allowed,
            ) from None
    return tuple(generations)


def _generation(told: _Told, lookup: Lookup, now: datetime, keep: timedelta) -> Generation:
    key = told.key or told.id
    if key is None:
        raise InputError("missing", key="key", allowed=ALLOWED["key"])
    is_known = lookup(told.model) is not None
    located = locate(
        lookup,
        told.model if is_known else _parsed(parse_model, told.model, "model"),
        provider=None if told.provider is None else _name(told.provider, "provider"),
        route=None if told.route is None else _parsed(parse_route, told.route, "route"),
        ignore=[_name(name, "ignore") for name in told.ignore or ()],
    )
    written = told.list_written_at
    return Generation(
        key=key,
        source=Source(told.source),
        model=located.model,
        started_at=_within(told.started_at, now - keep, now + AHEAD, "started_at"),
        id=told.id,
        provider=told.provider,
        candidates=located.candidates,
        carried=located.carried,
        unchanged=told.unchanged,
        list_written_at=None
        if written is None
        else _within(written, _EARLIEST, now + AHEAD, "list_written_at"),
        ttft_ms=None if told.ttft_ms is None else round(told.ttft_ms),
        duration_ms=None if told.duration_ms is None else round(told.duration_ms),
        status=told.status,
        finish_reason=told.finish_reason,
        empty=told.empty,
        prompt_tokens=told.prompt_tokens,
        completion_tokens=told.completion_tokens,
        conversation=told.conversation,
        locale=None if told.locale is None else _parsed(parse_locale, told.locale, "locale"),
    )


def _parsed(parse: Callable[[str], _Parsed], text: str, key: str) -> _Parsed:
    try:
        return parse(text)
    except InputError as error:
        raise InputError(error.problem, key=key, value=text, allowed=ALLOWED[key]) from None


def _name(text: str, key: str) -> str:
    if not is_name(text):
        raise InputError("not a name", key=key, value=text, allowed=ALLOWED[key])
    return text


def _within(at: datetime, earliest: datetime, latest: datetime, key: str) -> datetime:
    if not earliest <= at <= latest:
        window = f"from {earliest.isoformat(timespec='seconds')} to {latest.isoformat(timespec='seconds')}"
        raise InputError("out of range", key=key, value=at.isoformat(), allowed=window)
    return at.astimezone(UTC)


def _refusal(body: bytes, said: str) -> TelemetryError:
    """Say in our words what the decoder found: the place, the value and what is allowed there."""
    problem, at, place = said.rpartition(" - at `$")
    problem, place = (problem, place.removeprefix(".").removesuffix("`")) if at else (said, "")
    if (field := _FIELD.fullmatch(problem)) is not None:
        key = f"{place}.{field['name']}".removeprefix(".")
        known = ALLOWED.keys() - {"generations"} if place else {"generations"}
        if field["what"] == "contains unknown":
            return TelemetryError("unknown key", key=key, allowed=", ".join(sorted(known)))
        return TelemetryError("missing", key=key, allowed=ALLOWED[field["name"]])
    names = [name for name, _ in _STEP.findall("." + place) if name]
    if not names:
        return TelemetryError(f"the body is not what it should be: {problem}", allowed=_SHAPE)
    if names == ["generations"] and place.endswith("]"):
        return TelemetryError("not a record", key=place, value=_value(body, place), allowed="an object")
    return TelemetryError("not allowed", key=place, value=_value(body, place), allowed=ALLOWED[names[-1]])


def _value(body: bytes, place: str) -> object:
    """Find the value at a place; a list or an object is shown by its size alone."""
    try:
        value = msgspec.json.decode(body)
        for name, index in _STEP.findall("." + place):
            value = value[name] if name else value[int(index)]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, LookupError, TypeError):
        return None  # the same key twice, say
    return f"a {type(value).__name__} of {len(value)}" if isinstance(value, list | dict) else value
