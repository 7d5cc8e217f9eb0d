"""How does a stored case become a transcript, and its judgement a line?

A case is one JSON file: what was asked, what came back, and optionally the verdict that a judge should
reach. Reading is strict and names file, key, value and what is allowed: a malformed case is our own
mistake, never a verdict.

Source: tests/golden/cases/README.md.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from routecanary.domain.answer import read_answer
from routecanary.domain.names import (
    FILTERING,
    INTEGRITY,
    LANGUAGE,
    LATENCY,
    STRUCTURED,
    ContractName,
    Locale,
    ModelId,
    parse_locale,
)
from routecanary.domain.probe import Json, ProbeKind
from routecanary.domain.transcript import Chunk, Ending, EndingKind, Transcript
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.errors import CaseError, InputError
from routecanary.judge.examine import judge_answer
from routecanary.judge.registry import CONTRACTS
from routecanary.judge.settings import Settings
from routecanary.judge.triage import triage

MAX_CASE_BYTES: Final = 33_554_432

_PROBES: Final = {
    "latency": (ProbeKind.CHAT, LATENCY),
    "language": (ProbeKind.CHAT, LANGUAGE),
    "filtering": (ProbeKind.FILTER, FILTERING),
    "structured": (ProbeKind.STRUCTURED, STRUCTURED),
    "any": (ProbeKind.ANY, None),
}
_KEYS: Final = frozenset(
    {
        "id",
        "title",
        "source_url",
        "engine_or_host",
        "kind",
        "probe",
        "expected_locale",
        "request",
        "transcript",
        "expected",
    }
)
_HOW: Final = ("eof", "reset", "client_timeout", "connect_failed", "tls_failed")
_SETTINGS: Final = Settings()


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What the author of a case holds to be right."""

    verdict: VerdictKind
    code: str | None
    also: tuple[tuple[VerdictKind, str | None], ...]  # a code of None admits every code of that verdict

    def admits(self, verdict: VerdictKind, code: str | None) -> bool:
        """Say whether an outcome is right, code included."""
        if verdict is self.verdict and (code == self.code or self.code is None):
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
    document = _json(raw, place)
    reader = _Reader(place)
    case = reader.table(document, "case")
    for key in case:
        if key not in _KEYS:
            raise CaseError("unknown key", place=place, key=key, allowed=", ".join(sorted(_KEYS)))
    probe = reader.text(case, "probe")
    if probe not in _PROBES:
        raise CaseError("unknown probe", place=place, key="probe", value=probe, allowed=", ".join(_PROBES))
    kind, contract = _PROBES[probe]
    request = reader.table(case.get("request"), "request")
    locale = _locale(case.get("expected_locale"), place)
    transcript = _transcript(
        reader, reader.table(case.get("transcript"), "transcript"), request, kind, locale
    )
    expected = (
        None
        if case.get("expected") is None
        else _expected(reader, reader.table(case["expected"], "expected"))
    )
    return Case(id=reader.text(case, "id"), contract=contract, transcript=transcript, expected=expected)


def judge_case(case: Case) -> dict[str, Any]:
    """Judge a case; the line that `routecanary judge --json` prints.

    Returns:
        `{"id", "verdict", "kind", "contracts": {name: {"verdict", "kind", "reason"}}}`. The verdict on top is
        that of the case's contract together with integrity, or of all that apply: triage decides alone, then
        `fail` before `inconclusive` before `pass`.
    """
    answer = read_answer(case.transcript)
    verdicts = judge_answer(answer, _SETTINGS, CONTRACTS)
    decided = triage(answer, _SETTINGS)
    asked = {
        name: verdict
        for name, verdict in verdicts.items()
        if case.contract in (None, name) or name == INTEGRITY
    }
    top = _top(asked.values(), alone=decided.finding.by(CONTRACTS[0]) if decided is not None else None)
    return {
        "id": case.id,
        "verdict": top.kind.value,
        "kind": top.code if top.kind is not VerdictKind.PASS else None,
        "contracts": {
            name: {"verdict": verdict.kind.value, "kind": verdict.code, "reason": verdict.detail}
            for name, verdict in verdicts.items()
        },
    }


