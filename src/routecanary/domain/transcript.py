"""What was asked, what came, when, and how it ended?

A transcript is captured once, as raw bytes with arrival times, and judged many times. All times are
milliseconds since the request's last byte was written (for a stored case: since it was sent).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from routecanary.domain.names import Locale, ModelId, RouteId
from routecanary.domain.probe import Json, ProbeKind, Scene


class Chunk(NamedTuple):
    """One read from the socket: not one event."""

    at_ms: float
    data: bytes


class EndingKind(StrEnum):
    """How the connection ended."""

    EOF = "eof"  # the peer closed or finished cleanly
    RESET = "reset"  # broken after the response began
    CLIENT_TIMEOUT = "client_timeout"  # one of our deadlines; `Ending.detail` names it
    CONNECT_FAILED = "connect_failed"
    TLS_FAILED = "tls_failed"
    BOUND_EXCEEDED = "bound_exceeded"  # more bytes, lines or chunks than we read


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    kind: EndingKind
    at_ms: float
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """The captured answer to one probe; immutable, and never holds a secret."""

    model: ModelId | None
    route: RouteId | None  # the pin; None in a stored case that names a host instead
    kind: ProbeKind
    locale: Locale | None
    request: Mapping[str, Json]  # the body as sent
    status: int | None  # HTTP status; None when no answer came
    headers: tuple[tuple[str, str], ...]  # lower-case names, order kept
    chunks: tuple[Chunk, ...]
    ending: Ending
    provider_names: frozenset[str] = (
        frozenset()
    )  # display names under which the pin may answer; empty = take the request's
    accepted_models: frozenset[str] = frozenset()  # empty = take the request's
    scene: Scene | None = None
    spec_version: int | None = None
    attempt: int = 0
    started_at: datetime | None = None  # wall clock, UTC
    connect_ms: float | None = None
    headers_ms: float | None = None  # arrival of the status line
    lag_ms: float = 0.0  # worst event-loop lag while listening

    def header(self, name: str) -> str | None:
        """Look up a header by its lower-case name; the last one wins."""
        found = None
        for key, value in self.headers:
            if key == name:
                found = value
        return found
