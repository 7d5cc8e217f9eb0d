"""How is an answer laid out in timed frames?

Source: openrouter-wire.md §3.1, §3.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from typing import Final, NamedTuple

from routecanary.domain.probe import Json
from routecanary.lab.plan import PlannedAnswer, speaking_seconds, token_count

COMMENT_EVERY: Final = 3.0  # s, while nothing else is sent
KEEP_ALIVE: Final = "OPENROUTER PROCESSING"
SHORTEST_PIECE, LONGEST_PIECE = 24, 72  # characters of one delta
REASONING_BEGINS: Final = 0.3  # of the time until the first text


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
    HELD = "held"  # it stays open, and silent, until the client leaves


class Frame(NamedTuple):
    """One comment, one JSON payload, a word such as [DONE], or bytes that are no event."""

    at: float
    payload: Mapping[str, Json] | None = None
    comment: str | None = None
    word: str | None = None
    raw: bytes | None = None


class Span(NamedTuple):
    start: float  # s
    length: float  # s


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    frames: tuple[Frame, ...]
    ending: EndingMode = EndingMode.CLEAN
    headers: Mapping[str, str] = field(default_factory=dict)  # besides the usual ones
    headers_at: float | None = 0.0  # s; None = the connection is left before any


def stream_of(planned: PlannedAnswer, envelope: Envelope, rng: Random) -> Stream:
    """Lay an answer out in frames: comment, role, reasoning, text in pieces, finish, usage, [DONE]."""
    frames = [
        Frame(0.0, comment=KEEP_ALIVE),
        Frame(0.0, _chunk(planned, envelope, {"role": "assistant", "content": ""})),
    ]
    at = planned.first_text
    waited = COMMENT_EVERY
    while waited < at:
        frames.append(Frame(waited, comment=KEEP_ALIVE))
        waited += COMMENT_EVERY
    thinking = Span(at * REASONING_BEGINS, at * (1 - REASONING_BEGINS))
    frames += _timed(planned, envelope, "reasoning", thinking, rng)
    frames.sort(key=lambda frame: frame.at)
    frames += _timed(planned, envelope, "content", Span(at, speaking_seconds(planned)), rng)
    at += speaking_seconds(planned)
    if planned.refusal is not None:
        frames.append(Frame(at, _chunk(planned, envelope, {"content": None, "refusal": planned.refusal})))
    frames.append(Frame(at, _chunk(planned, envelope, {"content": ""}, planned)))
    last: dict[str, Json] = {**_head(planned, envelope), "choices": [], "usage": usage_of(planned, envelope)}
    if envelope.metadata is not None:
        last["openrouter_metadata"] = envelope.metadata
    frames.append(Frame(at, last))
    frames.append(Frame(at, word="[DONE]"))
    return Stream(frames=tuple(frames), headers=planned.headers)


def _timed(
    planned: PlannedAnswer, envelope: Envelope, channel: str, span: Span, rng: Random
) -> Iterator[Frame]:
    """Spread a text over its time, piece by piece; reasoning comes beside an empty content."""
    text = planned.text if channel == "content" else planned.reasoning
    done, total = 0, max(1, len(text))
    for piece in _pieces(text, rng):
        delta = {"content": piece} if channel == "content" else {"content": "", channel: piece}
        yield Frame(span.start + span.length * done / total, _chunk(planned, envelope, delta))
        done += len(piece)


def _pieces(text: str, rng: Random) -> Iterator[str]:
    at = 0
    while at < len(text):
        size = rng.randint(SHORTEST_PIECE, LONGEST_PIECE)
        yield text[at : at + size]
        at += size


def _head(planned: PlannedAnswer, envelope: Envelope) -> dict[str, Json]:
    head: dict[str, Json] = {
        "id": envelope.id,
        "object": "chat.completion.chunk",
        "created": envelope.created,
        "model": planned.model,
    }
    return head if planned.provider is None else {**head, "provider": planned.provider}


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
    """State tokens and cost in USD; reasoning is part of the completion."""
    reasoning = token_count(planned.reasoning)
    true_count = token_count(planned.text) + token_count(planned.refusal or "") + reasoning
    completion = true_count if planned.stated_tokens is None else planned.stated_tokens
    prompt = envelope.prompt_tokens + planned.hidden_tokens
    cost = prompt * envelope.price_prompt + completion * envelope.price_completion
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "cost": round(cost, 9),
        "is_byok": False,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


def whole_body(planned: PlannedAnswer, envelope: Envelope) -> dict[str, Json]:
    """Make the body of an answer that comes as one document."""
    message: dict[str, Json] = {
        "role": "assistant",
        "content": planned.text or None,
        "refusal": planned.refusal,
    }
    if planned.reasoning:
        message["reasoning"] = planned.reasoning
    body = {
        **_head(planned, envelope),
        "object": "chat.completion",
        "system_fingerprint": None,  # the official SDK takes no answer without it
        "choices": [
            {
                "index": 0,
                "message": message,
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
