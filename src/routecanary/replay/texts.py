"""How is a bare text judged, without the transcript it came in?

A line of a labelled collection holds a text and its locale. For a judge it becomes a whole healthy answer to
a probe that wished for nothing in particular, so that nothing but the text excuses or convicts it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import BufferedIOBase
from typing import Any, Final

from routecanary.domain.names import (
    FILTERING,
    INTEGRITY,
    LANGUAGE,
    LATENCY,
    STRUCTURED,
    ContractName,
    Locale,
    parse_locale,
)
from routecanary.domain.probe import Json, ProbeKind
from routecanary.domain.strict_json import JsonError, parse_json
from routecanary.domain.transcript import Chunk, Ending, EndingKind, Transcript
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.errors import CaseError, InputError
from routecanary.judge.examine import judge_transcript

MAX_LINE_BYTES: Final = 8_388_608

PROBES: Final = {
    LATENCY: ProbeKind.CHAT,
    FILTERING: ProbeKind.FILTER,
    STRUCTURED: ProbeKind.STRUCTURED,
    LANGUAGE: ProbeKind.CHAT,
    INTEGRITY: ProbeKind.CHAT,
}
"""The probe whose answer each contract judges (policy.md §1)."""

TEMPLATE: Final = "special_token"
"""The reason code of a token of the chat template that stands in the text."""

_MODEL: Final = "lab/model"
_PROMPT: Final = "Continue."
_LIMIT: Final = 4_000  # tokens; more than any text of a collection has
_LOCALES: Final = "a tag such as en, pt-BR, zh-Hans"
_PIECE: Final = 65_536  # bytes at a time while the rest of a line that is too long is thrown away


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRow:
    """One line: a text that a model wrote, or that stands for one."""

    id: str | int
    text: str  # may hold lone surrogates, as a JSON escape can write them
    locale: Locale | None
    document: dict[str, Json]  # the whole line: labels and whatever else stands there


def read_texts(lines: BufferedIOBase, place: str, *, located: bool) -> Iterator[TextRow | CaseError]:
    """Read a collection line by line; what cannot be read is yielded as its error, and the next line follows.

    Args:
        lines: JSON objects, one a line; blank lines are passed over. Never more than one line is held.
        place: The collection's name, for the errors, which add the number of the line.
        located: A line must name its locale.
    Yields:
        In the order of the lines.
    Raises:
        OSError, EOFError, zlib.error: The file, or its compression, cannot be read any further.
    """
    number = 0
    while line := lines.readline(MAX_LINE_BYTES + 1):
        number += 1
        where = f"{place}:{number}"
        if len(line) > MAX_LINE_BYTES:
            _pass_over(lines, line)
            yield CaseError("the line is too long", place=where, allowed=f"{MAX_LINE_BYTES} bytes")
        elif line.strip():
            try:
                yield _row(line, where, located=located)
            except CaseError as error:
                yield error


def judge_text(text: str, contract: ContractName, locale: Locale | None) -> Verdict | None:
    """Judge a text by one contract; None where that contract has no question for it.

    A text is taken as whole: where it stops within a sentence, a collector cut it, and no host. In a probe
    `integrity` owns tokens of a chat template that stand in the text; where `language` alone is asked, they
    are its broken encoding.
    """
    asked = frozenset({contract, INTEGRITY}) if contract == LANGUAGE else frozenset({contract})
    verdicts = judge_transcript(transcript_of(text, contract, locale), only=asked)
    verdict, beside = verdicts.get(contract), verdicts.get(INTEGRITY)
    if verdict is None or (verdict.kind is VerdictKind.FAIL and verdict.code != "truncated"):
        return verdict
    if verdict.code == "truncated":
        return replace(verdict, kind=VerdictKind.PASS, code=None)
    if (
        contract == LANGUAGE
        and beside is not None
        and beside.kind is VerdictKind.FAIL
        and beside.code == TEMPLATE
    ):
        return replace(verdict, kind=VerdictKind.FAIL, code=TEMPLATE, detail=beside.detail)
    return verdict


def transcript_of(text: str, contract: ContractName, locale: Locale | None) -> Transcript:
    """Make a text a whole healthy answer to the probe of a contract, in time and with a finish reason.

    The request says nothing of length, language or form, save that `structured` asks for one JSON object.
    """
    request: dict[str, Any] = {
        "model": _MODEL,
        "max_tokens": _LIMIT,
        "messages": [{"role": "user", "content": _PROMPT}],
    }
    if contract == STRUCTURED:
        request["response_format"] = {"type": "json_object"}
    message = {"role": "assistant", "content": text}
    document = {
        "id": "gen-1",
        "object": "chat.completion",
        "model": _MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }
    return Transcript(
        model=None,
        route=None,
        kind=PROBES[contract],
        locale=locale,
        request=request,
        status=200,
        headers=(("content-type", "application/json"),),
        chunks=(Chunk(1_000.0, json.dumps(document).encode("ascii")),),
        ending=Ending(kind=EndingKind.EOF, at_ms=1_000.0),
    )


def _row(line: bytes, where: str, *, located: bool) -> TextRow:
    try:
        row = parse_json(line, place=where)
    except JsonError as error:
        raise CaseError(error.problem, place=where, value=error.value) from None
    if not isinstance(row, dict):
        raise CaseError("not a JSON object", place=where, value=type(row).__name__)
    name, text = row.get("id"), row.get("text")
    if not isinstance(name, str | int) or isinstance(name, bool):
        raise _missing(row, "id", where, "a string or a whole number")
    if not isinstance(text, str):
        raise _missing(row, "text", where, "a string")
    locale = _locale(row, where)
    if located and locale is None:
        raise _missing(row, "locale", where, _LOCALES)
    return TextRow(id=name, text=text, locale=locale, document=row)


def _locale(row: dict[str, Json], where: str) -> Locale | None:
    key = "locale" if row.get("locale") is not None else "lang"
    value = row.get(key)
    if value is None:
        return None
    try:
        if isinstance(value, str):
            return parse_locale(value)
    except InputError:
        pass
    raise CaseError("not a locale", place=where, key=key, value=_shown(value), allowed=_LOCALES)


def _missing(row: dict[str, Json], key: str, where: str, allowed: str) -> CaseError:
    problem = "has the wrong type" if key in row else "is missing"
    return CaseError(problem, place=where, key=key, value=_shown(row.get(key)), allowed=allowed)


def _shown(value: Json) -> Json:
    """Keep an error short and clear of whole structures."""
    return type(value).__name__ if isinstance(value, dict | list) else value


def _pass_over(lines: BufferedIOBase, begun: bytes) -> None:
    while begun and not begun.endswith(b"\n"):
        begun = lines.readline(_PIECE)
