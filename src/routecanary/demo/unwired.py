"""What would a client capture of the lab's answers, if there were sockets?

The lab's desk answers, and the client's own recorder, with its own deadlines, writes down the timed bytes: no
socket, no waiting. Hours of rounds pass in seconds. What only a socket can show is tested on real ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import groupby
from typing import Final

from routecanary.clock import Clock
from routecanary.discover.parse import listing_from_json
from routecanary.domain.names import ModelId
from routecanary.domain.probe import Probe
from routecanary.domain.route import Listing
from routecanary.domain.transcript import EndingKind, Transcript
from routecanary.lab import listing
from routecanary.lab.desk import Desk
from routecanary.lab.refusal import RefusedError
from routecanary.lab.request import chat_request
from routecanary.lab.scenario import Scenario
from routecanary.lab.stream import EndingMode
from routecanary.lab.wire import Piece, Wire, refusal_wire
from routecanary.probe.recorder import Deadlines, Recorder

USUAL_HEADERS: Final = {"content-type": "application/json"}
AT_ONCE: Final = 0.02  # s, until the gateway refuses by itself, or breaks a connection
AS_SHIPPED: Final = Deadlines()


class UnwiredGateway:
    """The gateway of a round, with the lab's desk behind it. An answer takes no time of the clock."""

    def __init__(
        self, scenario: Scenario, clock: Clock, *, seed: int, deadlines: Deadlines = AS_SHIPPED
    ) -> None:
        self.desk = Desk(scenario, seed=seed, now=clock.now)
        self._clock = clock
        self._deadlines = deadlines

    async def listing(self, model: ModelId) -> Listing:
        document = listing.endpoints(self.desk.model(model), self.desk.elapsed, known_key=True)
        providers = listing.providers(self.desk.scenario.models)["data"]
        return listing_from_json(
            document,
            model=model,
            at=self._clock.now(),
            providers={each["name"]: each["slug"] for each in providers},
        )

    async def ask(self, probe: Probe) -> Transcript:
        request = chat_request(json.dumps(probe.body).encode())
        try:
            prepared = self.desk.answer(request, wants_metadata=True)
        except RefusedError as error:
            wire = refusal_wire(error.refusal, at=AT_ONCE)
        else:
            wire = prepared.wire(streamed=request.stream)
            self.desk.enter(prepared, request)
        return captured(probe, wire, at=self._clock.now(), deadlines=self._deadlines)


def captured(probe: Probe, wire: Wire, *, at: datetime, deadlines: Deadlines = AS_SHIPPED) -> Transcript:
    """Record a response as the client does that has asked a probe.

    Args:
        at: When the probe was asked, UTC.
    """
    recorder = Recorder(probe, at=0.0, started_at=at, deadlines=deadlines)
    recorder.written(0.0)
    if _follow(recorder, wire):
        last = wire.pieces[-1].at if wire.pieces else wire.headers_at or AT_ONCE
        match wire.ending:
            case EndingMode.HELD:
                recorder.expire(recorder.due())
            case EndingMode.RESET:
                recorder.ended(last, EndingKind.RESET, "reset")
            case EndingMode.CLEAN if wire.headers_at is None:
                recorder.ended(last, EndingKind.RESET, "closed before an answer")
            case EndingMode.CLEAN:
                recorder.ended(last, EndingKind.EOF)
    return recorder.transcript()


def _follow(recorder: Recorder, wire: Wire) -> bool:
    """Hand headers and reads to the recorder in their order; False when it would wait no longer."""
    if wire.headers_at is not None:
        if _is_late(recorder, wire.headers_at):
            return False
        recorder.opened(wire.headers_at, wire.status, _headers(wire.headers))
    return all(not _is_late(recorder, at) and recorder.feed(at, data) for at, data in _reads(wire))


def _is_late(recorder: Recorder, at: float) -> bool:
    due = recorder.due()
    return at >= due and recorder.expire(due)


def _headers(own: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    yield from (USUAL_HEADERS | {name.lower(): value for name, value in own.items()}).items()


def _reads(wire: Wire) -> Iterator[Piece]:
    """Join what is written at once, unless it is to come apart."""
    if wire.apart:
        yield from wire.pieces
        return
    for at, pieces in groupby(wire.pieces, key=lambda piece: piece.at):
        yield Piece(at, b"".join(piece.data for piece in pieces))
