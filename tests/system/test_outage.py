"""An hour in which everything outside is down: nobody is suspended, and each trouble is told once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from routecanary.clock import ScaledClock
from routecanary.domain.event import EVENT_NAMES, Suspended
from routecanary.domain.names import ModelId
from routecanary.domain.probe import Probe
from routecanary.domain.route import Listing
from routecanary.domain.secret import Secret
from routecanary.domain.settings import (
    GatewaySettings,
    LatencySettings,
    ModelSettings,
    NotifySettings,
    ProbeSettings,
    Settings,
)
from routecanary.domain.transcript import Ending, EndingKind, Transcript
from routecanary.lab.gateway import LabGateway
from routecanary.lab.host import Account
from routecanary.lab.scenario import scenario_from_toml
from routecanary.rounds.ports import Gateway
from routecanary.rounds.run import run_round
from routecanary.rounds.world import World
from routecanary.wiring import online_world

MODEL = ModelId("acme/chat-2")
START = datetime(2026, 1, 5, tzinfo=UTC)
RATE = 60.0  # of wire time
CHANNEL = "on_event"

SCENARIO = """
name = "healthy"
[noise]
natural_failure = 0.0
transport_errors = 0.0
[[models]]
id = "acme/chat-2"
[[models.routes]]
tag = "acme"
provider = "Acme"
[[models.routes]]
tag = "cindermoor"
provider = "Cindermoor"
[[models.routes]]
tag = "plover"
provider = "Plover"
"""


class Moody:
    """The lab's gateway, with moods of its own in front of it."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self.is_down = False
        self.is_empty = False

    async def listing(self, model: ModelId) -> Listing:
        listing = await self._gateway.listing(model)
        return replace(listing, routes=()) if self.is_empty else listing

    async def ask(self, probe: Probe) -> Transcript:
        if not self.is_down:
            return await self._gateway.ask(probe)
        return Transcript(
            model=probe.model,
            route=probe.route,
            kind=probe.kind,
            locale=probe.locale,
            request=probe.body,
            status=503,
            headers=(("content-type", "text/html"),),
            chunks=(),
            ending=Ending(kind=EndingKind.EOF, at_ms=5.0),
            started_at=START,
            connect_ms=1.0,
            headers_ms=2.0,
        )


def told(world: World) -> list[str]:
    """Take what waits for people: the kinds of notices, in their order."""
    kinds: list[str] = []
    day = timedelta(days=1)
    while delivery := world.store.claim(CHANNEL, world.clock.now(), lease=day, horizon=2 * day):
        kinds += [notice["kind"] for notice in json.loads(delivery.body)["notices"]]
        world.store.delivered(delivery)
    return kinds


def test_an_hour_of_outage_suspends_nobody_and_tells_once_of_each_trouble(tmp_path: Path) -> None:
    """All answers are 5xx, then there is no credit, then the listing is empty; then all is well again."""
    settings = Settings(
        store_path=str(tmp_path / "events.sqlite3"),
        snapshot_path=str(tmp_path / "snapshot.json"),
        latency=LatencySettings(lag_limit=timedelta(seconds=9)),
        probes=ProbeSettings(start_spread=timedelta(0)),
        notify=NotifySettings(on_event=("true",)),
        models=(ModelSettings(model=MODEL),),
    )
    after_each: dict[str, list[str]] = {}

    async def go() -> None:
        clock = ScaledClock(start=START, rate=RATE)
        async with LabGateway(scenario_from_toml(SCENARIO, "x"), seed=1, time_scale=RATE) as lab:
            configured = replace(settings, gateway=GatewaySettings(base_url=lab.base_url))
            async with online_world(configured, Secret("lab-key"), clock, rng=Random(1)) as world:
                moody = Moody(world.gateway)
                world.gateway = moody

                async def rounds(name: str, count: int, mood: Callable[[], None] = lambda: None) -> None:
                    mood()
                    for _ in range(count):
                        await run_round(world, MODEL)
                        clock.advance(timedelta(minutes=5))
                    after_each[name] = told(world)

                await rounds("healthy", 2)
                await rounds("down", 4, lambda: setattr(moody, "is_down", True))

                def no_credit() -> None:
                    moody.is_down, lab.account = False, Account.NO_CREDIT

                await rounds("no credit", 4, no_credit)

                def no_listing() -> None:
                    moody.is_empty, lab.account = True, Account.OK

                await rounds("no listing", 2, no_listing)  # a third in a row that agrees would be believed
                await rounds("well", 3, lambda: setattr(moody, "is_empty", False))
                assert world.store.count(kinds={EVENT_NAMES[Suspended]}) == 0
                assert world.ledger.state(MODEL).suspensions() == {}
                assert dict(world.ledger.conditions().of(MODEL)) == {}

    asyncio.run(go())
    assert after_each == {
        "healthy": [],
        "down": ["gateway_outage"],
        "no credit": ["account_fault"],
        "no listing": ["listing_shrunk"],
        "well": ["listing_believed", "account_restored", "gateway_outage_ended"],
    }
