"""The budget of a day, in real rounds: who goes unasked, what that changes, and what a crash costs."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest

from routecanary.clock import ScaledClock
from routecanary.domain.event import GatewayOutage, RoundClosed, Suspended
from routecanary.domain.names import Locale, ModelId, RouteId
from routecanary.domain.operation import (
    OPERATED,
    BudgetReached,
    BudgetRestored,
    Operation,
    Reserved,
    Settled,
    operation_from_json,
)
from routecanary.domain.policy import Policy
from routecanary.domain.probe import Probe
from routecanary.domain.round import Mode, RoundClass
from routecanary.domain.secret import Secret
from routecanary.domain.settings import (
    BudgetSettings,
    GatewaySettings,
    LatencySettings,
    ModelSettings,
    ProbeSettings,
    Settings,
)
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import VerdictKind
from routecanary.errors import ClockError
from routecanary.lab.gateway import LabGateway
from routecanary.lab.scenario import builtin_scenario
from routecanary.rounds.ports import Gateway
from routecanary.rounds.run import RoundResult, run_round
from routecanary.rounds.world import World
from routecanary.wiring import online_world

MODEL = ModelId("acme/chat-2")
SPOILED = RouteId("inkspill/fp4")
NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
RATE = 60.0
HALF_AN_HOUR = timedelta(minutes=30)


def settings_of(folder: Path, base_url: str) -> Settings:
    return Settings(
        gateway=GatewaySettings(base_url=base_url),
        store_path=str(folder / "events.sqlite3"),
        snapshot_path=str(folder / "snapshot.json"),
        probes=ProbeSettings(
            locales=(Locale("en"),),  # a round in Thai may cost more
            start_spread=timedelta(0),
            confirm_delay=(timedelta(0), timedelta(0)),
        ),
        latency=LatencySettings(lag_limit=timedelta(seconds=9)),
        initial_mode=Mode.ENFORCE,
        models=(ModelSettings(model=MODEL),),
    )


@asynccontextmanager
async def a_world(folder: Path) -> AsyncIterator[tuple[World, ScaledClock, LabGateway]]:
    clock = ScaledClock(start=NOON, rate=RATE)
    async with LabGateway(builtin_scenario("spoiled"), seed=1, time_scale=RATE, now=clock.now) as lab:
        settings = settings_of(folder, lab.base_url)
        async with online_world(settings, Secret("lab-key"), clock, rng=Random(1)) as world:
            yield world, clock, lab


def give(world: World, *, general: Decimal, recovery: Decimal) -> None:
    """Set the budget so that this much is left of either part."""
    committed = world.ledger.operating().committed(world.clock.now().date())
    per_day = committed + general + recovery
    budget = BudgetSettings(per_day_usd=per_day, recovery_share=recovery / per_day)
    world.settings = replace(world.settings, budget=budget)


def told(world: World) -> Iterator[Operation]:
    for stored in world.transcripts.read(kinds=OPERATED):  # type: ignore[attr-defined]
        yield operation_from_json(stored.body)


def kinds_told(world: World, *kinds: type[Operation]) -> list[type[Operation]]:
    return [type(operation) for operation in told(world) if isinstance(operation, kinds)]


def asked(result: RoundResult) -> set[RouteId]:
    return {route for route, examination in result.examinations.items() if examination.attempts}


def streaks(result: RoundResult) -> dict[RouteId, object]:
    return {route: state.streak for route, state in result.state.routes.items()}


def test_a_budget_that_runs_out_asks_suspended_routes_last(tmp_path: Path) -> None:
    """When the general part is used up only recovery goes on, then nothing; a new day begins anew."""

    async def go() -> None:
        async with a_world(tmp_path) as (world, clock, lab):
            await run_round(world, MODEL)
            clock.advance(HALF_AN_HOUR)
            before = await run_round(world, MODEL)
            everybody = set(before.listing.tags())
            assert [event.route for event in before.events if isinstance(event, Suspended)] == [SPOILED]
            assert asked(before) == everybody
            assert kinds_told(world, BudgetReached) == []

            clock.advance(HALF_AN_HOUR)
            one_route = max(op.usd for op in told(world) if isinstance(op, Reserved)) / len(everybody)
            give(world, general=Decimal(0), recovery=one_route * 2)
            recovery = await run_round(world, MODEL)
            assert asked(recovery) == {SPOILED}
            assert recovery.left_out == everybody - {SPOILED}
            (closed,) = [event for event in recovery.events if isinstance(event, RoundClosed)]
            for route in recovery.left_out:
                assert set(closed.outcomes[route].verdicts.values()) == {VerdictKind.SKIPPED}
                assert closed.outcomes[route].round_class is RoundClass.FROZEN
                assert streaks(recovery)[route] == streaks(before)[route]
            assert kinds_told(world, BudgetReached, BudgetRestored) == [BudgetReached]

            clock.advance(HALF_AN_HOUR)
            give(world, general=Decimal(0), recovery=Decimal(0))
            served = len(lab.ledger)
            nothing = await run_round(world, MODEL)
            assert asked(nothing) == set()
            assert len(lab.ledger) == served
            assert streaks(nothing) == streaks(recovery)
            assert nothing.spent_usd == 0
            assert not [event for event in nothing.events if isinstance(event, GatewayOutage)]
            assert nothing.state.suspensions() == recovery.state.suspensions()
            assert kinds_told(world, BudgetReached, BudgetRestored) == [BudgetReached]

            clock.advance(timedelta(hours=12))
            world.settings = replace(world.settings, budget=BudgetSettings())
            again = await run_round(world, MODEL)
            assert asked(again) == everybody
            assert kinds_told(world, BudgetReached, BudgetRestored) == [BudgetReached, BudgetRestored]

    asyncio.run(go())


def test_what_is_left_is_shared_out_by_whole_routes(tmp_path: Path) -> None:
    """A route is asked all its probes or none, and whoever was left out comes first in the next round."""

    async def go() -> None:
        async with a_world(tmp_path) as (world, clock, _):
            world.ledger.replace_policy(Policy(rounds_to_suspend=9))
            first = await run_round(world, MODEL)
            everybody = set(first.listing.tags())
            a_route = max(op.usd for op in told(world) if isinstance(op, Reserved)) / len(everybody)
            clock.advance(HALF_AN_HOUR)
            give(world, general=a_route * Decimal("2.5"), recovery=Decimal(0))
            part = await run_round(world, MODEL)
            assert len(asked(part)) == 2
            for route in asked(part):
                kinds = [
                    attempt.probe.kind
                    for attempt in part.examinations[route].attempts
                    if not attempt.probe.attempt
                ]
                assert len(kinds) == 3
            clock.advance(HALF_AN_HOUR)
            give(world, general=a_route * Decimal("2.5"), recovery=Decimal(0))
            rest = await run_round(world, MODEL)
            assert asked(rest) <= everybody - asked(part)
            assert len(asked(rest)) == 2

    asyncio.run(go())


def test_a_round_settles_on_what_the_gateway_charged(tmp_path: Path) -> None:
    """What was set aside covers every confirmation; what stays counted is the sum of the charges."""

    async def go() -> None:
        async with a_world(tmp_path) as (world, _, lab):
            result = await run_round(world, MODEL)
            (reserved,) = [op for op in told(world) if isinstance(op, Reserved)]
            (settled,) = [op for op in told(world) if isinstance(op, Settled)]
            charges = [Decimal(str(served.usage["cost"])) for served in lab.ledger]
            assert settled.usd == result.spent_usd
            assert settled.usd == pytest.approx(sum(charges), abs=Decimal("0.0000001"))
            assert settled.usd < reserved.usd
            assert (settled.asked, settled.unasked) == (len(lab.ledger), 0)
            assert settled.again == settled.asked - 3 * len(result.listing.routes)
            assert settled.again > 0
            assert world.ledger.operating().committed(NOON.date()) == settled.usd

    asyncio.run(go())


class Odd:
    """The lab's gateway until it is asked, then whatever `answer` does."""

    def __init__(self, sound: Gateway, answer: Callable[[Probe], Awaitable[Transcript]]) -> None:
        self.listing = sound.listing
        self.ask = answer


