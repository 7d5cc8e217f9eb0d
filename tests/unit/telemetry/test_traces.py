"""Which generations a broadcast tells of."""

from __future__ import annotations

import gzip
import json
from hashlib import sha256
from typing import Any

import pytest

from routecanary.domain.generation import Generation, Source
from routecanary.domain.names import Locale, ModelId, RouteId
from routecanary.errors import TelemetryError
from routecanary.telemetry.attributes import WANTED
from routecanary.telemetry.inflate import inflated
from routecanary.telemetry.spans import spans_from_body
from routecanary.telemetry.traces import MAX_GENERATIONS, Traces, read_traces
from tests.unit.telemetry.broadcast import SAID, SECRET, SPAN, STARTED_AT, TRACE, attempt, export, span
from tests.unit.telemetry.known import KEEP, MODEL, NOW, lookup

WHOLE = Generation(
    key="gen-1764417540-abc",
    source=Source.BROADCAST,
    model=ModelId(MODEL),
    started_at=STARTED_AT,
    id="gen-1764417540-abc",
    provider="Beta",
    candidates=frozenset({RouteId("beta/fp4"), RouteId("beta/fp8")}),
    ttft_ms=250,
    duration_ms=1900,
    finish_reason="stop",
    prompt_tokens=812,
    completion_tokens=96,
    conversation="session:" + sha256(f"{SECRET}-session".encode()).hexdigest(),
    locale=Locale("th"),
)


def read(*spans: dict[str, Any]) -> Traces:
    return read_traces(json.dumps(export(*spans)).encode(), lookup, now=NOW, keep=KEEP)


def one(**said: Any) -> Generation:
    """Read a span whose attributes are changed; None takes one away."""
    changed = {key: value for key, value in (SAID | said).items() if value is not None}
    (found,) = read(span(changed)).generations
    return found


def named(**changes: Any) -> dict[str, Any]:
    """Write attributes with `_` for `.` at the places where keywords cannot have one."""
    return {key.replace("__", "."): value for key, value in changes.items()}


def test_a_broadcast_generation_is_read() -> None:
    """Model, host, times, tokens and reason; the session as a hash, and nothing that was said."""
    assert read(span()) == Traces(generations=(WHOLE,), rejected=0, problem=None)
    assert SECRET not in repr(read(span()))


def test_what_nobody_asked_for_is_not_even_decoded() -> None:
    """A span holds the attributes that are wanted, and the session's id until it is hashed."""
    (found,) = spans_from_body(json.dumps(export(span())).encode())
    assert found.attributes.keys() <= WANTED
    assert {key for key, value in found.attributes.items() if SECRET in str(value)} == {"session.id"}


def test_attempts_below_a_generation_are_none() -> None:
    """One generation a parent, before or after its children; a span without a model tells of none."""
    bare = span({"trace.metadata.openrouter.provider_name": "Beta"}, spanId="1" * 16)
    assert read(attempt(0), span(), attempt(1), bare).generations == (WHOLE,)
    orphan = span(SAID | {"gen_ai.response.id": "gen-2"}, parentSpanId="9" * 16)
    assert [each.id for each in read(orphan).generations] == ["gen-2"]


def test_without_an_id_the_span_names_the_generation() -> None:
    """Trace and span, in lower case; neither id nor hex is rejected, the others are taken."""
    said = {key: value for key, value in SAID.items() if key != "gen_ai.response.id"}
    found = read(span(said, traceId=TRACE.upper()))
    assert [(each.key, each.id) for each in found.generations] == [(f"{TRACE}-{SPAN}", None)]
    mixed = read(span(said, traceId="W47/95gDgQPSabYzgT/GDA=="), span(said, spanId=None), span())
    assert (mixed.generations, mixed.rejected) == ((WHOLE,), 2)
    assert mixed.problem is not None
    assert mixed.problem.startswith("generation 0: neither a generation's id nor a trace's")


def test_old_names_serve_as_well() -> None:
    """Those of the examples that the gateway's pages gave before."""
    old = {
        "gen_ai.request.model": MODEL,
        "gen_ai.usage.prompt_tokens": {"raw": {"intValue": 5}},
        "gen_ai.usage.completion_tokens": {"raw": {"stringValue": "7"}},
        "gen_ai.response.finish_reasons": ["length", "stop"],
        "gen_ai.conversation.id": "c",
        "gen_ai.response.time_to_first_chunk": 0.25,
        "http.response.status_code": 200,
    }
    (found,) = read(span(old)).generations
    assert (found.prompt_tokens, found.completion_tokens, found.finish_reason) == (5, 7, "length")
    assert (found.ttft_ms, found.status) == (250, 200)
    assert found.conversation == "session:" + sha256(b"c").hexdigest()


