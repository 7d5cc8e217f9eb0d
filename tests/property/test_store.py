"""Whatever a store accepts, it gives back."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from routecanary.adapters.store.codec import pack, unpack, verdicts_from_text, verdicts_to_text
from routecanary.adapters.store.memory import MemoryStore
from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.domain.log import EMPTY_LOG, StoredDraft
from routecanary.domain.names import CONTRACT_NAMES, ModelId
from routecanary.domain.probe import ProbeKind, Scene
from routecanary.domain.transcript import Chunk, Ending, EndingKind, Transcript
from routecanary.domain.verdict import Verdict, VerdictKind

SURROGATES = st.characters(categories=["Cs"])
TEXT = st.text(st.characters() | SURROGATES, max_size=20)
MOMENTS = st.datetimes(timezones=st.just(UTC))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
MILLISECONDS = st.floats(min_value=0, max_value=1e9)
SCENES = st.builds(
    Scene,
    id=TEXT,
    prompt=TEXT,
    opening=st.none() | TEXT,
    names=st.tuples(TEXT, TEXT),
    object=st.none() | TEXT,
    min_words=st.none() | st.integers(0, 500),
)
TRANSCRIPTS = st.builds(
    Transcript,
    model=st.just(ModelId("acme/mini")),
    route=st.none() | st.just("alpha/fp8"),
    kind=st.sampled_from(ProbeKind),
    locale=st.none() | st.just("pt-BR"),
    request=st.dictionaries(TEXT, JSON, max_size=4),
    status=st.none() | st.integers(100, 599),
    headers=st.lists(st.tuples(TEXT, TEXT), max_size=4).map(tuple),
    chunks=st.lists(st.builds(Chunk, at_ms=MILLISECONDS, data=st.binary(max_size=50)), max_size=5).map(tuple),
    ending=st.builds(Ending, kind=st.sampled_from(EndingKind), at_ms=MILLISECONDS, detail=TEXT),
    provider_names=st.frozensets(TEXT, max_size=3),
    accepted_models=st.frozensets(TEXT, max_size=3),
    scene=st.none() | SCENES,
    spec_version=st.none() | st.integers(1, 99),
    attempt=st.integers(0, 9),
    started_at=st.none() | MOMENTS,
    connect_ms=st.none() | MILLISECONDS,
    headers_ms=st.none() | MILLISECONDS,
    lag_ms=MILLISECONDS,
)
VERDICTS = st.fixed_dictionaries(
    {},
    optional={
        name: st.builds(
            Verdict,
            contract=st.just(name),
            kind=st.sampled_from(VerdictKind),
            code=st.none() | TEXT,
            detail=TEXT,
            version=st.integers(0, 99),
        )
        for name in CONTRACT_NAMES
    },
)
DRAFTS = st.builds(
    StoredDraft,
    kind=st.sampled_from(["held", "suspended", "checkpoint"]),
    at=MOMENTS,
    body=st.dictionaries(TEXT, JSON, max_size=4),
    model=st.sampled_from([None, ModelId("acme/mini"), ModelId("ação/ไทย")]),
)


def joined(value: Any) -> Any:
    """A value as JSON understands it: the halves of a surrogate pair are one character."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        case list():
            return [joined(item) for item in value]
        case dict():
            return {joined(key): joined(item) for key, item in value.items()}
        case _:
            return value


@given(TRANSCRIPTS, MOMENTS, VERDICTS)
def test_a_transcript_is_kept_without_loss(
    transcript: Transcript, at: datetime, verdicts: dict[Any, Verdict]
) -> None:
    """Packing and unpacking give the same value, key order included; equal content has one id."""
    packed = pack(transcript, at=at, verdicts=verdicts)
    kept = unpack(packed)
    assert kept.transcript == transcript
    assert repr(kept.transcript.request) == repr(transcript.request)
    assert pack(kept.transcript, at=at, verdicts=verdicts) == packed


@given(VERDICTS)
def test_verdicts_are_kept_without_loss(verdicts: dict[Any, Verdict]) -> None:
    """A quoted passage may hold anything that a model can write."""
    kept = verdicts_from_text(verdicts_to_text(verdicts))
    assert {name: (each.kind, each.version) for name, each in kept.items()} == {
        name: (each.kind, each.version) for name, each in verdicts.items()
    }
    assert all(kept[name].detail == joined(each.detail) for name, each in verdicts.items())
    assert all(kept[name].code == (each.code and joined(each.code)) for name, each in verdicts.items())


@settings(max_examples=25)
@given(st.lists(st.lists(DRAFTS, max_size=5), max_size=5))
def test_a_file_and_memory_keep_the_same_log(appends: list[list[StoredDraft]]) -> None:
    """Any appends give one chain in both stores, whole, with what was appended."""
    with (
        tempfile.TemporaryDirectory() as folder,
        SqliteStore(Path(folder) / "store.db") as file,
        MemoryStore() as memory,
    ):
        head = EMPTY_LOG
        for drafts in appends:
            assert file.append(drafts, head) == memory.append(drafts, head)
            head = memory.head()
        events = list(memory.read())
        assert list(file.read()) == events
        assert file.verify() is None
        given_drafts = [draft for drafts in appends for draft in drafts]
        assert [(event.kind, event.at, event.model) for event in events] == [
            (draft.kind, draft.at, draft.model) for draft in given_drafts
        ]
        assert [event.body for event in events] == [joined(draft.body) for draft in given_drafts]
