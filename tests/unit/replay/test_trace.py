"""What does one line of a trace say, and which lines are rejected whole?"""

from __future__ import annotations

import json

import pytest

from routecanary.domain.round import Lift, Mode, Pause, Resume, Round, RouteReport, SwitchMode
from routecanary.domain.verdict import VerdictKind
from routecanary.errors import TraceError
from routecanary.replay.trace import MAX_LINE_BYTES, parse_line
from tests.story import START

HEAD = {"at": "2026-01-05T00:00:00Z", "model": "acme/chat"}


def a_line(**fields: object) -> bytes:
    return json.dumps(HEAD | {"kind": "round"} | fields).encode()


def test_whole_round() -> None:
    """Every field that a round may carry is read; unknown ones are ignored."""
    raw = a_line(
        locale="pt-BR",
        builtin=["filterhost", "filterhost"],
        runtime=["manual"],
        swallows={"manual": ["manual/us"]},
        acted=["alpha"],
        note={"any": [1, 2.5, None]},
        routes={
            "alpha": {
                "swallows": ["alpha/us"],
                "admitted": False,
                "verdicts": {"latency": "pass", "own contract": "fail"},
                "attempts": {"latency": [0], "own contract": [1, 0, 1]},
            },
            "filterhost": {"control_for": "filtering"},
            "two": {"control_for": ["filtering", "language"], "verdicts": {}},
        },
    )
    assert parse_line(raw) == Round(
        at=START,
        model="acme/chat",  # type: ignore[arg-type]
        locale="pt-BR",  # type: ignore[arg-type]
        builtin=frozenset({"filterhost"}),
        runtime=frozenset({"manual"}),
        swallows={"manual": frozenset({"manual/us"})},  # type: ignore[arg-type]
        acted=frozenset({"alpha"}),  # type: ignore[arg-type]
        routes={
            "alpha": RouteReport(
                verdicts={"latency": VerdictKind.PASS, "own contract": VerdictKind.FAIL},  # type: ignore[dict-item]
                attempts={"latency": (False,), "own contract": (True, False, True)},  # type: ignore[dict-item]
                swallows=frozenset({"alpha/us"}),  # type: ignore[arg-type]
                admitted=False,
            ),
            "filterhost": RouteReport(control_for=frozenset({"filtering"})),  # type: ignore[arg-type]
            "two": RouteReport(control_for=frozenset({"filtering", "language"})),  # type: ignore[arg-type]
        },  # type: ignore[dict-item]
    )


def test_bare_round() -> None:
    """Missing layers and routes are empty."""
    assert parse_line(a_line()) == Round(at=START, model="acme/chat", routes={})  # type: ignore[arg-type]


ACTS = [
    ({"kind": "lift", "route": "a"}, Lift(at=START, model="acme/chat", route="a")),  # type: ignore[arg-type]
    (
        {"kind": "lift", "route": "a", "false_positive": True, "hold_until": "2026-01-05T01:00:00+01:00",
         "actor": "ops", "reason": 7},
        Lift(at=START, model="acme/chat", route="a", false_positive=True, hold_until=START),  # type: ignore[arg-type]
    ),
    ({"kind": "lift", "route": "a", "hold_until": None}, Lift(at=START, model="acme/chat", route="a")),  # type: ignore[arg-type]
    ({"kind": "mode", "mode": "observe"}, SwitchMode(at=START, model="acme/chat", mode=Mode.OBSERVE)),  # type: ignore[arg-type]
    ({"kind": "pause", "until": "whenever"}, Pause(at=START, model="acme/chat")),  # type: ignore[arg-type]
    ({"kind": "resume"}, Resume(at=START, model="acme/chat")),  # type: ignore[arg-type]
]  # fmt: skip


@pytest.mark.parametrize(("fields", "act"), ACTS, ids=range(len(ACTS)))
def test_acts(fields: dict[str, object], act: object) -> None:
    """A replay ignores `until`, `actor` and `reason`."""
    assert parse_line(a_line(**fields)) == act


@pytest.mark.parametrize("raw", [b"", b"\n", b" \t\r\n"])
def test_blank_line_says_nothing(raw: bytes) -> None:
    """It is skipped."""
    assert parse_line(raw) is None


def test_line_end_of_either_kind() -> None:
    """CR LF is white space to JSON."""
    assert parse_line(a_line() + b"\r\n") == parse_line(a_line())