async def break_down(_: Probe) -> Transcript:
    raise RuntimeError("our own bug")


async def die(_: Probe) -> Transcript:
    os._exit(9)


def only_reserved(world: World) -> Reserved:
    (reserved,) = [op for op in told(world) if isinstance(op, Reserved)]
    return reserved


async def die_in_a_round(folder: Path, base_url: str) -> None:
    """Begin a round and die as if killed, with the first question on its way."""
    clock = ScaledClock(start=NOON, rate=RATE)
    async with online_world(settings_of(folder, base_url), Secret("lab-key"), clock) as world:
        world.gateway = Odd(world.gateway, die)
        await run_round(world, MODEL)


def test_a_death_between_setting_aside_and_settling_leaves_the_careful_number(tmp_path: Path) -> None:
    """What was set aside counts in full after a restart, beside what the next round costs."""

    async def go() -> None:
        async with a_world(tmp_path) as (world, _, lab):
            dying = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tests.system.test_budget", tmp_path, lab.base_url
            )
            assert await dying.wait() == 9
            reserved = only_reserved(world)
            assert world.ledger.operating().committed(NOON.date()) == reserved.usd > 0
            result = await run_round(world, MODEL)
            assert world.ledger.operating().committed(NOON.date()) == reserved.usd + result.spent_usd

    asyncio.run(go())


