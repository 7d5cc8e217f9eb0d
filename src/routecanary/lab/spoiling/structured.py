"""How does a host miss the schema that it declares to keep?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import Final

from routecanary.domain.names import STRUCTURED
from routecanary.domain.probe import Json
from routecanary.lab.document import written
from routecanary.lab.fault import Blow, Choice, Fault
from routecanary.lab.plan import PlannedAnswer


def break_schema(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    if planned.asked.schema is None or planned.document is None:
        return planned
    broken = broken_document(planned.document, planned.asked.schema, blow.rng)
    return replace(planned, text=written(broken), document=broken)


def broken_document(document: Json, schema: Json, rng: Random) -> Json:
    """Change a document so that its schema no longer accepts it, in one of the ways that hosts do."""
    if not isinstance(document, dict) or not isinstance(schema, Mapping) or not document:
        return [document] if isinstance(document, dict) else {"answer": document}
    ways: list[Callable[[], Json]] = []
    required = schema.get("required")
    present = [name for name in required if name in document] if isinstance(required, list) else []
    if present:
        gone = rng.choice(present)
        ways.append(lambda: {name: each for name, each in document.items() if name != gone})
    if schema.get("additionalProperties") is False:
        ways.append(lambda: {**document, "notes": "see above"})
    properties = schema.get("properties")
    for name, child in (properties if isinstance(properties, Mapping) else {}).items():
        wrong = _wrong_value(child)
        if name in document and wrong is not None:
            ways.append(lambda name=name, wrong=wrong: {**document, name: wrong})  # type: ignore[misc]
    return rng.choice(ways)() if ways else [document]


def _wrong_value(schema: Json) -> Json:
    """Make a value that a property's schema does not accept; None where that is not certain."""
    if not isinstance(schema, Mapping):
        return None
    if isinstance(schema.get("enum"), list):
        return next(
            (word for word in ("unknown", "n/a", "none of these") if word not in schema["enum"]), None
        )
    match schema.get("type"):
        case "integer" | "number":
            maximum = schema.get("maximum")
            if isinstance(maximum, int) and not isinstance(maximum, bool) and abs(maximum) < 10**9:
                return maximum + 5
            return "about seven"
        case "boolean":
            return "yes"
        case "object" | "array":
            return "see above"
        case _:
            return None


def fence(planned: PlannedAnswer, _: Blow) -> PlannedAnswer:
    if planned.document is None or not planned.text:
        return planned
    return replace(planned, text=f"```json\n{planned.text}\n```")


_BEFORE: Final = ("Here is the JSON you asked for:\n\n", "Sure! This follows the schema:\n", "json\n")
_AFTER: Final = ("\n\nLet me know if you need anything else.", "\n\nNote: all fields are filled in.", "\n}")
_INVALID: Final = ("comma", "quotes", "newline", "unclosed", "literals")


def surround(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Put words before or after the document, or the document twice."""
    if planned.document is None or not planned.text:
        return planned
    match blow.way("before", "after", "twice"):
        case "before":
            return replace(planned, text=blow.rng.choice(_BEFORE) + planned.text)
        case "after":
            return replace(planned, text=planned.text + blow.rng.choice(_AFTER))
        case _:
            return replace(planned, text=f"{planned.text}\n{planned.text}")


def break_json(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Write what looks like JSON and is none."""
    if planned.document is None:
        return planned
    text = planned.text
    match blow.way(*_INVALID):
        case "comma":
            text = re.sub(r"(?<=[\"\w\]}])\s*\}\s*$", ",\n}", text)
        case "quotes":
            text = re.sub(r'"([^"\n]*)"(?=\s*:)', r"“\1”", text)
        case "newline":
            text = re.sub(r'(": "[^"\n]{2})', "\\1\n", text, count=1)
        case "unclosed":
            text = text.rstrip().removesuffix("}").rstrip()
        case _:
            text = re.sub(r": (?:\d+|true|false)(?=[,\s])", ": None", text, count=1)
    return replace(planned, text=text) if text != planned.text else planned


def encode_twice(planned: PlannedAnswer, _: Blow) -> PlannedAnswer:
    if planned.document is None:
        return planned
    return replace(planned, text=json.dumps(planned.text, ensure_ascii=False))


SCHEMAS: Final = (
    Fault(
        name="schema_break",
        version=1,
        seen_by=(STRUCTURED,),
        gives=("fail:json_schema",),
        does="Answers JSON that its schema does not accept.",
        on_answer=break_schema,
    ),
    Fault(
        name="fenced_json",
        version=1,
        seen_by=(STRUCTURED,),
        gives=("fail:json_fenced",),
        does="Wraps the JSON document in a Markdown code fence.",
        on_answer=fence,
    ),
    Fault(
        name="json_trailing",
        version=1,
        seen_by=(STRUCTURED,),
        gives=("fail:json_trailing",),
        does="Puts words before or after the JSON document, or the document twice.",
        on_answer=surround,
        parameters={"with": Choice(default="", options=("", "before", "after", "twice"))},
    ),
    Fault(
        name="json_invalid",
        version=1,
        seen_by=(STRUCTURED,),
        gives=("fail:json_invalid",),
        does="Writes what looks like JSON and is none.",
        on_answer=break_json,
        parameters={"with": Choice(default="", options=("", *_INVALID))},
    ),
    Fault(
        name="json_double_encoded",
        version=1,
        seen_by=(STRUCTURED,),
        gives=("fail:json_double_encoded",),
        does="Sends a JSON string that holds the document.",
        on_answer=encode_twice,
    ),
)
