"""The lab without sockets, for the daemon in virtual time: its desk answers, and whole days pass at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from typing import Any

from routecanary.demo.unwired import AT_ONCE, UnwiredGateway, captured
from routecanary.domain.names import ModelId
from routecanary.domain.outbox import Delivery
from routecanary.domain.probe import Probe
from routecanary.domain.route import Listing
from routecanary.domain.transcript import Transcript
from routecanary.errors import DeliveryError
from routecanary.lab.refusal import Refusal
from routecanary.lab.scenario import Scenario
from routecanary.lab.wire import refusal_wire
from tests.virtual_time import VirtualClock


class Trouble(Enum):
    """What is wrong with the gateway as a whole."""

    SERVER_ERRORS = "every question is answered 502"
    EMPTY_LISTING = "no route is listed"


class DeskGateway(UnwiredGateway):
    """A gateway in virtual time, in which answers last. `deed` is done at the next question."""

    def __init__(self, scenario: Scenario, clock: VirtualClock, *, seed: int = 1) -> None:
        super().__init__(scenario, clock, seed=seed)
        self.trouble: Trouble | None = None
        self.deed: Callable[[], None] | None = None
        self._clock = clock

    async def listing(self, model: ModelId) -> Listing:
        listed = await super().listing(model)
        return replace(listed, routes=()) if self.trouble is Trouble.EMPTY_LISTING else listed

    async def ask(self, probe: Probe) -> Transcript:
        deed, self.deed = self.deed, None
        if deed is not None:
            deed()
        if self.trouble is Trouble.SERVER_ERRORS:
            page = "<html><body>502 Bad Gateway</body></html>"
            wire = refusal_wire(Refusal(status=502, message="Bad Gateway", page=page), at=AT_ONCE)
            transcript = captured(probe, wire, at=self._clock.now())
        else:
            transcript = await super().ask(probe)
        await self._clock.sleep(transcript.ending.at_ms / 1000)
        return transcript


class Hearer:
    """A channel that remembers what it took, and is deaf while `deaf`."""

    deaf = False

    def __init__(self, name: str) -> None:
        self.name = name
        self.heard: list[Any] = []

    async def deliver(self, delivery: Delivery) -> None:
        if self.deaf:
            raise DeliveryError("deaf")
        self.heard.append(json.loads(delivery.body))

    def kinds(self, *, phase: str | None = None) -> list[str]:
        """List the kinds of all notices heard, in their order."""
        return [
            notice["kind"]
            for message in self.heard
            for notice in message["notices"]
            if phase is None or notice["phase"] == phase
        ]
