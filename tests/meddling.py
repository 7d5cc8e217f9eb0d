"""Real rounds against the lab, in which somebody acts while they run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from routecanary.clock import ScaledClock
from routecanary.domain.archive import PackedTranscript
from routecanary.domain.event import Event, RoundClosed
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.probe import Probe
from routecanary.domain.round import Mode, RoundClass
from routecanary.domain.route import Listing
from routecanary.domain.secret import Secret
from routecanary.domain.settings import (
    GatewaySettings,
    LatencySettings,
    ModelSettings,
    ProbeSettings,
    Settings,
)
from routecanary.domain.state import ModelState
from routecanary.domain.transcript import Transcript
from routecanary.lab.gateway import LabGateway
from routecanary.lab.scenario import Scenario, builtin_scenario
from routecanary.rounds.ports import Gateway, TranscriptStore
from routecanary.rounds.records import Records
from routecanary.rounds.run import RoundResult, run_round
from routecanary.rounds.world import World
from routecanary.wiring import offline_records, online_world

MODEL = ModelId("acme/chat-2")
SPOILED = RouteId("inkspill/fp4")
START = datetime(2026, 1, 5, tzinfo=UTC)
PERIOD = timedelta(minutes=30)
RATE = 150.0  # of wire time

Deed = Callable[[Records], object]
"""What somebody does, with the records as a command opens them."""


class Meddling:
    """A gateway during whose answers a deed is done, once: as the first answer of a round comes in.

    A late deed is done when every answer is judged and the first is packed for keeping.
    """

    def __init__(self, gateway: Gateway, store: TranscriptStore) -> None:
        self._gateway = gateway
        self._store = store
        self.deed: Callable[[], object] | None = None
        self.late: Callable[[], object] | None = None

    async def listing(self, model: ModelId) -> Listing:
        return await self._gateway.listing(model)

    async def ask(self, probe: Probe) -> Transcript:
        transcript = await self._gateway.ask(probe)
        deed, self.deed = self.deed, None
        if deed is not None:
            deed()
        return transcript

    def pack(self, *arguments: Any, **facts: Any) -> PackedTranscript:
        deed, self.late = self.late, None
        if deed is not None:
            deed()
        return self._store.pack(*arguments, **facts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@dataclass
class Told:
    """Everything that happened, and the world as it stands."""

    settings: Settings
    clock: ScaledClock
    world: World
    results: list[RoundResult] = field(default_factory=list)

    @property
    def state(self) -> ModelState:
        """The state after the last round."""
        return self.results[-1].state

    def classes(self, number: int = -1) -> dict[str, RoundClass]:
        """State the class of every route in a round."""
        (closed,) = [event for event in self.results[number].events if isinstance(event, RoundClosed)]
        return {route: outcome.round_class for route, outcome in closed.outcomes.items()}

    def events(self, *kinds: type[Event]) -> list[Event]:
        return [event for result in self.results for event in result.events if isinstance(event, kinds)]

    def do(self, deed: Deed) -> None:
        """Act as a command does: with a connection of its own."""
        with offline_records(self.settings, self.clock, to_act=True) as records:
            deed(records)


def quick_settings(folder: Path, base_url: str, mode: Mode) -> Settings:
    patience = timedelta(hours=1)  # of wire time: a busy machine shall void nothing here
    return Settings(
        gateway=GatewaySettings(
            base_url=base_url,
            connect_timeout=patience,
            headers_timeout=patience,
            gap_timeout=patience,
            total_timeout=patience,
            document_timeout=patience,
        ),
        store_path=str(folder / "events.sqlite3"),
        snapshot_path=str(folder / "snapshot.json"),
        probes=ProbeSettings(start_spread=timedelta(0), confirm_delay=(timedelta(0), timedelta(0))),
        latency=LatencySettings(limit=patience, listen=patience, lag_limit=patience),
        initial_mode=mode,
        models=(ModelSettings(model=MODEL),),
    )


def play(
    folder: Path,
    *steps: Deed | None,
    late: bool = False,
    mode: Mode = Mode.ENFORCE,
    scenario: Scenario | None = None,
    change: Callable[[Settings], Settings] = lambda settings: settings,
    watch: Callable[[Told], object] = lambda _: None,
) -> Told:
    """Make one round a step, half an hour of policy time apart.

    Args:
        steps: What is done while that round runs; None: nothing.
        late: Do it when the answers are judged already.
        change: Other settings than the quick ones.
        watch: Called after every round.
    """

    async def go() -> Told:
        clock = ScaledClock(start=START, rate=RATE)
        async with LabGateway(
            scenario or builtin_scenario("spoiled"), seed=1, time_scale=RATE, now=clock.now
        ) as lab:
            settings = change(quick_settings(folder, lab.base_url, mode))
            async with online_world(settings, Secret("lab-key"), clock, rng=Random(1)) as world:
                meddling = Meddling(world.gateway, world.transcripts)
                world.gateway = meddling
                world.transcripts = meddling
                told = Told(settings=settings, clock=clock, world=world)
                for step in steps:
                    deed = None if step is None else lambda step=step: told.do(step)
                    meddling.deed, meddling.late = (None, deed) if late else (deed, None)
                    told.results.append(await run_round(world, MODEL))
                    assert meddling.deed is meddling.late is None, "the deed was done"
                    watch(told)
                    clock.advance(PERIOD)
            return told

    return asyncio.run(go())


def configured(**changes: object) -> Callable[[Settings], Settings]:
    return lambda settings: replace(settings, **changes)  # type: ignore[arg-type]
