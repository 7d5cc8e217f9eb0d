"""When did it happen, in UTC, given what a person wrote?

`2026-11-29T21:10:00+07:00`, `2026-11-29 21:10+07:00`, `2026-11-29 21:10 Asia/Bangkok`, `21:10`,
`yesterday 21:10 +07:00`. Where no zone is written the caller's is assumed, and that is said. A local time
that the clocks skip, or show twice, has two readings.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, timezone, tzinfo
from typing import Final

from routecanary.domain.times import format_instant
from routecanary.errors import InputError

TIME_FORM: Final = (
    'a time such as "2026-11-29 21:10+07:00", "2026-11-29 21:10 Asia/Bangkok", "21:10" or "yesterday 21:10"'
)

ZONED_FORM: Final = 'a time with a zone, such as "2026-11-29 21:10+07:00" or "2026-11-29 21:10 Asia/Bangkok"'

ZoneNamed = Callable[[str], tzinfo | None]
"""The name of a zone → its clock; None where there is no such zone."""

_STATED = re.compile(
    r"(?:(?P<day>today|yesterday)\s+|(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})(?:[Tt]|\s+))?"
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:\.[0-9]{1,9})?)?"
    r"(?:\s*(?!today|yesterday)(?P<zone>[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?|[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*))?"
    r"(?:\s+(?P<after>today|yesterday))?"
)
_MOST_OFFSET: Final = timedelta(hours=14)  # of any zone on Earth
_LONGEST: Final = 100  # characters of a stated time
_DAY: Final = timedelta(days=1)
_YEARS: Final = range(1970, 9999)  # in which a day more or less is still a date


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A stated time as it was understood."""

    readings: tuple[datetime, ...]  # UTC, earliest first; two where the local time is skipped or shown twice
    wall: datetime  # what the clock on the wall showed, without a zone
    offset: timedelta  # ahead of UTC, of the first reading
    warnings: tuple[str, ...] = ()


def read_moment(text: str, *, now: datetime, zone_named: ZoneNamed, assumed: tzinfo | None) -> Moment:
    """Read a stated time.

    Args:
        now: Aware.
        assumed: The zone where none is written; None = one must be.
    Raises:
        InputError: It has no such form, there is no such time or zone, or a zone must be written and is not.
    """
    found = _STATED.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if found is None or (found["after"] and (found["date"] or found["day"])):
        raise _refused("not a time", text)
    warnings: list[str] = []
    named = found["zone"]
    zone = _zone(named, text, zone_named) if named is not None else assumed
    if zone is None:
        raise InputError("has no zone", key="at", value=text, allowed=ZONED_FORM)
    wall = _wall(found, text, now.astimezone(zone).replace(tzinfo=None), warnings)
    readings = _readings(wall, zone, text)
    if len(readings) > 1:
        warnings.append(_doubled(wall, zone, readings))
    if named is None:
        meant = " or ".join(format_instant(reading) for reading in readings)
        warnings.append(f"no zone was given: {wall:%Y-%m-%d %H:%M} is taken as {_label(wall, zone)}, {meant}")
    if readings[0] > now:
        warnings.append(f"{format_instant(readings[0])} is to come: now it is {format_instant(now)}")
    return Moment(
        readings=readings,
        wall=wall,
        offset=wall.replace(tzinfo=UTC) - readings[0],
        warnings=tuple(warnings),
    )


def reread(moment: Moment, zone: tzinfo) -> Moment:
    """Read the same clock on the wall in another zone."""
    readings = _readings(moment.wall, zone, str(moment.wall))
    return Moment(readings=readings, wall=moment.wall, offset=moment.wall.replace(tzinfo=UTC) - readings[0])


def offset_text(offset: timedelta) -> str:
    """Write an offset as `+07:00`."""
    minutes = round(offset / timedelta(minutes=1))
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"


def _wall(found: re.Match[str], text: str, now: datetime, warnings: list[str]) -> datetime:
    """Put the time onto its day, by the clock of its zone; a bare time is the last such one."""
    try:
        clock = time(int(found["hour"]), int(found["minute"]), int(found["second"] or 0))
        if found["date"]:
            return datetime.combine(datetime.strptime(found["date"], "%Y-%m-%d").date(), clock)  # noqa: DTZ007
        wall = datetime.combine(now.date(), clock)
        day = found["day"] or found["after"]
        if day == "yesterday" or (day is None and wall > now):
            wall -= _DAY
        if day is None:
            which = "today" if wall.date() == now.date() else "yesterday"
            warnings.append(f"no day was given: {found['hour']}:{found['minute']} is taken as {which}'s")
        return wall
    except (ValueError, OverflowError) as problem:
        raise _refused("no such time", text) from problem


def _zone(named: str, text: str, zone_named: ZoneNamed) -> tzinfo:
    if named in ("Z", "z") or named.upper() in ("UTC", "GMT"):
        return UTC
    if named[0] in "+-":
        digits = named[1:].replace(":", "")
        offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
        if offset > _MOST_OFFSET or int(digits[2:] or 0) > 59:
            raise _refused("no zone on Earth is so far from UTC", text)
        return timezone(-offset if named[0] == "-" else offset)
    zone = zone_named(named)
    if zone is None:
        raise InputError(
            "no such zone",
            key="at",
            value=named,
            allowed="an offset such as +07:00, or a name such as Asia/Bangkok",
        )
    return zone


def _readings(wall: datetime, zone: tzinfo, text: str) -> tuple[datetime, ...]:
    """Convert to UTC; a time that the zone's clocks skip or show twice gives two."""
    found = set()
    try:
        for fold in (0, 1):
            offset = wall.replace(tzinfo=zone, fold=fold).utcoffset()
            found.add(wall.replace(tzinfo=UTC) - (offset or timedelta()))
    except (ValueError, OverflowError) as problem:
        raise _refused("no such time", text) from problem
    if any(reading.year not in _YEARS for reading in found):
        raise _refused("no such time", text)
    return tuple(sorted(found))


def _doubled(wall: datetime, zone: tzinfo, readings: tuple[datetime, ...]) -> str:
    first, second = (wall.replace(tzinfo=zone, fold=fold).utcoffset() or timedelta() for fold in (0, 1))
    what = "is shown twice by" if first > second else "is skipped by"
    both = " and ".join(format_instant(reading) for reading in readings)
    return f"{wall:%Y-%m-%d %H:%M} {what} the clocks of {_label(wall, zone)}: {both} are both considered"


def _label(wall: datetime, zone: tzinfo) -> str:
    name = getattr(zone, "key", None) or zone.tzname(wall) or ""
    offset = offset_text(wall.replace(tzinfo=zone).utcoffset() or timedelta())
    return f"{name} ({offset})" if name and name != f"UTC{offset}" else offset


def _refused(problem: str, text: str) -> InputError:
    return InputError(problem, key="at", value=text, allowed=TIME_FORM)
