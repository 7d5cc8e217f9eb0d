"""Small makers of transcripts: what a host sent, as the client would have captured it."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from routecanary.domain.answer import Answer, read_answer
from routecanary.domain.asked import Asked, asked_of
from routecanary.domain.names import ContractName, parse_locale
from routecanary.domain.probe import Json, ProbeKind, Scene
from routecanary.domain.transcript import Chunk, Ending, EndingKind, Transcript
from routecanary.domain.verdict import Verdict
from routecanary.judge.examine import judge_transcript

MODEL = "lab/lark-70b"
SSE = (("content-type", "text/event-stream"),)
JSON = (("content-type", "application/json"),)


def a_frame(delta: Json = None, finish: str | None = None, **top: Json) -> dict[str, Json]:
    """Make one chunk of a healthy stream; `top` replaces or adds members."""
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": finish}
    frame: dict[str, Json] = {"id": "gen-1", "model": MODEL, "provider": "HostA", "choices": [choice]}
    return {**frame, **top}


def as_event(frame: Json) -> bytes:
    return b"data: " + json.dumps(frame).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


def a_request(prompt: str = "Write a scene.", **members: Json) -> dict[str, Json]:
    """Make a pinned request; a member of None is left out."""
    request: dict[str, Json] = {
        "model": MODEL,
        "stream": True,
        "max_tokens": 900,
        "messages": [{"role": "user", "content": prompt}],
        "provider": {"order": ["HostA"], "allow_fallbacks": False},
    }
    request.update(members)
    return {key: value for key, value in request.items() if value is not None}


def a_transcript(
    *reads: bytes,
    kind: ProbeKind = ProbeKind.CHAT,
    locale: str | None = "en",
    request: dict[str, Json] | None = None,
    status: int | None = 200,
    headers: tuple[tuple[str, str], ...] = SSE,
    first_ms: float = 500.0,
    step_ms: float = 10.0,
    ending: EndingKind = EndingKind.EOF,
    ended_ms: float | None = None,
    opening: str | None = None,
    min_words: int | None = None,
    providers: frozenset[str] = frozenset(),
    models: frozenset[str] = frozenset(),
    started_at: datetime | None = None,
    lag_ms: float = 0.0,
) -> Transcript:
    """Make a transcript of these reads, the first at `first_ms` and the others `step_ms` apart."""
    scene = None
    if opening is not None or min_words is not None:
        scene = Scene(id="test", prompt="", opening=opening, min_words=min_words)
    chunks = tuple(Chunk(first_ms + step_ms * place, data) for place, data in enumerate(reads))
    last = chunks[-1].at_ms if chunks else first_ms
    return Transcript(
        model=None,
        route=None,
        kind=kind,
        locale=None if locale is None else parse_locale(locale),
        request=a_request() if request is None else request,
        status=status,
        headers=headers,
        chunks=chunks,
        ending=Ending(kind=ending, at_ms=last + 5 if ended_ms is None else ended_ms),
        scene=scene,
        provider_names=providers,
        accepted_models=models,
        started_at=started_at,
        lag_ms=lag_ms,
    )


def a_stream(
    *pieces: str,
    finish: str | None = "stop",
    done: bool = True,
    tokens: int | None = None,
    reasoning: str = "",
    **transcript: Any,
) -> Transcript:
    """Make a stream whose deltas carry these pieces of text, one read each."""
    reads = [as_event(a_frame({"reasoning": reasoning}))] if reasoning else []
    reads += [as_event(a_frame({"content": piece})) for piece in pieces]
    if finish is not None:
        reads.append(as_event(a_frame(finish=finish)))
    if tokens is not None:
        reads.append(as_event(a_frame(choices=[], usage={"completion_tokens": tokens})))
    if done:
        reads.append(DONE)
    return a_transcript(*reads, **transcript)


def a_document(body: Json, *, status: int = 200, at_ms: float = 900.0, **transcript: Any) -> Transcript:
    """Make an answer that is one JSON body, or any other body given as bytes."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = transcript.pop("headers", JSON)
    return a_transcript(data, status=status, first_ms=at_ms, headers=headers, **transcript)


def a_message(content: Json, finish: str | None = "stop", **message: Json) -> dict[str, Json]:
    """Make the body of a whole answer."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content, **message},
        "finish_reason": finish,
    }
    return {"id": "gen-1", "model": MODEL, "provider": "HostA", "choices": [choice]}


def an_answer(*pieces: str, **stream: Any) -> Answer:
    return read_answer(a_stream(*pieces, **stream))


def an_ask(prompt: str = "Write a scene.", *, opening: str | None = None, **members: Json) -> Asked:
    return asked_of(a_transcript(request=a_request(prompt, **members), opening=opening))


def verdict_of(contract: ContractName, transcript: Transcript) -> Verdict:
    return judge_transcript(transcript)[contract]


def said(contract: ContractName, transcript: Transcript) -> str:
    """Judge a transcript by one contract and print the verdict: `fail:empty`, `pass`."""
    return str(verdict_of(contract, transcript))
