"""How does an answer become bytes?

Three values, each made from the one before: the planned answer (what will be said, by whom, how soon), the
stream (timed frames), the wire (timed bytes). A fault may change any of them; the gateway only sends.

Times are seconds since the request arrived, at the pace of the scenario.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random
from typing import Final, NamedTuple

from routecanary.domain.probe import Json
from routecanary.lab.answers import Draft
from routecanary.lab.reading import Asked
from routecanary.lab.refusal import Refusal

CHARACTERS_A_TOKEN: Final = 3
COMMENT_EVERY: Final = 3.0  # s, while nothing else is sent
_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
SHORTEST_PIECE, LONGEST_PIECE = 24, 72  # characters of one delta


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedAnswer:
    """What one route will answer to one request."""

    asked: Asked
    provider: str  # display name that the answer will carry
    model: str  # dated slug that the answer will carry
    text: str
    draft: Draft | None = None  # of a scene
    document: Json = None  # of a structured answer
    refusal: str | None = None  # the delta's own field
    heeds_stop: bool = True
    finish: str = "stop"
    native_finish: str = "eos"
    first_text: float = 0.4  # s
    tokens_per_second: float = 90.0
    answer_seconds: float | None = None  # s to the last byte; None = by tokens_per_second
    problem: Refusal | None = None  # an HTTP error of the route in place of the stream


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """What every frame of one answer carries, and what the request wants at its end."""

    id: str
    created: int  # s since 1970, policy time
    prompt_tokens: int
    price_prompt: float  # USD per token
    price_completion: float  # USD per token
    metadata: Json = None  # router metadata for the last chunk; None = not asked for


class EndingMode(StrEnum):
    """How the connection is left."""

    CLEAN = "clean"
    RESET = "reset"


class Frame(NamedTuple):
    """One comment, one JSON payload, or a word such as [DONE]."""

    at: float
    payload: Mapping[str, Json] | None = None
    comment: str | None = None
    word: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    frames: tuple[Frame, ...]
    ending: EndingMode = EndingMode.CLEAN


class Piece(NamedTuple):
    at: float
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    pieces: tuple[Piece, ...]
    ending: EndingMode = EndingMode.CLEAN


def token_count(text: str) -> int:
    """Estimate tokens: one for three characters, begun ones counted."""
    return -(-len(text) // CHARACTERS_A_TOKEN)


def cut_to_limits(planned: PlannedAnswer, stop: tuple[str, ...], max_tokens: int | None) -> PlannedAnswer:
    """Honour `stop` and `max_tokens`, as a sound engine does; one with a fault may run past `stop`."""
    text, finish = planned.text, planned.finish
    places = [place for word in stop if (place := text.find(word)) >= 0]
    if places and planned.heeds_stop:
        text = text[: min(places)]
    if max_tokens is not None and token_count(text) > max_tokens:
        text = text[: max_tokens * CHARACTERS_A_TOKEN]
        finish = "length"
    if text is planned.text and finish == planned.finish:
        return planned
    native = "length" if finish == "length" else "stop"
    return replace(planned, text=text, finish=finish, native_finish=native)


def stream_of(planned: PlannedAnswer, envelope: Envelope, rng: Random) -> Stream:
    """Lay an answer out in frames: comment, role, text in pieces, finish, usage, [DONE].

    Source: openrouter-wire.md §3.1, §3.2.
    """
    frames = [
        Frame(0.0, comment="OPENROUTER PROCESSING"),
        Frame(0.0, _chunk(planned, envelope, {"role": "assistant", "content": ""})),
    ]
    at = planned.first_text
    waited = COMMENT_EVERY
    while waited < at:
        frames.append(Frame(waited, comment="OPENROUTER PROCESSING"))
        waited += COMMENT_EVERY
    duration = _duration(planned)
    done, total = 0, max(1, len(planned.text))
    for piece in _pieces(planned.text, rng):
        frames.append(Frame(at + duration * done / total, _chunk(planned, envelope, {"content": piece})))
        done += len(piece)
    at += duration
    if planned.refusal is not None:
        frames.append(Frame(at, _chunk(planned, envelope, {"content": None, "refusal": planned.refusal})))
    frames.append(Frame(at, _chunk(planned, envelope, {"content": ""}, planned)))
    last: dict[str, Json] = {**_head(planned, envelope), "choices": [], "usage": usage_of(planned, envelope)}
    if envelope.metadata is not None:
        last["openrouter_metadata"] = envelope.metadata
    frames.append(Frame(at, last))
    frames.append(Frame(at, word="[DONE]"))
    return Stream(frames=tuple(frames))


def _duration(planned: PlannedAnswer) -> float:
    if planned.answer_seconds is not None:
        return max(0.0, planned.answer_seconds - planned.first_text)
    return token_count(planned.text) / planned.tokens_per_second


def _pieces(text: str, rng: Random) -> Iterator[str]:
    at = 0
    while at < len(text):
        size = rng.randint(SHORTEST_PIECE, LONGEST_PIECE)
        yield text[at : at + size]
        at += size


def _head(planned: PlannedAnswer, envelope: Envelope) -> dict[str, Json]:
    return {
        "id": envelope.id,
        "object": "chat.completion.chunk",
        "created": envelope.created,
        "model": planned.model,
        "provider": planned.provider,
    }


def _chunk(
    planned: PlannedAnswer, envelope: Envelope, delta: Json, finished: PlannedAnswer | None = None
) -> dict[str, Json]:
    choice = {
        "index": 0,
        "delta": delta,
        "finish_reason": finished.finish if finished else None,
        "native_finish_reason": finished.native_finish if finished else None,
        "logprobs": None,
    }
    return {**_head(planned, envelope), "choices": [choice]}


def usage_of(planned: PlannedAnswer, envelope: Envelope) -> dict[str, Json]:
    """State tokens and cost in USD."""
    completion = token_count(planned.text) + token_count(planned.refusal or "")
    cost = envelope.prompt_tokens * envelope.price_prompt + completion * envelope.price_completion
    return {
        "prompt_tokens": envelope.prompt_tokens,
        "completion_tokens": completion,
        "total_tokens": envelope.prompt_tokens + completion,
        "cost": round(cost, 9),
        "is_byok": False,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def whole_body(planned: PlannedAnswer, envelope: Envelope) -> dict[str, Json]:
    """Make the body of an answer that was not asked for as a stream."""
    body = {
        **_head(planned, envelope),
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": planned.text or None,
                    "refusal": planned.refusal,
                },
                "finish_reason": planned.finish,
                "native_finish_reason": planned.native_finish,
                "logprobs": None,
            }
        ],
        "usage": usage_of(planned, envelope),
    }
    if envelope.metadata is not None:
        body["openrouter_metadata"] = envelope.metadata
    return body


def answer_seconds(planned: PlannedAnswer) -> float:
    """Time to the last byte, s."""
    return planned.first_text + _duration(planned)


def wire_of(stream: Stream) -> Wire:
    """Encode frames as an event stream, one piece a frame."""
    return Wire(
        pieces=tuple(Piece(frame.at, _encoded(frame)) for frame in stream.frames), ending=stream.ending
    )


def _encoded(frame: Frame) -> bytes:
    if frame.comment is not None:
        return f": {frame.comment}\n\n".encode()
    if frame.word is not None:
        return f"data: {frame.word}\n\n".encode()
    text = _JSON.encode(frame.payload)
    # a lone surrogate, which a fault may want, can only travel as an escape
    return b"data: " + text.encode("utf-8", "backslashreplace") + b"\n\n"
