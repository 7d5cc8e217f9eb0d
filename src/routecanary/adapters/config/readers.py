"""How is one value of the configuration file read?

A reader takes what TOML decoded and returns the domain's value, or refuses it with what is allowed. Readers
are strict: no number is made of a string, no string of a number. `allowed` is the text of the error message
and of the column in docs/configuration.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from ipaddress import ip_address
from math import isfinite
from typing import Final
from urllib.parse import SplitResult, urlsplit

from pydantic import PlainValidator

from routecanary.domain.address import ADDRESS_FORM, parse_address
from routecanary.domain.secret import Secret
from routecanary.domain.times import format_duration, parse_duration
from routecanary.errors import InputError

MAX_LIST: Final = 500  # entries
MAX_STRING: Final = 4_096  # characters

_MILLISECONDS = re.compile(r"([0-9]{1,9})ms")
_CHANNEL_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_OPAQUE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")


class RefusedError(ValueError):
    """One fault of the file, on its way through the validation library, which only collects `ValueError`s.

    `key`: the option to change, where it is a combination of a table's values that is refused.
    """

    def __init__(
        self, problem: str, *, value: object = None, allowed: str | None = None, key: str | None = None
    ) -> None:
        self.problem = problem
        self.value = value
        self.allowed = allowed
        self.key = key
        super().__init__(problem)


@dataclass(frozen=True, slots=True)
class Reader:
    """One leaf of the schema: `read` raises `InputError`, `allowed` says what is taken.

    `hidden`: a refused value is not shown, because it may be a secret in the wrong place.
    """

    read: Callable[[object], object]
    allowed: str
    hidden: bool = False

    def __call__(self, value: object) -> object:
        try:
            return self.read(value)
        except InputError as error:
            shown = None if self.hidden else error.value
            raise RefusedError(error.problem, value=shown, allowed=error.allowed or self.allowed) from None


def leaf(read: Callable[[object], object], allowed: str, *, hidden: bool = False) -> PlainValidator:
    """Make the annotation that reads a value of the schema."""
    return PlainValidator(Reader(read, allowed, hidden))


def kind_of(value: object) -> str:
    """Name the TOML type of a value, with its article."""
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


def _misfit(value: object, wanted: str) -> InputError:
    return InputError(f"{kind_of(value)} where {wanted}", value=_shown(value))


def _shown(value: object) -> object:
    """Keep what is worth showing of a refused value: no table, no list, no number of a thousand digits."""
    if isinstance(value, int) and abs(value) >= 10**18:
        return None
    return value if isinstance(value, str | int | float) else None


def switch() -> PlainValidator:
    def read(value: object) -> bool:
        if not isinstance(value, bool):
            raise _misfit(value, "a boolean belongs")
        return value

    return leaf(read, "true or false")


def whole(low: int, high: int, *, even: bool = False) -> PlainValidator:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise _misfit(value, "a whole number belongs")
        if not low <= value <= high:
            raise InputError("out of range", value=_shown(value))
        if even and value % 2:
            raise InputError("an odd number: no majority could be found", value=value)
        return value

    return leaf(read, f"{'an even' if even else 'a whole'} number from {low} to {high}")


def number(low: float, high: float, *, unset: bool = False) -> PlainValidator:
    """Read a finite number; with `unset`, the word "unset" gives None."""

    def read(value: object) -> float | None:
        if unset and value == "unset":
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _misfit(value, "a number belongs")
        if not isfinite(value) or not low <= value <= high:
            raise InputError("out of range", value=_shown(value))
        return float(value)

    return leaf(read, f"a number from {low:g} to {high:g}" + (', or "unset"' if unset else ""))


def money(high: int) -> PlainValidator:
    return leaf(_decimal(high), f"a number of USD from 0 to {high}")


def share() -> PlainValidator:
    return leaf(_decimal(1), "a number from 0 to 1")


def _decimal(high: int) -> Callable[[object], Decimal]:
    def read(value: object) -> Decimal:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _misfit(value, "a number belongs")
        if not isfinite(value) or not 0 <= value <= high:
            raise InputError("out of range", value=_shown(value))
        return Decimal(repr(value))  # what was written, not its nearest binary fraction

    return read


def duration(low: timedelta, high: timedelta) -> PlainValidator:
    def read(value: object) -> timedelta:
        span = read_duration(value)
        if not low <= span <= high:
            raise InputError("out of range", value=value)
        return span

    return leaf(read, f'a duration such as "1h30m", from "{format_span(low)}" to "{format_span(high)}"')


def read_duration(value: object) -> timedelta:
    """Read a duration of the configuration file: as in the policy, and milliseconds as well (`250ms`)."""
    if not isinstance(value, str):
        raise _misfit(value, "a duration belongs")
    milliseconds = _MILLISECONDS.fullmatch(value)
    if milliseconds is not None:
        return timedelta(milliseconds=int(milliseconds[1]))
    try:
        return parse_duration(value)
    except InputError as error:
        raise InputError(error.problem, value=error.value) from None


def format_span(span: timedelta) -> str:
    """Write a duration as the file does; one with a fraction of a second in milliseconds."""
    if span % timedelta(seconds=1):
        return f"{span // timedelta(milliseconds=1)}ms"
    return format_duration(span)


def duration_pair(low: timedelta, high: timedelta) -> PlainValidator:
    def read(value: object) -> tuple[timedelta, timedelta]:
        if not isinstance(value, list) or len(value) != 2:
            raise _misfit(value, "a list of two durations belongs")
        first, last = (read_duration(each) for each in value)
        if not low <= first <= last <= high:
            raise InputError("out of range or out of order", value=f"{value[0]}, {value[1]}")
        return first, last

    return leaf(read, f'two durations, the shorter first, from "{format_span(low)}" to "{format_span(high)}"')


def word(*choices: str) -> PlainValidator:
    def read(value: object) -> str:
        if not isinstance(value, str):
            raise _misfit(value, "a string belongs")
        if value not in choices:
            raise InputError("not one of the words", value=value)
        return value

    return leaf(read, " or ".join(f'"{choice}"' for choice in choices))


def text(parse: Callable[[str], str], allowed: str) -> PlainValidator:
    """Read a string that `parse` understands."""
    return leaf(lambda value: parse(_string(value)), allowed)


def texts(
    parse: Callable[[str], str],
    allowed: str,
    make: Callable[[list[str]], object] = tuple,
    *,
    at_least_one: bool = False,
) -> PlainValidator:
    """Read a list of strings that `parse` understands; after parsing, no two may be equal."""

    def read(value: object) -> object:
        if not isinstance(value, list):
            raise _misfit(value, "a list of strings belongs")
        if len(value) > MAX_LIST:
            raise InputError("too many entries", value=len(value), allowed=f"at most {MAX_LIST}")
        if at_least_one and not value:
            raise InputError("an empty list")
        found: list[str] = []
        for each in value:
            parsed = parse(_string(each))
            if parsed in found:
                raise InputError("named twice", value=each)
            found.append(parsed)
        return make(found)

    return leaf(read, f"a list of {allowed}")


def one_of(choices: frozenset[str]) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if value not in choices:
            raise InputError("unknown word", value=value, allowed=", ".join(sorted(choices)))
        return value

    return parse


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise _misfit(value, "a string belongs")
    if not value or len(value) > MAX_STRING:
        raise InputError("empty or too long", value=value, allowed=f"1 to {MAX_STRING} characters")
    return value


def path() -> PlainValidator:
    def parse(value: str) -> str:
        if not value.isprintable():
            raise InputError("a character that no path should have", value=value)
        if value.startswith("~") and not value.startswith("~/"):
            raise InputError("another user's home directory is not looked up", value=value)
        return value

    return text(parse, 'a path: absolute, from "~/", or relative to this file')


def listening() -> PlainValidator:
    return leaf(lambda value: parse_address(_string(value)), ADDRESS_FORM)


def environment_name() -> PlainValidator:
    def read(value: object) -> str:
        name = _string(value)
        if not _ENV_NAME.fullmatch(name):
            raise InputError("not the name of an environment variable (the key itself does not belong here)")
        return name

    return leaf(read, "letters, digits and _", hidden=True)


def base_url() -> PlainValidator:
    """Read the gateway's address; never shown when refused, since it might hold credentials."""

    def read(value: object) -> str:
        address = _string(value)
        parts = _address(address)
        if parts.username or parts.password or parts.query or parts.fragment:
            raise InputError("an address with credentials, a query or a fragment")
        if _is_in_the_clear(parts):
            raise InputError("the key would travel in the clear")
        return address.rstrip("/")

    return leaf(read, "https://host[:port][/path], or http:// for the own machine", hidden=True)


