"""How are durations and instants written?

A duration is `1d`, `6h`, `20m`, `90s` or several of them joined, largest unit first, each at most once:
`1h30m`, `1d12h`. Whole numbers only, no sign, no space. An instant is RFC 3339 with a zone:
`2026-01-05T00:30:00Z`, `2026-01-05T03:30:00.5+03:00`.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from routecanary.errors import InputError

DURATION_FORM: Final = 'a duration such as "6h", "1d", "20m", "90s" or "1h30m"'
INSTANT_FORM: Final = 'an RFC 3339 time with a zone, such as "2026-01-05T00:30:00Z"'
LONGEST_DURATION: Final = timedelta(days=36_500)

_DURATION = re.compile(r"(?:([0-9]{1,9})d)?(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9})s)?")
_INSTANT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}:[0-9]{2})"
    r"(?:\.([0-9]{1,9}))?(?:([Zz])|([+-][0-9]{2}:[0-9]{2}))"
)
_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


def parse_duration(text: str) -> timedelta:
    """Read a duration.

    Raises:
        InputError: It has another form, or is longer than 36,500 days.
    Example: `1h30m` is 90 minutes; `90m` is the same; `30m1h`, `1.5h`, `-1h` and an empty text are refused.
    """
    found = _DURATION.fullmatch(text)
    if not text or found is None:
        raise InputError("not a duration", value=text, allowed=DURATION_FORM)
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    span = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    if span > LONGEST_DURATION:
        raise InputError("duration too long", value=text, allowed="at most 36500d")
    return span


def format_duration(span: timedelta) -> str:
    """Write a duration of whole seconds so that `parse_duration` reads it back.

    Example: 90 minutes give `1h30m`, nothing gives `0s`.
    """
    rest = span // timedelta(seconds=1)
    text = ""
    for unit, size in _UNITS:
        count, rest = divmod(rest, size)
        if count:
            text += f"{count}{unit}"
    return text or "0s"


def parse_instant(text: str) -> datetime:
    """Read an instant as an aware UTC datetime; digits beyond microseconds are dropped.

    Raises:
        InputError: It has another form, no zone, or there is no such time in UTC.
    """
    found = _INSTANT.fullmatch(text)
    if found is None:
        raise InputError("not a time with a zone", value=text, allowed=INSTANT_FORM)
    date, clock, fraction, _, offset = found.groups()
    try:
        at = datetime.fromisoformat(f"{date}T{clock}.{(fraction or '')[:6]:0<6}{offset or '+00:00'}")
        return at.astimezone(UTC)
    except (ValueError, OverflowError) as problem:
        raise InputError("no such time", value=text, allowed=INSTANT_FORM) from problem


def format_instant(at: datetime) -> str:
    """Write an instant in UTC with `Z`, in whole seconds; a fraction is cut off."""
    return at.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"
