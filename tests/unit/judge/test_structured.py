"""The structured contract: exactly one JSON document that keeps to its schema."""

from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routecanary.domain.names import INTEGRITY, STRUCTURED
from routecanary.domain.probe import Json, ProbeKind
from routecanary.domain.transcript import Transcript
from routecanary.judge.examine import judge_transcript
from routecanary.judge.strict_json import Document, NotJson, parse
from tests.answers import a_request, a_stream, said

SCHEMA: Json = {
    "type": "object",
    "additionalProperties": False,
    "required": ["city", "size", "mood"],
    "properties": {
        "city": {"type": "string"},
        "size": {"type": "integer", "minimum": 1, "maximum": 9},
        "mood": {"enum": ["calm", "loud"]},
        "at": {"type": "object", "properties": {"x": {"type": "integer"}}},
        "note": {"type": "string"},
    },
}
GOOD = '{"city":"Ghent","size":3,"mood":"calm"}'


def answered(
    text: str, schema: Json = SCHEMA, kind: ProbeKind = ProbeKind.STRUCTURED, **stream: object
) -> Transcript:
    form = {"type": "json_schema", "json_schema": {"name": "card", "strict": True, "schema": schema}}
    request = a_request("A city as JSON.", response_format=form, max_tokens=300)
    return a_stream(text, kind=kind, request=request, locale=None, **stream)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (GOOD, "pass"),
        (f"\n  {GOOD}\n\n", "pass"),
        (f"\ufeff{GOOD}", "pass"),
        (GOOD.replace("3", "3.0"), "pass"),
        (GOOD.replace("Ghent", "Gh\\u0065nt \\ud83d\\ude00 ```x```"), "pass"),
        (GOOD[:-1] + ',"note":"{\\"a\\": 1}"}', "pass"),
        # not JSON
        (GOOD[:-1] + ",}", "fail:json_invalid"),
        (GOOD.replace("3", "NaN"), "fail:json_invalid"),
        (GOOD.replace("3", "-Infinity"), "fail:json_invalid"),
        (GOOD.replace("3", "1e999"), "fail:json_invalid"),
        (GOOD.replace("3", "7" * 5000), "fail:json_invalid"),
        (GOOD.replace("3", "03"), "fail:json_invalid"),
        (GOOD.replace('"city"', "city"), "fail:json_invalid"),
        (GOOD.replace('"city"', "“city”"), "fail:json_invalid"),
        (GOOD.replace("Ghent", "Gh\nent"), "fail:json_invalid"),
        (GOOD.replace("Ghent", "Gh\\_ent"), "fail:json_invalid"),
        (GOOD[:-1] + ',"mood":"calm"}', "fail:json_invalid"),
        (GOOD[:20], "fail:json_invalid"),
        ("[" * 200_000, "fail:json_invalid"),
        ("Ghent is a city.", "fail:json_invalid"),
        # fences and company
        (f"```json\n{GOOD}\n```", "fail:json_fenced"),
        (f"```\n{GOOD}\n```\nEnjoy!", "fail:json_fenced"),
        ("```json\n```", "fail:json_fenced"),
        (f"Here it is:\n```json\n{GOOD}\n```", "fail:json_fenced"),
        (f"{GOOD}\n\nAnything else?", "fail:json_trailing"),
        (f"Sure! {GOOD}", "fail:json_trailing"),
        (f"{GOOD}\n{GOOD}", "fail:json_trailing"),
        (f"{GOOD}}}", "fail:json_trailing"),
        # valid JSON, wrong document
        (GOOD.replace("calm", "Calm"), "fail:json_schema"),
        (GOOD.replace("3", "30"), "fail:json_schema"),
        (GOOD.replace("3", '"3"'), "fail:json_schema"),
        (GOOD[:-1] + ',"more":1}', "fail:json_schema"),
        (GOOD[:-1] + ',"at":"{}"}', "fail:json_schema"),
        ('{"city":"Ghent"}', "fail:json_schema"),
        (f'{{"card":{GOOD}}}', "fail:json_schema"),
        (json.dumps(SCHEMA), "fail:json_schema"),
        ("null", "fail:json_schema"),
        ('{":":"a",":":"b"}', "fail:json_schema"),
        (json.dumps(GOOD), "fail:json_double_encoded"),
        (json.dumps(GOOD)[1:-1], "fail:json_double_encoded"),
    ],
)
def test_one_valid_document(text: str, verdict: str):
    """Each way to miss it has its own word."""
    assert said(STRUCTURED, answered(text)) == verdict


