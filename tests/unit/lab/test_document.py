"""Documents for schemas."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from routecanary.domain.names import Locale
from routecanary.lab.document import document_for, written
from routecanary.lab.phrases import book_for
from routecanary.lab.spoiling.structured import broken_document
from tests.lab import CARD

ENGLISH = book_for(Locale("en"))

SCHEMAS: list[Any] = [
    CARD,
    {"type": "object", "required": ["extra"], "properties": {"a": {"type": "null"}}},
    {"type": "array", "items": {"type": "integer"}, "minItems": 3, "maxItems": 3},
    {"type": "array", "items": {"enum": [1, 2, 3]}, "minItems": 3, "uniqueItems": True},
    {"type": "array", "items": {"type": "string"}, "maxItems": 0},
    {"type": "string", "minLength": 200, "maxLength": 201},
    {"type": "string", "maxLength": 3},
    {"type": ["string", "null"], "maxLength": 5},
    {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 5},
    {"type": "integer", "minimum": -9, "maximum": -3, "multipleOf": 4},
    {"type": "number", "minimum": 0.5, "maximum": 0.75},
    {"type": "number", "exclusiveMinimum": 0, "maximum": 0.01},
    {"const": {"a": [1, None]}},
    {"anyOf": [{"type": "boolean"}, {"type": "integer", "minimum": 5}]},
    {"oneOf": [{"const": 1}, {"const": "x"}]},
    {"type": "object", "properties": {"kind": {"$ref": "#/$defs/kind"}}, "required": ["kind"],
     "$defs": {"kind": {"enum": ["a", "b"]}}},
    {"allOf": [{"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}},
               {"required": ["b"], "properties": {"b": {"type": "boolean"}}}]},
    {"type": "object", "required": ["x"], "additionalProperties": {"type": "integer"}},
    {"type": "string", "format": "date"},
    {"type": "object", "properties": {"node": {"$ref": "#"}}, "additionalProperties": False},
    {"properties": {"a": {"type": "boolean"}}, "required": ["a"]},
    {},
]  # fmt: skip


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: json.dumps(schema)[:60])
def test_a_document_validates_against_its_schema(schema: Any) -> None:
    """An independent validator accepts what the walk makes, under many seeds."""
    for seed in range(30):
        document = document_for(schema, ENGLISH, Random(seed))
        jsonschema.validate(json.loads(written(document)), schema)


LEAVES = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("integer"), "minimum": st.integers(-50, 0), "maximum": st.integers(1, 90)}
    ),
    st.fixed_dictionaries({"enum": st.lists(st.text(max_size=5) | st.integers(), min_size=1, max_size=4)}),
    st.fixed_dictionaries({"type": st.just("string"), "maxLength": st.integers(1, 60)}),
    st.just({"type": "boolean"}),
    st.just({"type": "null"}),
    st.just({"type": "number"}),
)


def nested(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    properties = st.dictionaries(st.text(min_size=1, max_size=6), children, max_size=4)
    objects = properties.flatmap(
        lambda given: st.fixed_dictionaries(
            {
                "type": st.just("object"),
                "properties": st.just(given),
                "required": st.lists(st.sampled_from(sorted(given)), unique=True) if given else st.just([]),
                "additionalProperties": st.just(False),
            }
        )
    )
    arrays = st.fixed_dictionaries(
        {
            "type": st.just("array"),
            "items": children,
            "minItems": st.integers(0, 2),
            "maxItems": st.integers(2, 4),
        }
    )
    return objects | arrays


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schema=st.recursive(LEAVES, nested, max_leaves=8), seed=st.integers(0, 2**32))
def test_nested_schemas_are_filled(schema: Any, seed: int) -> None:
    """Any nesting of objects and arrays of plain leaves gives a valid document."""
    jsonschema.validate(document_for(schema, ENGLISH, Random(seed)), schema)


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {"$ref": "#/nowhere"},
        {"$ref": "#"},
        {"$ref": "https://example.org/schema"},
        {"type": "martian"},
        {"type": 7, "minimum": "low"},
        {"type": "integer", "minimum": 10, "maximum": 1},
        {"type": "integer", "minimum": 10**400},
        {"type": "number", "multipleOf": -3},
        {
            "type": "array",
            "minItems": 10**9,
            "items": {"type": "array", "minItems": 10**9, "items": {"$ref": "#"}},
        },
        {"type": "string", "minLength": 10**12},
        {"type": "object", "properties": 3, "required": "a"},
        {"allOf": [{"allOf": [{"$ref": "#"}]}]},
        {"enum": [], "anyOf": [], "oneOf": "x"},
        {"type": "object", "required": [1, None, "a"], "additionalProperties": 5},
    ],
    ids=str,
)
def test_a_hostile_schema_gives_some_bounded_document(schema: Any) -> None:
    """No schema, however senseless, raises or makes an endless document."""
    assert len(written(document_for(schema, ENGLISH, Random(1)))) < 400_000


@settings(max_examples=80, deadline=None)
@given(
    schema=st.dictionaries(
        st.sampled_from(
            [
                *("type", "properties", "required", "items", "enum", "const", "anyOf", "allOf", "$ref"),
                *("minimum", "maximum", "multipleOf", "exclusiveMinimum", "minLength", "format"),
                *("minItems", "maxItems", "uniqueItems", "additionalProperties"),
            ]
        ),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
            lambda inner: (
                st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
            ),
            max_leaves=6,
        ),
    )
)
def test_any_json_under_schema_keywords_is_survived(schema: Any) -> None:
    """Keywords with values of any type never raise."""
    document_for(schema, ENGLISH, Random(0))


@pytest.mark.parametrize(
    "schema", [CARD, *(schema for schema in SCHEMAS if schema.get("type") in ("object", "array"))], ids=str
)
def test_a_broken_document_does_not_validate(schema: Any) -> None:
    """Every way to break a document is noticed by an independent validator."""
    for seed in range(30):
        rng = Random(seed)
        broken = broken_document(document_for(schema, ENGLISH, rng), schema, rng)
        assert not jsonschema.Draft202012Validator(schema).is_valid(broken), broken


def test_the_ways_to_break_a_document_vary() -> None:
    """A missing key, a key too many and a wrong value all come about."""
    shapes = set()
    for seed in range(60):
        rng = Random(seed)
        broken = broken_document(document_for(CARD, ENGLISH, rng), CARD, rng)
        shapes.add(len(set(broken) - set(CARD["properties"])) - len(set(CARD["properties"]) - set(broken)))
    assert shapes == {-1, 0, 1}
