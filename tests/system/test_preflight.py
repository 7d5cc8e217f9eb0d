"""What the gateway withholds and cannot tell apart, as rounds against the lab meet it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from routecanary.clock import ScaledClock
from routecanary.discover.withheld import Untold, Withheld
from routecanary.domain.event import Exclusions, Suspended
from routecanary.domain.names import Locale, ModelId, RouteId
from routecanary.domain.operation import IgnoreTried, operation_draft
from routecanary.domain.round import Mode
from routecanary.domain.secret import Secret
from routecanary.domain.settings import (
    GatewaySettings,
    LatencySettings,
    ModelSettings,
    ProbeSettings,
    ProductionSettings,
    Settings,
)
from routecanary.domain.verdict import VerdictKind
from routecanary.lab.gateway import LabGateway
from routecanary.lab.host import Account, PlantedFault, Rules
from routecanary.rounds.preflight import preflight
from routecanary.rounds.run import run_round
from routecanary.rounds.world import World
from routecanary.wiring import online_world
from tests.lab import MODEL, a_route, a_scenario

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
RATE = 60.0
HALF_AN_HOUR = timedelta(minutes=30)
ANY = ProductionSettings()
FENCED = PlantedFault(fault="fenced_json")


@asynccontextmanager
async def a_world(
    folder: Path, scenario: Any, production: ProductionSettings = ANY
) -> AsyncIterator[tuple[World, ScaledClock, LabGateway]]:
    clock = ScaledClock(start=NOON, rate=RATE)
    async with LabGateway(scenario, seed=1, time_scale=RATE, now=clock.now) as lab:
        settings = Settings(
            gateway=GatewaySettings(base_url=lab.base_url),
            store_path=str(folder / "events.sqlite3"),
            snapshot_path=str(folder / "snapshot.json"),
            probes=ProbeSettings(
                locales=(Locale("en"),), start_spread=timedelta(0), confirm_delay=(timedelta(0), timedelta(0))
            ),
            latency=LatencySettings(lag_limit=timedelta(seconds=9)),
            initial_mode=Mode.ENFORCE,
            models=(ModelSettings(model=ModelId(MODEL), production=production),),
        )
        async with online_world(settings, Secret("lab-key"), clock, rng=Random(1)) as world:
            yield world, clock, lab


async def told(world: World, *, deny: bool = False) -> Withheld | Untold:
    listing = await world.gateway.listing(MODEL)
    answer = await preflight(world.gateway, listing, users=world.users, rng=world.rng, deny=deny)
    return answer.told


def chats_refused(lab: LabGateway, *, listings: int) -> int:
    """Count the refusals; the lab also refuses a call that comes with each listing."""
    return lab.ledger.refused[404] - listings


def test_a_refusal_tells_what_the_account_withholds_and_costs_nothing(tmp_path: Path) -> None:
    """With and without the data policy; no route is asked."""
    routes = [a_route("birch", rows=2), a_route("cedar", trains_on_data=True), a_route("oak"), a_route("elm")]
    scenario = a_scenario(*routes, rules=Rules(withheld=("oak",)))

    async def go() -> None:
        async with a_world(tmp_path, scenario) as (world, _, lab):
            plain, deny = await told(world), await told(world, deny=True)
            assert isinstance(plain, Withheld)
            assert isinstance(deny, Withheld)
            assert plain.by_step == {"Filter by Guardrails": {"oak"}}
            assert deny.by_step == {"Filter by Data Policy": {"cedar", "oak"}}
            assert plain.reached == {"birch", "cedar", "elm"}
            assert len(lab.ledger) == 0
            for state in (Account.NO_CREDIT, Account.KEY_LIMIT, Account.IN_FLIGHT):
                lab.account = state
                assert isinstance(await told(world), Untold)

    asyncio.run(go())


def test_a_route_that_the_data_policy_withholds_is_no_capacity(tmp_path: Path) -> None:
    """It is watched, but the floor does not rest on it; the gateway is asked about it once a day."""
    scenario = a_scenario(a_route("birch"), a_route("cedar", trains_on_data=True), a_route("elm"))

    async def go() -> None:
        async with a_world(tmp_path, scenario, ProductionSettings(data_collection="deny")) as parts:
            world, clock, lab = parts
            for _ in range(3):
                result = await run_round(world, MODEL)
                assert not result.state.routes[RouteId("cedar")].admitted
                assert result.state.routes[RouteId("birch")].admitted
                assert result.examinations[RouteId("cedar")].attempts
                clock.advance(HALF_AN_HOUR)
            assert chats_refused(lab, listings=3) == 1
            lab.account = Account.IN_FLIGHT  # nothing can be told now: what was told last stands
            clock.advance(timedelta(days=2))
            result = await run_round(world, MODEL)
            assert not result.state.routes[RouteId("cedar")].admitted

    asyncio.run(go())


def test_nobody_is_asked_where_the_listing_says_it_all(tmp_path: Path) -> None:
    """Without a data policy of the product's own, no refusal is provoked."""

    async def go() -> None:
        async with a_world(tmp_path, a_scenario(a_route("cedar", trains_on_data=True))) as (world, _, lab):
            result = await run_round(world, MODEL)
            assert result.state.routes[RouteId("cedar")].admitted
            assert chats_refused(lab, listings=1) == 0

    asyncio.run(go())


def test_a_withheld_route_does_not_stop_the_round_for_the_others(tmp_path: Path) -> None:
    """Its refusals are our own configuration's fault, and say nothing of the other routes."""
    scenario = a_scenario(a_route("birch"), a_route("cedar"), a_route("oak"), rules=Rules(withheld=("oak",)))

    async def go() -> None:
        async with a_world(tmp_path, scenario) as (world, _, _lab):
            result = await run_round(world, MODEL)
            for route in ("birch", "cedar"):
                said = result.examinations[RouteId(route)].verdicts.values()
                assert {verdict.kind for verdict in said} == {VerdictKind.PASS}
            oak = result.examinations[RouteId("oak")].verdicts.values()
            assert {verdict.kind for verdict in oak} == {VerdictKind.ACCOUNT}

    asyncio.run(go())


def test_a_provider_that_cannot_be_divided_is_suspended_as_a_whole(tmp_path: Path) -> None:
    """From then on its endpoints are one route, and its slug is what callers must ignore."""
    maples = [a_route("maple/fp8", FENCED), a_route("maple/us", FENCED)]
    others = [a_route(tag) for tag in ("birch", "cedar", "elm", "oak", "pine")]
    scenario = a_scenario(*maples, *others, rules=Rules(ignore_full_tags=False))

    async def go() -> None:
        async with a_world(tmp_path, scenario) as (world, clock, lab):
            before = await run_round(world, MODEL)
            assert "maple/us" in before.listing.tags()
            tried = IgnoreTried(at=clock.now(), provider="maple", holds=False)
            world.ledger.note(operation_draft(tried))
            for _ in range(2):
                clock.advance(HALF_AN_HOUR)
                result = await run_round(world, MODEL)
                assert result.believed
            assert [event.route for event in result.events if isinstance(event, Suspended)] == ["maple"]
            (exclusions,) = [event for event in result.events if isinstance(event, Exclusions)]
            assert exclusions.ignore == ("maple",)
            pinned = [served.body["provider"] for served in lab.ledger if served.route.startswith("maple")]
            assert pinned[-1] == {"only": ["maple"], "allow_fallbacks": False, "require_parameters": True}

    asyncio.run(go())
