"""What errors and answers of the Vercel AI Gateway say of a route: none fails it that no host gave."""

from __future__ import annotations

from typing import Any

import pytest

from routecanary.domain.answer import read_answer
from routecanary.domain.asked import asked_of
from routecanary.domain.probe import Json, ProbeKind
from routecanary.domain.transcript import Transcript
from routecanary.judge.examine import judge_transcript
from tests.answers import DONE, MODEL, a_document, a_request, a_transcript, as_event

REQUEST = a_request(provider=None, providerOptions={"gateway": {"only": ["hostA"]}})
TRIED = {
    "modelAttempts": [{"providerAttempts": [{"provider": "hostA", "success": False, "statusCode": 400}]}]
}
OLDER = {
    "attempts": [{"provider": "hostA", "success": False, "statusCode": 400}],
    "resolvedProvider": "hostA",
}
PLANNED = {"resolvedProvider": "hostA", "fallbacksAvailable": ["hostB"]}


def an_error(status: int, word: str, message: str = "x", *, routing: Json = None, **more: Any) -> Transcript:
    body: dict[str, Json] = {"error": {"message": message, "type": word, "param": {"statusCode": status}}}
    if routing is not None:
        body["providerMetadata"] = {"gateway": {"routing": routing}}
    return a_document(body, status=status, request=REQUEST, **more)


def said(transcript: Transcript) -> set[str]:
    return {str(verdict) for verdict in judge_transcript(transcript).values()}


@pytest.mark.parametrize(
    ("transcript", "verdict"),
    [
        (an_error(401, "authentication_error"), "account:auth"),
        (an_error(402, "insufficient_funds"), "account:credits"),
        (an_error(400, "invalid_request_error"), "account:config"),
        (an_error(404, "model_not_found"), "account:config"),
        (an_error(400, "no_providers_available", "Providers considered: a, b"), "account:config"),
        (an_error(403, "no_providers_available", "Your team has restricted access"), "account:config"),
        (an_error(403, "no_providers_available", "Free tier users do not have access"), "account:config"),
        (an_error(429, "rate_limit_exceeded", "at capacity", routing=PLANNED), "transport:rate_limit"),
        (an_error(500, "internal_server_error"), "transport:upstream_error"),
        (an_error(503, "AI_APICallError", routing=TRIED), "transport:upstream_error"),
        (an_error(418, "something_new"), "transport:upstream_error"),
        # whatever the code, a host that was asked is at fault, and no fault of that kind fails a route
        (an_error(400, "AI_APICallError", routing=TRIED), "transport:upstream_error"),
        (an_error(400, "AI_APICallError", routing=OLDER), "transport:upstream_error"),
        (an_error(401, "AI_APICallError", routing=TRIED), "transport:upstream_error"),
        (an_error(402, "AI_APICallError", routing=TRIED), "transport:upstream_error"),
        (an_error(404, "AI_APICallError", routing=TRIED), "transport:upstream_error"),
        # a plan is no attempt
        (an_error(401, "authentication_error", routing=PLANNED), "account:auth"),
    ],
)
def test_an_error_is_the_hosts_the_accounts_or_nobodys(transcript: Transcript, verdict: str) -> None:
    """The known shapes by their meaning, an unknown one freezes."""
    assert said(transcript) == {verdict}


@pytest.mark.parametrize("kind", [ProbeKind.CHAT, ProbeKind.FILTER])
def test_a_filters_words_are_the_hosts_only_where_it_was_asked(kind: ProbeKind) -> None:
    """A filter of the gateway's own would strike every host alike."""
    words = "The response was filtered due to the content management policy"
    assert said(an_error(400, "invalid_request_error", words, kind=kind)) == {"transport:upstream_error"}
    hosts = judge_transcript(an_error(400, "AI_APICallError", words, routing=TRIED, kind=kind))
    assert ("fail:content_filter" in {str(verdict) for verdict in hosts.values()}) == (
        kind is ProbeKind.FILTER
    )


@pytest.mark.parametrize(
    "odd", [None, [], "x", {"attempts": "x"}, {"modelAttempts": [7, {"providerAttempts": {}}]}]
)
def test_odd_routing_metadata_is_none(odd: Json) -> None:
    """Nothing of it is believed, and nothing is raised."""
    assert read_answer(an_error(401, "authentication_error", routing=odd)).tried == ()


def a_stream(final: Json, *, request: dict[str, Json] = REQUEST, **names: Json) -> Transcript:
    """Make a stream in this gateway's shape; the last chunk says who served."""
    head = {"id": "gen_1", "model": MODEL, "object": "chat.completion.chunk", **names}
    text = "It rained all night, and in the morning the river had taken the bridge."
    metadata = {"gateway": {"routing": {"resolvedProvider": "hostA", "finalProvider": final, **TRIED}}}
    last = {"index": 0, "delta": {"provider_metadata": metadata}, "finish_reason": "stop"}
    return a_transcript(
        as_event({**head, "choices": [{"index": 0, "delta": {"role": "assistant"}, "finish_reason": None}]}),
        as_event({**head, "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}),
        as_event({**head, "choices": [last], "usage": {"completion_tokens": 18, "cost": 0.00002}}),
        DONE,
        request=request,
        providers=frozenset({"hostA"}),
    )


def test_who_served_stands_in_the_routing_metadata() -> None:
    """A stream that says nothing of it confirms no pin; what was planned is not who served."""
    answer = read_answer(a_stream("hostA"))
    assert (answer.providers, answer.finish_reason, answer.completion_tokens) == (("hostA",), "stop", 18)
    assert asked_of(answer.transcript).pins == ("hostA",)
    assert "inconclusive:provider_mismatch" in said(a_stream("hostB"))
    assert read_answer(a_stream(None)).providers == ()
    assert "inconclusive:provider_unknown" in said(a_stream(None))


def test_each_gateway_is_believed_in_its_own_place_only() -> None:
    """A host cannot vouch for itself by the other one's key."""
    assert read_answer(a_stream("hostA", provider="HostB")).providers == ("hostA",)
    usual = a_request(provider={"only": ["hosta"]})
    assert read_answer(a_stream("hostB", request=usual, provider="hostA")).providers == ("hostA",)


def test_a_whole_answer_names_its_host_in_the_message() -> None:
    """As a request without a stream gets it."""
    routing = {"provider_metadata": {"gateway": {"routing": {"finalProvider": "hostA"}}}}
    choice = {"index": 0, "finish_reason": "stop", "message": {"content": "Rain.", **routing}}
    answer = read_answer(a_document({"model": MODEL, "choices": [choice]}, request=REQUEST))
    assert (answer.providers, answer.text) == (("hostA",), "Rain.")
