"""When is a model's next round due? Pure: wall time in, wall time out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def tick_before(at: datetime, period: timedelta) -> datetime:
    """Find the last wall-clock-aligned tick at or before a time.

    Example: with a period of 30 minutes, 10:47 gives 10:30.
    """
    return _EPOCH + (at - _EPOCH) // period * period


def next_due(last: datetime | None, now: datetime, period: timedelta) -> datetime:
    """Find the tick at which the next round is due, jitter aside.

    Args:
        last: When the model's last round was decided, or tried; None before the first.
        now: Wall time.
    Returns:
        The newest tick, which is not after `now`, when the last round is from before it: whatever was missed
        is caught up by one round, not by many. Otherwise the tick after `now`; so a last round in the future
        (a clock that stepped back) is waited for: a round from before it would be rejected, its probes paid.
    Example: with a period of 30 minutes at 10:47, a last round of 10:29 (or of yesterday) gives 10:30, one of
        10:31 gives 11:00.
    """
    tick = tick_before(now, period)
    return tick if last is None or last < tick else tick + period
