"""How are durations and instants written?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from routecanary.domain.times import format_duration, format_instant, parse_duration, parse_instant
from routecanary.errors import InputError

DURATIONS = [
    ("6h", timedelta(hours=6)),
    ("1d", timedelta(days=1)),
    ("20m", timedelta(minutes=20)),
    ("90s", timedelta(seconds=90)),
    ("0s", timedelta()),
    ("1h30m", timedelta(minutes=90)),
    ("1d2h3m4s", timedelta(days=1, hours=2, minutes=3, seconds=4)),
    ("1d4s", timedelta(days=1, seconds=4)),
    ("36500d", timedelta(days=36_500)),
]


@pytest.mark.parametrize(("text", "span"), DURATIONS, ids=[text for text, _ in DURATIONS])
def test_duration(text: str, span: timedelta) -> None:
    """Whole numbers of d, h, m, s, largest first, and what is written is read back."""
    assert parse_duration(text) == span
    assert parse_duration(format_duration(span)) == span


@pytest.mark.parametrize(
    "text",
    ["", "6", "h", "6 h", " 6h", "6h ", "6H", "-6h", "+6h", "1.5h", "30m1h", "1h1h", "1w", "5ms", "1h,30m",
     "6h\n", "36501d", "36500d1s", "9999999999s", "٦h", "1e3s", "PT6H"],
)  # fmt: skip
def test_bad_duration_is_refused(text: str) -> None:
    """Every other form is an error that says what is allowed."""
    with pytest.raises(InputError, match="allowed"):
        parse_duration(text)


INSTANTS = [
    ("2026-01-05T00:30:00Z", datetime(2026, 1, 5, 0, 30, tzinfo=UTC), "2026-01-05T00:30:00Z"),
    ("2026-01-05t00:30:00z", datetime(2026, 1, 5, 0, 30, tzinfo=UTC), "2026-01-05T00:30:00Z"),
    ("2026-01-05 00:30:00+00:00", datetime(2026, 1, 5, 0, 30, tzinfo=UTC), "2026-01-05T00:30:00Z"),
    ("2026-01-05T00:30:00+03:00", datetime(2026, 1, 4, 21, 30, tzinfo=UTC), "2026-01-04T21:30:00Z"),
    ("2026-01-05T00:30:00-00:30", datetime(2026, 1, 5, 1, 0, tzinfo=UTC), "2026-01-05T01:00:00Z"),
    ("2026-01-05T00:30:00.9Z", datetime(2026, 1, 5, 0, 30, 0, 900_000, tzinfo=UTC), "2026-01-05T00:30:00Z"),
    (
        "2026-01-05T00:30:00.123456789Z",
        datetime(2026, 1, 5, 0, 30, 0, 123_456, tzinfo=UTC),
        "2026-01-05T00:30:00Z",
    ),
    ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00Z"),
]


@pytest.mark.parametrize(("text", "at", "shown"), INSTANTS, ids=[row[0] for row in INSTANTS])
def test_instant(text: str, at: datetime, shown: str) -> None:
    """Any zone in, UTC inside; shown in whole seconds, a fraction cut off."""
    assert parse_instant(text) == at
    assert parse_instant(text).tzinfo is UTC
    assert format_instant(at) == shown


@pytest.mark.parametrize(
    "text",
    ["", "2026-01-05", "2026-01-05T00:30:00", "2026-01-05T00:30Z", "20260105T003000Z", "2026-W02-1T00:00:00Z",
     "2026-02-30T00:00:00Z", "2026-01-05T25:00:00Z", "2026-01-05T00:30:00+25:00", "2026-01-05T00:30:60Z",
     "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00",
     "2026-01-05T00:30:00Z ", "2026-01-05T00:30:00,5Z", "٢٠٢٦-01-05T00:30:00Z", "yesterday", "1767571200"],
)  # fmt: skip
def test_bad_instant_is_refused(text: str) -> None:
    """No zone, no such date, another form or out of range: an error that says what is allowed."""
    with pytest.raises(InputError, match="allowed"):
        parse_instant(text)
