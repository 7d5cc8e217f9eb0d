"""The daemon in this process, in virtual time, over a gateway that follows a script."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Self

from routecanary.adapters.store.memory import MemoryStore
from routecanary.daemon.supervisor import Supervisor
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.operation import OPERATED, Operation, operation_from_json
from routecanary.domain.probe import Probe
from routecanary.domain.redaction import Redactor
from routecanary.domain.route import Listing, Route
from routecanary.domain.settings import ModelSettings, ProbeSettings, ScheduleSettings, Settings
from routecanary.domain.transcript import Ending, EndingKind, Transcript
from routecanary.errors import StoreError
from routecanary.rounds.ports import Store
from routecanary.rounds.world import World
from routecanary.wiring import Configuration, builtin_of, catalog_of, world_of
from tests.virtual_time import OnTheSpot, VirtualClock

NAME = ModelId("acme/chat-2")
START = datetime(2026, 1, 5, 10, 47, tzinfo=UTC)
PERIOD = timedelta(minutes=30)

Turn = Exception | Callable[[], None] | None
"""What happens when the next listing is asked for: trouble, a deed, or nothing special."""


class Host:
    """A gateway of scripted listings; no route ever answers. At the script's end it stops the watch."""

    def __init__(self, clock: VirtualClock, script: Iterable[Turn]) -> None:
        self._clock = clock
        self._script = list(script)
        self.asked_at: list[datetime] = []
        self.asked_for: list[ModelId] = []
        self.entered = 0
        self.at_end: Callable[[], None] = lambda: None

    async def __aenter__(self) -> Self:
        self.entered += 1
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.entered -= 1

    async def listing(self, model: ModelId) -> Listing:
        self.asked_at.append(self._clock.now())
        self.asked_for.append(model)
        if not self._script:
            self.at_end()
            await asyncio.Event().wait()  # until cancelled
        turn = self._script.pop(0)
        if isinstance(turn, Exception):
            raise turn
        if turn is not None:
            turn()
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


class BrokenStore(MemoryStore):
    """A store that takes nothing while `broken`."""

    broken = False

    def append(self, *arguments: Any, **facts: Any) -> Any:
        if self.broken:
            raise StoreError("the store 'x' has no room left on its disk")
        return super().append(*arguments, **facts)


@dataclass
class Watched:
    """A daemon that has run, and what is left of it."""

    host: Host
    supervisor: Supervisor
    world: World
    clock: VirtualClock

    @property
    def moments(self) -> list[str]:
        """When listings were asked for."""
        return [f"{at:%H:%M:%S}" for at in self.host.asked_at]

    def operations(self, *kinds: type) -> list[Operation]:
        """What the log says of the canary itself, of some kinds."""
        found = [operation_from_json(stored.body) for stored in self.world.store.read(kinds=OPERATED)]
        return [each for each in found if not kinds or isinstance(each, kinds)]


def some_settings(folder: Path, *, models: int = 1, **changes: Any) -> Settings:
    settings = Settings(
        store_path="nowhere",
        snapshot_path=str(folder / "snapshot.json"),
        schedule=ScheduleSettings(period=PERIOD, jitter=timedelta()),
        probes=ProbeSettings(start_spread=timedelta()),
        models=tuple(ModelSettings(model=ModelId(f"acme/chat-{2 + number}")) for number in range(models)),
    )
    return replace(settings, **changes)


def a_watch(
    settings: Settings,
    script: Iterable[Turn],
    *,
    clock: VirtualClock | None = None,
    store: Store | None = None,
    **facts: Any,
) -> Watched:
    """Make a daemon that ends with its script; `facts` go to the supervisor."""
    clock = clock or VirtualClock(START)
    host = Host(clock, script)
    world = world_of(
        settings,
        store=store or MemoryStore(),
        gateway=host,
        clock=clock,
        catalog=catalog_of(settings),
        builtin=builtin_of(settings),
        rng=Random(1),
    )
    supervisor = Supervisor(world, **facts)
    host.at_end = supervisor.stop
    return Watched(host=host, supervisor=supervisor, world=world, clock=clock)


def run(watched: Watched) -> Watched:
    """Let the daemon run until the script of listings ends."""

    async def go() -> None:
        asyncio.get_running_loop().set_default_executor(OnTheSpot())
        async with asyncio.timeout(240):
            await watched.supervisor.run()

    asyncio.run(go())
    return watched


def watch(folder: Path, script: Sequence[Turn], **facts: Any) -> Watched:
    """Make a daemon over one model and let it run."""
    return run(a_watch(some_settings(folder), script, **facts))


def a_configuration(settings: Settings, host: Host, **changes: Any) -> Configuration:
    """What another configuration leads to, with the host as its gateway."""
    configuration = Configuration(
        settings=settings,
        gateway=host,  # type: ignore[arg-type]
        catalog=catalog_of(settings),
        builtin=builtin_of(settings),
        own_refusals=(),
        channels=(),
        heartbeat=None,
        hide=Redactor(),
    )
    return replace(configuration, **changes)
