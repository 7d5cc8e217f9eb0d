"""The daemon: rounds on the clock, whatever happens in one of them, until it is told to stop."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from routecanary.adapters.store.memory import MemoryStore
from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.cli.run import Teller
from routecanary.daemon.supervisor import Supervisor
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.policy import Policy
from routecanary.domain.probe import Probe
from routecanary.domain.route import Listing, Route
from routecanary.domain.settings import ModelSettings, ProbeSettings, ScheduleSettings, Settings
from routecanary.domain.transcript import Ending, EndingKind, Transcript
from routecanary.errors import GatewayError, ListingError
from routecanary.rounds.record import Ledger
from routecanary.rounds.run import RoundResult
from routecanary.rounds.world import World
from routecanary.wiring import builtin_of, catalog_of, world_of
from tests.commandline import KEY, MODEL, SPOILED, a_config, a_lab, command, environment
from tests.virtual_time import VirtualClock

NAME = ModelId(MODEL)
START = datetime(2026, 1, 5, 10, 47, tzinfo=UTC)
PERIOD = timedelta(minutes=30)


# In this process, with a clock of our own: a day passes at once


class Host:
    """A gateway of scripted listings; no route ever answers. At the script's end it stops the watch."""

    def __init__(self, clock: VirtualClock, script: list[Exception | None]) -> None:
        self._clock = clock
        self._script = script
        self.asked_at: list[datetime] = []
        self.at_end: Callable[[], None] = lambda: None

    async def listing(self, model: ModelId) -> Listing:
        self.asked_at.append(self._clock.now())
        if not self._script:
            self.at_end()
            await asyncio.Event().wait()  # until cancelled
        problem = self._script.pop(0)
        if problem is not None:
            raise problem
        routes = tuple(
            Route(tag=RouteId(tag), provider_names=frozenset({tag})) for tag in ("one", "three", "two")
        )
        return Listing(model=model, at=self._clock.now(), routes=routes)

    async def ask(self, probe: Probe) -> Transcript:
        return Transcript(
            model=probe.model,
            route=probe.route,
            kind=probe.kind,
            locale=probe.locale,
            request=probe.body,
            status=None,
            headers=(),
            chunks=(),
            ending=Ending(kind=EndingKind.CONNECT_FAILED, at_ms=1.0),
            started_at=self._clock.now(),
        )


def a_world(
    folder: Path, host: Host, clock: VirtualClock, *, jitter: timedelta = timedelta(), models: int = 1
) -> World:
    settings = Settings(
        store_path="nowhere",
        snapshot_path=str(folder / "snapshot.json"),
        schedule=ScheduleSettings(period=PERIOD, jitter=jitter),
        probes=ProbeSettings(start_spread=timedelta()),
        models=tuple(ModelSettings(model=ModelId(f"acme/chat-{2 + number}")) for number in range(models)),
    )
    return world_of(
        settings,
        store=MemoryStore(),
        gateway=host,
        clock=clock,
        catalog=catalog_of(settings),
        builtin=builtin_of(settings),
        rng=Random(1),
    )


def watch(
    folder: Path,
    script: list[Exception | None],
    *,
    clock: VirtualClock | None = None,
    on_round: Callable[[RoundResult], None] = lambda _: None,
    jitter: timedelta = timedelta(),
) -> tuple[Host, Supervisor, World]:
    """Let the daemon run until the script of listings ends."""
    clock = clock or VirtualClock(START)
    host = Host(clock, script)
    world = a_world(folder, host, clock, jitter=jitter)
    supervisor = Supervisor(world, on_round=on_round)
    host.at_end = supervisor.stop

    async def go() -> None:
        async with asyncio.timeout(30):
            await supervisor.run()

    asyncio.run(go())
    return host, supervisor, world


def moments(host: Host) -> list[str]:
    return [f"{at:%H:%M:%S}" for at in host.asked_at]


def test_the_first_round_comes_at_once_and_the_others_on_the_tick(tmp_path: Path) -> None:
    """Started at 10:47 with a period of half an hour: 10:47, 11:00, 11:30."""
    host, supervisor, _ = watch(tmp_path, [None, None])
    assert moments(host) == ["10:47:00", "11:00:00", "11:30:00"]
    assert supervisor.counts == {"finished": 2}


def test_jitter_only_ever_delays(tmp_path: Path) -> None:
    """Each round starts within the jitter after its tick."""
    host, _, _ = watch(tmp_path, [None] * 8, jitter=timedelta(minutes=2))
    late = [at - START.replace(minute=0) for at in host.asked_at[1:]]
    after_tick = [each % PERIOD for each in late]
    assert all(timedelta() <= each <= timedelta(minutes=2) for each in after_tick)
    assert len(set(after_tick)) == len(after_tick)


def test_a_round_that_fails_is_logged_and_the_next_one_comes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The gateway's trouble, a bad listing and a bug of ours: each is counted, none ends the watch."""
    with caplog.at_level(logging.INFO):
        host, supervisor, world = watch(
            tmp_path,
            [GatewayError("GET /x: trouble"), ListingError("odd"), ZeroDivisionError("a bug"), None],
        )
    assert moments(host) == ["10:47:00", "11:00:00", "11:30:00", "12:00:00", "12:30:00"]
    assert supervisor.counts == {"gateway": 1, "input": 1, "crashed": 1, "finished": 1}
    assert world.ledger.state(NAME).rounds == 1
    said = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert said == [
        f"round not recorded model={MODEL} why=gateway error=GET /x: trouble",
        f"round not recorded model={MODEL} why=input error=odd",
        f"round crashed model={MODEL} error=ZeroDivisionError",
    ]


