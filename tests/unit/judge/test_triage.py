"""Triage: transport, account, foreign and broken answers never reach a contract."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from routecanary.domain.names import FILTERING, INTEGRITY, LANGUAGE, LATENCY
from routecanary.domain.probe import Json, ProbeKind
from routecanary.domain.transcript import EndingKind
from routecanary.judge.examine import judge_transcript
from tests.answers import (
    DONE,
    SSE,
    a_document,
    a_frame,
    a_message,
    a_request,
    a_stream,
    a_transcript,
    as_event,
    said,
)


def an_error(
    code: Json, status: int | None = None, *, headers: tuple[tuple[str, str], ...] = (), **members: Json
):
    """Make an error body; `metadata` and the like by keyword."""
    body = {"error": {"code": code, "message": "x", **members}}
    actual = status if status is not None else code if isinstance(code, int) else 400
    return a_document(body, status=actual, headers=(("content-type", "application/json"), *headers))


PROV = {"provider_name": "HostA"}


@pytest.mark.parametrize(
    ("transcript", "verdict"),
    [
        # 400 family: our request, or one provider's incompatibility
        (an_error(400), "account:config"),
        (an_error(400, metadata=PROV), "transport:upstream_error"),
        (an_error(413), "account:config"),
        (an_error(422, metadata=PROV), "transport:upstream_error"),
        (an_error(412), "account:config"),
        (an_error("context_length_exceeded", 400), "account:config"),
        # keys, money, places
        (an_error(401), "account:auth"),
        (an_error("invalid_api_key", 401), "account:auth"),
        (an_error(401, metadata=PROV), "transport:upstream_error"),
        (an_error(402), "account:credits"),
        (an_error(402, metadata=PROV), "transport:upstream_error"),
        (an_error("invalid_request_error", 402), "account:credits"),
        (an_error("invalid_request_error", 400, message="Your credit balance is too low"), "account:credits"),
        (an_error(429, message="Insufficient balance"), "account:credits"),
        (an_error("api_error", 529), "transport:upstream_error"),
        (an_error("rate_limit_exceeded", 400), "transport:rate_limit"),
        (an_error("overloaded_error", 400), "transport:upstream_error"),
        (an_error(402, metadata={"limit_source": "openrouter_credits"}), "account:credits"),
        (an_error(402, metadata={"limit_source": "openrouter_in_flight_budget"}), "transport:rate_limit"),
        (an_error(403, metadata={"limit_source": "openrouter_key_limit"}), "account:quota"),
        (an_error(403, metadata={"limit_source": "openrouter_guardrail_budget"}), "account:quota"),
        (an_error(403, metadata={"patterns": ["x"]}), "account:config"),
        (an_error(403, message="Country, region, or territory not supported"), "account:region"),
        (an_error(403, message="Key limit exceeded"), "account:quota"),
        (an_error(403, message="Your account has been suspended"), "account:blocked"),
        (an_error(403, message="This API key may not do that"), "account:auth"),
        (an_error(403, metadata=PROV), "transport:upstream_error"),
        # routing refusals
        (an_error(404, message="No endpoints found"), "account:config"),
        (an_error(404, metadata={"failed_routing_step": "Filter by Fallback"}), "account:config"),
        (an_error(404, metadata={**PROV, "failed_routing_step": "Filter by Max Price"}), "account:config"),
        (an_error(404, metadata=PROV), "transport:upstream_error"),
        (an_error(503, availability={"code": "no_endpoints"}), "account:config"),
        (an_error(404, availability={"code": "region_restricted"}), "account:region"),
        (an_error(404, availability={"code": "capacity_exhausted"}), "transport:upstream_error"),
        # limits
        (an_error(429), "transport:rate_limit"),
        (an_error("429", 200), "transport:rate_limit"),
        (an_error(429, metadata={"limit_source": "upstream_provider_shared_pool"}), "transport:rate_limit"),
        (an_error(429, metadata={"limit_source": "openrouter_free_tier_daily"}), "account:quota"),
        (an_error(429, metadata={"limit_source": "upstream_provider_byok"}), "account:config"),
        (an_error("insufficient_quota", 429), "account:quota"),
        (an_error("insufficient_quota", 429, metadata=PROV), "transport:rate_limit"),
        (
            an_error(429, message="exceeded your current quota", details=["TokensPerMinute"]),
            "transport:rate_limit",
        ),
        (an_error(429, headers=(("x-ratelimit-reset", "20"),)), "transport:rate_limit"),
        (an_error(429, headers=(("x-ratelimit-reset", "86000"),)), "account:quota"),
        (a_document(b"error code: 1015", status=429), "transport:rate_limit"),
        # the provider's or the edge's trouble
        (an_error(500), "transport:upstream_error"),
        (an_error(502, metadata=PROV), "transport:upstream_error"),
        (an_error(529), "transport:upstream_error"),
        (an_error(408), "transport:upstream_error"),
        (an_error("server_error", 200), "transport:upstream_error"),
        (a_document({"error": "busy"}, status=503), "transport:upstream_error"),
        (a_document({"detail": "not here"}, status=404), "account:config"),
        (a_document(b"<html>Bad gateway</html>", status=502), "transport:html_error"),
        (a_document(b"<html>Not found</html>", status=404), "account:config"),
        (a_document(b"<!doctype html><p>hi", status=200), "transport:html_error"),
        (a_document(b"", status=301), "account:config"),
        (a_document(b"\x1f\x8b\x08", status=503), "transport:upstream_error"),
        # an error object decides by its own code, not by the status around it
        (an_error(401, status=500), "account:auth"),
        (an_error(503, status=400), "transport:upstream_error"),
        # bodies that are no answer
        (a_document(b""), "transport:upstream_error"),
        (a_document(b"upstream connect error"), "transport:bad_frame"),
        (a_document(b'{"choices": [{"message": {"cont'), "transport:stream_cut"),
        (a_document(b'{"choices": [}, "a": 1}'), "transport:bad_frame"),
        (a_document(b"\x1f\x8b\x08"), "transport:content_encoding"),
        (a_transcript(b"data: <html>Bad gateway</html>\n\n"), "transport:html_error"),
    ],
)
def test_errors_are_attributed(transcript, verdict: str):
    """Whose fault an error is, by the table of openrouter-wire.md §4.5; never a fail."""
    assert said(INTEGRITY, transcript) == verdict


@pytest.mark.parametrize(
    "ending", [EndingKind.CONNECT_FAILED, EndingKind.TLS_FAILED, EndingKind.CLIENT_TIMEOUT]
)
def test_no_answer_is_connection(ending: EndingKind):
    """Without an HTTP status nothing is known of the route."""
    assert said(LATENCY, a_transcript(status=None, ending=ending, ended_ms=30_000)) == "transport:connection"


ERROR_FRAME = as_event({"error": {"code": 502, "message": "gone"}, "choices": []})
TEXT = as_event(a_frame({"content": "Crates of oranges stand beside"}))


@pytest.mark.parametrize(
    ("transcript", "integrity", "latency"),
    [
        (a_transcript(TEXT, ending=EndingKind.RESET), "transport:connection", "pass"),
        (a_transcript(TEXT), "transport:stream_cut", "pass"),
        (a_transcript(TEXT, ending=EndingKind.CLIENT_TIMEOUT), "transport:stream_cut", "pass"),
        (a_transcript(TEXT, ERROR_FRAME, DONE), "transport:upstream_error", "pass"),
        (a_transcript(TEXT, as_event(a_frame(finish="error"))), "transport:upstream_error", "pass"),
        (
            a_transcript(TEXT, b'data: {"id"\n\n', as_event(a_frame(finish="stop"))),
            "transport:bad_frame",
            "pass",
        ),
        (a_transcript(TEXT, DONE), "transport:stream_cut", "pass"),
        (a_transcript(ERROR_FRAME), "transport:upstream_error", "transport:upstream_error"),
        (a_transcript(TEXT, first_ms=12_000), "transport:stream_cut", "fail:latency"),
        (a_transcript(b": hi\n\n", ended_ms=4_000), "transport:stream_cut", "transport:stream_cut"),
        (a_transcript(b": hi\n\n", ended_ms=30_000), "transport:stream_cut", "fail:latency"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_cut_streams_leave_only_latency_to_judge(transcript, integrity: str, latency: str):
    """Text in time stays in time; what else there is to judge needs the whole answer."""
    assert (said(INTEGRITY, transcript), said(LATENCY, transcript)) == (integrity, latency)


@pytest.mark.parametrize("ending", list(EndingKind)[:3])
def test_finish_reason_makes_an_answer_whole(ending: EndingKind):
    """How the connection ended after a finish reason does not matter, nor does a missing `[DONE]`."""
    assert said(INTEGRITY, a_stream("A fig.", done=False, ending=ending)) == "pass"


def test_own_bound_is_no_evidence():
    """What we were not willing to read is our limit."""
    transcript = a_stream("A fig.", finish=None, done=False, ending=EndingKind.BOUND_EXCEEDED)
    assert said(INTEGRITY, transcript) == "inconclusive:own_limit"


@pytest.mark.parametrize(
    ("header", "cached"),
    [
        (("x-openrouter-cache-status", "HIT"), True),
        (("x-cache", "Hit from edge"), True),
        (("cf-cache-status", "HIT"), True),
        (("x-litellm-cache-hit", "True"), True),
        (("cf-cache-status", "DYNAMIC"), False),
        (("x-cache", "MISS"), False),
        (("cache-control", "hit"), False),
        (("x-prompt-cache", "HIT"), False),
        (("x-kv-cache-status", "hit"), False),
    ],
)
def test_replays_from_a_cache_are_no_fresh_evidence(header: tuple[str, str], cached: bool):
    """A stored answer says nothing of the host today; a prompt cache holds no answer."""
    bad = a_stream("!" * 200, headers=(*SSE, header))
    assert said(INTEGRITY, bad) == ("inconclusive:cached" if cached else "fail:repetition")


def test_answer_older_than_its_question_is_a_replay():
    """`created` long before the request was sent; a few minutes of clock skew are none."""
    sent = datetime(2026, 1, 5, tzinfo=UTC)

    def created(seconds_before: int) -> str:
        body = a_message("A fig.") | {"created": int(sent.timestamp()) - seconds_before}
        return said(INTEGRITY, a_document(body, started_at=sent))

    assert created(3600) == "inconclusive:cached"
    assert created(600) == "pass"
    assert created(-60) == "pass"


@pytest.mark.parametrize(
    ("pin", "answered", "verdict"),
    [
        ("HostA", "HostA", "pass"),
        ("hosta/fp8", "HostA", "pass"),
        ("host-a", "Host A", "pass"),
        ("HostA", "HostB", "inconclusive:provider_mismatch"),
        ("google-vertex/us-east5", "Google", "pass"),
        ("HostA", None, "inconclusive:provider_unknown"),
    ],
)
def test_answer_from_elsewhere_is_no_evidence(pin: str, answered: str | None, verdict: str):
    """Compared by what a display name and a tag have in common."""
    request = a_request(provider={"only": [pin], "allow_fallbacks": False})
    body = a_message("A fig.") | {"provider": answered}
    assert said(INTEGRITY, a_document(body, request=request)) == verdict


def test_known_display_names_go_before_the_request():
    """A live probe knows under which names its route may answer."""
    names = frozenset({"North Host"})
    body = a_message("A fig.") | {"provider": "North Host"}
    assert said(INTEGRITY, a_document(body, providers=names)) == "pass"
    assert (
        said(INTEGRITY, a_document(a_message("A fig."), providers=names)) == "inconclusive:provider_mismatch"
    )


def test_without_a_pin_no_provider_is_expected():
    """A direct endpoint names none."""
    body = a_message("A fig.") | {"provider": None}
    assert said(INTEGRITY, a_document(body, request=a_request(provider=None))) == "pass"


@pytest.mark.parametrize(
    ("asked", "answered", "verdict"),
    [
        ("lab/lark-70b", "lab/lark-70b", "pass"),
        ("lab/lark-70b", "lab/lark-70b-2026-08-06", "pass"),
        ("lab/lark-70b", "LAB/Lark-70B", "pass"),
        ("lab/lark-70b:free", "lab/lark-70b-20260806", "pass"),
        ("lab/lark-70b", "accounts/x/models/lark-70b-fp8", "pass"),
        ("lab/lark-70b", "lab/lark-70b-fp8-20260806", "pass"),
        ("lab/lark-70b", "lab/lark-3b", "fail:wrong_model"),
        ("lab/lark-70b", "other/heron-12b", "fail:wrong_model"),
        ("lab/auto", "lab/lark-8b", "inconclusive:model_mismatch"),
        ("lab/lark", "lab/lark-turbo", "inconclusive:model_mismatch"),
    ],
)
def test_other_model_is_proven_only_by_its_size(asked: str, answered: str, verdict: str):
    """Any other foreign name may be an alias."""
    body = a_message("A fig.") | {"model": answered}
    assert said(INTEGRITY, a_document(body, request=a_request(model=asked))) == verdict


def test_several_models_in_one_answer_prove_nothing():
    """Where the right name stands too, the wrong one is no proof."""
    reads = [as_event(a_frame({"content": "A fig."})), as_event(a_frame(finish="stop", model="lab/lark-3b"))]
    assert said(INTEGRITY, a_transcript(*reads)) == "inconclusive:model_mismatch"


def test_accepted_models_go_before_the_request():
    """Discovery knows the dated slugs that an answer may carry."""
    body = a_message("A fig.") | {"model": "lab/lark-v2-final"}
    assert said(INTEGRITY, a_document(body, models=frozenset({"lab/lark-v2-final"}))) == "pass"


def test_gateway_that_altered_the_answer_voids_it():
    """A healed answer is not the host's."""
    metadata = {"pipeline": [{"type": "response_healing"}, {"type": "guardrail"}]}
    body = a_message("A fig.") | {"openrouter_metadata": metadata}
    assert said(INTEGRITY, a_document(body)) == "inconclusive:altered"