def test_a_round_that_breaks_counts_what_was_sent_at_its_most(tmp_path: Path) -> None:
    """What was never sent costs nothing; the error travels on."""

    async def go() -> None:
        async with a_world(tmp_path) as (world, _, lab):
            world.gateway = Odd(world.gateway, break_down)
            with pytest.raises(ExceptionGroup):
                await run_round(world, MODEL)
            reserved = only_reserved(world)
            (settled,) = [op for op in told(world) if isinstance(op, Settled)]
            assert (settled.round_id, settled.again) == (reserved.round_id, 0)
            assert 1 <= settled.asked <= 4  # each of the routes at most its first question
            assert 0 < settled.usd < reserved.usd / 3
            assert world.ledger.operating().committed(NOON.date()) == settled.usd
            assert len(lab.ledger) == 0

    asyncio.run(go())


def test_a_round_that_is_stopped_counts_what_is_under_way_at_its_most(tmp_path: Path) -> None:
    """A daemon that is restarted in the middle of its rounds does not use up its budget by that."""

    async def go() -> None:
        async with a_world(tmp_path) as (world, _, lab):
            answered = asyncio.Event()
            sound = world.gateway

            async def ask(probe: Probe) -> Transcript:
                transcript = await sound.ask(probe)
                answered.set()
                return transcript

            world.gateway = Odd(sound, ask)
            running = asyncio.create_task(run_round(world, MODEL))
            await answered.wait()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            (settled,) = [op for op in told(world) if isinstance(op, Settled)]
            charges = sum(Decimal(str(served.usage["cost"])) for served in lab.ledger)
            assert charges <= settled.usd < only_reserved(world).usd
            assert world.ledger.state(MODEL).rounds == 0

    asyncio.run(go())


def test_a_round_that_is_rejected_is_paid_for_all_the_same(tmp_path: Path) -> None:
    """A clock that stepped back makes a round void, not free."""

    async def go() -> None:
        async with a_world(tmp_path) as (world, clock, _):
            first = await run_round(world, MODEL)
            clock.advance(-HALF_AN_HOUR)
            with pytest.raises(ClockError):
                await run_round(world, MODEL)
            operating = world.ledger.operating()
            assert operating.reserved == {}
            assert operating.committed(NOON.date()) > first.spent_usd

    asyncio.run(go())


def test_two_rounds_at_once_share_one_budget(tmp_path: Path) -> None:
    """Two processes on one log cannot both set aside what is only there once."""

    async def go() -> None:
        async with a_world(tmp_path) as (world, clock, _):
            first = await run_round(world, MODEL)
            (reserved,) = [op for op in told(world) if isinstance(op, Reserved)]
            clock.advance(HALF_AN_HOUR)
            give(world, general=reserved.usd * Decimal("1.5"), recovery=Decimal(0))
            async with online_world(world.settings, Secret("lab-key"), clock, rng=Random(2)) as other:
                results = await asyncio.gather(
                    run_round(world, MODEL), run_round(other, MODEL), return_exceptions=True
                )
            routes = len(first.listing.routes)
            made = [op for op in told(world) if isinstance(op, Reserved)][1:]
            assert sorted(len(op.left_out) for op in made) == [0, routes - routes // 2]
            assert any(isinstance(result, RoundResult) for result in results)
            budget = world.settings.budget
            assert world.ledger.operating().committed(NOON.date()) <= budget.per_day_usd

    asyncio.run(go())


if __name__ == "__main__":
    asyncio.run(die_in_a_round(Path(sys.argv[1]), sys.argv[2]))
