"""What a body of `POST /v1/telemetry` may say."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from routecanary.domain.generation import Generation, Source
from routecanary.errors import TelemetryError
from routecanary.telemetry.candidates import nothing_known
from routecanary.telemetry.records import ALLOWED, MAX_BYTES, MAX_RECORDS, _Told, read_generations
from tests.unit.telemetry.known import KEEP, MODEL, NOW, lookup


def record(**changes: Any) -> dict[str, Any]:
    return {"key": "k1", "model": MODEL, "started_at": "2026-11-29T11:59:00Z"} | changes


def read(*records: Any) -> tuple[Generation, ...]:
    body = json.dumps({"generations": list(records)}).encode()
    return read_generations(body, lookup, now=NOW, keep=KEEP)


def refusal(body: bytes) -> str:
    with pytest.raises(TelemetryError) as caught:
        read_generations(body, lookup, now=NOW, keep=KEEP)
    return str(caught.value)


def test_a_whole_record_becomes_a_generation() -> None:
    """Every key, with the model's alias resolved and the display name made tags."""
    told = record(
        id="gen-1",
        model="acme/chat-20260101",
        started_at="2026-11-29T18:59:00.25+07:00",
        provider="Beta",
        ignore=["beta/fp4", "gamma"],
        unchanged="stale",
        list_written_at="2026-11-29T11:58:59Z",
        ttft_ms=250.4,
        duration_ms=1900,
        status=200,
        finish_reason="stop",
        empty=False,
        prompt_tokens=812,
        completion_tokens=0,
        conversation="c0ffee",
        locale="pt",
        source="proxy",
    )
    assert read(told) == (
        Generation(
            key="k1",
            source=Source.PROXY,
            model="acme/chat",  # type: ignore[arg-type]
            started_at=datetime(2026, 11, 29, 11, 59, 0, 250_000, tzinfo=UTC),
            id="gen-1",
            provider="Beta",
            candidates=frozenset({"beta/fp4", "beta/fp8"}),  # type: ignore[arg-type]
            carried=frozenset({"beta/fp4"}),  # type: ignore[arg-type]
            unchanged="stale",
            list_written_at=NOW - timedelta(seconds=61),
            ttft_ms=250,
            duration_ms=1900,
            status=200,
            finish_reason="stop",
            empty=False,
            prompt_tokens=812,
            completion_tokens=0,
            conversation="c0ffee",
            locale="pt-BR",  # type: ignore[arg-type]
        ),
    )


def test_a_bare_record_is_enough() -> None:
    """A key or an id, a model and a time; null is as good as absent."""
    (bare,) = read(record())
    nulls = dict.fromkeys(ALLOWED.keys() - {"generations", "model", "started_at", "key", "source"})
    assert read(record(**nulls)) == (bare,)
    assert (bare.source, bare.id, bare.candidates, bare.status) == (Source.HOOK, None, frozenset(), None)
    (named,) = read({"id": "gen-9", "model": MODEL, "started_at": "2026-11-29T11:59:00Z"})
    assert (named.key, named.id) == ("gen-9", "gen-9")
    assert read() == ()


def test_a_model_that_is_not_watched_is_kept() -> None:
    """Under its own name, if it is one; so is every model while there is no snapshot."""
    (other,) = read(record(model="acme/other:free", provider="Beta"))
    assert (other.model, other.candidates, other.provider) == ("acme/other:free", frozenset(), "Beta")
    body = json.dumps({"generations": [record(provider="Beta")]}).encode()
    (blind,) = read_generations(body, nothing_known, now=NOW, keep=KEEP)
    assert (blind.model, blind.candidates) == (MODEL, frozenset())


