"""The lab without sockets, for the daemon in virtual time: its desk answers, and whole days pass at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import Enum
from typing import Any

from routecanary.discover.parse import listing_from_json
from routecanary.domain.names import ModelId
from routecanary.domain.outbox import Delivery
from routecanary.domain.probe import Probe
from routecanary.domain.route import Listing
from routecanary.domain.transcript import Chunk, Ending, EndingKind, Transcript
from routecanary.errors import DeliveryError
from routecanary.lab import listing
from routecanary.lab.desk import Desk
from routecanary.lab.plan import EndingMode
from routecanary.lab.refusal import RefusedError
from routecanary.lab.request import chat_request
from routecanary.lab.scenario import Scenario
from tests.virtual_time import VirtualClock


class Trouble(Enum):
    """What is wrong with the gateway as a whole."""

    SERVER_ERRORS = "every question is answered 502"
    EMPTY_LISTING = "no route is listed"


class DeskGateway:
    """A gateway in virtual time. `deed` is done at the next question."""

    def __init__(self, scenario: Scenario, clock: VirtualClock, *, seed: int = 1) -> None:
        self.desk = Desk(scenario, seed=seed, now=clock.now)
        self.trouble: Trouble | None = None
        self.deed: Callable[[], None] | None = None
        self._clock = clock

    async def listing(self, model: ModelId) -> Listing:
        document = listing.endpoints(self.desk.model(model), self.desk.elapsed, known_key=True)
        if self.trouble is Trouble.EMPTY_LISTING:
            document["data"]["endpoints"] = []
        return listing_from_json(document, model=model, at=self._clock.now())

    async def ask(self, probe: Probe) -> Transcript:
        deed, self.deed = self.deed, None
        if deed is not None:
            deed()
        if self.trouble is Trouble.SERVER_ERRORS:
            page = b"<html><body>502 Bad Gateway</body></html>"
            return await self._whole(probe, 502, page, content_type="text/html")
        request = chat_request(json.dumps(probe.body).encode())
        try:
            prepared = self.desk.answer(request, wants_metadata=True)
        except RefusedError as error:
            return await self._whole(probe, error.refusal.status, json.dumps(error.refusal.body()).encode())
        self.desk.enter(prepared, request)
        if prepared.planned.problem is not None:
            problem = prepared.planned.problem
            return await self._whole(probe, problem.status, json.dumps(problem.body()).encode())
        wire = prepared.wire()
        chunks = tuple(Chunk(piece.at * 1000, piece.data) for piece in wire.pieces)
        ending = EndingKind.EOF if wire.ending is EndingMode.CLEAN else EndingKind.RESET
        return await self._transcript(probe, 200, chunks, ending, content_type="text/event-stream")

    async def _whole(
        self, probe: Probe, status: int, body: bytes, *, content_type: str = "application/json"
    ) -> Transcript:
        return await self._transcript(
            probe, status, (Chunk(50.0, body),), EndingKind.EOF, content_type=content_type
        )

    async def _transcript(
        self, probe: Probe, status: int, chunks: tuple[Chunk, ...], ending: EndingKind, *, content_type: str
    ) -> Transcript:
        started_at = self._clock.now()
        end = chunks[-1].at_ms
        await self._clock.sleep(end / 1000)
        return Transcript(
            model=probe.model,
            route=probe.route,
            kind=probe.kind,
            locale=probe.locale,
            request=probe.body,
            status=status,
            headers=(("content-type", content_type),),
            chunks=chunks,
            ending=Ending(kind=ending, at_ms=end),
            provider_names=probe.provider_names,
            accepted_models=probe.accepted_models,
            scene=probe.scene,
            spec_version=probe.spec_version,
            attempt=probe.attempt,
            started_at=started_at,
            connect_ms=1.0,
            headers_ms=5.0,
        )


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
