"""Stated times: every form, zones and their doubts, hours that clocks skip or show twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from routecanary.clock import MachineZone, zone_named
from routecanary.complaint.moment import offset_text, read_moment, reread
from routecanary.complaint.window import window_of
from routecanary.complaint.zones import USUAL_ZONES, doubtful_zone
from routecanary.domain.names import Locale
from routecanary.domain.times import format_instant
from routecanary.errors import InputError

NOW = datetime(2026, 12, 1, 3, 0, tzinfo=UTC)
TOKYO = ZoneInfo("Asia/Tokyo")  # it is noon there
BERLIN = ZoneInfo("Europe/Berlin")


def read(text: str, zone: ZoneInfo | None = TOKYO) -> list[str]:
    moment = read_moment(text, now=NOW, zone_named=zone_named, assumed=zone)
    return [format_instant(reading) for reading in moment.readings]


def warnings(text: str, zone: ZoneInfo = TOKYO) -> str:
    return " | ".join(read_moment(text, now=NOW, zone_named=zone_named, assumed=zone).warnings)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-29T21:10:00+07:00", "2026-11-29T14:10:00Z"),
        ("2026-11-29t21:10:00.123z", "2026-11-29T21:10:00Z"),
        ("2026-11-29 21:10+07:00", "2026-11-29T14:10:00Z"),
        ("2026-11-29 21:10 +0700", "2026-11-29T14:10:00Z"),
        ("2026-11-29 21:10 +07", "2026-11-29T14:10:00Z"),
        ("2026-11-29 21:10:59-03:30", "2026-11-30T00:40:59Z"),
        ("2026-11-29 21:10 UTC", "2026-11-29T21:10:00Z"),
        ("2026-11-29 21:10 gmt", "2026-11-29T21:10:00Z"),
        ("2026-11-29 21:10 Asia/Bangkok", "2026-11-29T14:10:00Z"),
        ("2026-07-01 12:00 Europe/Berlin", "2026-07-01T10:00:00Z"),
        ("  2026-11-29   21:10Z ", "2026-11-29T21:10:00Z"),
        ("2026-11-29 21:10", "2026-11-29T12:10:00Z"),
        ("21:10", "2026-11-30T12:10:00Z"),
        ("11:59", "2026-12-01T02:59:00Z"),
        ("12:00", "2026-12-01T03:00:00Z"),
        ("12:01", "2026-11-30T03:01:00Z"),
        ("today 9:05", "2026-12-01T00:05:00Z"),
        ("yesterday 21:10 +07:00", "2026-11-30T14:10:00Z"),
        ("21:10 yesterday", "2026-11-30T12:10:00Z"),
        ("21:10 +07:00 yesterday", "2026-11-30T14:10:00Z"),
    ],
)
def test_every_form_is_read(text: str, expected: str) -> None:
    """Dates, days and bare times; offsets, names and the caller's own zone."""
    assert read(text) == [expected]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not a time"),
        ("soon", "not a time"),
        ("2026-11-29", "not a time"),
        ("2026-11-29 9pm", "not a time"),
        ("yesterday", "not a time"),
        ("yesterday 21:10 today", "not a time"),
        ("2026-11-29 21:10 yesterday", "not a time"),
        ("2026-11-29 21:10 ../etc/localtime", "not a time"),
        ("1" * 101, "not a time"),
        ("25:00", "no such time"),
        ("2026-02-29 10:00Z", "no such time"),
        ("2026-11-29 21:10:60Z", "no such time"),
        ("1969-12-31 23:59Z", "no such time"),
        ("9999-12-31 23:59Z", "no such time"),
        ("0001-01-01 00:00+07:00", "no such time"),
        ("2026-11-29 21:10 ICT", "no such zone"),
        ("2026-11-29 21:10 Asia", "no such zone"),
        ("2026-11-29 21:10 Atlantis/Capital", "no such zone"),
        ("2026-11-29 21:10+14:01", "no zone on Earth"),
        ("2026-11-29 21:10+07:60", "no zone on Earth"),
    ],
)
def test_what_is_no_time_is_refused(text: str, problem: str) -> None:
    """By what it is, with the value and what is allowed."""
    with pytest.raises(InputError, match=problem) as caught:
        read(text)
    assert caught.value.key == "at"
    assert caught.value.allowed


def test_a_zone_must_be_said_where_none_may_be_assumed() -> None:
    """As over HTTP, where the machine's zone says nothing of the user."""
    with pytest.raises(InputError, match="has no zone"):
        read("2026-11-29 21:10", zone=None)
    assert read("2026-11-29 21:10+07:00", zone=None) == ["2026-11-29T14:10:00Z"]


