"""What does a body of OTLP/HTTP JSON hold? Spans, with those attributes that are wanted.

The types have no place for anything else: names of spans, events, links and messages are skipped by the
decoder, and the value of an attribute is decoded only if its key is wanted.

Source: the OTLP specification, "JSON Protobuf Encoding": keys in lowerCamelCase, ids in hex, 64-bit integers
as strings or as numbers, enums as numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from routecanary.errors import TelemetryError
from routecanary.telemetry.attributes import WANTED

Scalar = str | int | float
"""What an attribute says; of several values, the first."""

_ERROR: Final = frozenset({2, "2", "STATUS_CODE_ERROR"})
_WHOLE: Final = re.compile(r"-?[0-9]{1,20}")
_NOTHING: Final = msgspec.Raw(b"null")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span, as far as it is wanted. Nothing in it has been checked but its type."""

    trace_id: str
    span_id: str
    parent_span_id: str
    start_ns: int | None
    end_ns: int | None
    failed: bool
    attributes: Mapping[str, Scalar]


class _Array(msgspec.Struct):
    values: Sequence[_Value] | None = None


class _Value(msgspec.Struct, rename="camel"):
    string_value: str | None = None
    int_value: int | str | None = None
    double_value: float | str | None = None
    array_value: _Array | None = None


class _Attribute(msgspec.Struct):
    key: str | None = None
    value: msgspec.Raw = _NOTHING


class _Status(msgspec.Struct):
    code: int | str | None = None


class _Span(msgspec.Struct, rename="camel"):
    trace_id: str | None = None
    span_id: str | None = None
    parent_span_id: str | None = None
    start_time_unix_nano: int | str | None = None
    end_time_unix_nano: int | str | None = None
    attributes: list[_Attribute] | None = None
    status: _Status | None = None


class _Scope(msgspec.Struct):
    spans: list[_Span] | None = None


class _Resource(msgspec.Struct, rename="camel"):
    scope_spans: list[_Scope] | None = None


class _Request(msgspec.Struct, rename="camel"):
    resource_spans: list[_Resource] | None = None


_REQUEST: Final = msgspec.json.Decoder(_Request)
_VALUE: Final = msgspec.json.Decoder(_Value)


def spans_from_body(body: bytes) -> list[Span]:
    """Read the spans of an ExportTraceServiceRequest, in their order.

    Raises:
        TelemetryError: The body is none.
    """
    try:
        request = _REQUEST.decode(body)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise TelemetryError(
            f"the body is no ExportTraceServiceRequest: {error}", allowed='{"resourceSpans": […]} in JSON'
        ) from None
    return [
        _span(span)
        for resource in request.resource_spans or ()
        for scope in resource.scope_spans or ()
        for span in scope.spans or ()
    ]


def _span(span: _Span) -> Span:
    return Span(
        trace_id=span.trace_id or "",
        span_id=span.span_id or "",
        parent_span_id=span.parent_span_id or "",
        start_ns=_integer(span.start_time_unix_nano),
        end_ns=_integer(span.end_time_unix_nano),
        failed=span.status is not None and span.status.code in _ERROR,
        attributes=dict(_wanted(span.attributes or ())),
    )


def _wanted(attributes: Sequence[_Attribute]) -> Iterator[tuple[str, Scalar]]:
    for attribute in attributes:
        if attribute.key in WANTED:
            try:
                value = _scalar(_VALUE.decode(attribute.value))
            except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue  # not said, then
            if value is not None:
                yield attribute.key, value


def _scalar(value: _Value) -> Scalar | None:
    if value.string_value is not None:
        return value.string_value
    if value.int_value is not None:
        return _integer(value.int_value)
    if value.double_value is not None:
        return value.double_value if isinstance(value.double_value, float) else None  # "NaN" is no number
    if value.array_value is not None:
        return next((found for each in value.array_value.values or () if (found := _scalar(each))), None)
    return None


def _integer(value: int | str | None) -> int | None:
    if isinstance(value, str):
        value = int(value) if _WHOLE.fullmatch(value) else None
    return value if value is not None and -(2**63) <= value < 2**64 else None
