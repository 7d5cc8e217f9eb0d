"""What is planted to see whether a judge still sees? An answer, and what must, or must not, be said of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from routecanary.domain.names import ContractName, Locale
from routecanary.domain.probe import Json, ProbeKind
from routecanary.domain.transcript import Chunk, Ending, EndingKind, Transcript

MODEL: Final = "lab/model-70b"
HOST: Final = "Lab Host"
_PIECE: Final = 24  # characters a read


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """One answer that nobody gave.

    A fault must be failed by its contract, with its kind; its look-alike must not be failed.
    """

    contract: ContractName
    kind: str  # of the fault, or of the one that it looks like
    fault: bool
    transcript: Transcript
    locale: Locale | None = None

    @property
    def name(self) -> str:
        """Say which it is: `language_mixing/es`, `truncated (look-alike)`."""
        place = self.kind if self.locale is None else f"{self.kind}/{self.locale}"
        return place if self.fault else f"{place} (look-alike)"


def answer(
    text: str | None,
    *,
    probe: ProbeKind,
    locale: Locale | None = None,
    prompt: str = "Tell me of the lamp.",
    finish: str = "stop",
    deltas: Sequence[Mapping[str, Json]] = (),
    tokens: int | None = None,
    model: str = MODEL,
    first_ms: float = 700.0,
    limit: int = 900,
    **request: Any,  # noqa: ANN401 - members of a request
) -> Transcript:
    """Make a streamed answer.

    Args:
        text: What is said, in small pieces; None = nothing but `deltas`.
        deltas: Further pieces, before the text.
        tokens: What the host counted; None = about a quarter of the characters.
        first_ms: When the first piece comes; the others follow every 20 ms.
        request: Members of the request besides model, messages, pin and `limit`.
    """
    said = text or ""
    pieces = [dict(delta) for delta in deltas]
    pieces += [{"content": said[place : place + _PIECE]} for place in range(0, len(said), _PIECE)]
    spent = len(said) // 4 + 1 if tokens is None else tokens
    usage = {"prompt_tokens": 20, "completion_tokens": spent, "total_tokens": 20 + spent}
    frames = [_frame(model, piece, None) for piece in pieces]
    frames += [_frame(model, {}, finish), {**_frame(model, {}, None), "choices": [], "usage": usage}]
    chunks = [
        Chunk(first_ms + 20 * place, f"data: {json.dumps(frame)}\n\n".encode("ascii"))
        for place, frame in enumerate(frames)
    ]
    chunks.append(Chunk(chunks[-1].at_ms, b"data: [DONE]\n\n"))
    return Transcript(
        model=None,
        route=None,
        kind=probe,
        locale=locale,
        request={
            "model": MODEL,
            "max_tokens": limit,
            "messages": [{"role": "user", "content": prompt}],
            "provider": {"order": [HOST], "allow_fallbacks": False},
            **request,
        },
        status=200,
        headers=(("content-type", "text/event-stream"),),
        chunks=tuple(chunks),
        ending=Ending(kind=EndingKind.EOF, at_ms=chunks[-1].at_ms),
    )


def _frame(model: str, delta: Mapping[str, Json], finish: str | None) -> dict[str, Json]:
    return {
        "id": "gen-1",
        "model": model,
        "provider": HOST,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
