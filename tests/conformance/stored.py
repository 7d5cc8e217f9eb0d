"""Small functions that make what a store keeps."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from routecanary.domain.generation import Generation, Source
from routecanary.domain.log import StoredDraft
from routecanary.domain.names import LANGUAGE, ContractName, Locale, ModelId, RouteId
from routecanary.domain.probe import ProbeKind, Scene
from routecanary.domain.transcript import Chunk, Ending, EndingKind, Transcript
from routecanary.domain.verdict import Verdict, VerdictKind

MODEL = ModelId("acme/llama-70b")
OTHER = ModelId("acme/mini")
ROUTE = RouteId("alpha/fp8")
NOON = datetime(2026, 11, 29, 12, 0, 0, 250, tzinfo=UTC)


def a_draft(kind: str = "round_closed", model: ModelId | None = MODEL, **body: Any) -> StoredDraft:
    return StoredDraft(kind=kind, at=NOON, model=model, body=body)


def a_transcript(**changes: Any) -> Transcript:
    """A short answer in Portuguese, cut in the middle of a character."""
    values: dict[str, Any] = {
        "model": MODEL,
        "route": ROUTE,
        "kind": ProbeKind.CHAT,
        "locale": Locale("pt-BR"),
        "request": {
            "model": MODEL,
            "messages": [{"role": "user", "content": "Em São Paulo …"}],
            "stream": True,
        },
        "status": 200,
        "headers": (("content-type", "text/event-stream"), ("x-twice", "1"), ("x-twice", "2")),
        "chunks": (
            Chunk(50.25, b'data: {"choices":[{"delta":{"content":"*\xc3'),
            Chunk(50.5, b'\xa9*"}}]}\n\n'),
        ),
        "ending": Ending(kind=EndingKind.RESET, at_ms=1001.125, detail="connection reset"),
        "provider_names": frozenset({"Alpha", "Alpha AI", "ALPHA"}),
        "accepted_models": frozenset({MODEL}),
        "scene": Scene(
            id="market", prompt="Em {place} …", opening="*", names=("Ana", "Rui"), object="lanterna"
        ),
        "spec_version": 3,
        "attempt": 1,
        "started_at": NOON,
        "connect_ms": 12.5,
        "headers_ms": 48.0,
        "lag_ms": 0.75,
    }
    return Transcript(**values | changes)


def a_generation(key: str = "gen-1", minutes: float = 0, **changes: Any) -> Generation:
    """One of which nothing is known but who told of it, when."""
    values: dict[str, Any] = {
        "key": key,
        "source": Source.HOOK,
        "model": MODEL,
        "started_at": NOON + timedelta(minutes=minutes),
    }
    return Generation(**values | changes)


def a_whole_generation(**changes: Any) -> Generation:
    """One of which everything is known."""
    values: dict[str, Any] = {
        "id": "gen-1",
        "provider": "Alpha AI",
        "candidates": frozenset({ROUTE, RouteId("alpha")}),
        "carried": frozenset({RouteId("alpha")}),
        "unchanged": "no_snapshot",
        "list_written_at": NOON - timedelta(seconds=4),
        "ttft_ms": 250,
        "duration_ms": 1900,
        "status": 200,
        "finish_reason": "stop",
        "empty": False,
        "prompt_tokens": 812,
        "completion_tokens": 0,
        "conversation": "c" * 64,
        "locale": Locale("pt-BR"),
    }
    return a_generation(**values | changes)


def a_verdict(
    kind: VerdictKind = VerdictKind.FAIL, contract: ContractName = LANGUAGE, **changes: Any
) -> Mapping[ContractName, Verdict]:
    return {contract: Verdict(contract=contract, kind=kind, **changes)}