def test_whoever_watches_the_rounds_cannot_end_them(tmp_path: Path) -> None:
    """What `on_round` raises is logged like a failure of the round; the round itself is kept."""

    def raises(_: RoundResult) -> None:
        raise ValueError("a bug")

    _, supervisor, world = watch(tmp_path, [None, None], on_round=raises)
    assert supervisor.counts == {"finished": 2, "crashed": 2}
    assert world.ledger.state(NAME).rounds == 2


def test_a_machine_that_slept_catches_up_by_one_round(tmp_path: Path) -> None:
    """Asleep for five hours: one round within a minute of waking, then the ticks again."""
    clock = VirtualClock(START)
    clock.sleep_machine(timedelta(hours=5), at=START + timedelta(seconds=30))
    host, supervisor, _ = watch(tmp_path, [None, None, None], clock=clock)
    assert moments(host) == ["10:47:00", "15:47:30", "16:00:00", "16:30:00"]
    assert supervisor.counts == {"finished": 3}


def test_a_clock_that_stepped_back_is_told_and_waited_for(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """No probes are paid for rounds that would be rejected; the watch goes on when the time has come."""
    clock = VirtualClock(START)
    clock.set_wall(timedelta(hours=-1), at=START + timedelta(seconds=30))
    host, supervisor, world = watch(tmp_path, [None] * 2, clock=clock)
    assert moments(host) == ["10:47:00", "11:00:00", "11:30:00"]
    assert supervisor.counts == {"finished": 2, "clock": 1}
    told = (
        "clock stepped back model=acme/chat-2 no_round_before=2026-01-05T10:47:00Z now=2026-01-05T09:48:00Z"
    )
    assert told in caplog.messages
    assert world.ledger.state(NAME).rounds == 2


def test_the_start_is_logged_with_mode_and_period(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One line a model says what is watched, and how often."""
    with caplog.at_level(logging.INFO):
        watch(tmp_path, [None])
    assert f"watching model={MODEL} mode=observe period=30m rounds=0 last_round=never" in caplog.messages


def test_an_outage_is_told_as_what_it_is(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Where no route could be asked, the log says so beside the event."""
    with caplog.at_level(logging.INFO):
        watch(tmp_path, [None], on_round=Teller(json=False))
    assert f"gateway_outage model={MODEL}" in caplog.messages
    assert any(line.startswith(f"round useless {MODEL}: no route could be asked") for line in caplog.messages)


def test_events_are_printed_as_long_as_somebody_reads(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that goes away ends the printing, not the watch."""
    printed: list[dict[str, object]] = []

    def once(document: dict[str, object]) -> None:
        if printed:
            raise BrokenPipeError
        printed.append(document)

    monkeypatch.setattr("routecanary.cli.run.say_json", once)
    _, supervisor, _ = watch(tmp_path, [None, None, None], on_round=Teller(json=True))
    assert supervisor.counts == {"finished": 3}
    assert len(printed) == 1
    assert sum("printed no longer" in line for line in caplog.messages) == 1


# As a process against the lab


@contextmanager
def the_daemon(folder: Path, base_url: str, *tokens: str) -> Iterator[subprocess.Popen[str]]:
    config = a_config(folder, base_url)
    config.write_text('initial_mode = "enforce"\n' + config.read_text(encoding="utf-8"), encoding="utf-8")
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(
            command("run", *tokens),
            cwd=folder,
            env=environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def until(true: Callable[[], bool]) -> None:
    """Wait for something that another process does; the suite's timeout ends a vain wait."""
    while not true():
        time.sleep(0.02)


def test_the_process_makes_rounds_until_a_signal_ends_it(tmp_path: Path) -> None:
    """It suspends the spoiling route, ends with 0, and leaves a whole chain and no key anywhere."""
    with a_lab() as lab, the_daemon(tmp_path, lab.base_url, "--json") as process:
        assert process.stdout is not None
        events = []
        while not events or events[-1].get("ignore") != [SPOILED]:
            events.append(json.loads(process.stdout.readline()))
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0
        events += [json.loads(line) for line in process.stdout]
    assert {each["event"] for each in events} >= {"suspended", "exclusions"}
    with SqliteStore(tmp_path / "events.sqlite3") as store:
        assert store.verify() is None
        state = Ledger(store, Policy()).state(NAME)
        assert state.rounds == sum(each["event"] == "exclusions" for each in events)
        assert list(state.suspensions()) == [SPOILED]
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert "INFO routecanary.run started version=" in log
    assert f"gateway={lab.base_url}" in log
    assert f"INFO routecanary.daemon watching model={MODEL} mode=enforce period=1s rounds=0" in log
    assert f"INFO routecanary.run suspended route={SPOILED} contracts=" in log
    assert "INFO routecanary.daemon stopping signal=SIGTERM" in log
    assert log.splitlines()[-1].endswith("INFO routecanary.run stopped")
    for path in tmp_path.iterdir():
        assert KEY.encode() not in path.read_bytes(), path


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_round_that_is_cut_short_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    """Stopped while its answers are coming: exit code 0, and nothing of the round is in the store."""
    with a_lab(speed=0.05) as lab, the_daemon(tmp_path, lab.base_url) as process:
        until(lambda: lab.ledger.open_streams > 0)
        process.send_signal(number)
        assert process.wait(timeout=20) == 0
    with SqliteStore(tmp_path / "events.sqlite3") as store:
        assert store.count(kinds={"routes_named", "round_closed", "listing_changed", "exclusions"}) == 0
        assert not list(store.find(NAME))
        assert store.verify() is None
