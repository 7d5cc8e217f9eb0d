"""Whether the schema that is shipped says what the reader does."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

import tests
from routecanary.errors import TelemetryError
from routecanary.telemetry.records import ALLOWED, MAX_RECORDS, read_generations
from tests.unit.telemetry.known import KEEP, NOW, lookup
from tests.unit.telemetry.test_records import WRONG, record

SCHEMA = json.loads(files("routecanary.web").joinpath("schemas", "telemetry.json").read_text("utf-8"))
VALIDATOR = jsonschema_rs.validator_for(SCHEMA, validate_formats=True)

PAGE = (Path(tests.__file__).parent.parent / "docs" / "telemetry.md").read_text(encoding="utf-8")

BEYOND = {
    *("dots", "model", "tomorrow", "too old", "year 1", "list of tomorrow"),  # names and dates
    *("provider", "route", "ignored name"),  # what is printable
}
"""What the reader refuses and no schema can, or need."""


def body(*records: Any) -> dict[str, Any]:
    return {"generations": list(records)}


def test_the_schema_names_the_keys_that_are_read() -> None:
    """No more, and none left out."""
    assert SCHEMA["$defs"]["generation"]["properties"].keys() == ALLOWED.keys() - {"generations"}
    assert SCHEMA["properties"]["generations"]["maxItems"] == MAX_RECORDS


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused_is_invalid(name: str) -> None:
    """Except what only the reader can know."""
    changes, _ = WRONG[name]
    assert VALIDATOR.is_valid(body(record(), record(**changes))) == (name in BEYOND)


def test_what_is_valid_is_read() -> None:
    """The least, the most, and every key."""
    whole = record(
        id="gen-1",
        provider="Beta",
        route="beta/fp4",
        ignore=["alpha"],
        unchanged="stale",
        list_written_at="2026-11-29T11:58:59Z",
        ttft_ms=0,
        duration_ms=86_400_000,
        status=599,
        finish_reason="stop",
        empty=True,
        prompt_tokens=0,
        completion_tokens=10**9,
        conversation="c",
        locale="zh-Hant",
        source="api",
    )
    for records in ([], [record()], [whole], [record(key=None, id="gen-2")]):
        VALIDATOR.validate(body(*records))
        read_generations(json.dumps(body(*records)).encode(), lookup, now=NOW, keep=KEEP)
    for bad in ({}, [], {"generations": [{}]}, body(record(key=None)), body(record(), record(prompt="x"))):
        assert not VALIDATOR.is_valid(bad)
        with pytest.raises(TelemetryError):
            read_generations(json.dumps(bad).encode(), lookup, now=NOW, keep=KEEP)


def test_the_example_of_the_documentation_is_read() -> None:
    """As it stands there, and every key has its row."""
    (example,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    VALIDATOR.validate(json.loads(example))
    (found,) = read_generations(example.encode(), lookup, now=NOW, keep=KEEP)
    assert found.carried <= found.candidates
    rows = "".join(re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE))
    assert not {key for key in ALLOWED.keys() - {"generations"} if f"`{key}`" not in rows}
