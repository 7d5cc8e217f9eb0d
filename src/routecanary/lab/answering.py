"""How does one route answer one request? Everything up to the bytes, without a socket or a clock."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Final

from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.probe import ProbeKind
from routecanary.lab.answers import draft_scene, plain_reply, speak, with_afterword
from routecanary.lab.document import document_for, written
from routecanary.lab.host import LabModel, LabRoute
from routecanary.lab.phrases import book_for
from routecanary.lab.plan import PlannedAnswer, cut_to_limits, token_count
from routecanary.lab.reading import Asked
from routecanary.lab.request import ChatRequest
from routecanary.lab.stream import Envelope, stream_of
from routecanary.lab.strike import Hand, strikes_on
from routecanary.lab.wire import JSON, Wire, document_wire, refusal_wire, wire_of

SLOWEST_HEALTHY: Final = 6.0  # s to the first text: chance alone never makes a healthy route fail latency


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Which answer this is; it decides every draw, whatever other routes are asked meanwhile."""

    seed: int
    model: ModelId
    route: RouteId
    kind: ProbeKind
    number: int  # of this route's answers of this kind, 0-based

    def chance(self, purpose: str) -> Random:
        """Make the generator for one purpose, so that a draw added to one moves no other."""
        return Random(f"{self.seed}|{self.model}|{self.route}|{self.kind}|{self.number}|{purpose}")  # noqa: S311 - a lab

    @property
    def generation(self) -> str:
        """Name the answer, as the gateway does."""
        return f"gen-{self.chance('id').getrandbits(96):024x}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An answer that is ready to be sent."""

    turn: Turn
    route: LabRoute
    planned: PlannedAnswer
    envelope: Envelope
    hand: Hand
    planted: bool

    @property
    def status(self) -> int:
        """The HTTP status of the answer."""
        return 200 if self.planned.problem is None else self.planned.problem.status

    def wire(self, *, streamed: bool = True, dress: Callable[[Wire], Wire] = lambda wire: wire) -> Wire:
        """Encode the answer, with what strikes it on the way.

        Args:
            streamed: The request asks for a stream.
            dress: Puts what is encoded, one frame a piece, into the shape of the gateway's wire.
        """
        planned = self.planned
        if planned.problem is not None:
            return dress(
                refusal_wire(planned.problem, at=planned.first_text, metadata=self.envelope.metadata)
            )
        if not streamed if planned.whole is None else planned.whole:
            return self._struck(dress(document_wire(planned, self.envelope)), dress)
        stream = self.hand.on_stream(stream_of(planned, self.envelope, self.turn.chance("pieces")))
        return self._struck(dress(wire_of(stream)), dress)

    def _struck(self, wire: Wire, dress: Callable[[Wire], Wire]) -> Wire:
        struck = self.hand.on_wire(wire)
        whole = struck is not wire and struck.headers.get("Content-Type") == JSON and len(struck.pieces) == 1
        return dress(struck) if whole else struck  # a document in place of what was dressed


def prepare(
    *,
    model: LabModel,
    route: LabRoute,
    request: ChatRequest,
    asked: Asked,
    turn: Turn,
    now: datetime,
    elapsed: timedelta,
    cold: bool = True,
) -> Prepared:
    """Plan a route's answer, spoil it as the scenario says, and keep it within the request's limits.

    Args:
        cold: The route has not seen how the prompt begins.
    """
    chance = turn.chance("faults")
    strikes = strikes_on(route, asked, elapsed, chance, number=turn.number, cold=cold)
    others = tuple(sorted({other.provider for other in model.routes} - {route.provider}))
    hand = Hand(strikes=strikes, request=request, others=others)
    sound = _sound_answer(model, route, asked, turn)
    planned = cut_to_limits(hand.on_answer(sound), request.stop, request.max_tokens)
    return Prepared(
        turn=turn,
        route=route,
        planned=planned,
        envelope=Envelope(
            id=turn.generation,
            created=int(now.timestamp()),
            prompt_tokens=token_count(request.prompt),
            price_prompt=float(route.price_prompt),
            price_completion=float(route.price_completion),
        ),
        hand=hand,
        planted=any(strike.planted for strike in strikes),
    )


def _sound_answer(model: LabModel, route: LabRoute, asked: Asked, turn: Turn) -> PlannedAnswer:
    rng = turn.chance("answer")
    draft, document = None, None
    if asked.kind is ProbeKind.STRUCTURED and _keeps_format(route):
        document = document_for(asked.schema, book_for(asked.locale), rng)
        text = written(document)
    elif asked.kind in (ProbeKind.CHAT, ProbeKind.FILTER):
        draft = draft_scene(asked, rng)
        book = book_for(asked.locale)
        text = speak(draft, book)
        if asked.mark is not None:
            text = with_afterword(text, asked.mark, book, turn.chance("afterword"))
    else:
        text = plain_reply(asked, rng)
    pace = route.pace
    drawn = pace.first_text_seconds * math.exp(turn.chance("pace").gauss(0, pace.first_text_spread))
    return PlannedAnswer(
        asked=asked,
        provider=route.provider,
        model=model.dated,
        text=text,
        draft=draft,
        document=document,
        first_text=min(drawn, max(SLOWEST_HEALTHY, pace.first_text_seconds)),
        tokens_per_second=pace.tokens_per_second,
        answer_seconds=pace.answer_seconds,
    )


def _keeps_format(route: LabRoute) -> bool:
    """A route that declares neither parameter never sees the format: the gateway drops it silently."""
    return bool({"response_format", "structured_outputs"} & set(route.parameters))