@pytest.mark.parametrize(
    ("said", "provider", "candidates"),
    [
        (named(trace__metadata__openrouter__provider_name="Unheard Of"), "Unheard Of", set()),
        (
            named(
                trace__metadata__openrouter__provider_name=None,
                trace__metadata__openrouter__provider_slug="beta/fp4",
            ),
            "beta/fp4",
            {"beta/fp4"},
        ),
        (
            named(trace__metadata__openrouter__provider_name=None, gen_ai__system="Gamma"),
            "Gamma",
            {"gamma"},
        ),
        (
            named(trace__metadata__openrouter__provider_name=None, gen_ai__provider__name="gamma"),
            "gamma",
            {"gamma"},
        ),
        (
            named(trace__metadata__openrouter__provider_name=None, gen_ai__system="openai"),
            None,
            set(),
        ),
        (named(trace__metadata__openrouter__provider_name=f"{SECRET}\n"), None, set()),
    ],
)
def test_the_host_is_found_where_it_is_surely_named(
    said: dict[str, Any], provider: str | None, candidates: set[str]
) -> None:
    """The gateway's own word, else a system that serves this model."""
    found = one(**said)
    assert (found.provider, found.candidates) == (provider, candidates)


def test_an_author_is_no_host() -> None:
    """A system that equals the model's author says nothing, even where a host has that name."""
    said = {"gen_ai.request.model": "gamma/chat", "gen_ai.system": "Gamma", "gen_ai.response.id": "g"}
    facts = lookup(MODEL)
    body = json.dumps(export(span(said))).encode()
    (found,) = read_traces(body, lambda _: facts, now=NOW, keep=KEEP).generations
    assert (found.provider, found.candidates) == (None, frozenset())


def test_the_model_that_answered_goes_before_the_one_asked() -> None:
    """If the canary knows it, or knows neither."""
    assert one(**{"gen_ai.response.model": "acme/other"}).model == MODEL
    assert one(**{"gen_ai.response.model": "x/y", "gen_ai.request.model": "a/b:nitro"}).model == "x/y"
    assert one(**{"gen_ai.response.model": None, "gen_ai.request.model": "a/b:nitro"}).model == "a/b"


@pytest.mark.parametrize("code", [2, "2", "STATUS_CODE_ERROR"])
def test_a_failed_span_ended_in_an_error(code: object) -> None:
    """Unless it gives a reason of its own."""
    said = {key: value for key, value in SAID.items() if "finish" not in key}
    failed = {"status": {"code": code, "message": SECRET}}
    (found,) = read(span(said | {"error.type": "429"}, **failed)).generations
    assert (found.finish_reason, found.status) == ("error", 429)
    (found,) = read(span(said | {"error.type": "timeout"}, **failed)).generations
    assert (found.finish_reason, found.status) == ("error", None)
    assert read(span(SAID, **failed)).generations == (WHOLE,)


@pytest.mark.parametrize(
    ("said", "field"),
    [
        (named(gen_ai__usage__input_tokens=-1), "prompt_tokens"),
        (named(gen_ai__usage__input_tokens={"raw": {"intValue": "many"}}), "prompt_tokens"),
        (named(gen_ai__usage__input_tokens={"raw": {"intValue": "9" * 50}}), "prompt_tokens"),
        (named(gen_ai__usage__input_tokens={"raw": {"intValue": 10**30}}), "prompt_tokens"),
        (named(gen_ai__usage__output_tokens={"raw": {"intValue": [5]}}), "completion_tokens"),
        (named(gen_ai__usage__output_tokens={"raw": {"doubleValue": "NaN"}}), "completion_tokens"),
        (named(trace__metadata__openrouter__first_token_ms=0.0), "ttft_ms"),
        (named(trace__metadata__openrouter__first_token_ms={"raw": {"doubleValue": "Infinity"}}), "ttft_ms"),
        (named(trace__metadata__openrouter__first_token_ms=10**12), "ttft_ms"),
        (named(trace__metadata__locale=f"{SECRET} Thai"), "locale"),
        (named(session__id=""), "conversation"),
        (named(session__id={"a": SECRET}), "conversation"),
        (
            named(gen_ai__response__finish_reason=f"{SECRET}\n", gen_ai__response__finish_reasons="[1]"),
            "finish_reason",
        ),
    ],
    ids=str,
)
def test_what_makes_no_sense_was_not_said(said: dict[str, Any], field: str) -> None:
    """A strange value costs its own field, not the generation."""
    assert getattr(one(**said), field) is None


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"startTimeUnixNano": None}, "startTimeUnixNano: out of range"),
        ({"startTimeUnixNano": 0}, "startTimeUnixNano: out of range (got 0)"),
        ({"startTimeUnixNano": "9" * 19}, "startTimeUnixNano: out of range"),
        ({"startTimeUnixNano": "yesterday"}, "startTimeUnixNano: out of range"),
    ],
)
def test_a_span_without_a_time_is_rejected_alone(changes: dict[str, Any], problem: str) -> None:
    """It is counted, and its fault named."""
    found = read(span(SAID, **changes), span())
    assert (found.generations, found.rejected) == ((WHOLE,), 1)
    assert problem in str(found.problem)


