"""One refusal for everything that is not strict JSON."""

from __future__ import annotations

import pytest

from routecanary.domain.strict_json import JsonError, parse_json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2.5, null, true, "x"]}', {"a": [1, 2.5, None, True, "x"]}),
        (b'\xef\xbb\xbf"bom"', "bom"),
        ('"\\ud800"', "\ud800"),
        (" 7 \n", 7),
        ('{"a": {"b": 1}, "b": 2}', {"a": {"b": 1}, "b": 2}),
    ],
)
def test_a_document_is_read(text: str | bytes, value: object) -> None:
    """Strict, but no stricter than JSON."""
    assert parse_json(text) == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not JSON"),
        ("{} {}", "not JSON"),
        ("{'a': 1}", "not JSON"),
        ("NaN", "not a JSON number"),
        ('{"a": -Infinity}', "not a JSON number"),
        ("1e999", "too large"),
        ('{"a": 1, "a": 1}', "repeated"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("9" * 5_000, "too many digits"),
        (b"\xff", "not UTF-8"),
        ('"line\nbreak"', "not JSON"),
    ],
)
def test_anything_else_is_refused_with_its_place(text: str | bytes, problem: str) -> None:
    """No other exception leaves the reader."""
    with pytest.raises(JsonError, match=problem) as refused:
        parse_json(text, place="there")
    assert str(refused.value).startswith("there: ")
    assert len(str(refused.value)) < 250
