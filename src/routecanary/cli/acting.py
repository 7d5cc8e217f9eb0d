"""What have all acts in common? Somebody does them, for a reason, and perhaps for a time."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from routecanary.domain.names import RouteId, parse_route
from routecanary.domain.times import (
    DURATION_FORM,
    INSTANT_FORM,
    format_instant,
    parse_duration,
    parse_instant,
)
from routecanary.errors import InputError
from routecanary.routing.reading import is_target

MAX_REASON: Final = 2_000  # characters


def actor_of(given: str | None) -> str:
    """Name who acts: as given, else the login name."""
    if given is not None:
        return _said(given, "--actor")
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return f"uid {os.getuid()}"


def reason_of(given: str) -> str:
    """Read a reason.

    Raises:
        InputError: It says nothing, or more than 2,000 characters.
    """
    return _said(given, "--reason")


def length_of(given: str, key: str) -> timedelta:
    """Read a length of time above zero.

    Raises:
        InputError: It is none.
    """
    try:
        length = parse_duration(given)
    except InputError as error:
        raise InputError(error.problem, key=key, value=error.value, allowed=error.allowed) from None
    if not length:
        raise InputError("no time at all", key=key, value=given, allowed=DURATION_FORM)
    return length


def time_of(given: str, key: str, *, now: datetime) -> datetime:
    """Read a time in the past: as such, or as a length of time back from now.

    Raises:
        InputError: It is neither, or it is to come.
    """
    try:
        at = parse_instant(given)
    except InputError:
        try:
            at = now - parse_duration(given)
        except InputError as error:
            raise InputError(
                "neither a time nor a duration",
                key=key,
                value=error.value,
                allowed=f"{INSTANT_FORM}, or {DURATION_FORM}",
            ) from None
    if at > now:
        raise InputError("is to come", key=key, value=given, allowed=f"up to {format_instant(now)}")
    return at


def target_of(given: str) -> RouteId:
    """Read what an exclusion names: a route's tag or a provider's slug.

    Raises:
        InputError: No snapshot could hold it.
    """
    target = parse_route(given)
    if not is_target(target):
        raise InputError(
            "not a route tag", key="TARGET", value=given, allowed="printable characters, no white space"
        )
    return target


def listed(names: Iterable[str]) -> str:
    """Write names in a row, sorted; `none` where there is none."""
    return ", ".join(sorted(names)) or "none"


def _said(given: str, key: str) -> str:
    text = given.strip()
    if not text or len(text) > MAX_REASON:
        shown = text if len(text) <= MAX_REASON else f"{len(text)} characters"
        raise InputError(
            "says nothing" if not text else "too long",
            key=key,
            value=shown,
            allowed=f"1 to {MAX_REASON} characters",
        )
    return text
