"""One planted fault travels over real HTTP from the lab into `provider.ignore`, and out again."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from routecanary.client import Canary
from routecanary.clock import ScaledClock
from routecanary.domain.event import Event, Reinstated, Suspended
from routecanary.domain.names import ModelId
from routecanary.domain.round import Mode
from routecanary.domain.secret import Secret
from routecanary.domain.settings import GatewaySettings, LatencySettings, ModelSettings, Settings
from routecanary.lab.gateway import LabGateway
from routecanary.lab.scenario import Scenario, builtin_scenario, scenario_from_toml
from routecanary.rounds.run import run_round
from routecanary.wiring import online_world

MODEL = ModelId("acme/chat-2")
START = datetime(2026, 1, 5, tzinfo=UTC)
RATE = 60.0  # of wire time


def make_rounds(scenario: Scenario, folder: Path, *, rounds: int, mode: Mode = Mode.ENFORCE) -> list[Event]:
    """Run real rounds against the lab, half an hour of policy time apart."""

    async def go() -> list[Event]:
        clock = ScaledClock(start=START, rate=RATE)
        async with LabGateway(scenario, seed=1, time_scale=RATE, now=clock.now) as lab:
            settings = Settings(
                gateway=GatewaySettings(base_url=lab.base_url),
                store_path=str(folder / "events.sqlite3"),
                snapshot_path=str(folder / "snapshot.json"),
                # our own lag is compressed like everything else on the wire
                latency=LatencySettings(lag_limit=timedelta(seconds=9)),
                initial_mode=mode,
                models=(ModelSettings(model=MODEL),),
            )
            events: list[Event] = []
            async with online_world(settings, Secret("lab-key"), clock, rng=Random(1)) as world:
                for _ in range(rounds):
                    events.extend((await run_round(world, MODEL)).events)
                    clock.advance(timedelta(minutes=30))
            return events

    return asyncio.run(go())


def preferences(folder: Path, at: datetime) -> dict[str, object]:
    """Ask the client, as an application would at that time."""
    with Canary(folder / "snapshot.json", clock=at.timestamp) as canary:
        return canary.provider_preferences(MODEL, {"ignore": ["their-own"], "sort": "price"})


def test_a_spoiled_start_reaches_provider_ignore_in_its_second_round(tmp_path: Path) -> None:
    """The route that spoils its answers is suspended, the healthy ones are not, and the client is told."""
    events = make_rounds(builtin_scenario("spoiled"), tmp_path, rounds=2)
    (suspended,) = [event for event in events if isinstance(event, Suspended)]
    assert suspended.route == "inkspill/fp4"
    assert "integrity" in suspended.contracts
    assert suspended.at == START + timedelta(minutes=30)
    told = preferences(tmp_path, START + timedelta(hours=1))
    assert told == {"ignore": ["their-own", "inkspill/fp4"], "sort": "price"}


def test_in_observe_the_same_suspension_is_a_shadow(tmp_path: Path) -> None:
    """Observe decides all the same and keeps no traffic away."""
    events = make_rounds(builtin_scenario("spoiled"), tmp_path, rounds=2, mode=Mode.OBSERVE)
    (suspended,) = [event for event in events if isinstance(event, Suspended)]
    assert suspended.shadow
    told = preferences(tmp_path, START + timedelta(hours=1))
    assert told == {"ignore": ["their-own"], "sort": "price"}


def test_a_suspension_ends_in_the_client_without_the_daemon(tmp_path: Path) -> None:
    """Where nobody writes a new snapshot, the canary layer is dropped after its greatest age."""
    make_rounds(builtin_scenario("spoiled"), tmp_path, rounds=2)
    last = START + timedelta(minutes=30)
    assert "inkspill/fp4" in preferences(tmp_path, last + timedelta(hours=6))["ignore"]  # type: ignore[operator]
    assert preferences(tmp_path, last + timedelta(hours=6, seconds=1))["ignore"] == ["their-own"]


HEALING = """
name = "healing"
[noise]
natural_failure = 0.0
transport_errors = 0.0
[[models]]
id = "acme/chat-2"
{healthy}
[[models.routes]]
tag = "mended"
provider = "Mended"
[[models.routes.faults]]
fault = "fenced_json"
probability = 1.0
to = "45m"
"""


def test_a_mended_route_comes_back_by_itself(tmp_path: Path) -> None:
    """Two clean rounds after the suspension reinstate the route at once."""
    healthy = "\n".join(f'[[models.routes]]\ntag = "h{n}"\nprovider = "H{n}"' for n in range(3))
    scenario = scenario_from_toml(HEALING.format(healthy=healthy), "healing")
    events = make_rounds(scenario, tmp_path, rounds=4)
    told = [event for event in events if isinstance(event, Suspended | Reinstated)]
    assert [type(event) for event in told] == [Suspended, Reinstated]
    assert told[1].at == START + timedelta(minutes=90)


def test_a_listing_is_told_of_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The second one names the same routes, so there is nothing to say."""
    caplog.set_level(logging.INFO, logger="routecanary.rounds")
    healthy = "\n".join(f'[[models.routes]]\ntag = "h{n}"\nprovider = "H{n}"' for n in range(3))
    scenario = scenario_from_toml(HEALING.format(healthy=healthy), "healing")
    make_rounds(scenario, tmp_path, rounds=2)
    assert [line for line in caplog.messages if "routes" in line] == ["listed model=acme/chat-2 routes=4"]
