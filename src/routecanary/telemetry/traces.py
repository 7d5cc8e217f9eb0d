"""Which generations does a body of `POST /v1/traces` tell of?

The gateway broadcasts one span for each generation, and below it perhaps one for each attempt at a host. A
span that names no model, and one below another that does, is no generation. Of a session the hash is kept.

Source: openrouter-wire.md §5.4; docs/telemetry.md, "The gateway's broadcast".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final, NamedTuple

from routecanary.domain.generation import Generation, Source
from routecanary.domain.names import Locale, parse_locale, parse_model
from routecanary.errors import InputError, TelemetryError
from routecanary.routing.reading import ModelFacts, is_name
from routecanary.telemetry import attributes
from routecanary.telemetry.candidates import Lookup, locate, serves
from routecanary.telemetry.records import AHEAD, LONGEST_MS, MOST_TOKENS
from routecanary.telemetry.spans import Scalar, Span, spans_from_body

MAX_BYTES: Final = 16 * 1_048_576  # of one body, after decompression: the gateway may send what was said
MAX_GENERATIONS: Final = 1000  # of one body
SESSION: Final = "session:"
"""What stands before the SHA-256 of a session's id, in hex, where it serves as a conversation."""

_ID: Final = re.compile(r"[!-~]{1,200}")
_TRACE: Final = re.compile(r"[0-9a-fA-F]{32}")
_SPAN: Final = re.compile(r"[0-9a-fA-F]{16}")
_REASON: Final = re.compile(r"[ -~]{1,64}")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Traces(NamedTuple):
    """What was read, and what was not."""

    generations: tuple[Generation, ...]
    rejected: int  # spans that tell of a generation, but not well
    problem: str | None  # of the first of them


def read_traces(body: bytes, lookup: Lookup, *, now: datetime, keep: timedelta) -> Traces:
    """Read a body into generations; a span that cannot be one is counted, and the others are taken.

    Args:
        lookup: What the snapshot knows of a model.
        now: Aware.
        keep: How long generations are kept; one that is older is rejected.
    Raises:
        TelemetryError: The body is no ExportTraceServiceRequest.
    """
    generations: list[Generation] = []
    rejected, problem = 0, None
    for index, span in enumerate(_generation_spans(spans_from_body(body))):
        try:
            if len(generations) >= MAX_GENERATIONS:
                raise InputError("too many generations in one body", allowed=f"{MAX_GENERATIONS}")
            generations.append(_generation(span, lookup, now, keep))
        except InputError as error:
            rejected += 1
            problem = problem or f"generation {index}: {error}"
    return Traces(generations=tuple(generations), rejected=rejected, problem=problem)


def _generation_spans(spans: Sequence[Span]) -> Iterable[Span]:
    named = [span for span in spans if _models(span)]
    places = {(span.trace_id, span.span_id) for span in named if span.span_id}
    return (span for span in named if (span.trace_id, span.parent_span_id) not in places)


def _generation(span: Span, lookup: Lookup, now: datetime, keep: timedelta) -> Generation:
    identity = _text(span, (attributes.GENERATION_ID,), _ID)
    name, facts = _model(span, lookup)
    provider = _provider(span, name, facts)
    located = locate(lookup, name, provider=provider)
    session = _text(span, attributes.SESSIONS)
    finish_reason = _finish_reason(span)
    return Generation(
        key=identity or _key(span),
        source=Source.BROADCAST,
        model=located.model,
        started_at=_started_at(span, now, keep),
        id=identity,
        provider=provider,
        candidates=located.candidates,
        ttft_ms=_ttft_ms(span),
        duration_ms=_duration_ms(span),
        status=_whole(span, attributes.STATUSES, 100, 599),
        finish_reason="error" if finish_reason is None and span.failed else finish_reason,
        prompt_tokens=_whole(span, attributes.PROMPT_TOKENS, 0, MOST_TOKENS),
        completion_tokens=_whole(span, attributes.COMPLETION_TOKENS, 0, MOST_TOKENS),
        conversation=None if session is None else session_hash(session),
        locale=_locale(span),
    )


def session_hash(session: str) -> str:
    """Make of a session's id the conversation that is kept in its place."""
    return SESSION + sha256(session.encode("utf-8", "surrogatepass")).hexdigest()


