"""What the router metadata of an answer says, in every shape that it comes in."""

from __future__ import annotations

import pytest

from routecanary.domain.probe import Json
from routecanary.domain.router import Routing, routing_of
from routecanary.domain.transcript import Transcript
from tests.answers import DONE, a_document, a_frame, a_transcript, as_event


def a_stream_with(metadata: Json) -> Transcript:
    frame = a_frame({"content": "Hm."}, "stop", openrouter_metadata=metadata)
    return a_transcript(as_event(a_frame({"content": "Oh. "})), as_event(frame), DONE)


def test_it_stands_on_the_last_chunk_or_beside_an_error() -> None:
    """Endpoints are counted by row, plugins are told by name, other steps by type."""
    metadata = {
        "attempt": 1,
        "endpoints": {"total": 5, "available": [{"provider": "A"}, {"provider": "A"}]},
        "pipeline": [{"type": "response_healing"}, {"type": "plugin", "name": "web"}, {"type": "plugin"}],
    }
    expected = Routing(attempt=1, available=2, pipeline=("response_healing", "web", "plugin"))
    assert routing_of(a_stream_with(metadata)) == expected
    refused = a_document({"error": {"code": 404}, "openrouter_metadata": metadata}, status=404)
    assert routing_of(refused) == expected


def test_it_may_be_absent() -> None:
    """Nothing is told, and that is not the same as nothing being done."""
    assert routing_of(a_transcript(as_event(a_frame({"content": "Hm."})), DONE)) is None
    assert routing_of(a_transcript(status=None)) is None
    assert routing_of(a_document({"error": {"code": 404}}, status=404)) is None


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"attempt": True, "endpoints": [], "pipeline": {}},
        {"attempt": "1", "endpoints": {"available": 3}, "pipeline": ["web", None, {"type": 3}]},
        {"pipeline": [{"type": "x" * 101}, {"type": "\x1b[31m"}, {"type": ""}]},
    ],
)
def test_odd_metadata_tells_nothing(metadata: Json) -> None:
    """Wrong types and what a terminal would obey are left out."""
    assert routing_of(a_stream_with(metadata)) == Routing()


@pytest.mark.parametrize(
    "body", [b'{"openrouter_metadata":', b"data: {openrouter_metadata}\n\n", b"[" * 9_000]
)
def test_a_broken_body_tells_nothing(body: bytes) -> None:
    """Reading never raises."""
    assert routing_of(a_transcript(body)) is None
    assert routing_of(a_transcript(b'{"x":' + body + b'"openrouter_metadata"')) is None
