"""The daemon in virtual time over the lab, in enforce, with another process beside it that does things."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from routecanary.adapters.store.memory import MemoryStore
from routecanary.domain.names import Locale, RouteId
from routecanary.domain.round import Mode
from routecanary.domain.settings import ScheduleSettings, Settings
from routecanary.rounds.ports import Store
from routecanary.rounds.record import Ledger
from routecanary.rounds.records import Records
from tests.commandline import a_scenario
from tests.desk import DeskGateway
from tests.records import KeptSnapshot
from tests.virtual_time import VirtualClock
from tests.watched import PERIOD, START, Watched, a_watch, run, some_settings

SPANISH, THAI = Locale("es"), Locale("th")
LOCALES = (Locale("en"), SPANISH, THAI)
TARGET = RouteId("plover")
BEGIN = START.replace(hour=11, minute=0)


@dataclass
class Round:
    at: datetime
    locale: str
    asked: frozenset[str]

    @property
    def minute(self) -> str:
        """Of its decision, to five minutes: a round takes one or two."""
        return f"{self.at:%H}:{self.at.minute // 5 * 5:02}"


def rounds_of(store: Store) -> list[Round]:
    return [_round(stored.at, stored.body) for stored in store.read(kinds={"round_closed"})]


def _round(at: datetime, body: Mapping[str, Any]) -> Round:
    asked = {
        name for name, outcome in body["outcomes"].items() if set(outcome["verdicts"].values()) != {"skipped"}
    }
    return Round(at, body["locale"], frozenset(asked))


def settings_of(folder: Path, **changes: Any) -> Settings:
    schedule = ScheduleSettings(period=PERIOD, jitter=timedelta())
    settings = some_settings(folder, schedule=schedule, initial_mode=Mode.ENFORCE, **changes)
    return replace(settings, probes=replace(settings.probes, locales=LOCALES))


def another_process(watched: Watched) -> Records:
    """Records over the daemon's store with a ledger of their own, as a command has them."""
    world = watched.world
    return Records(
        settings=world.settings,
        ledger=Ledger(world.store, world.settings.policy),
        store=world.store,
        transcripts=world.store,
        snapshot_file=KeptSnapshot(),
        builtin=(),
        clock=world.clock,
    )


def a_daemon(
    settings: Settings,
    lasts: timedelta,
    deeds: Mapping[int, Callable[[Records], object]],
    *,
    store: Store | None = None,
    clock: VirtualClock | None = None,
) -> Watched:
    """Run the daemon over the lab; each deed is done by another process, minutes after the start."""
    watched = a_watch(settings, [], store=store or MemoryStore(), clock=clock or VirtualClock(BEGIN))
    watched.world.gateway = DeskGateway(a_scenario(), watched.clock)
    records = another_process(watched)
    for minute, deed in deeds.items():
        watched.clock.after(timedelta(minutes=minute), lambda deed=deed: deed(records))  # type: ignore[misc]
    watched.clock.after(lasts, watched.supervisor.stop)
    return run(watched)