def secret_address() -> PlainValidator:
    """Read an address whose path or query may be what keeps strangers out; never shown."""

    def read(value: object) -> Secret:
        address = _string(value)
        parts = _address(address)
        if parts.username or parts.password or parts.fragment:
            raise InputError("an address with credentials or a fragment")
        if _is_in_the_clear(parts):
            raise InputError("what is sent would travel in the clear")
        return Secret(address)

    return leaf(read, "https://host[:port][/path][?query], or http:// for the own machine", hidden=True)


def _address(address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise InputError("not an address") from None
    if not usable or not address.isascii() or not address.isprintable() or " " in address:
        raise InputError("not an address")
    if parts.scheme not in ("http", "https"):
        raise InputError("neither an http nor an https address")
    return parts


def _is_in_the_clear(parts: SplitResult) -> bool:
    return parts.scheme == "http" and not _is_loopback(parts.hostname or "")


def command() -> PlainValidator:
    """Read a command and its arguments; never shown when refused, since an argument may be a secret."""

    def read(value: object) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise _misfit(value, "a list of strings belongs")
        if len(value) > MAX_LIST:
            raise InputError("too many entries")
        words = tuple(_string(each) for each in value)
        if any("\0" in word for word in words):
            raise InputError("a character that no argument can have")
        if words and "/" in words[0] and not words[0].startswith("/"):
            raise InputError("a relative path: the daemon may run anywhere")
        return words

    return leaf(read, "a program (an absolute path, or a name found in PATH) and its arguments", hidden=True)


def opaque_id(value: str) -> str:
    """Take an id that the gateway made, which goes into an address."""
    if not _OPAQUE_ID.fullmatch(value):
        raise InputError("not an id", value=value)
    return value


def channel_name(value: str) -> str:
    """Read the name of a webhook.

    Raises:
        InputError: It has another form.
    """
    if not _CHANNEL_NAME.fullmatch(value):
        raise InputError("not a name", value=value)
    return value


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