# The most specific account of one fault comes first: damage explains a schema, a language, a refusal.
_ORDER: Final = (INTEGRITY, STRUCTURED, FILTERING, LANGUAGE, LATENCY)


def _top(verdicts: Iterable[Verdict], alone: Verdict | None) -> Verdict:
    ordered = sorted(verdicts, key=lambda verdict: _ORDER.index(verdict.contract))
    # A fail beside triage is one that triage has left to its contract: late text, a filter's decision.
    kinds = (VerdictKind.FAIL, VerdictKind.ACCOUNT, VerdictKind.TRANSPORT, VerdictKind.INCONCLUSIVE)
    for kind in kinds:
        for verdict in ordered:
            if verdict.kind is kind:
                return verdict
    return (
        alone or ordered[0]
        if not ordered
        else next((verdict for verdict in ordered if verdict.kind is VerdictKind.PASS), ordered[0])
    )


def _transcript(
    reader: _Reader, table: dict[str, Any], request: dict[str, Any], kind: ProbeKind, locale: Locale | None
) -> Transcript:
    status = table.get("status")
    if status is not None and (not _is_int(status) or not 100 <= status <= 599):
        raise CaseError(
            "not an HTTP status",
            place=reader.place,
            key="transcript.status",
            value=status,
            allowed="100 to 599 or null",
        )
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
        at_ms = reader.milliseconds(event.get("at_ms"), f"{key}.at_ms")
        if chunks and at_ms < chunks[-1].at_ms:
            raise CaseError(
                "earlier than the read before", place=reader.place, key=f"{key}.at_ms", value=at_ms
            )
        chunks.append(Chunk(at_ms, reader.data(event, "raw", key)))
    end = reader.table(table.get("end"), "transcript.end")
    how = end.get("how")
    if how not in _HOW:
        raise CaseError(
            "unknown ending", place=reader.place, key="transcript.end.how", value=how, allowed=", ".join(_HOW)
        )
    return tuple(chunks), Ending(
        kind=EndingKind(how), at_ms=reader.milliseconds(end.get("at_ms"), "transcript.end.at_ms")
    )


def _whole(reader: _Reader, table: dict[str, Any]) -> tuple[tuple[Chunk, ...], Ending]:
    at_ms = reader.milliseconds(table.get("body_at_ms"), "transcript.body_at_ms")
    body = reader.data(table, "body", "transcript")
    return (Chunk(at_ms, body),) if body else (), Ending(kind=EndingKind.EOF, at_ms=at_ms)


def _headers(reader: _Reader, value: object) -> tuple[tuple[str, str], ...]:
    headers = reader.table({} if value is None else value, "transcript.headers")
    for name, text in headers.items():
        if not isinstance(text, str):
            raise CaseError("not a string", place=reader.place, key=f"transcript.headers.{name}", value=text)
    return tuple((name.lower(), text) for name, text in headers.items())


def _instant(reader: _Reader, value: object) -> datetime:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 4e9:
        return datetime.fromtimestamp(value, UTC)
    raise CaseError(
        "not a time", place=reader.place, key="request.sent_at_unix", value=value, allowed="Unix seconds"
    )


def _locale(value: object, place: str) -> Locale | None:
    if value is None:
        return None
    try:
        return parse_locale(value) if isinstance(value, str) else _not_a_locale(value)
    except InputError as error:
        raise CaseError(
            error.problem,
            place=place,
            key="expected_locale",
            value=value,
            allowed="a tag such as en, pt-BR, or null",
        ) from None


def _not_a_locale(value: object) -> Locale:
    raise InputError("not a locale", value=value)


