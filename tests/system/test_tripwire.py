"""A fixed prompt in virtual time: what the lab's hosts count, and what a change of that leads to.

Once in an hour stands here for once a day.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from routecanary.domain.event import Suspended, event_from_json
from routecanary.domain.names import Locale, RouteId
from routecanary.domain.operation import (
    BudgetReached,
    PromptTokensChanged,
    PromptTokensRead,
    PromptTokensShifted,
    Reserved,
)
from routecanary.domain.probe import Probe, ProbeKind
from routecanary.domain.settings import (
    BudgetSettings,
    NotifySettings,
    ProbeSettings,
    ScheduleSettings,
    TripwireSettings,
)
from routecanary.domain.transcript import Transcript
from routecanary.lab.host import LabRoute, Pace, PlantedFault, Window
from routecanary.rounds import tripwire_study
from routecanary.rounds.fold import DECIDED
from routecanary.rounds.studies import STUDY_KINDS, kept_study
from routecanary.wiring import ON_EVENT
from tests.desk import DeskGateway, Hearer
from tests.lab import a_route
from tests.lab import a_scenario as lab_of
from tests.virtual_time import OnTheSpot, VirtualClock
from tests.watched import Watched, a_watch, some_settings

MIDNIGHT = datetime(2026, 1, 5, tzinfo=UTC)
HOUR = timedelta(hours=1)
PERIOD = HOUR / 2
ALL = ("ash", "birch", "cedar", "elm", "fir", "oak")


@dataclass
class Asked:
    """One asking, as the gateway saw it."""

    at: datetime
    route: RouteId
    kind: ProbeKind


class Overheard(DeskGateway):
    """A gateway that remembers who was asked when, and may withhold its routes' usage."""

    asked: list[Asked]
    silent: frozenset[str] = frozenset()
    odd_at: tuple[datetime, str] | None = None  # from when on one fixed prompt of a route is counted oddly

    async def ask(self, probe: Probe) -> Transcript:
        self.asked.append(Asked(self._clock.now(), probe.route, probe.kind))
        transcript = await super().ask(probe)
        if probe.route in self.silent:
            return _recounted(transcript, b'"other_tokens":')
        if self.odd_at is not None and probe.kind is ProbeKind.ANY:
            since, route = self.odd_at
            if probe.route == route and self._clock.now() >= since:
                self.odd_at = None
                return _recounted(transcript, b'"prompt_tokens": 9')
        return transcript


def _recounted(transcript: Transcript, member: bytes) -> Transcript:
    """Let an answer say something else in the place of its `prompt_tokens`."""
    chunks = tuple(
        chunk._replace(data=re.sub(rb'"prompt_tokens": ?', member, chunk.data)) for chunk in transcript.chunks
    )
    return replace(transcript, chunks=chunks)


@dataclass
class Hours:
    """What some hours left behind."""

    watched: Watched
    gateway: Overheard
    hearer: Hearer = field(default_factory=lambda: Hearer(ON_EVENT))

    @property
    def notices(self) -> list[dict[str, Any]]:
        return [
            notice
            for message in self.hearer.heard
            for notice in message["notices"]
            if notice["kind"].startswith("prompt_tokens")
        ]

    def readings(self) -> list[dict[str, int]]:
        """What was read, time after time."""
        read = [each for each in self.watched.operations() if isinstance(each, PromptTokensRead)]
        return [{route: reading.tokens for route, reading in each.readings.items()} for each in read]

    def fixed(self, hour: int) -> Counter[str]:
        """How often each route was asked the fixed prompt in an hour, 0-based."""
        begin = MIDNIGHT + hour * HOUR
        return Counter(
            each.route
            for each in self.gateway.asked
            if each.kind is ProbeKind.ANY and begin <= each.at < begin + HOUR
        )

    def suspensions(self) -> int:
        stored = self.watched.world.store.read(kinds=DECIDED)
        return sum(isinstance(event_from_json(each.body), Suspended) for each in stored)


def planted(name: str, *, start: timedelta, fault: str = "hidden_prompt", **parameters: float) -> LabRoute:
    window = Window(start=start)
    return a_route(name, PlantedFault(fault=fault, window=window, parameters=parameters))


def slow(name: str, *faults: PlantedFault) -> LabRoute:
    """A healthy host that takes 20 seconds to the end of an answer."""
    return a_route(name, *faults, pace=Pace(answer_seconds=20.0))


def pass_hours(
    folder: Path,
    *routes: LabRoute,
    hours: int = 3,
    silent: frozenset[str] = frozenset(),
    odd_at: tuple[datetime, str] | None = None,
    **changes: Any,
) -> Hours:
    """Let the daemon watch these routes for some hours."""
    clock = VirtualClock(MIDNIGHT)
    settings = some_settings(
        folder,
        schedule=ScheduleSettings(period=PERIOD, jitter=timedelta()),
        probes=ProbeSettings(start_spread=timedelta(seconds=1), locales=(Locale("en"),)),
        notify=NotifySettings(on_event=("tell",)),
        **{"tripwire": TripwireSettings(every=HOUR)} | changes,
    )
    gateway = Overheard(lab_of(*routes), clock)
    gateway.asked, gateway.silent, gateway.odd_at = [], silent, odd_at
    hearer = Hearer(ON_EVENT)
    watched = a_watch(settings, [], clock=clock, channels=[hearer])
    watched.world.ledger.replace_channels([ON_EVENT], watched.world.ledger._hide)
    watched.world.gateway = gateway
    clock.after(hours * HOUR, watched.supervisor.stop)

    async def go() -> None:
        asyncio.get_running_loop().set_default_executor(OnTheSpot())
        async with asyncio.timeout(240):
            await watched.supervisor.run()

    asyncio.run(go())
    return Hours(watched=watched, gateway=gateway, hearer=hearer)