@pytest.mark.parametrize(
    ("kind", "verdicts"),
    [
        (ProbeKind.FILTER, {FILTERING: "fail:content_filter", INTEGRITY: "inconclusive:content_filter"}),
        (ProbeKind.CHAT, {LANGUAGE: "account:config", INTEGRITY: "account:config"}),
    ],
)
@pytest.mark.parametrize(
    "error",
    [
        {"code": 403, "message": "flagged", "metadata": {"reasons": ["other"], **PROV}},
        {"code": "content_filter", "message": "x"},
        {"code": 400, "message": "Content Exists Risk"},
        {"code": "data_inspection_failed", "message": "x"},
        {"code": "1301", "message": "x"},
        {"code": 400, "message": "x", "metadata": {"raw": json.dumps({"error": {"type": "content_filter"}})}},
    ],
)
def test_filters_decide_by_the_probe(kind: ProbeKind, verdicts: dict[str, str], error: Json):
    """On the filter probe that is the finding; a harmless probe that is flagged is ours to change."""
    found = judge_transcript(a_document({"error": error}, status=400, kind=kind))
    assert {name: str(found[name]) for name in verdicts} == verdicts


@pytest.mark.parametrize(
    "error",
    [
        {"metadata": 7},
        {"metadata": {"raw": "{" * 3000}},
        {"code": True},
        {"code": -4},
        {"status": {}},
        {"a": [[[[[[[]]]]]]]},
    ],
)
def test_odd_error_objects_are_survived(error: Json):
    """Whatever an error object holds, the status still speaks."""
    assert said(INTEGRITY, a_document({"error": error}, status=503)) == "transport:upstream_error"
