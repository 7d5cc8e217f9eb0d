"""What a request asked for."""

from __future__ import annotations

import pytest

from routecanary.domain.asked import asked_of
from routecanary.domain.probe import Json, ProbeKind
from routecanary.domain.transcript import Ending, EndingKind, Transcript

SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


@pytest.mark.parametrize(
    ("response_format", "schema", "at_fault"),
    [
        (None, None, False),
        ({"type": "text"}, None, False),
        ({"type": ["json_object"]}, None, False),
        ({"type": "json_object"}, {"type": "object"}, False),
        ({"type": "json_schema", "json_schema": {"schema": SCHEMA}}, SCHEMA, False),
        ({"type": "json_schema", "json_schema": {}}, None, True),
    ],
)
def test_the_schema_is_that_of_the_response_format(
    response_format: Json, schema: Json, at_fault: bool
) -> None:
    """JSON mode promises one object of any shape; a schema that is none is the request's fault."""
    asked = asked_of(
        Transcript(
            model=None,
            route=None,
            kind=ProbeKind.STRUCTURED,
            locale=None,
            request={"response_format": response_format},
            status=200,
            headers=(),
            chunks=(),
            ending=Ending(kind=EndingKind.EOF, at_ms=1.0),
        )
    )
    assert asked.schema == schema
    assert (asked.schema_fault is not None) is at_fault
