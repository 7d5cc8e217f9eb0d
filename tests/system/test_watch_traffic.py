"""The daemon in virtual time beside telemetry: what it makes of it, and what it never does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from routecanary.adapters.store.memory import MemoryStore
from routecanary.domain.generation import Source
from routecanary.domain.names import RouteId
from routecanary.domain.operation import ExclusionLeaked, TrafficAudited
from routecanary.domain.round import Pause
from routecanary.domain.settings import BudgetSettings, TrafficSettings
from routecanary.domain.verdict import VerdictKind
from routecanary.errors import StoreError
from routecanary.rounds.act import act
from routecanary.rounds.records import Records
from tests.commandline import SPOILED
from tests.lab_watch import BEGIN, TARGET, a_daemon, rounds_of, settings_of
from tests.traffic import served
from tests.virtual_time import VirtualClock
from tests.watched import NAME, Watched

HOSTS = ("acme", "cindermoor", "north-host/fp8", "plover")  # those that are sound
WORST: dict[str, Any] = {"status": 502, "finish_reason": "error", "empty": True, "ttft_ms": 60_000}
TEN_MINUTES = TrafficSettings(window=timedelta(minutes=10))


def telling(*, bad: Callable[[int], str], each: int = 40) -> Mapping[int, Callable[[Records], object]]:
    """Tell every five minutes of a lot of answers of all hosts; those of one are as bad as can be."""

    def told(minute: int) -> Callable[[Records], object]:
        def tell(records: Records) -> None:
            at = records.clock.now()
            generations = [
                served(host, model=NAME, started_at=at, **(WORST if host == bad(minute) else {}))
                for host in HOSTS
                for _ in range(each)
            ]
            records.store.keep_generations(generations, at=at)

        return tell

    return {minute: told(minute) for minute in range(3, 178, 5)}


def kinds(watched: Watched, kind: str) -> list[Mapping[str, Any]]:
    return [stored.body for stored in watched.world.store.read(kinds={kind})]


def test_the_worst_telemetry_in_the_world_leads_to_a_round_and_to_nothing_else(tmp_path: Path) -> None:
    """Its probes are sound: no verdict, no streak, no suspension and no floor knows of what was told."""
    settings = settings_of(tmp_path, traffic=TEN_MINUTES)
    watched = a_daemon(settings, timedelta(hours=3), telling(bad=lambda _: TARGET))
    asked = kinds(watched, "round_asked")
    assert (asked[0]["routes"], asked[0]["why"]) == ([TARGET], "traffic")
    assert kinds(watched, "round_answered")
    out_of_turn = [each for each in rounds_of(watched.world.store) if each.minute[3:] not in {"00", "30"}]
    assert out_of_turn
    assert all(TARGET in each.asked for each in out_of_turn)
    state = watched.world.ledger.state(NAME)
    assert set(state.suspensions()) == {SPOILED}
    assert state.routes[TARGET].streak.failed == 0
    assert not state.capacity_low
    for closed in kinds(watched, "round_closed"):
        verdicts = closed["outcomes"][TARGET]["verdicts"].values()
        assert set(verdicts) <= {VerdictKind.PASS, VerdictKind.SKIPPED, VerdictKind.INCONCLUSIVE}


def test_who_makes_telemetry_up_cannot_make_us_spend(tmp_path: Path) -> None:
    """One sound host after the other told to be bad: one round more for each full one, within the budget."""
    budget = BudgetSettings(per_day_usd=Decimal("0.05"))
    settings = settings_of(tmp_path, traffic=TEN_MINUTES, budget=budget)
    told = telling(bad=lambda minute: HOSTS[minute // 10 % len(HOSTS)])
    watched = a_daemon(settings, timedelta(hours=3), told)
    rounds = rounds_of(watched.world.store)
    full = [each for each in rounds if each.minute[3:] in {"00", "30"}]
    assert kinds(watched, "round_asked")
    assert len(rounds) - len(full) <= len(full)
    day = watched.clock.now().date()
    assert watched.world.ledger.operating().committed(day) <= budget.per_day_usd
    assert set(watched.world.ledger.state(NAME).suspensions()) <= {SPOILED}


def test_switched_off_nothing_is_asked(tmp_path: Path) -> None:
    """The leak audit goes on."""
    off = TrafficSettings(watch=False, window=timedelta(minutes=10))
    settings = settings_of(tmp_path, traffic=off)
    watched = a_daemon(settings, timedelta(hours=1), telling(bad=lambda _: TARGET))
    assert not kinds(watched, "round_asked")
    assert kinds(watched, "traffic_audited")


def test_a_leak_is_told_once_by_whichever_daemon(tmp_path: Path) -> None:
    """Answers of a suspended host, told by the gateway alone; the next daemon counts none of them again."""

    def leak(records: Records) -> None:
        at = records.clock.now()
        facts = {"model": NAME, "started_at": at, "source": Source.BROADCAST, "list_written_at": None}
        generations = [served(name, **facts) for name in (SPOILED, SPOILED, "plover", SPOILED)]
        records.store.keep_generations(generations, at=at)

    store, settings = MemoryStore(), settings_of(tmp_path)
    first = a_daemon(settings, timedelta(minutes=44), {10: leak, 40: leak}, store=store)
    assert SPOILED in first.world.ledger.state(NAME).suspensions()
    second = VirtualClock(BEGIN + timedelta(minutes=45))
    watched = a_daemon(settings, timedelta(minutes=40), {1: leak}, store=store, clock=second)
    leaks = watched.operations(ExclusionLeaked)
    assert {(each.reason, each.routes) for each in leaks if isinstance(each, ExclusionLeaked)} == {
        ("no_hook", frozenset({RouteId(SPOILED)}))
    }
    assert sum(each.count for each in leaks if isinstance(each, ExclusionLeaked)) == 6
    audited = watched.operations(TrafficAudited)
    assert sum(each.generations for each in audited if isinstance(each, TrafficAudited)) == 12
    assert "leak:no_hook" in watched.world.ledger.conditions().of(NAME)


class Unreadable(MemoryStore):
    """A store whose telemetry cannot be read."""

    def generations_after(self, *arguments: Any, **facts: Any) -> Any:
        raise StoreError("the generations cannot be read")


def test_trouble_with_telemetry_stops_nothing_else(tmp_path: Path) -> None:
    """Rounds are made, a pause ends on time, and what is old goes."""

    def pause(records: Records) -> None:
        act(records, Pause(at=records.clock.now(), model=NAME, until=BEGIN + timedelta(minutes=20)))

    old = served("plover", model=NAME, started_at=BEGIN - timedelta(days=40))
    store = Unreadable()
    store.keep_generations([old], at=BEGIN - timedelta(days=40))
    watched = a_daemon(settings_of(tmp_path), timedelta(hours=1), {10: pause}, store=store)
    assert len(rounds_of(watched.world.store)) == 2
    assert kinds(watched, "canary_layer_resumed")
    assert not watched.world.ledger.state(NAME).paused
    assert not list(store.generations(NAME, since=BEGIN - timedelta(days=50), until=BEGIN))
