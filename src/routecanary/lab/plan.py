"""What will one route answer to one request: said by whom, in which words, how soon?

The first of the three values that an answer goes through: the plan, the stream (`stream.py`: timed frames),
the wire (`wire.py`: timed bytes). A fault may change any of them; the gateway only sends.

Times are seconds since the request arrived, at the pace of the scenario.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from routecanary.domain.probe import Json
from routecanary.lab.answers import Draft
from routecanary.lab.reading import Asked
from routecanary.lab.refusal import Refusal

CHARACTERS_A_TOKEN: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedAnswer:
    """What one route will answer to one request."""

    asked: Asked
    provider: str | None  # display name that the answer will carry; None = none
    model: str  # dated slug that the answer will carry
    text: str
    draft: Draft | None = None  # of a scene
    document: Json = None  # of a structured answer
    reasoning: str = ""  # in its own field, before the text
    refusal: str | None = None  # the delta's own field
    heeds_stop: bool = True
    heeds_limit: bool = True
    finish: str | None = "stop"
    native_finish: str | None = "eos"
    first_text: float = 0.4  # s
    tokens_per_second: float = 90.0
    answer_seconds: float | None = None  # s to the last byte; None = by tokens_per_second
    hidden_tokens: int = 0  # of a prompt that the host puts in front of the request's own
    stated_tokens: int | None = None  # that the usage says the answer took; None = the true count
    whole: bool | None = None  # comes as one document, or as a stream; None = as the request wants it
    headers: Mapping[str, str] = field(default_factory=dict)  # of the response, besides the usual ones
    problem: Refusal | None = None  # an HTTP error of the route in place of the answer


def token_count(text: str) -> int:
    """Estimate tokens: one for three characters, begun ones counted."""
    return -(-len(text) // CHARACTERS_A_TOKEN)


def cut_to_limits(planned: PlannedAnswer, stop: tuple[str, ...], max_tokens: int | None) -> PlannedAnswer:
    """Honour `stop` and `max_tokens`, as a sound engine does; one with a fault may run past either."""
    text, finish = planned.text, planned.finish
    places = [place for word in stop if (place := text.find(word)) >= 0]
    if places and planned.heeds_stop:
        text = text[: min(places)]
    if max_tokens is not None and planned.heeds_limit and token_count(text) > max_tokens:
        text = text[: max_tokens * CHARACTERS_A_TOKEN]
        finish = "length"
    if text is planned.text and finish == planned.finish:
        return planned
    native = "length" if finish == "length" else "stop"
    return replace(planned, text=text, finish=finish, native_finish=native)


def speaking_seconds(planned: PlannedAnswer) -> float:
    """Time from the first text to the last byte, s."""
    if planned.answer_seconds is not None:
        return max(0.0, planned.answer_seconds - planned.first_text)
    return token_count(planned.text) / planned.tokens_per_second