def test_the_ends_of_the_window_are_in_it() -> None:
    """Up to a day ahead of our clock, back to what is kept."""
    ends = [NOW + timedelta(days=1), NOW - KEEP]
    assert [each.started_at for each in read(*(record(started_at=at.isoformat()) for at in ends))] == ends


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "unknown key": (
        {"prompt": "tell me"},
        "generations[1].prompt: unknown key; allowed: completion_tokens, conversation, duration_ms",
    ),
    "strange key": ({"a`b - at `$.x": 1}, "unknown key; allowed: completion_tokens"),
    "no model": ({"model": None}, "generations[1].model: not allowed; allowed: author/slug"),
    "model": ({"model": "chat"}, "generations[1].model: not a model id (got 'chat'); allowed: author/slug"),
    "dots": ({"model": "../x"}, "generations[1].model: not a model id (got '../x')"),
    "long model": ({"model": "a/" + "b" * 200}, "generations[1].model: not allowed (got 'a/bbb"),
    "no key": ({"key": None}, "generations[1].key: missing; allowed: 1 to 128 printable"),
    "empty key": ({"key": ""}, "generations[1].key: not allowed (got ''); allowed: 1 to 128 printable"),
    "key of words": ({"key": "a b"}, "generations[1].key: not allowed (got 'a b')"),
    "key with a line": ({"key": "ab\n"}, "generations[1].key: not allowed (got 'ab\\n')"),
    "long id": ({"id": "x" * 201}, "generations[1].id: not allowed (got 'xxx"),
    "no zone": (
        {"started_at": "2026-11-29T11:59:00"},
        "generations[1].started_at: not allowed (got '2026-11-29T11:59:00'); allowed: a time with a zone",
    ),
    "number for time": (
        {"started_at": 1764417540},
        "generations[1].started_at: not allowed (got 1764417540)",
    ),
    "tomorrow": (
        {"started_at": "2026-11-30T12:00:01Z"},
        (
            "generations[1].started_at: out of range (got '2026-11-30T12:00:01+00:00'); "
            "allowed: from 2026-10-30T12:00:00+00:00 to 2026-11-30T12:00:00+00:00"
        ),
    ),
    "too old": ({"started_at": "2026-10-30T11:59:59Z"}, "generations[1].started_at: out of range"),
    "year 1": ({"started_at": "0001-01-01T00:00:00+14:00"}, "generations[1].started_at: out of range"),
    "list of tomorrow": (
        {"list_written_at": "2026-12-29T00:00:00Z"},
        "generations[1].list_written_at: out of",
    ),
    "list without zone": ({"list_written_at": "2026-11-29"}, "generations[1].list_written_at: not allowed"),
    "negative": ({"ttft_ms": -1}, "generations[1].ttft_ms: not allowed (got -1); allowed: a number of 0 to"),
    "two days": ({"duration_ms": 172_800_000}, "generations[1].duration_ms: not allowed (got 172800000)"),
    "text for number": ({"ttft_ms": "5"}, "generations[1].ttft_ms: not allowed (got '5')"),
    "half a token": ({"prompt_tokens": 0.5}, "generations[1].prompt_tokens: not allowed (got 0.5)"),
    "many tokens": ({"completion_tokens": 10**10}, "generations[1].completion_tokens: not allowed (got 10"),
    "huge": ({"completion_tokens": 10**400}, "generations[1].completion_tokens: not allowed"),
    "status": ({"status": 99}, "generations[1].status: not allowed (got 99); allowed: a whole number of 100"),
    "true status": ({"status": True}, "generations[1].status: not allowed (got True)"),
    "empty": ({"empty": "no"}, "generations[1].empty: not allowed (got 'no'); allowed: true, false or null"),
    "finish": (
        {"finish_reason": "x" * 65},
        "generations[1].finish_reason: not allowed (got 'xxx",
    ),
    "reason": ({"unchanged": "No Snapshot"}, "generations[1].unchanged: not allowed (got 'No Snapshot')"),
    "provider": ({"provider": "a\nb"}, "generations[1].provider: not a name (got 'a\\nb')"),
    "route": ({"route": "a b"}, "generations[1].route: not a route tag (got 'a b'); allowed: slug or"),
    "ignore": ({"ignore": "alpha"}, "generations[1].ignore: not allowed (got 'alpha'); allowed: a list"),
    "ignored": ({"ignore": ["a", 1]}, "generations[1].ignore[1]: not allowed (got 1); allowed: a list"),
    "ignored name": ({"ignore": ["a\tb"]}, "generations[1].ignore: not a name (got 'a\\tb')"),
    "much ignored": ({"ignore": ["a"] * 1001}, "generations[1].ignore: not allowed (got 'a list of 1001')"),
    "locale": ({"locale": "Thai"}, "generations[1].locale: not a locale (got 'Thai'); allowed: a tag such"),
    "source": (
        {"source": "broadcast"},
        "generations[1].source: not allowed (got 'broadcast'); allowed: hook",
    ),
    "conversation": ({"conversation": "hello you"}, "generations[1].conversation: not allowed"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name: str) -> None:
    """The record, the key, the value and what is allowed; nothing of the body is taken."""
    changes, said = WRONG[name]
    body = json.dumps({"generations": [record(), record(**changes), record()]}).encode()
    assert said in refusal(body)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "the body is not what it should be: Input data was truncated; allowed: a JSON object"),
        (b"{", "the body is not what it should be"),
        (b"\xff\xfe", "the body is not what it should be: JSON is malformed"),
        (b"[]", "the body is not what it should be: Expected `object`, got `array`"),
        (b"null", "the body is not what it should be"),
        (b"{}", "generations: missing; allowed: a list of at most 1000 records"),
        (
            b'{"generations": {}}',
            "generations: not allowed (got 'a dict of 0'); allowed: a list of at most 1000",
        ),
        (b'{"generations": [1]}', "generations[0]: not a record (got 1); allowed: an object"),
        (b'{"generations": [], "prompt": "x"}', "prompt: unknown key; allowed: generations"),
        (b'{"generations": [{"model": "a/b"}]}', "generations[0].started_at: missing; allowed: a time"),
        (b'{"generations": [{"model": "\\ud800"}]}', "the body is not what it should be"),
        (b'{"generations": [{"model": ' + b"[" * 100_000, "generations[0].model: not allowed"),
        (b'{"generations": [{"x": ' + b"[" * 100_000, "generations[0].x: unknown key"),
        (b'{"generations": [' + b"{}," * 2000 + b"{}]}", "generations[0].model: missing"),
        (b" " * (MAX_BYTES + 1), "the body is too long; allowed: 1048576 bytes"),
    ],
)
def test_a_body_that_is_none_is_refused(body: bytes, said: str) -> None:
    """Whatever it is instead."""
    assert said in refusal(body)


def test_a_body_has_at_most_a_thousand_records() -> None:
    """One more and none is taken."""
    assert len(read(*(record(key=f"k{n}") for n in range(MAX_RECORDS)))) == MAX_RECORDS
    body = json.dumps({"generations": [record()] * (MAX_RECORDS + 1)}).encode()
    assert refusal(body) == (
        "generations: not allowed (got 'a list of 1001'); allowed: a list of at most 1000 records"
    )


def test_every_key_is_said_in_words() -> None:
    """What may stand under a key is told to whoever got it wrong."""
    assert ALLOWED.keys() - {"generations"} == {field.name for field in msgspec.structs.fields(_Told)}
