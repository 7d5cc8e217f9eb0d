"""A day in the life of an installation, in virtual time: the client's answer is right at every step.

The daemon is the real supervisor over a store and a snapshot in files; whoever acts opens the store anew, as
a command does; the application is the real client. Only the gateway has no sockets, and time passes at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.client import Canary
from routecanary.domain.event import RoundClosed, event_from_json
from routecanary.domain.names import RouteId
from routecanary.domain.round import Lift, Mode, Pause, RoundClass, SwitchMode
from routecanary.domain.settings import BudgetSettings, NotifySettings, ScheduleSettings, Settings
from routecanary.rounds.act import act
from routecanary.rounds.records import Records
from routecanary.wiring import ON_EVENT, Configuration, offline_records
from tests.commandline import MODEL, SPOILED, a_scenario
from tests.desk import DeskGateway, Hearer
from tests.virtual_time import OnTheSpot, VirtualClock
from tests.watched import NAME, Watched, a_configuration, a_watch, some_settings

MIDNIGHT = datetime(2026, 1, 5, tzinfo=UTC)
CALLERS = {"order": ["acme"], "ignore": ["Somebody"]}
"""What the application itself asks for."""


@dataclass
class Day:
    """The installation, and what was seen of it at each step."""

    settings: Settings
    clock: VirtualClock
    hearer: Hearer
    gateway: DeskGateway
    canary: Canary
    watched: Watched | None = None
    running: asyncio.Task[None] | None = None
    seen: list[str] = field(default_factory=list)

    def do(self, deed: Callable[[Records], object]) -> None:
        """Act as a command does."""
        with offline_records(self.settings, self.clock, to_act=True) as records:
            deed(records)

    def look(self, step: str) -> None:
        """Ask as the application does, and note what it gets."""
        self.canary.refresh()
        preferences = self.canary.provider_preferences(MODEL, CALLERS)
        assert preferences.pop("order") == ["acme"]
        assert preferences["ignore"][0] == "Somebody", "the caller's own come first"
        merged = ", ".join(preferences["ignore"][1:]) or "nothing"
        self.seen.append(f"{self.clock.now():%H:%M} {step}: {merged}")

    def begin(self) -> None:
        """Start the daemon."""
        store = SqliteStore(Path(self.settings.store_path))
        self.watched = a_watch(
            self.settings,
            [],
            clock=self.clock,
            store=store,
            channels=[self.hearer],
            read=self._read,
        )
        self.watched.world.gateway = self.gateway
        self.running = asyncio.create_task(self.watched.supervisor.run())
        self.running.add_done_callback(lambda _: store.close())

    def kill(self) -> None:
        """Let the daemon be gone, without a word."""
        assert self.watched is not None
        assert self.running is not None
        self.running.cancel()

    def _read(self) -> Configuration:
        assert self.watched is not None
        configuration = a_configuration(self.settings, self.watched.host, channels=(self.hearer,))
        return replace(configuration, gateway=Entered(self.gateway))


class Entered:
    """The same gateway, entered again."""

    def __init__(self, gateway: DeskGateway) -> None:
        self._gateway = gateway

    async def __aenter__(self) -> DeskGateway:
        return self._gateway

    async def __aexit__(self, *_: object) -> None: ...

    def __getattr__(self, name: str) -> Any:
        return getattr(self._gateway, name)


def a_day(folder: Path) -> Day:
    clock = VirtualClock(MIDNIGHT)
    settings = some_settings(
        folder,
        store_path=str(folder / "events.sqlite3"),
        schedule=ScheduleSettings(period=timedelta(minutes=30), jitter=timedelta()),
        notify=NotifySettings(on_event=("tell",)),
    )
    return Day(
        settings=settings,
        clock=clock,
        hearer=Hearer(ON_EVENT),
        gateway=DeskGateway(a_scenario(), clock),
        canary=Canary(folder / "snapshot.json", clock=lambda: clock.now().timestamp(), thread=False),
    )


def test_a_day(tmp_path: Path) -> None:
    """Shadow, enforce, suspension, a lift during a round, a pause, no money, a wrong clock, a dead daemon."""
    day = a_day(tmp_path)

    def at(time: str, deed: Callable[[], object]) -> None:
        hours, minutes = map(int, time.split(":"))
        day.clock.after(timedelta(hours=hours, minutes=minutes), lambda: (deed(), None)[1])

    def enforce() -> None:
        switch = SwitchMode(at=day.clock.now(), model=NAME, mode=Mode.ENFORCE, actor="ops", reason="proven")
        day.do(lambda records: act(records, switch))

    def lift() -> None:
        lifted = Lift(
            at=day.clock.now(),
            model=NAME,
            route=RouteId(SPOILED),
            false_positive=True,
            actor="ops",
            reason="bad prompt",
        )
        day.do(lambda records: act(records, lifted))
        day.look("lifted while a round runs")

    def pause() -> None:
        paused = Pause(
            at=day.clock.now(), model=NAME, until=MIDNIGHT + timedelta(hours=5), actor="ops", reason="calm"
        )
        day.do(lambda records: act(records, paused))

    def run_out_of_money() -> None:
        with offline_records(day.settings, day.clock) as records:
            spent = records.ledger.operating().committed(MIDNIGHT.date())
        budget = BudgetSettings(per_day_usd=spent + Decimal("0.0001"))
        day.settings = replace(day.settings, budget=budget)
        assert day.watched is not None
        day.watched.supervisor.reload()

    at("0:00", day.begin)
    at("0:45", lambda: day.look("two rounds failed, observed only"))
    at("1:10", enforce)
    at("1:11", lambda: day.look("enforced, nothing failed since"))
    at("1:40", lambda: day.look("failed again"))
    at("1:50", lambda: setattr(day.gateway, "deed", lift))  # at the first question of the round at 2:00
    at("2:10", lambda: day.look("the round that ran has ended"))
    at("2:40", lambda: day.look("failed once since"))
    at("3:10", lambda: day.look("failed twice since"))
    at("3:20", pause)
    at("3:21", lambda: day.look("paused"))
    at("4:40", lambda: day.look("rounds go on"))
    at("5:01", lambda: day.look("the pause is over"))
    at("6:10", run_out_of_money)
    at("6:40", lambda: day.look("the budget is reached"))
    at("8:10", lambda: day.clock.set_wall(timedelta(hours=-3)))
    at("8:11", lambda: day.look("the clock stepped back by three hours"))
    at("11:10", lambda: day.look("the time has come again"))
    at("12:10", lambda: day.look("rounds are made again"))
    at("12:20", day.kill)
    at("18:00", lambda: day.look("the daemon has been dead for a while"))
    at("18:10", lambda: day.look("and for longer than is believed"))
    at("18:20", day.begin)
    at("18:40", lambda: day.look("it is there again"))

    async def live() -> None:
        asyncio.get_running_loop().set_default_executor(OnTheSpot())
        async with asyncio.timeout(240):
            await day.clock.sleep(19 * 3600)
        day.kill()
        assert day.running is not None
        with suppress(asyncio.CancelledError):
            await day.running

    asyncio.run(live())
    assert day.seen == [
        "00:45 two rounds failed, observed only: nothing",
        "01:11 enforced, nothing failed since: nothing",
        f"01:40 failed again: {SPOILED}",
        "02:00 lifted while a round runs: nothing",
        "02:10 the round that ran has ended: nothing",
        "02:40 failed once since: nothing",
        f"03:10 failed twice since: {SPOILED}",
        "03:21 paused: nothing",
        "04:40 rounds go on: nothing",
        f"05:01 the pause is over: {SPOILED}",
        f"06:40 the budget is reached: {SPOILED}",
        "05:11 the clock stepped back by three hours: nothing",
        f"08:10 the time has come again: {SPOILED}",
        f"09:10 rounds are made again: {SPOILED}",
        f"15:00 the daemon has been dead for a while: {SPOILED}",
        "15:10 and for longer than is believed: nothing",
        f"15:40 it is there again: {SPOILED}",
    ]
    told = [
        f"{'shadow ' * notice['shadow']}{notice['kind']} {notice['phase']}"
        for message in day.hearer.heard
        for notice in message["notices"]
    ]
    assert told == [
        "shadow suspended opened",
        "shadow closed_by_mode closed",
        "suspended opened",
        "lifted closed",
        "suspended opened",
        "canary_layer_paused opened",
        "canary_layer_resumed closed",
        "budget_reached opened",
        "clock_stepped opened",
        "round_overdue opened",  # none for as long as the clock is behind
        "round_returned closed",
        "clock_steady closed",
        *["route_stale opened"] * 5,  # nobody could be asked since the budget was reached
    ]
    with SqliteStore(tmp_path / "events.sqlite3") as store:
        assert store.verify() is None
        rounds = [event_from_json(stored.body) for stored in store.read(kinds={"round_closed"})]
    (lifted_in,) = (each for each in rounds if f"{each.at:%H:%M}" == "02:00")
    assert isinstance(lifted_in, RoundClosed)
    assert lifted_in.outcomes[RouteId(SPOILED)].round_class is RoundClass.FROZEN
