"""How late our own loop was, within a span."""

from __future__ import annotations

import asyncio
import time

import pytest

from routecanary.adapters.gateway.lag import KEPT, LagMeter, Ticks
from routecanary.clock import SystemClock


def ticks(*came: float, step: float = 1.0) -> Ticks:
    """Ticks of a loop: each is due one step after the one before it came; the first is due at 1."""
    made = Ticks()
    made.due = step
    for at in came:
        made.add(at)
        made.due = at + step
    return made


@pytest.mark.parametrize(
    ("start", "end", "worst"),
    [
        (0.0, 1.5, 0.0),  # before the block
        (0.0, 2.0, 0.0),  # the tick is due just now
        (0.0, 3.5, 1.5),  # ends within the block: only what had passed by then
        (0.0, 5.0, 3.0),  # ends with the late tick
        (0.0, 7.0, 3.0),  # holds all of the block
        (4.0, 7.0, 3.0),  # begins within the block
        (5.5, 7.0, 0.0),  # after the block
        (5.5, 8.0, 0.0),
        (5.5, 9.5, 1.5),  # a tick that has not come yet is late already
    ],
)
def test_the_worst_lag_is_that_of_the_span(start: float, end: float, worst: float) -> None:
    """Ticks came at 1, 5, 6 and 7: the loop was blocked from 2 to 5, and is since 8."""
    assert ticks(1.0, 5.0, 6.0, 7.0).worst(start, end) == worst


def test_a_tick_that_comes_early_is_no_lag() -> None:
    """Timers may fire a little before their time."""
    assert ticks(0.9).worst(0.0, 1.0) == 0.0


def test_ticks_do_not_grow_without_bound() -> None:
    """The newest stay."""
    made = ticks(*(float(second) for second in range(1, 3 * KEPT)), 3 * KEPT + 9.0)
    assert len(made._came) <= KEPT
    assert made.worst(3 * KEPT - 2.0, 3 * KEPT + 9.0) == 9.0


def test_a_blocked_loop_is_seen_before_its_late_tick_comes() -> None:
    """The first thing that happens after a block may be the answer that is to be dated."""

    async def block() -> float:
        clock = SystemClock()
        with LagMeter(clock) as meter:
            start = clock.monotonic()
            time.sleep(0.2)  # noqa: ASYNC251 - this is the fault
            return meter.worst(start, clock.monotonic())

    assert asyncio.run(block()) >= 0.1


def test_the_meter_rests_while_nobody_watches() -> None:
    """An idle daemon is not woken twenty times a second."""

    async def idle() -> list[float]:
        meter = LagMeter(SystemClock())
        with meter, meter:
            pass
        await asyncio.sleep(0.12)
        return meter._ticks._came

    assert asyncio.run(idle()) == []
