"""Whatever is sent as telemetry: it is kept or refused, never a crash, and content is never kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from routecanary.adapters.store.memory import MemoryStore
from routecanary.domain.generation import Generation
from routecanary.errors import TelemetryError
from routecanary.telemetry.inflate import inflated
from routecanary.telemetry.records import ALLOWED, read_generations
from routecanary.telemetry.traces import Traces, read_traces
from tests.property.test_store import JSON
from tests.unit.telemetry.broadcast import SAID, SECRET, attributes, export, span
from tests.unit.telemetry.known import KEEP, MODEL, NOW, lookup

PLAIN = JSON | st.sampled_from(["2026-11-29T11:59:00Z", MODEL, "Beta", "gen-1", 5, 250.5, "th", "hook"])
RECORD = st.dictionaries(st.sampled_from(sorted(ALLOWED)), PLAIN) | st.dictionaries(st.text(), PLAIN)
FIXED = {"key": "k", "model": MODEL, "started_at": "2026-11-29T11:59:00Z"}
BODY = st.lists(RECORD | RECORD.map(lambda record: record | FIXED) | PLAIN, max_size=4).map(
    lambda records: {"generations": records}
)

ATTRIBUTES = st.dictionaries(st.sampled_from(sorted(SAID)), PLAIN).map(lambda said: SAID | said)
SPAN = ATTRIBUTES.map(span) | st.dictionaries(
    st.sampled_from(["traceId", "spanId", "parentSpanId", "startTimeUnixNano", "attributes", "status"]), PLAIN
).map(lambda changes: span(SAID, **changes))


def keep(generations: tuple[Generation, ...]) -> None:
    """What was read is storable, and each of it whole."""
    with MemoryStore() as store:
        store.keep_generations(generations, at=NOW)
        for each in generations:
            assert each.started_at >= NOW - KEEP
            assert each.carried <= each.candidates or not each.candidates


def read_inflated(read: Callable[..., object], data: bytes, encoding: str | None) -> object:
    return read(inflated(data, encoding, limit=1000), lookup, now=NOW, keep=KEEP)


def told(act: Callable[[], object]) -> str:
    """Return what a refusal says; nothing where there is none. Anything else is raised."""
    try:
        act()
    except TelemetryError as refusal:
        return str(refusal)
    return ""


@given(BODY | JSON)
def test_any_body_of_records_is_kept_or_refused(body: Any) -> None:
    """The refusal is one sentence that can be shown."""
    said = told(lambda: keep(read_generations(json.dumps(body).encode(), lookup, now=NOW, keep=KEEP)))
    assert said.isprintable()


@given(st.lists(SPAN, max_size=4).map(lambda spans: export(*spans)) | JSON)
def test_any_body_of_traces_is_read_without_what_was_said(body: Any) -> None:
    """Bodies that hold a secret at every place for content, and strange values everywhere else."""
    found: list[Traces] = []
    said = told(lambda: found.append(read_traces(json.dumps(body).encode(), lookup, now=NOW, keep=KEEP)))
    assert SECRET not in said
    for each in found:
        keep(each.generations)
        assert SECRET not in repr(each)


@given(st.binary(max_size=300))
def test_any_bytes_are_taken_or_refused(data: bytes) -> None:
    """As they are, or as if they were compressed."""
    for encoding in (None, "gzip"):
        for read in (read_generations, read_traces):
            told(partial(read_inflated, read, data, encoding))


@given(st.dictionaries(st.text(max_size=8), st.just(SECRET), max_size=6))
def test_no_attribute_of_another_name_is_kept(said: dict[str, str]) -> None:
    """Whatever it is called."""
    others = {key: value for key, value in said.items() if key not in SAID}
    whole = span(SAID) | {"attributes": attributes(SAID) + attributes(others)}
    found = read_traces(json.dumps(export(whole)).encode(), lookup, now=NOW, keep=KEEP)
    assert len(found.generations) == 1
    assert SECRET not in repr(found)
