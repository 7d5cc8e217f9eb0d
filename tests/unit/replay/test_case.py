"""Case files: strict reading, and the line that a judgement prints."""

from __future__ import annotations

import json
from typing import Any

import pytest

from routecanary.domain.names import FILTERING
from routecanary.domain.verdict import VerdictKind
from routecanary.errors import CaseError
from routecanary.replay.case import judge_case, read_case

GOOD: dict[str, Any] = {
    "id": "a-case",
    "title": "A case",
    "source_url": "https://example.org",
    "engine_or_host": "host",
    "kind": "empty",
    "probe": "filtering",
    "expected_locale": "en",
    "request": {"model": "lab/lark", "messages": [{"role": "user", "content": "Say hello."}]},
    "transcript": {
        "status": 200,
        "headers": {"content-type": "text/event-stream"},
        "events": [
            {"at_ms": 400, "raw": 'data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n'},
            {"at_ms": 450, "raw_b64": "ZGF0YTogeyJjaG9pY2VzIjpbeyJkZWx0YSI6eyJjb250ZW50IjoibG8uIn19XX0KCg=="},
            {"at_ms": 500, "raw": 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'},
        ],
        "end": {"at_ms": 510, "how": "eof"},
    },
    "expected": {"verdict": "pass", "kind": None, "why": "x", "also_ok": ["inconclusive", "fail:empty"]},
}


def changed(path: str, value: Any) -> str:
    """Set one member of the good case, by a dotted path; `...` takes it out."""
    case = json.loads(json.dumps(GOOD))
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    table = case
    for part in parents:
        table = table[part]
    if value is ...:
        del table[last]
    else:
        table[last] = value
    return json.dumps(case)


def test_good_case_is_read_whole():
    """Contract, chunks with their times, locale, ending, and what is right."""
    case = read_case(json.dumps(GOOD).encode(), "a-case.json")
    assert (case.id, case.contract, case.transcript.locale) == ("a-case", FILTERING, "en")
    assert [chunk.at_ms for chunk in case.transcript.chunks] == [400, 450, 500]
    assert case.expected is not None
    assert case.expected.admits(VerdictKind.PASS, None)
    assert case.expected.admits(VerdictKind.INCONCLUSIVE, "whatever")
    assert case.expected.admits(VerdictKind.FAIL, "empty")
    assert not case.expected.admits(VerdictKind.FAIL, "refusal")
    assert case.expected.admits_verdict(VerdictKind.FAIL)


def test_judgement_is_one_line():
    """Exactly the members that the command promises."""
    line = judge_case(read_case(json.dumps(GOOD), "a-case.json"))
    assert line == {
        "id": "a-case",
        "verdict": "pass",
        "kind": None,
        "contracts": {
            "filtering": {"verdict": "pass", "kind": None, "reason": ""},
            "integrity": {"verdict": "pass", "kind": None, "reason": ""},
        },
    }


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("", ["not JSON"]),
        ("{", ["not JSON", "line 1"]),
        ("[]", ["case", "a JSON object"]),
        (b"\xff{}", ["not UTF-8"]),
        ('{"id": NaN}', ["NaN"]),
        ('{"id": "a", "id": "b"}', ["repeated", "id"]),
        ('{"a":' * 100_000, ["nested"]),
        ('{"a": ' + "9" * 5000 + "}", ["digits"]),
        (changed("probe", "speed"), ["probe", "'speed'", "latency, language"]),
        (changed("probe", ...), ["probe"]),
        (changed("colour", "red"), ["colour", "unknown key"]),
        (changed("id", 7), ["id", "7"]),
        (changed("expected_locale", "english"), ["expected_locale", "'english'", "pt-BR"]),
        (changed("expected_locale", 7), ["expected_locale", "7"]),
        (changed("request", ...), ["request", "a JSON object"]),
        (changed("request", []), ["request", "'list'"]),
        (changed("request.sent_at_unix", "now"), ["request.sent_at_unix", "'now'", "Unix seconds"]),
        (changed("transcript", None), ["transcript"]),
        (changed("transcript.colour", 1), ["transcript.colour"]),
        (changed("transcript.status", 42), ["transcript.status", "42", "100 to 599"]),
        (changed("transcript.status", True), ["transcript.status", "True"]),
        (changed("transcript.headers", ["a"]), ["transcript.headers", "'list'"]),
        (changed("transcript.headers", {"a": 1}), ["transcript.headers.a", "1"]),
        (changed("transcript.events", {}), ["transcript.events", "'dict'", "a JSON array"]),
        (changed("transcript.events.1", "x"), ["transcript.events[1]", "'x'"]),
        (changed("transcript.events.1.at_ms", -1), ["transcript.events[1].at_ms", "-1"]),
        (changed("transcript.events.1.at_ms", True), ["transcript.events[1].at_ms", "True"]),
        (changed("transcript.events.1.at_ms", 1e12), ["transcript.events[1].at_ms"]),
        (changed("transcript.events.1.at_ms", 10), ["transcript.events[1].at_ms", "earlier"]),
        (changed("transcript.events.1.raw_b64", "%%"), ["transcript.events[1].raw_b64", "base64"]),
        (changed("transcript.events.1.raw", "x"), ["transcript.events[1]", "raw or raw_b64"]),
        (changed("transcript.events.0.raw", "\ud800"), ["transcript.events[0].raw", "surrogate"]),
        (changed("transcript.events.0.raw", ["x"]), ["transcript.events[0].raw", "'list'"]),
        (changed("transcript.events.0.at", 1), ["transcript.events[0].at", "unknown key"]),
        (changed("transcript.end", ...), ["transcript.end"]),
        (changed("transcript.end.how", "boom"), ["transcript.end.how", "'boom'", "eof, reset"]),
        (changed("transcript.end.at_ms", None), ["transcript.end.at_ms"]),
        (changed("transcript", {"status": 200, "body": "x"}), ["transcript.body_at_ms"]),
        (changed("transcript", {"status": 200, "body_at_ms": 5}), ["transcript", "body or body_b64"]),
        (changed("expected", "pass"), ["expected", "'pass'"]),
        (changed("expected.verdict", "green"), ["expected.verdict", "'green'", "pass, fail"]),
        (changed("expected.verdict", ["pass"]), ["expected.verdict", "'list'"]),
        (changed("expected.also_ok", ["green:x"]), ["expected.also_ok[0]", "'green'"]),
        (changed("expected.also_ok", [7]), ["expected.also_ok[0]", "7"]),
        (changed("expected.kind", 7), ["expected.kind", "7"]),
    ],
)
def test_malformed_cases_are_refused(raw: str | bytes, words: list[str]):
    """The error names the file, the key, the value and what is allowed."""
    with pytest.raises(CaseError) as caught:
        read_case(raw, "bad.json")
    message = str(caught.value)
    assert message.startswith("bad.json")
    assert [word for word in words if word not in message] == []


