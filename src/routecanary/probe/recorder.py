"""What came back, when, and how did it end?

Timed chunks in, one Transcript out. The recorder knows no socket: whoever holds one tells it what happened
and when, asks it when to stop waiting, and hands in its readings of a monotonic clock in seconds. Bytes are
kept as they came; they are decoded here only as far as the first visible text, which the deadlines need.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from routecanary.domain.answer import visible_text_in
from routecanary.domain.probe import Probe
from routecanary.domain.sse import SseDecoder
from routecanary.domain.transcript import Chunk, Ending, EndingKind, Transcript

DONE: Final = b"data: [DONE]"
DONE_ENDS: Final = (
    b"]\n\n",
    b"]",
    b"]\n",
    b"]\r\n\r\n",
    b"]\r\n",
    b"]\r\r",
    b"]\r",
)  # no frame ends like this
HIDDEN_HEADERS: Final = frozenset({"set-cookie", "set-cookie2"})  # may hold a session of ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """How long is waited, in clock time."""

    connect: timedelta = timedelta(seconds=10)  # from the start until the request is written
    headers: timedelta = timedelta(seconds=30)  # from the request's last byte to the status line
    first_text: timedelta = timedelta(seconds=30)  # from the request's last byte to visible text, under 200
    gap: timedelta = timedelta(seconds=30)  # between two reads
    total: timedelta = timedelta(seconds=120)  # from the request's last byte to the end
    linger: timedelta = timedelta(seconds=2)  # from `[DONE]` to the end


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much is kept of one answer."""

    bytes: int = 8 * 1024 * 1024
    chunks: int = 100_000
    line: int = 1024 * 1024  # bytes of one line