def _models(span: Span) -> list[str]:
    """List the names that a span gives its model, what served first."""
    said = (span.attributes.get(name) for name in (attributes.RESPONSE_MODEL, attributes.REQUEST_MODEL))
    return [name for name in said if isinstance(name, str) and name]


def _model(span: Span, lookup: Lookup) -> tuple[str, ModelFacts | None]:
    names = _models(span)
    for name in names:
        if (facts := lookup(name)) is not None:
            return name, facts
    return parse_model(names[0]), None


def _provider(span: Span, model: str, facts: ModelFacts | None) -> str | None:
    """Find who served it. A system that is the model's author says nothing of the host."""
    for key in attributes.HOST_NAMES:
        name = span.attributes.get(key)
        if isinstance(name, str) and is_name(name):
            return name
    author = model.split("/", 1)[0].lower()
    for key in attributes.SYSTEM_NAMES:
        name = span.attributes.get(key)
        if isinstance(name, str) and name.lower() != author and serves(facts, name):
            return name
    return None


def _key(span: Span) -> str:
    if not _TRACE.fullmatch(span.trace_id) or not _SPAN.fullmatch(span.span_id):
        raise TelemetryError(
            "neither a generation's id nor a trace's and a span's", allowed="32 and 16 digits in hex"
        )
    return f"{span.trace_id}-{span.span_id}".lower()


def _started_at(span: Span, now: datetime, keep: timedelta) -> datetime:
    earliest, latest = now - keep, now + AHEAD
    if span.start_ns is not None and _nanoseconds(earliest) <= span.start_ns <= _nanoseconds(latest):
        return _EPOCH + timedelta(microseconds=span.start_ns // 1000)
    window = f"{earliest.isoformat(timespec='seconds')} to {latest.isoformat(timespec='seconds')}"
    raise TelemetryError("out of range", key="startTimeUnixNano", value=span.start_ns, allowed=window)


def _nanoseconds(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(microseconds=1) * 1000


def _duration_ms(span: Span) -> int | None:
    if span.start_ns is None or span.end_ns is None:
        return None
    return _bounded((span.end_ns - span.start_ns) / 1_000_000, 0, LONGEST_MS)


def _ttft_ms(span: Span) -> int | None:
    for names, unit_ms in ((attributes.FIRST_TOKEN_MS, 1), (attributes.FIRST_TOKEN_SECONDS, 1000)):
        for name in names:
            value = span.attributes.get(name)
            if isinstance(value, int | float) and 0 < value <= LONGEST_MS:
                return _bounded(value * unit_ms, 0, LONGEST_MS)
    return None


def _finish_reason(span: Span) -> str | None:
    said = _text(span, attributes.FINISH_REASONS)
    if said is not None and said.startswith("["):  # a list, written into a string
        said = _first(said)
    return said if said is not None and _REASON.fullmatch(said) else None


def _first(said: str) -> str | None:
    try:
        reasons = json.loads(said)
    except (ValueError, RecursionError):
        return None
    return reasons[0] if isinstance(reasons, list) and reasons and isinstance(reasons[0], str) else None


def _locale(span: Span) -> Locale | None:
    said = _text(span, (attributes.LOCALE,))
    try:
        return None if said is None else parse_locale(said)
    except InputError:
        return None


def _text(span: Span, names: Iterable[str], pattern: re.Pattern[str] | None = None) -> str | None:
    """Return the first of these attributes that is a text, and of this form."""
    for name in names:
        value = span.attributes.get(name)
        if isinstance(value, str) and value and (pattern is None or pattern.fullmatch(value)):
            return value
    return None


def _whole(span: Span, names: Iterable[str], least: int, most: int) -> int | None:
    """Return the first of these attributes that is a number in this range, also if written as a text."""
    for name in names:
        value: Scalar | None = span.attributes.get(name)
        if isinstance(value, str):
            value = int(value) if value.isascii() and value.isdecimal() and len(value) <= 12 else None
        if value is not None and (whole := _bounded(value, least, most)) is not None:
            return whole
    return None


def _bounded(value: float, least: int, most: int) -> int | None:
    return round(value) if least <= value <= most else None
