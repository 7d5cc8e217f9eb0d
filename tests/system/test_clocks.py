"""The daemon's wall clock, set ahead, set back, and asleep: what is recorded, what is told."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from routecanary.domain.operation import ClockStepped
from routecanary.domain.round import Mode, Pause
from routecanary.rounds.act import act
from tests.virtual_time import VirtualClock
from tests.watched import NAME, START, Watched, a_watch, run, some_settings, watch

HALF_A_MINUTE = timedelta(seconds=30)


def rounds(watched: Watched) -> list[str]:
    """The times at which the log dates rounds."""
    return [f"{each.at:%d %H:%M:%S}" for each in watched.world.store.read(kinds={"round_closed"})]


def test_a_machine_that_slept_catches_up_by_one_round(tmp_path: Path) -> None:
    """Asleep for five hours: one round within a minute of waking, then the ticks again."""
    clock = VirtualClock(START)
    clock.after(HALF_A_MINUTE, lambda: clock.sleep_machine(timedelta(hours=5)))
    watched = watch(tmp_path, [None, None, None], clock=clock)
    assert watched.moments == ["10:47:00", "15:47:30", "16:00:00", "16:30:00"]
    assert watched.supervisor.counts == {"finished": 3}
    assert watched.operations(ClockStepped) == []


def test_a_clock_that_stepped_back_is_told_and_waited_for(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """No probes are paid for rounds that would be rejected; the watch goes on when the time has come."""
    clock = VirtualClock(START)
    clock.after(HALF_A_MINUTE, lambda: clock.set_wall(timedelta(hours=-1)))
    watched = watch(tmp_path, [None] * 2, clock=clock)
    assert watched.moments == ["10:47:00", "11:00:00", "11:30:00"]
    assert watched.supervisor.counts == {"finished": 2, "clock": 1}
    told = (
        "clock stepped back model=acme/chat-2 no_round_before=2026-01-05T10:47:00Z now=2026-01-05T09:48:00Z"
    )
    assert told in caplog.messages
    assert watched.world.ledger.state(NAME).rounds == 2
    stepped = ClockStepped(at=START - timedelta(minutes=59), model=NAME, seconds=-3540)
    assert watched.operations(ClockStepped) == [stepped]
    assert "clock" not in watched.world.ledger.conditions().of(NAME)


@pytest.mark.parametrize(
    ("leap", "skipped"), [(timedelta(hours=1), False), (timedelta(hours=1, seconds=1), True)]
)
def test_a_leap_of_more_than_an_hour_skips_the_round(tmp_path: Path, leap: timedelta, skipped: bool) -> None:
    """At an hour it is believed; beyond, it is told, and no round is made for one period of real time."""
    clock = VirtualClock(START)
    clock.after(HALF_A_MINUTE, lambda: clock.set_wall(leap))
    watched = watch(tmp_path, [None, None], clock=clock)
    told = watched.operations(ClockStepped)
    if skipped:
        assert watched.moments[:2] == ["10:47:00", "12:18:01"]
        at = START + leap + timedelta(minutes=1)
        assert told == [ClockStepped(at=at, model=NAME, seconds=3601)]
    else:
        assert watched.moments[:2] == ["10:47:00", "11:48:00"]
        assert told == []
    assert "clock" not in watched.world.ledger.conditions().of(NAME)


def test_a_leap_that_is_set_right_again_leaves_no_date_from_the_future(tmp_path: Path) -> None:
    """A day ahead for ten minutes: nothing is dated by it, and the rounds go on."""
    clock = VirtualClock(START)
    clock.after(HALF_A_MINUTE, lambda: clock.set_wall(timedelta(days=1)))
    clock.after(timedelta(minutes=10), lambda: clock.set_wall(timedelta(days=-1)))
    watched = watch(tmp_path, [None, None, None], clock=clock)
    assert rounds(watched) == ["05 10:47:00", "05 11:18:00", "05 11:30:00"]
    assert [each.seconds for each in watched.operations(ClockStepped)] == [86_400]


def test_a_leap_during_a_round_leaves_nothing_of_it(tmp_path: Path) -> None:
    """Its answers came while the clock was right, and its date would not be."""
    clock = VirtualClock(START)
    watched = a_watch(
        some_settings(tmp_path), [None, lambda: clock.set_wall(timedelta(days=400)), None], clock=clock
    )
    clock.after(timedelta(minutes=20), lambda: clock.set_wall(timedelta(days=-400)))
    run(watched)
    assert rounds(watched) == ["05 10:47:00", "05 11:30:00"]
    assert [each.seconds for each in watched.operations(ClockStepped)] == [400 * 86_400]
    assert watched.supervisor.counts == {"finished": 2, "clock": 1}


def test_a_clock_that_steps_back_during_a_round_is_told_once(tmp_path: Path) -> None:
    """The round is rejected, and none is tried before the time has come again."""
    clock = VirtualClock(START)
    script = [None, lambda: clock.set_wall(timedelta(hours=-2)), None]
    watched = run(a_watch(some_settings(tmp_path), script, clock=clock))
    assert rounds(watched) == ["05 10:47:00", "05 10:48:00"]
    assert watched.moments == ["10:47:00", "11:00:00", "10:48:00", "11:00:00"]
    assert watched.supervisor.counts == {"finished": 2, "clock": 1}
    assert [each.seconds for each in watched.operations(ClockStepped)] == [-6420]


def test_a_small_step_back_that_delays_nothing_is_no_news(tmp_path: Path) -> None:
    """Two seconds, as a time server may set it: the next tick comes as ever."""
    clock = VirtualClock(START)
    clock.after(HALF_A_MINUTE, lambda: clock.set_wall(timedelta(seconds=-2)))
    watched = watch(tmp_path, [None, None], clock=clock)
    assert watched.moments == ["10:47:00", "11:00:00", "11:30:00"]
    assert watched.supervisor.counts == {"finished": 2}


def test_a_pause_is_not_ended_by_a_leap(tmp_path: Path) -> None:
    """What the clock does by itself waits, as rounds do, until the clock has been right for a period."""
    clock = VirtualClock(START)
    watched = a_watch(some_settings(tmp_path, initial_mode=Mode.ENFORCE), [None, None], clock=clock)
    until = START + timedelta(hours=8)
    paused: list[bool] = []

    def pause() -> None:
        act(watched.world, Pause(at=clock.now(), model=NAME, until=until, actor="ops", reason="x"))

    clock.after(timedelta(seconds=10), pause)
    clock.after(HALF_A_MINUTE, lambda: clock.set_wall(timedelta(days=1)))
    clock.after(timedelta(minutes=10), lambda: paused.append(watched.world.ledger.state(NAME).paused))
    clock.after(timedelta(minutes=11), lambda: clock.set_wall(timedelta(days=-1)))
    run(watched)
    assert paused == [True]