class Recorder:
    """The making of one transcript.

    Calls come in the order `written`, `opened`, `feed`…, `ended`, `transcript`; `ended` may come at any
    time, and only the first one counts. Every `at` is in seconds of one monotonic clock.
    """

    __slots__ = (
        "_bounds",
        "_deadlines",
        "_decoder",
        "_done_at",
        "_ending",
        "_first_text_at",
        "_headers",
        "_line",
        "_opened_at",
        "_probe",
        "_reads",
        "_size",
        "_start",
        "_started_at",
        "_status",
        "_times",
        "_written_at",
    )

    def __init__(
        self,
        probe: Probe,
        *,
        at: float,
        started_at: datetime,
        deadlines: Deadlines = Deadlines(),
        bounds: Bounds = Bounds(),
    ) -> None:
        self._probe = probe
        self._start = at
        self._started_at = started_at
        self._deadlines = deadlines
        self._bounds = bounds
        self._written_at: float | None = None
        self._opened_at: float | None = None
        self._status: int | None = None
        self._headers: tuple[tuple[str, str], ...] = ()
        # Two plain lists: floats and bytes cost the garbage collector nothing while hundreds are open.
        self._times: list[float] = []
        self._reads: list[bytes] = []
        self._size = 0  # bytes
        self._line = 0  # bytes since the last line end
        self._decoder: SseDecoder | None = SseDecoder()  # None once the first text is found
        self._first_text_at: float | None = None
        self._done_at: float | None = None
        self._ending: Ending | None = None

    def written(self, at: float) -> None:
        """The request's last byte has been handed over: the clock of the first text starts."""
        if self._written_at is None:
            self._written_at = at

    def opened(self, at: float, status: int, headers: Iterable[tuple[str, str]]) -> None:
        """The status line and headers came; the names are lower case."""
        self.written(at)  # an answer before the whole request was written
        self._opened_at = at
        self._status = status
        self._headers = tuple(pair for pair in headers if pair[0] not in HIDDEN_HEADERS)

    def feed(self, at: float, data: bytes) -> bool:
        """Keep one read; False when a bound is exceeded and the rest shall not be read."""
        self._times.append(at)
        self._reads.append(data)
        self._size += len(data)
        self._line = 0 if data.endswith(b"\n") else self._line_after(data)
        bounds = self._bounds
        if self._size > bounds.bytes or self._line > bounds.line or len(self._reads) > bounds.chunks:
            self.ended(at, EndingKind.BOUND_EXCEEDED, self._exceeded())
            return False
        if self._decoder is not None and self._status == 200:
            self._look_for_text(self._decoder, at, data)
        if data.endswith(DONE_ENDS) and self._is_done():
            self._done_at = at
        return True

    def _line_after(self, data: bytes) -> int:
        """Count the bytes of the line that `data` leaves open."""
        line_end = max(data.rfind(b"\n"), data.rfind(b"\r"))
        return len(data) - line_end - 1 if line_end >= 0 else self._line + len(data)

    def _exceeded(self) -> str:
        bounds = self._bounds
        if self._size > bounds.bytes:
            return f"more than {bounds.bytes} bytes"
        if self._line > bounds.line:
            return f"a line of more than {bounds.line} bytes"
        return f"more than {bounds.chunks} reads"

    def _look_for_text(self, decoder: SseDecoder, at: float, data: bytes) -> None:
        if any(visible_text_in(event.data) for event in decoder.feed(data)):
            self._first_text_at = at
            self._decoder = None

    def _is_done(self) -> bool:
        """Say whether what came last is `[DONE]`, also when several reads bring it."""
        return b"".join(self._reads[-len(DONE) :]).rstrip().endswith(DONE)

    def due(self) -> float:
        """Return when waiting ends if nothing more comes, in seconds of the caller's clock."""
        return self._next()[0]

    def expire(self, at: float) -> bool:
        """End the recording if a deadline has passed, and say whether it has."""
        due, name = self._next()
        if at < due:
            return False
        if name == "linger":
            self.ended(at, EndingKind.EOF, "closed by us after [DONE]")
        else:
            self.ended(at, EndingKind.CLIENT_TIMEOUT, name)
        return True

    def _next(self) -> tuple[float, str]:
        limits = self._deadlines
        if self._written_at is None:
            return self._start + limits.connect.total_seconds(), "connect"
        if self._opened_at is None:
            return self._written_at + limits.headers.total_seconds(), "headers"
        if self._done_at is not None:
            return self._done_at + limits.linger.total_seconds(), "linger"
        last = self._times[-1] if self._times else self._opened_at
        candidates = [
            (last + limits.gap.total_seconds(), "gap"),
            (self._written_at + limits.total.total_seconds(), "total"),
        ]
        if self._status == 200 and self._first_text_at is None:
            candidates.append((self._written_at + limits.first_text.total_seconds(), "first_text"))
        return min(candidates)

    def ended(self, at: float, kind: EndingKind, detail: str = "") -> None:
        """The connection ended, or never began; the first ending stays."""
        if self._ending is None:
            self._ending = Ending(kind=kind, at_ms=self._ms(at), detail=detail)

    def waiting_window(self) -> tuple[float, float] | None:
        """Return the span in which a late event loop would falsify the latency; None if nothing was asked.

        It runs from the request's last byte to the first visible text, or to the end.
        """
        if self._written_at is None:
            return None
        if self._first_text_at is not None:
            return self._written_at, self._first_text_at
        waited_ms = 0.0 if self._ending is None else self._ending.at_ms
        return self._written_at, self._written_at + waited_ms / 1000

    def transcript(self, *, lag_ms: float = 0.0) -> Transcript:
        """Close the recording.

        Args:
            lag_ms: The event loop's worst lag within `waiting_window`, in ms of the same clock.
        """
        if self._ending is None:
            raise RuntimeError("a recording ends before it is read")
        probe = self._probe
        written = self._written_at
        opened = self._opened_at
        origin = self._origin()
        return Transcript(
            model=probe.model,
            route=probe.route,
            kind=probe.kind,
            locale=probe.locale,
            request=probe.body,
            status=self._status,
            headers=self._headers,
            chunks=tuple(map(Chunk, [(at - origin) * 1000 for at in self._times], self._reads)),
            ending=self._ending,
            provider_names=probe.provider_names,
            accepted_models=probe.accepted_models,
            scene=probe.scene,
            spec_version=probe.spec_version,
            attempt=probe.attempt,
            started_at=self._started_at,
            connect_ms=None if written is None else (written - self._start) * 1000,
            headers_ms=None if opened is None else self._ms(opened),
            lag_ms=lag_ms,
        )

    def _origin(self) -> float:
        return self._start if self._written_at is None else self._written_at

    def _ms(self, at: float) -> float:
        return (at - self._origin()) * 1000