def test_case_without_a_right_answer_can_be_judged():
    """`expected` is for tests; anybody's transcript can be judged."""
    case = read_case(changed("expected", ...), "a.json")
    assert case.expected is None
    assert judge_case(case)["verdict"] == "pass"


def test_no_http_answer_is_read():
    """A failed connection has no status and no reads."""
    transcript = {"status": None, "headers": {}, "events": [], "end": {"at_ms": 9, "how": "connect_failed"}}
    line = judge_case(read_case(changed("transcript", transcript), "a.json"))
    assert (line["verdict"], line["kind"]) == ("transport", "connection")


@pytest.mark.parametrize(
    ("probe", "first_ms", "how", "top"),
    [
        ("latency", 12_000, "reset", ("fail", "latency")),
        ("latency", 500, "reset", ("transport", "connection")),
        ("any", 12_000, "reset", ("fail", "latency")),
        ("language", 12_000, "reset", ("transport", "connection")),
    ],
)
def test_triage_decides_alone_save_for_late_text(probe: str, first_ms: int, how: str, top: tuple[str, str]):
    """A late first text is the evidence of the latency contract even if the stream is cut."""
    case = json.loads(changed("probe", probe))
    case["transcript"]["events"] = [{"at_ms": first_ms, "raw": GOOD["transcript"]["events"][0]["raw"]}]
    case["transcript"]["end"] = {"at_ms": first_ms + 5, "how": how}
    line = judge_case(read_case(json.dumps(case), "a.json"))
    assert (line["verdict"], line["kind"]) == top


def test_send_time_uncovers_a_replay():
    """`sent_at_unix` is the wall clock of the request, no part of its body."""
    case = json.loads(changed("request.sent_at_unix", 1_790_000_000))
    case["transcript"]["events"][0]["raw"] = (
        'data: {"created": 1700000000, "choices":[{"delta":{"content":"a"}}]}\n\n'
    )
    read = read_case(json.dumps(case), "a.json")
    assert "sent_at_unix" not in read.transcript.request
    assert judge_case(read)["kind"] == "cached"