def test_a_model_that_is_none_is_rejected() -> None:
    """Nothing can be looked up by it."""
    said = SAID | {"gen_ai.request.model": "chat", "gen_ai.response.model": "chat"}
    found = read(span(said))
    assert (found.generations, found.rejected) == ((), 1)
    assert "not a model id" in str(found.problem)


def test_a_duration_that_makes_no_sense_was_not_said() -> None:
    """An end before the start, or none."""
    for end in ("5", None, "x", str(2**64)):
        (found,) = read(span(SAID, endTimeUnixNano=end)).generations
        assert found.duration_ms is None


def test_a_body_has_at_most_a_thousand_generations() -> None:
    """Those beyond are rejected, not lost in silence."""
    many = [span({"gen_ai.request.model": MODEL, "gen_ai.response.id": f"g{n}"}) for n in range(1002)]
    found = read(*many)
    assert (len(found.generations), found.rejected) == (MAX_GENERATIONS, 2)


def test_an_empty_body_tells_of_nothing() -> None:
    """The gateway sends one to try the connection; absent and null are the same."""
    for body in (b"{}", b'{"resourceSpans": []}', b'{"resourceSpans": [{"scopeSpans": [{"spans": null}]}]}'):
        assert read_traces(body, lookup, now=NOW, keep=KEEP) == Traces((), 0, None)


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"\xff", b'{"resourceSpans": 5}', b'{"resourceSpans": [5]}', b'{"resourceSpans": [' * 9999],
)
def test_a_body_that_is_no_export_is_refused(body: bytes) -> None:
    """Whatever it is instead."""
    with pytest.raises(TelemetryError, match="the body is no ExportTraceServiceRequest"):
        read_traces(body, lookup, now=NOW, keep=KEEP)


# --- compression


def test_a_compressed_body_is_inflated() -> None:
    """By its content encoding, or left as it is."""
    assert inflated(b"abc", None, limit=3) == inflated(b"abc", "identity", limit=3) == b"abc"
    for name in ("gzip", " GZIP", "x-gzip"):
        assert inflated(gzip.compress(b"abc"), name, limit=3) == b"abc"


def test_a_body_grows_only_to_its_bound() -> None:
    """A small body that would fill the memory is refused before it does."""
    bomb = gzip.compress(bytes(50_000_000))
    with pytest.raises(TelemetryError, match="the body is too long; allowed: 1000 bytes"):
        inflated(bomb, "gzip", limit=1000)
    with pytest.raises(TelemetryError, match="the body is too long"):
        inflated(b"abcd", None, limit=3)


@pytest.mark.parametrize(
    ("body", "encoding", "said"),
    [
        (b"abc", "gzip", "not what its content encoding says"),
        (b"", "gzip", "not one whole gzip member"),
        (gzip.compress(b"abc", mtime=0)[:-3], "gzip", "not one whole gzip member"),
        (gzip.compress(b"abc", mtime=0) + b"x", "gzip", "not one whole gzip member"),
        (b"abc", "br", r"unknown content encoding \(got 'br'\); allowed: gzip, identity"),
    ],
)
def test_what_cannot_be_inflated_is_refused(body: bytes, encoding: str, said: str) -> None:
    """The refusal says what is taken."""
    with pytest.raises(TelemetryError, match=said):
        inflated(body, encoding, limit=100)
