"""What the daemon tells of itself: a sign of life after each round, and models that had none for too long."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime, timedelta
from pathlib import Path

from routecanary.daemon.supervisor import Supervisor
from routecanary.domain.names import ModelId
from routecanary.domain.operation import RoundOverdue, RoundReturned, operation_from_json
from routecanary.domain.outbox import Delivery
from routecanary.domain.redaction import Redactor
from routecanary.domain.route import Listing
from routecanary.errors import DeliveryError, GatewayError
from routecanary.rounds.world import World
from tests.virtual_time import VirtualClock
from tests.watched import START, Host, a_watch, run, some_settings

FIRST, SECOND = ModelId("acme/chat-2"), ModelId("acme/chat-3")
HOOK = "webhooks.ops"


class Flaky(Host):
    """A gateway that has no listing of some models for some time."""

    def __init__(self, clock: VirtualClock, *, ends: datetime, down: dict[ModelId, tuple[str, str]]) -> None:
        super().__init__(clock, [])
        self._ends = ends
        self._down = down

    async def listing(self, model: ModelId) -> Listing:
        now = self._clock.now()
        if now >= self._ends:
            self.at_end()
            await asyncio.Event().wait()
        begins, ends = self._down.get(model, ("", ""))
        if begins <= f"{now:%H:%M}" < ends:
            raise GatewayError("GET /x: trouble")
        self._script = [None]
        return await super().listing(model)


class Pulse:
    """A heartbeat that remembers when it beat."""

    def __init__(self, clock: VirtualClock, *, heard: bool = True) -> None:
        self._clock = clock
        self._heard = heard
        self.at: list[str] = []

    async def beat(self) -> None:
        self.at.append(f"{self._clock.now():%H:%M}")
        if not self._heard:
            raise DeliveryError("answered 404")


class Hook:
    """A channel that takes everything."""

    name = HOOK

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def deliver(self, delivery: Delivery) -> None:
        self.texts.append(json.loads(delivery.body)["text"].split("\n")[0])


def play(
    folder: Path, down: dict[ModelId, tuple[str, str]], *, models: int = 1, heard: bool = True
) -> tuple[World, Supervisor, Pulse, Hook]:
    """Let the daemon run for two and a half hours."""
    clock = VirtualClock(START)
    pulse, hook = Pulse(clock, heard=heard), Hook()
    watched = a_watch(some_settings(folder, models=models), [], clock=clock, channels=[hook], heartbeat=pulse)
    world, supervisor = watched.world, watched.supervisor
    host = Flaky(clock, ends=START + timedelta(hours=2, minutes=30), down=down)
    host.at_end = supervisor.stop
    world.gateway = host
    world.ledger.replace_channels([HOOK], Redactor())
    run(watched)
    return world, supervisor, pulse, hook


def said(world: World) -> list[tuple[str, str]]:
    kinds = {"round_overdue": RoundOverdue, "round_returned": RoundReturned}
    events = [operation_from_json(stored.body) for stored in world.store.read(kinds=set(kinds))]
    return [(type(event).__name__, f"{event.at:%H:%M}") for event in events]


def test_every_round_is_a_sign_of_life(tmp_path: Path) -> None:
    """One ping a round; one that nobody hears is counted, and the rounds go on."""
    world, supervisor, pulse, hook = play(tmp_path, {}, heard=False)
    assert pulse.at[:3] == ["10:47", "11:00", "11:30"]
    assert len(pulse.at) == supervisor.counts["finished"] == supervisor.counts["unheard"]
    assert said(world) == []
    assert hook.texts == [f"{FIRST}: no route could be asked: the gateway or the account is down"]


def test_a_model_without_rounds_is_told_of_and_the_ping_stays_away(tmp_path: Path) -> None:
    """The gateway has no listing from 11:15 to 12:15: overdue two periods after the last round, once."""
    world, _, pulse, hook = play(tmp_path, {FIRST: ("11:15", "12:15")})
    assert said(world) == [("RoundOverdue", "12:00"), ("RoundReturned", "12:30")]
    assert pulse.at == ["10:47", "11:00", "12:30", "13:00"]
    assert [text for text in hook.texts if "round" in text] == [
        f"{FIRST}: no round has been made for too long; the last one at 2026-01-05T11:00:00Z",
        f"{FIRST}: rounds are made again; began at 2026-01-05T12:00:05Z",
    ]


def test_one_model_that_is_overdue_keeps_the_ping_away(tmp_path: Path) -> None:
    """The others' rounds must not hide it."""
    _, _, pulse, _ = play(tmp_path, {SECOND: ("11:15", "16:00")}, models=2)
    assert max(pulse.at) == "12:00"
