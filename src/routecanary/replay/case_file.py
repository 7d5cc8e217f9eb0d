"""How does a stored case become a transcript?

A case is one JSON file: what was asked, what came back, and optionally the verdict that a judge should reach.
Reading is strict and names file, key, value and what is allowed: a malformed case is our own mistake, never a
verdict.

Source: tests/golden/cases/README.md.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from routecanary.domain.names import (
    FILTERING,
    LANGUAGE,
    LATENCY,
    STRUCTURED,
    ContractName,
    Locale,
    ModelId,
    parse_locale,
)
from routecanary.domain.probe import ProbeKind
from routecanary.domain.strict_json import JsonError, parse_json
from routecanary.domain.transcript import Chunk, Ending, EndingKind, Transcript
from routecanary.domain.verdict import VerdictKind
from routecanary.errors import CaseError, InputError

MAX_CASE_BYTES: Final = 33_554_432

_PROBES: Final = {
    "latency": (ProbeKind.CHAT, LATENCY),
    "language": (ProbeKind.CHAT, LANGUAGE),
    "filtering": (ProbeKind.FILTER, FILTERING),
    "structured": (ProbeKind.STRUCTURED, STRUCTURED),
    "any": (ProbeKind.ANY, None),
}
_KEYS: Final = (
    *("id", "title", "source_url", "engine_or_host", "kind"),
    *("probe", "expected_locale", "request", "transcript", "expected"),
)
_TRANSCRIPT_KEYS: Final = ("status", "headers", "body", "body_b64", "body_at_ms", "events", "end")
_HOW: Final = ("eof", "reset", "client_timeout", "connect_failed", "tls_failed")
_DAY_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What the author of a case holds to be right."""

    verdict: VerdictKind
    code: str | None
    also: tuple[tuple[VerdictKind, str | None], ...]  # a code of None admits every code of that verdict

    def admits(self, verdict: VerdictKind, code: str | None) -> bool:
        """Say whether an outcome is right, code included."""
        if verdict is self.verdict and code == self.code:
            return True
        return any(verdict is kind and other in (None, code) for kind, other in self.also)

    def admits_verdict(self, verdict: VerdictKind) -> bool:
        """Say whether the verdict is right, whatever its code."""
        return verdict is self.verdict or any(verdict is kind for kind, _ in self.also)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One stored transcript, the contract under test (None: every one that applies), and the right answer."""

    id: str
    contract: ContractName | None
    transcript: Transcript
    expected: Expected | None


def read_case(raw: bytes | str, place: str) -> Case:
    """Read a case file.

    Args:
        raw: Its content.
        place: Its name, for the error.
    Raises:
        CaseError: It is not JSON or does not have the shape of a case; names the key and what is allowed.
    """
    if len(raw) > MAX_CASE_BYTES:
        raise CaseError("too large", place=place, value=len(raw), allowed=f"{MAX_CASE_BYTES} bytes")
    try:
        document = parse_json(raw, place=place)
    except JsonError as error:
        raise CaseError(error.problem, place=place, key=error.key, value=error.value) from None
    reader = _Reader(place)
    case = reader.table(document, "case")
    reader.only(case, _KEYS)
    probe = reader.one_of(case, "probe", tuple(_PROBES))
    kind, contract = _PROBES[probe]
    request = reader.table(case.get("request"), "request")
    table = reader.table(case.get("transcript"), "transcript")
    locale = _locale(reader, case.get("expected_locale"))
    expected = case.get("expected")
    return Case(
        id=reader.text(case, "id"),
        contract=contract,
        transcript=_transcript(reader, table, request, kind, locale),
        expected=None if expected is None else _expected(reader, reader.table(expected, "expected")),
    )


def _transcript(
    reader: _Reader, table: dict[str, Any], request: dict[str, Any], kind: ProbeKind, locale: Locale | None
) -> Transcript:
    reader.only(table, _TRANSCRIPT_KEYS, "transcript.")
    status = table.get("status")
    if status is not None and (type(status) is not int or not 100 <= status <= 599):
        raise reader.error("not an HTTP status", "transcript.status", status, "100 to 599 or null")
    chunks, ending = _stream(reader, table) if "events" in table else _whole(reader, table)
    model = request.get("model")
    sent = request.get("sent_at_unix")
    return Transcript(
        model=ModelId(model) if isinstance(model, str) else None,
        route=None,
        kind=kind,
        locale=locale,
        request={key: value for key, value in request.items() if key != "sent_at_unix"},
        status=status,
        headers=_headers(reader, table.get("headers")),
        chunks=chunks,
        ending=ending,
        started_at=None if sent is None else _instant(reader, sent),
    )


def _stream(reader: _Reader, table: dict[str, Any]) -> tuple[tuple[Chunk, ...], Ending]:
    chunks: list[Chunk] = []
    for position, item in enumerate(reader.items(table.get("events"), "transcript.events")):
        key = f"transcript.events[{position}]"
        event = reader.table(item, key)
        reader.only(event, ("at_ms", "raw", "raw_b64"), f"{key}.")
        at_ms = reader.milliseconds(event.get("at_ms"), f"{key}.at_ms")
        if chunks and at_ms < chunks[-1].at_ms:
            raise reader.error(
                "earlier than the read before", f"{key}.at_ms", at_ms, "times that do not fall"
            )
        chunks.append(Chunk(at_ms, reader.data(event, "raw", key)))
    end = reader.table(table.get("end"), "transcript.end")
    how = EndingKind(reader.one_of(end, "how", _HOW, "transcript.end."))
    return tuple(chunks), Ending(
        kind=how, at_ms=reader.milliseconds(end.get("at_ms"), "transcript.end.at_ms")
    )


def _whole(reader: _Reader, table: dict[str, Any]) -> tuple[tuple[Chunk, ...], Ending]:
    at_ms = reader.milliseconds(table.get("body_at_ms"), "transcript.body_at_ms")
    body = reader.data(table, "body", "transcript")
    return (Chunk(at_ms, body),) if body else (), Ending(kind=EndingKind.EOF, at_ms=at_ms)


def _headers(reader: _Reader, value: object) -> tuple[tuple[str, str], ...]:
    headers = reader.table({} if value is None else value, "transcript.headers")
    for name, text in headers.items():
        if not isinstance(text, str):
            raise reader.error("not a string", f"transcript.headers.{name}", text, "a string")
    return tuple((name.lower(), text) for name, text in headers.items())


def _instant(reader: _Reader, value: object) -> datetime:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 4e9:
        return datetime.fromtimestamp(value, UTC)
    raise reader.error("not a time", "request.sent_at_unix", value, "Unix seconds")


def _locale(reader: _Reader, value: object) -> Locale | None:
    if value is None:
        return None
    try:
        if isinstance(value, str):
            return parse_locale(value)
    except InputError:
        pass
    raise reader.error("not a locale", "expected_locale", value, "a tag such as en, pt-BR, or null")


def _expected(reader: _Reader, table: dict[str, Any]) -> Expected:
    kind = table.get("kind")
    if kind is not None and not isinstance(kind, str):
        raise reader.error("not a string", "expected.kind", kind, "a word or null")
    also = []
    for position, entry in enumerate(reader.items(table.get("also_ok", []), "expected.also_ok")):
        key = f"expected.also_ok[{position}]"
        verdict, _, code = entry.partition(":") if isinstance(entry, str) else (entry, "", "")
        also.append((_verdict(reader, verdict, key), code or None))
    verdict = _verdict(reader, table.get("verdict"), "expected.verdict")
    return Expected(verdict=verdict, code=kind, also=tuple(also))


def _verdict(reader: _Reader, value: object, key: str) -> VerdictKind:
    allowed = [kind.value for kind in VerdictKind]
    if not isinstance(value, str) or value not in allowed:
        raise reader.error("unknown verdict", key, value, ", ".join(allowed))
    return VerdictKind(value)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Typed access to the members of a case, with errors that say where."""

    place: str

    def error(self, problem: str, key: str, value: object, allowed: str) -> CaseError:
        shown = type(value).__name__ if isinstance(value, dict | list) else value
        return CaseError(problem, place=self.place, key=key, value=shown, allowed=allowed)

    def only(self, table: Mapping[str, Any], keys: tuple[str, ...], prefix: str = "") -> None:
        for key in table:
            if key not in keys:
                raise self.error("unknown key", prefix + key, None, ", ".join(keys))

    def table(self, value: object, key: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.error("missing or not an object", key, value, "a JSON object")
        return value

    def items(self, value: object, key: str) -> list[Any]:
        if not isinstance(value, list):
            raise self.error("not a list", key, value, "a JSON array")
        return value

    def text(self, table: Mapping[str, Any], key: str) -> str:
        value = table.get(key)
        if not isinstance(value, str) or not value:
            raise self.error("missing or not a string", key, value, "a string")
        return value

    def one_of(self, table: Mapping[str, Any], key: str, words: tuple[str, ...], prefix: str = "") -> str:
        value = table.get(key)
        if not isinstance(value, str) or value not in words:
            raise self.error(f"unknown {key}", prefix + key, value, ", ".join(words))
        return value

    def milliseconds(self, value: object, key: str) -> float:
        number = value if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
        if not 0 <= number <= _DAY_MS:
            raise self.error("not a time", key, value, "milliseconds, 0 to a day")
        return float(number)

    def data(self, table: Mapping[str, Any], name: str, key: str) -> bytes:
        """Read the bytes of `name`, or of `name_b64`; exactly one of them stands there."""
        coded = f"{name}_b64"
        if (name in table) == (coded in table):
            raise self.error("needs one of two", key, None, f"{name} or {coded}")
        there = name if name in table else coded
        value = table[there]
        if not isinstance(value, str):
            raise self.error("not a string", f"{key}.{there}", value, "a string")
        try:
            return value.encode() if there == name else base64.b64decode(value, validate=True)
        except UnicodeEncodeError:
            raise self.error(
                "a lone surrogate has no UTF-8", f"{key}.{there}", None, f"{coded} for it"
            ) from None
        except (binascii.Error, ValueError):
            raise self.error("not base64", f"{key}.{there}", value, "base64") from None