def _expected(reader: _Reader, table: dict[str, Any]) -> Expected:
    also = []
    for position, entry in enumerate(reader.items(table.get("also_ok", []), "expected.also_ok")):
        key = f"expected.also_ok[{position}]"
        if not isinstance(entry, str):
            raise CaseError("not a string", place=reader.place, key=key, value=entry)
        verdict, _, code = entry.partition(":")
        also.append((_verdict(reader, verdict, key), code or None))
    kind = table.get("kind")
    if kind is not None and not isinstance(kind, str):
        raise CaseError("not a string", place=reader.place, key="expected.kind", value=kind)
    verdict_kind = _verdict(reader, table.get("verdict"), "expected.verdict")
    return Expected(verdict=verdict_kind, code=kind, also=tuple(also))


def _verdict(reader: _Reader, value: object, key: str) -> VerdictKind:
    allowed = [kind.value for kind in VerdictKind]
    if value not in allowed:
        raise CaseError(
            "unknown verdict", place=reader.place, key=key, value=value, allowed=", ".join(allowed)
        )
    return VerdictKind(value)


def _json(raw: bytes | str, place: str) -> object:
    if len(raw) > MAX_CASE_BYTES:
        raise CaseError("too large", place=place, value=len(raw), allowed=f"{MAX_CASE_BYTES} bytes")
    try:
        text = raw.decode("utf-8-sig") if isinstance(raw, bytes) else raw
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise CaseError(f"not UTF-8: {error.reason} at byte {error.start}", place=place) from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise CaseError(f"not JSON: {error.msg} at {where}", place=place) from None
    except RecursionError:
        raise CaseError("not JSON that we read: nested too deeply", place=place) from None
    except ValueError as error:
        raise CaseError(f"not JSON that we read: {str(error)[:120]}", place=place) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"key {twice!r} twice")
    return table


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON number")


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Typed access to the members of a case, with errors that say where."""

    place: str

    def table(self, value: object, key: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise CaseError(
                "not an object", place=self.place, key=key, value=_short(value), allowed="a JSON object"
            )
        return value

    def items(self, value: object, key: str) -> list[Any]:
        if not isinstance(value, list):
            raise CaseError(
                "not a list", place=self.place, key=key, value=_short(value), allowed="a JSON array"
            )
        return value

    def text(self, table: Mapping[str, Any], key: str) -> str:
        value = table.get(key)
        if not isinstance(value, str) or not value:
            raise CaseError("missing or not a string", place=self.place, key=key, value=_short(value))
        return value

    def milliseconds(self, value: object, key: str) -> float:
        fine = isinstance(value, int | float) and not isinstance(value, bool)
        if not fine or not math.isfinite(value) or not 0 <= value <= 86_400_000:  # type: ignore[arg-type, operator]
            raise CaseError(
                "not a time",
                place=self.place,
                key=key,
                value=_short(value),
                allowed="milliseconds, 0 to a day",
            )
        return float(value)  # type: ignore[arg-type]

    def data(self, table: Mapping[str, Any], name: str, key: str) -> bytes:
        """Read the bytes of `name`, or of `name_b64`; exactly one of them stands there."""
        coded = f"{name}_b64"
        if (name in table) == (coded in table):
            raise CaseError(f"needs exactly one of {name}, {coded}", place=self.place, key=key)
        value: Json = table[name] if name in table else table[coded]
        if not isinstance(value, str):
            raise CaseError("not a string", place=self.place, key=f"{key}.{name}", value=_short(value))
        if name in table:
            try:
                return value.encode()
            except UnicodeEncodeError:
                raise CaseError(
                    "a lone surrogate has no UTF-8",
                    place=self.place,
                    key=f"{key}.{name}",
                    allowed=f"{coded} for odd bytes",
                ) from None
        try:
            return base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            raise CaseError("not base64", place=self.place, key=f"{key}.{coded}") from None


def _short(value: object) -> object:
    if isinstance(value, dict | list):
        return type(value).__name__
    return value
