"""Which providers are tried, and what an answer proves."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.probe import Json
from routecanary.domain.route import Listing, Route
from routecanary.domain.transcript import Transcript
from routecanary.rounds.trial import Subject, Trial, judged, subjects
from tests.answers import DONE, a_document, a_frame, a_transcript, as_event

MODEL = ModelId("acme/chat")


def a_route(tag: str, **fields: Any) -> Route:
    return Route(tag=RouteId(tag), provider_names=frozenset(), **fields)


def a_listing(*routes: Route) -> Listing:
    return Listing(model=MODEL, at=datetime(2026, 1, 5, tzinfo=UTC), routes=routes)


FIREWORKS = (
    a_route("fireworks", swallows=frozenset({RouteId("fireworks/us")})),
    a_route("fireworks/us", rows=2),
)


def chosen(
    *routes: Route, slugs: tuple[str, ...] = (), withheld: tuple[str, ...] = ()
) -> list[tuple[str, str]]:
    found = subjects(
        a_listing(*routes), dict.fromkeys(slugs, ""), withheld=[RouteId(tag) for tag in withheld]
    )
    return [(subject.provider, subject.ignored.tag) for subject in found]


def test_providers_with_several_tags_are_tried() -> None:
    """The tag that is ignored is no base slug: naming that would name them all."""
    assert chosen(*FIREWORKS, a_route("oak")) == [("fireworks", "fireworks/us")]
    assert chosen(a_route("oak/fp8"), a_route("oak/us"), a_route("elm/fp8")) == [("oak", "oak/fp8")]
    assert chosen(a_route("oak/fp8"), a_route("oak/flex", tier="flex")) == []
    assert chosen(a_route("oak/fp8"), a_route("oak/us"), withheld=("oak/us",)) == []


def test_a_slug_may_have_a_slash_of_its_own() -> None:
    """As the gateway's list of providers says; without it, a tag's first part is the slug."""
    routes = (a_route("deep/slug/one"), a_route("deep/other"))
    assert chosen(*routes, slugs=("deep/slug", "deep/other")) == []
    assert chosen(*routes) == [("deep", "deep/slug/one")]


def an_answer(available: int | None) -> Transcript:
    metadata = {} if available is None else {"endpoints": {"available": [{}] * available}}
    return a_transcript(as_event(a_frame({"content": "Hi."}, "stop", openrouter_metadata=metadata)), DONE)


def a_refusal(step: str) -> Transcript:
    error: Json = {"code": 404, "message": "no", "metadata": {"failed_routing_step": step}}
    return a_document({"error": error}, status=404)


SUBJECT = Subject(model=MODEL, provider="fireworks", routes=FIREWORKS, ignored=FIREWORKS[1])


@pytest.mark.parametrize(
    ("transcript", "holds"),
    [
        (an_answer(1), True),
        (an_answer(3), False),
        (an_answer(2), None),
        (an_answer(0), None),
        (an_answer(40), None),
        (an_answer(None), None),
        (a_transcript(as_event(a_frame({"content": "Hi."}, "stop")), DONE), None),
        (a_refusal("Filter by Ignored Providers"), False),
        (a_refusal("Filter by Guardrails"), None),
        (a_document({"error": {"code": 429}}, status=429), None),
        (a_transcript(status=None), None),
    ],
)
def test_only_a_count_that_is_expected_proves_anything(transcript: Transcript, holds: bool | None) -> None:
    """Of three rows, ignoring the tag of two leaves one; all or none left means that it is not heeded."""
    trial = judged(Trial(model=MODEL, provider="fireworks"), SUBJECT, transcript)
    assert trial.holds is holds
    assert trial.why


def test_a_provider_alone_proves_only_that_it_holds() -> None:
    """A router that counted every endpoint of the model would look like one that is deaf."""
    alone = Subject(model=MODEL, provider="fireworks", routes=FIREWORKS, ignored=FIREWORKS[1], alone=True)
    trial = Trial(model=MODEL, provider="fireworks")
    assert judged(trial, alone, an_answer(3)).holds is None
    assert judged(trial, alone, an_answer(1)).holds is True
