"""Is the answer exactly one JSON document that keeps to the schema?

Source: product.md §2; rule 7 of the transcript cases. A schema that does not compile is the probe's fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, assert_never

import jsonschema_rs

from routecanary.domain.answer import Answer
from routecanary.domain.asked import Asked, wants_schema
from routecanary.domain.names import STRUCTURED, ContractName
from routecanary.domain.probe import Json, ProbeKind
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict
from routecanary.judge.completeness import incomplete, was_cut
from routecanary.judge.contract import Finding, excerpt, fail, passed, unsure
from routecanary.judge.settings import Settings
from routecanary.judge.strict_json import Document, NotJson, parse, parse_prefix

_VERSION: Final = 1
_FLOOD: Final = 64  # characters of white space in a row that no document needs
_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_WHITE: Final = re.compile(rf"\s{{{_FLOOD},}}$")
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_MARGIN: Final = " \t\r\n\ufeff\u200b\u00a0"


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredContract:
    """A completed answer to a strict `json_schema` request: one document, valid."""

    settings: Settings
    name: ContractName = STRUCTURED
    version: int = _VERSION
    confirmations: int = 2

    def applies_to(self, transcript: Transcript) -> bool:
        if transcript.kind is ProbeKind.STRUCTURED:
            return True
        return transcript.kind is ProbeKind.ANY and wants_schema(transcript.request)

    def judge(self, answer: Answer) -> Verdict:
        return self._finding(answer, answer.asked).by(self)

    def _finding(self, answer: Answer, asked: Asked) -> Finding:
        if asked.schema is None:
            return unsure("own_schema", asked.schema_fault or "no json_schema was asked for")
        if not answer.has_text:
            return self._without_text(answer, asked)
        parsed = parse(answer.text.strip(_MARGIN))
        match parsed:
            case NotJson():
                return self._not_json(answer, asked, parsed)
            case Document():
                return self._document(answer, asked.schema, parsed)
            case _ as never:
                assert_never(never)

    def _without_text(self, answer: Answer, asked: Asked) -> Finding:
        missing = incomplete(answer, asked, self.settings)
        if missing is None:
            return unsure("tool_calls", "a tool call in place of the document")
        if missing.code in ("empty", "reasoning_only"):
            return fail("json_invalid", f"no document at all: {missing.detail}")
        return missing

    def _not_json(self, answer: Answer, asked: Asked, problem: NotJson) -> Finding:
        text = answer.text.strip(_MARGIN)
        if was_cut(answer) and problem.at_end and not _WHITE.search(answer.text):
            missing = incomplete(answer, asked, self.settings)
            if missing is not None:
                return missing
        if (answer.finish_reason or "").lower() == "content_filter":
            return unsure("content_filter", "cut by a filter")
        return _kind_of_break(text, problem)

    def _document(self, answer: Answer, schema: Mapping[str, Json], document: Document) -> Finding:
        try:
            error = _first_error(schema, document.value)
        except ValueError as problem:
            return unsure("own_schema", f"the schema does not compile: {str(problem)[:120]}")
        if error is not None:
            inner = parse(document.value) if isinstance(document.value, str) else None
            if isinstance(inner, Document) and isinstance(inner.value, dict | list):
                return fail("json_double_encoded", "the document is a string that holds the document")
            return fail("json_schema", error)
        if document.duplicates:
            return fail("json_invalid", f"key {document.duplicates[0]!r} twice in one object")
        if was_cut(answer) and _WHITE.search(answer.text):
            return fail("truncated", "a whole document, then white space up to the limit")
        return passed()


def _kind_of_break(text: str, problem: NotJson) -> Finding:
    """Say in which way a text is no document."""
    fence = _FENCE.search(text)
    start = min((place for place in (text.find("{"), text.find("[")) if place >= 0), default=-1)
    if fence is not None and (start < 0 or fence.start() < start):
        return fail("json_fenced", f"a code fence: {excerpt(text, fence.start())}")
    found = parse_prefix(text[start:]) if start >= 0 else None
    if found is not None:
        end = start + found[1]
        if text[:start].strip() or text[end:].strip():
            around = text[:start].strip() or text[end:].strip()
            return fail("json_trailing", f"a document and more: {excerpt(around)}")
    if text.startswith(("{\\", "[\\", "\\")):
        unwrapped = parse(f'"{text}"')
        if isinstance(unwrapped, Document) and isinstance(parse(unwrapped.value), Document):
            return fail("json_double_encoded", f"an escaped document: {excerpt(text)}")
    return fail(
        "json_invalid",
        f"{problem.problem} at character {problem.position}: {excerpt(text, problem.position)}",
    )


def _first_error(schema: Mapping[str, Json], value: Json) -> str | None:
    """Validate; the message of the first error.

    Raises:
        ValueError: The schema does not compile, or points to another document.
    """
    validator = _compiled(json.dumps(schema, sort_keys=True))
    try:
        error = next(iter(validator.iter_errors(value)), None)
    except UnicodeEncodeError:  # a lone surrogate is integrity's finding; judge the rest
        error = next(iter(validator.iter_errors(_without_surrogates(value))), None)
    if error is None:
        return None
    path = "/".join(str(part) for part in error.instance_path)
    return f"/{path}: {error.message}"


def _without_surrogates(value: Json) -> Json:
    return json.loads(_SURROGATE.sub(r"\\ufffd", json.dumps(value)))


@lru_cache(maxsize=64)
def _compiled(schema: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(json.loads(schema), retriever=_refuse)


def _refuse(uri: str) -> Json:
    raise ValueError(f"a schema must be whole; it refers to {uri}")