@pytest.mark.parametrize(
    ("text", "tokens", "verdict"),
    [
        (GOOD[:20], 300, "inconclusive:own_limit"),
        (GOOD[:20], 20, "fail:truncated"),
        (GOOD + "\n" * 400, 300, "fail:truncated"),
        ("{" + "\n   " * 100, 300, "fail:json_invalid"),
        (GOOD, 300, "pass"),
    ],
    ids=["our limit", "the host's limit", "flood after", "stall within", "just fitted"],
)
def test_documents_cut_at_a_limit(text: str, tokens: int, verdict: str):
    """Our own limit is no fault; a flood of white space up to it is."""
    assert said(STRUCTURED, answered(text, finish="length", tokens=tokens)) == verdict


@pytest.mark.parametrize(
    "schema",
    [
        {"type": 5},
        {"$ref": "http://example.invalid/schema"},
        {"$ref": "file:///etc/passwd"},
        {"properties": {"city": {"pattern": "("}}},
        {"$schema": "http://example.invalid/draft", "type": "object"},
        "text",
        None,
    ],
)
def test_unusable_schema_is_our_fault(schema: Json):
    """A schema that does not compile, or points elsewhere, convicts nobody and fetches nothing."""
    assert said(STRUCTURED, answered(GOOD, schema)) == "inconclusive:own_schema"


def test_lone_surrogate_does_not_hide_the_rest():
    """The schema is still judged; the surrogate is integrity's finding."""
    text = GOOD.replace("Ghent", "\\ud800")
    assert said(STRUCTURED, answered(text)) == "pass"
    assert said(STRUCTURED, answered(text.replace("3", "30"))) == "fail:json_schema"


@pytest.mark.parametrize(
    ("stream", "structured", "integrity"),
    [
        ({}, "fail:json_invalid", "fail:empty"),
        ({"reasoning": "so"}, "fail:json_invalid", "fail:reasoning_only"),
        ({"finish": "length", "tokens": 300}, "inconclusive:own_limit", "inconclusive:own_limit"),
    ],
)
def test_no_text_is_no_document(stream: dict[str, Json], structured: str, integrity: str):
    """A completed empty answer misses the schema too; a budget of ours that ran out does not."""
    transcript = answered("", **stream)
    assert (said(STRUCTURED, transcript), said(INTEGRITY, transcript)) == (structured, integrity)


def test_applies_to_requests_that_ask_for_a_schema():
    """A stored chat without a response format is not asked for JSON."""
    assert STRUCTURED not in judge_transcript(a_stream("A fig.", kind=ProbeKind.ANY))
    assert STRUCTURED in judge_transcript(answered(GOOD, kind=ProbeKind.ANY))
    assert STRUCTURED not in judge_transcript(answered(GOOD, kind=ProbeKind.CHAT))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["city", "size", "mood", "x"]), inner)
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(value=JSON_VALUES)
def test_schema_verdicts_are_those_of_another_validator(value: Json):
    """jsonschema, the reference in pure Python, accepts the same documents."""
    expected = jsonschema.Draft202012Validator(SCHEMA).is_valid(value)
    verdict = said(STRUCTURED, answered(json.dumps(value)))
    assert (verdict == "pass") is expected


@settings(deadline=None)
@given(value=JSON_VALUES)
def test_strict_reader_reads_all_json(value: Json):
    """Whatever is JSON parses to itself."""
    assert parse(json.dumps(value)) == Document(value=value)


@settings(deadline=None)
@given(text=st.text(alphabet='{}[]":,01.eE-+truefalsn \\', max_size=40))
def test_strict_reader_takes_nothing_that_the_lenient_one_refuses(text: str):
    """Strictness only ever takes away."""
    if isinstance(parse(text), NotJson):
        return
    json.loads(text)
