"""When is a round due? Just before, at and just after a tick, and after whatever was missed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routecanary.daemon.schedule import next_due, tick_before

HALF_HOUR = timedelta(minutes=30)


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-01-05T{text}+00:00")


@pytest.mark.parametrize(
    ("now", "tick"),
    [
        ("10:29:59.999999", "10:00:00"),
        ("10:30:00", "10:30:00"),
        ("10:30:00.000001", "10:30:00"),
        ("00:00:00", "00:00:00"),
    ],
)
def test_ticks_lie_on_the_wall_clock(now: str, tick: str) -> None:
    """A tick belongs to the time from it on."""
    assert tick_before(at(now), HALF_HOUR) == at(tick)


@pytest.mark.parametrize(
    ("last", "now", "due"),
    [
        # nothing was missed: the next tick
        ("10:30:00", "10:30:00", "11:00:00"),
        ("10:30:01", "10:47:00", "11:00:00"),
        ("10:31:00", "10:59:59.999999", "11:00:00"),
        # a tick has passed since: due since then
        ("10:30:00", "11:00:00", "11:00:00"),
        ("10:29:59.999999", "10:30:00", "10:30:00"),
        ("10:29:59", "10:47:00", "10:30:00"),
        # many ticks have passed: one round, not many
        ("01:15:00", "10:47:00", "10:30:00"),
        # no round yet
        (None, "10:47:00", "10:30:00"),
        (None, "10:30:00", "10:30:00"),
        # the clock stepped back behind the last round: never at once, before it has come again
        ("10:31:00", "09:10:00", "09:30:00"),
        ("10:31:00", "09:30:00", "10:00:00"),
        ("10:31:00", "10:30:59", "11:00:00"),
    ],
)
def test_a_round_is_due(last: str | None, now: str, due: str) -> None:
    """From the newest tick that the last round did not see, else from the next tick on."""
    assert next_due(None if last is None else at(last), at(now), HALF_HOUR) == at(due)


moments = st.builds(
    lambda seconds: datetime(2026, 1, 5, tzinfo=UTC) + timedelta(seconds=seconds), st.floats(-1e8, 1e8)
)


@given(
    last=moments,
    now=moments,
    period=st.timedeltas(timedelta(seconds=1), timedelta(days=7)),
)
def test_one_round_catches_up_and_the_next_is_at_most_a_period_away(
    last: datetime, now: datetime, period: timedelta
) -> None:
    """Whatever the two times are: a round made now is followed by a wait, never by another at once."""
    due = next_due(last, now, period)
    assert now - period < due <= now + period
    assert due <= now or last >= tick_before(now, period)
    following = next_due(now, now, period)
    assert now < following <= now + period
