"""Small functions that make what a store keeps."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

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


def a_verdict(
    kind: VerdictKind = VerdictKind.FAIL, contract: ContractName = LANGUAGE, **changes: Any
) -> Mapping[ContractName, Verdict]:
    return {contract: Verdict(contract=contract, kind=kind, **changes)}
