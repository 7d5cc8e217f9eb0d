"""What is written down of an answer when there is no socket."""

from __future__ import annotations

from datetime import timedelta

import pytest

from routecanary.demo.unwired import AT_ONCE, captured
from routecanary.domain.names import Locale, RouteId
from routecanary.domain.probe import Probe, ProbeKind, Scene
from routecanary.domain.transcript import EndingKind
from routecanary.lab.refusal import Refusal
from routecanary.lab.stream import EndingMode
from routecanary.lab.wire import EVENT_STREAM, Piece, Wire, refusal_wire
from routecanary.probe.recorder import Deadlines
from tests.lab import MODEL, START, a_body

PROBE = Probe(
    model=MODEL,
    route=RouteId("host"),
    kind=ProbeKind.CHAT,
    locale=Locale("en"),
    scene=Scene(id="any", prompt="any"),
    spec_version=1,
    attempt=0,
    body=a_body(),
    provider_names=frozenset({"Host"}),
    accepted_models=frozenset({MODEL}),
)
TEXT = b'data: {"choices":[{"index":0,"delta":{"content":"Hello."}}]}\n\n'
HEADERS = {"Content-Type": EVENT_STREAM}


def a_wire(*pieces: Piece, **more: object) -> Wire:
    return Wire(**{"pieces": pieces, "headers": HEADERS, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wire", "status", "ending", "detail", "seconds"),
    [
        (a_wire(Piece(0.5, TEXT)), 200, EndingKind.EOF, "", 0.5),
        (a_wire(Piece(0.5, TEXT), ending=EndingMode.RESET), 200, EndingKind.RESET, "reset", 0.5),
        (a_wire(Piece(0.5, TEXT), ending=EndingMode.HELD), 200, EndingKind.CLIENT_TIMEOUT, "gap", 30.5),
        (
            a_wire(Piece(3.0, b": wait\n\n"), ending=EndingMode.HELD),
            200,
            EndingKind.CLIENT_TIMEOUT,
            "first_text",
            30,
        ),
        (a_wire(Piece(40.0, TEXT), headers_at=40.0), None, EndingKind.CLIENT_TIMEOUT, "headers", 30),
        (
            a_wire(*(Piece(at, TEXT) for at in range(0, 200, 20))),
            200,
            EndingKind.CLIENT_TIMEOUT,
            "total",
            120,
        ),
        (a_wire(headers_at=None, ending=EndingMode.RESET), None, EndingKind.RESET, "reset", AT_ONCE),
        (a_wire(headers_at=None), None, EndingKind.RESET, "closed before an answer", AT_ONCE),
        (refusal_wire(Refusal(status=429, message="no"), at=0.2), 429, EndingKind.EOF, "", 0.2),
    ],
)
def test_an_answer_ends_as_the_client_would_see_it(
    wire: Wire, status: int | None, ending: EndingKind, detail: str, seconds: float
) -> None:
    """The recorder's own deadlines hold, and a connection that breaks is broken."""
    transcript = captured(PROBE, wire, at=START)
    assert transcript.status == status
    assert (transcript.ending.kind, transcript.ending.detail) == (ending, detail)
    assert transcript.ending.at_ms == pytest.approx(seconds * 1000)


def test_deadlines_are_those_given() -> None:
    """A shorter patience ends sooner."""
    silent = a_wire(Piece(0.0, b": wait\n\n"), ending=EndingMode.HELD)
    patience = Deadlines(first_text=timedelta(seconds=5))
    assert captured(PROBE, silent, at=START, deadlines=patience).ending.at_ms == 5_000


def test_what_is_sent_at_once_is_one_read_unless_it_comes_apart() -> None:
    """Pieces of one instant are joined, save where each is to be a read of its own."""
    pieces = (Piece(0.1, b": a\n\n"), Piece(0.1, TEXT), Piece(0.2, b"data: [DONE]\n\n"))
    joined = captured(PROBE, a_wire(*pieces), at=START)
    assert [chunk.data for chunk in joined.chunks] == [b": a\n\n" + TEXT, b"data: [DONE]\n\n"]
    apart = captured(PROBE, a_wire(*pieces, apart=True), at=START)
    assert [chunk.data for chunk in apart.chunks] == [piece.data for piece in pieces]


def test_headers_come_in_lower_case() -> None:
    """As every transcript has them."""
    assert captured(PROBE, a_wire(Piece(0.1, TEXT)), at=START).header("content-type") == EVENT_STREAM