def test_a_hidden_prompt_is_told_once_and_suspends_nobody(tmp_path: Path) -> None:
    """One reading; the next differs twice, is told, and has the route asked again soon; then quiet."""
    others = [a_route(name) for name in ALL if name != "oak"]
    hours = pass_hours(tmp_path, *others, planted("oak", start=HOUR - timedelta(minutes=1), tokens=400))
    before, *after = hours.readings()
    usual = before["oak"]
    assert before == dict.fromkeys(ALL, usual), "the lab counts alike everywhere"
    assert after == [{**before, "oak": usual + 400}] * 2
    assert [hours.fixed(hour)["oak"] for hour in range(3)] == [1, 2, 1], (
        "the odd count is asked for once more"
    )
    assert [hours.fixed(hour)["elm"] for hour in range(3)] == [1, 1, 1]
    (told,) = hours.notices
    assert (told["kind"], told["phase"], told["routes"]) == ("prompt_tokens_changed", "once", ["oak"])
    facts = told["facts"]
    assert {**facts, "study": ""} == {
        "was": usual,
        "now": usual + 400,
        "peers_were": usual,
        "peers": usual,
        "study": "",
    }
    kept = kept_study(hours.watched.world.store, facts["study"])
    askings = Counter(answer.route for answer in kept.answers)
    assert askings.pop(RouteId("oak")) == 10
    assert (sum(askings.values()), set(askings.values())) == (20, {4})
    assert hours.watched.supervisor.counts == {"finished": 6}
    assert hours.suspensions() == 0


def test_a_study_ends_after_a_while_and_keeps_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where hosts take their time, rounds do not wait for all of it, and it can be gone on with."""
    monkeypatch.setattr(tripwire_study, "LONGEST", 60.0)
    change = PlantedFault(fault="hidden_prompt", window=Window(start=HOUR - timedelta(minutes=1)))
    others = (slow(name) for name in ALL if name != "oak")
    hours = pass_hours(tmp_path, *others, slow("oak", change), hours=2)
    (told,) = hours.notices
    kept = kept_study(hours.watched.world.store, told["facts"]["study"])
    assert 0 < len(kept.answers) < kept.study.planned
    times = [answer.at for answer in kept.answers]
    assert max(times) - kept.study.at <= timedelta(seconds=62)
    assert hours.watched.supervisor.counts == {"finished": 4}


def test_a_change_of_all_is_told_of_the_model(tmp_path: Path) -> None:
    """Another tokenizer at every host: one notice, nobody is named, and no study begins."""
    start = HOUR - timedelta(minutes=1)
    hours = pass_hours(tmp_path, *(planted(name, start=start, tokens=25) for name in ALL))
    (told,) = hours.notices
    assert (told["kind"], told["routes"], told["facts"]) == (
        "prompt_tokens_shifted",
        [],
        {"changed": 6, "of": 6},
    )
    assert not list(hours.watched.world.store.read(kinds=STUDY_KINDS))
    assert len(hours.watched.operations(PromptTokensShifted)) == 1
    assert hours.suspensions() == 0


def test_what_stays_or_cannot_be_read_tells_nothing(tmp_path: Path) -> None:
    """Counts that stay, a route that never says what it counts, and one that answers out of a cache."""
    start = HOUR - timedelta(minutes=1)
    routes = [a_route("ash"), a_route("birch"), planted("cedar", start=start, fault="cached_answer")]
    hours = pass_hours(tmp_path, *routes, planted("elm", start=start), silent=frozenset({"elm"}))
    assert [sorted(each) for each in hours.readings()] == [
        ["ash", "birch", "cedar"],
        ["ash", "birch"],
        ["ash", "birch"],
    ]
    assert hours.notices == []
    assert hours.watched.operations(PromptTokensChanged, PromptTokensShifted) == []


def test_one_odd_answer_tells_nothing(tmp_path: Path) -> None:
    """A count that is another one when it is asked for again is forgotten."""
    others = [a_route(name) for name in ALL if name != "oak"]
    hours = pass_hours(tmp_path, *others, a_route("oak"), odd_at=(MIDNIGHT + HOUR, "oak"), hours=2)
    assert [hours.fixed(hour)["oak"] for hour in range(2)] == [1, 2]
    first, second = hours.readings()
    assert sorted(first) == sorted(ALL)
    assert second == {route: count for route, count in first.items() if route != "oak"}
    assert hours.notices == []


def test_the_days_budget_covers_the_readings_or_none_are_made(tmp_path: Path) -> None:
    """What is not allowed is not asked, and told as any round's shortage is."""
    budget = BudgetSettings(per_day_usd=Decimal("0.00001"))
    hours = pass_hours(tmp_path, *(a_route(name) for name in ALL), hours=1, budget=budget)
    assert hours.gateway.asked == []
    assert hours.readings() == []
    assert len(hours.watched.operations(BudgetReached)) == 1
    names = [each.round_id for each in hours.watched.operations(Reserved) if isinstance(each, Reserved)]
    assert not [name for name in names if name.startswith("tripwire")]


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    """Then nobody is asked."""
    off = TripwireSettings(enabled=False)
    hours = pass_hours(tmp_path, a_route("ash"), a_route("birch"), hours=1, tripwire=off)
    assert hours.fixed(0) == Counter()
    assert hours.gateway.asked