def test_what_was_assumed_is_said() -> None:
    """The day, the zone with its offset and the time in UTC; nothing where nothing was assumed."""
    told = warnings("21:10")
    assert "21:10 is taken as yesterday's" in told
    assert "Asia/Tokyo (+09:00), 2026-11-30T12:10:00Z" in told
    assert warnings("2026-11-29 21:10+07:00") == ""
    assert "is to come" in warnings("2026-12-01 03:00:01Z")
    assert "is to come" not in warnings("2026-12-01 03:00Z")


def test_a_time_that_clocks_show_twice_has_two_readings() -> None:
    """The end of summer time in Berlin; an hour later there is one again."""
    assert read("2026-10-25 02:30", BERLIN) == ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"]
    assert "is shown twice by the clocks of Europe/Berlin" in warnings("2026-10-25 02:30", BERLIN)
    assert read("2026-10-25 02:30 Europe/Berlin") == ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"]
    assert read("2026-10-25 03:00", BERLIN) == ["2026-10-25T02:00:00Z"]
    assert read("2026-10-25 01:59", BERLIN) == ["2026-10-24T23:59:00Z"]


def test_a_time_that_clocks_skip_has_two_readings() -> None:
    """The beginning of summer time: as if the clock had not been moved yet, and as if it had."""
    assert read("2026-03-29 02:30", BERLIN) == ["2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"]
    assert "is skipped by the clocks" in warnings("2026-03-29 02:30", BERLIN)
    assert read("2026-03-29 03:00", BERLIN) == ["2026-03-29T01:00:00Z"]


def test_the_machines_zone_knows_its_summer_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read as a named zone is."""
    import time

    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        for text in ("2026-10-25 02:30", "2026-03-29 02:30", "2026-07-01 12:00", "2026-12-24 18:00", "21:10"):
            own = read_moment(text, now=NOW, zone_named=zone_named, assumed=MachineZone())
            assert own.readings == read_moment(text, now=NOW, zone_named=zone_named, assumed=BERLIN).readings
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_same_clock_can_be_read_in_another_zone() -> None:
    """21:10 in London is 21:10 in Bangkok, seven hours earlier."""
    moment = read_moment("2026-11-29 21:10+00:00", now=NOW, zone_named=zone_named, assumed=None)
    other = reread(moment, ZoneInfo("Asia/Bangkok"))
    assert (other.wall, other.readings[0]) == (moment.wall, moment.readings[0] - timedelta(hours=7))
    assert offset_text(other.offset) == "+07:00"
    assert offset_text(timezone(timedelta(hours=-3, minutes=-30)).utcoffset(None)) == "-03:30"


@pytest.mark.parametrize(
    ("locale", "hours", "doubtful"),
    [
        ("th", 7, None),
        ("th", 8.5, None),
        ("th", 8.6, "Asia/Bangkok"),
        ("th", 0, "Asia/Bangkok"),
        ("pt-BR", -3, None),
        ("pt-BR", 1, "America/Sao_Paulo"),
        ("de", 2, None),
        ("ru", 12, None),
        ("en", 0, None),
        ("fr", -5, None),
        (None, 0, None),
    ],
)
def test_a_zone_that_hardly_fits_the_language_is_doubtful(
    locale: str | None, hours: float, doubtful: str | None
) -> None:
    """Hours away, and only where a language lives in a few neighbouring zones."""
    found = doubtful_zone(None if locale is None else Locale(locale), hours)
    assert (None if found is None else found.name) == doubtful


def test_every_usual_zone_is_one() -> None:
    """Its name is known, and its offset lies within what is said of it, summer and winter."""
    for zone in USUAL_ZONES.values():
        for month in (1, 7):
            offset = datetime(2026, month, 1, tzinfo=ZoneInfo(zone.name)).utcoffset()
            assert offset is not None
            assert zone.lowest <= offset / timedelta(hours=1) <= zone.highest, zone.name


def test_a_window_falls_off_beyond_the_stated_error() -> None:
    """As its docstring has it, on both sides and around each of two readings."""
    window = window_of([NOW], timedelta(minutes=20))
    for minutes, weight in ((0, 1), (20, 1), (30, 0.607), (40, 0.135), (50, 0.011), (51, 0)):
        for side in (-1, 1):
            at = NOW + side * timedelta(minutes=minutes)
            assert window.weight(at) == pytest.approx(weight, abs=0.0005)
    assert (window.since, window.until) == (NOW - timedelta(minutes=50), NOW + timedelta(minutes=50))
    two = window_of([NOW, NOW + timedelta(hours=1)], timedelta(minutes=10))
    assert two.weight(NOW) == two.weight(NOW + timedelta(hours=1)) == 1
    assert two.weight(NOW + timedelta(minutes=30)) == 0