BAD_FIELDS = [
    ("kind", {"kind": "rond"}), ("kind", {"kind": None}), ("kind", {"kind": ""}),
    ("kind", {"kind": ["round"]}),
    ("at", {"at": "2026-01-05T00:00:00"}), ("at", {"at": 1767571200}), ("at", {"at": None}),
    ("at", {"at": ""}), ("at", {"at": "9800-01-01T00:00:00Z"}),
    ("model", {"model": ""}), ("model", {"model": None}), ("model", {"model": 3}),
    ("model", {"model": "\ud800"}),
    ("locale", {"locale": 5}),
    ("routes", {"routes": []}), ("routes", {"routes": None}), ("routes", {"routes": {"": {}}}),
    ("routes.a", {"routes": {"a": None}}), ("routes.a", {"routes": {"a": []}}),
    ("routes.a.verdicts", {"routes": {"a": {"verdicts": ["pass"]}}}),
    ("routes.a.verdicts", {"routes": {"a": {"verdicts": {"": "pass"}}}}),
    ("routes.a.verdicts.latency", {"routes": {"a": {"verdicts": {"latency": "maybe"}}}}),
    ("routes.a.verdicts.latency", {"routes": {"a": {"verdicts": {"latency": "PASS"}}}}),
    ("routes.a.verdicts.latency", {"routes": {"a": {"verdicts": {"latency": None}}}}),
    ("routes.a.verdicts.latency", {"routes": {"a": {"verdicts": {"latency": ["pass"]}}}}),
    ("routes.a.swallows", {"routes": {"a": {"swallows": "b"}}}),
    ("routes.a.swallows", {"routes": {"a": {"swallows": [1]}}}),
    ("routes.a.admitted", {"routes": {"a": {"admitted": 1}}}),
    ("routes.a.control_for", {"routes": {"a": {"control_for": True}}}),
    ("routes.a.control_for", {"routes": {"a": {"control_for": ""}}}),
    ("routes.a.control_for", {"routes": {"a": {"control_for": [None]}}}),
    ('routes."a\\nb"', {"routes": {"a\nb": 1}}),
    ("builtin", {"builtin": "a"}), ("builtin", {"builtin": [""]}), ("runtime", {"runtime": {"a": 1}}),
    ("swallows", {"swallows": ["a"]}), ("swallows.p", {"swallows": {"p": "a"}}), ("acted", {"acted": "a"}),
    ("route", {"kind": "lift"}), ("route", {"kind": "lift", "route": ["a"]}),
    ("false_positive", {"kind": "lift", "route": "a", "false_positive": "yes"}),
    ("hold_until", {"kind": "lift", "route": "a", "hold_until": "2026-01-06T00:00:00"}),
    ("mode", {"kind": "mode"}), ("mode", {"kind": "mode", "mode": "off"}),
    ("mode", {"kind": "mode", "mode": 1}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "fields"), BAD_FIELDS, ids=[f"{key}-{n}" for n, (key, _) in enumerate(BAD_FIELDS)]
)
def test_bad_field_rejects_the_line(key: str, fields: dict[str, object]) -> None:
    """The error names the key and what is allowed, on one line."""
    with pytest.raises(TraceError) as caught:
        parse_line(a_line(**fields))
    assert caught.value.key == key
    assert caught.value.allowed
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["at", "model", "kind"])
def test_needed_field_that_is_missing_rejects_the_line(key: str) -> None:
    """Without its time, model or kind a line says nothing."""
    fields = json.loads(a_line())
    del fields[key]
    with pytest.raises(TraceError, match=key):
        parse_line(json.dumps(fields).encode())


BAD_TEXTS = {
    "not JSON": b"{",
    "half a line": a_line()[:-2],
    "two objects": a_line() + a_line(),
    "a list": b"[]",
    "a text": b'"round"',
    "null": b"null",
    "not UTF-8": a_line(locale="xx").replace(b"xx", b"\xff\xfe"),
    "a byte order mark in front": b"\xef\xbb\xbf" + a_line(),
    "NaN": a_line(note=float("nan")),
    "Infinity": a_line(note=float("-inf")),
    "a key twice": b'{"kind":"pause","kind":"resume","at":"2026-01-05T00:00:00Z","model":"m"}',
    "a route twice": a_line(routes={"a": {}, "b": {}}).replace(b'"b"', b'"a"'),
    "lists nested too deep": b"[" * 100_000,
    "objects nested too deep": a_line(note="xx").replace(b'"xx"', b'{"a":' * 100_000),
    "a number of 5,000 digits": a_line(note="xx").replace(b'"xx"', b"1" * 5_000),
    "single quotes": b"{'kind':'pause'}",
    "a control character": a_line(locale="xx").replace(b"xx", b"\x00"),
}


@pytest.mark.parametrize("raw", BAD_TEXTS.values(), ids=BAD_TEXTS)
def test_text_that_is_no_json_object_is_rejected(raw: bytes) -> None:
    """Hostile bytes give an error of one line, never a traceback."""
    with pytest.raises(TraceError) as caught:
        parse_line(raw)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1_000


def test_hold_may_last_for_good() -> None:
    """Only the time of a line is bounded, since durations are added to it."""
    line = parse_line(
        a_line(at="9799-12-31T23:59:59Z", kind="lift", route="a", hold_until="9999-12-31T23:59:59Z")
    )
    assert isinstance(line, Lift)
    assert line.hold_until is not None


def test_line_of_the_greatest_length_and_one_byte_more() -> None:
    """The bound is on the line as it is in the file."""
    padding = MAX_LINE_BYTES - len(a_line())
    assert parse_line(a_line() + b" " * padding) == parse_line(a_line())
    with pytest.raises(TraceError, match="too long"):
        parse_line(a_line() + b" " * (padding + 1))
