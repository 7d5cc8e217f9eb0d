"""How do frames, documents and errors become timed bytes?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from routecanary.domain.probe import Json
from routecanary.lab.plan import PlannedAnswer, speaking_seconds
from routecanary.lab.refusal import Refusal
from routecanary.lab.stream import EndingMode, Envelope, Frame, Stream, whole_body

EVENT_STREAM: Final = "text/event-stream; charset=utf-8"
JSON: Final = "application/json"
HTML: Final = "text/html; charset=utf-8"

_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class Piece(NamedTuple):
    at: float
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """One response as it is sent."""

    pieces: tuple[Piece, ...]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)  # Content-Type and whatever is not usual
    headers_at: float | None = 0.0  # s; None = the connection is left before any
    ending: EndingMode = EndingMode.CLEAN
    apart: bool = False  # each piece is a write, and so a read, of its own


def wire_of(stream: Stream) -> Wire:
    """Encode frames as an event stream, one piece a frame."""
    return Wire(
        pieces=tuple(Piece(frame.at, _encoded(frame)) for frame in stream.frames),
        headers={"Content-Type": EVENT_STREAM, "Cache-Control": "no-cache", **stream.headers},
        headers_at=stream.headers_at,
        ending=stream.ending,
    )


def document_wire(planned: PlannedAnswer, envelope: Envelope) -> Wire:
    """Encode an answer as one JSON document, sent when its last word is known."""
    at = planned.first_text + speaking_seconds(planned)
    piece = Piece(at, json_bytes(whole_body(planned, envelope)))
    return Wire(pieces=(piece,), headers={"Content-Type": JSON, **planned.headers}, headers_at=at)


def refusal_wire(refusal: Refusal, *, at: float = 0.0, metadata: Json = None) -> Wire:
    """Encode an HTTP error: the gateway's envelope, or a page of the network's edge.

    Args:
        at: When it comes, s.
        metadata: Router metadata, which stands at the top level of an envelope; None = not asked for.
    """
    if refusal.page is not None:
        kind, data = HTML, refusal.page.encode()
    else:
        body = refusal.body()
        kind, data = JSON, json_bytes(body if metadata is None else {**body, "openrouter_metadata": metadata})
    return Wire(
        pieces=(Piece(at, data),),
        status=refusal.status,
        headers={"Content-Type": kind, **refusal.headers},
        headers_at=at,
    )


def json_bytes(value: Json) -> bytes:
    """Encode JSON; a lone surrogate, which a fault may want, can only travel as an escape."""
    return _JSON.encode(value).encode("utf-8", "backslashreplace")


def _encoded(frame: Frame) -> bytes:
    if frame.comment is not None:
        return f": {frame.comment}\n\n".encode()
    if frame.raw is not None:
        return frame.raw
    if frame.word is not None:
        return f"data: {frame.word}\n\n".encode()
    return b"data: " + json_bytes(frame.payload) + b"\n\n"
