"""Kept transcripts judged again: what would be told otherwise today, and by which version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from routecanary.adapters.store.memory import MemoryStore
from routecanary.domain.archive import PackedTranscript, StoredTranscript
from routecanary.domain.names import FILTERING, INTEGRITY, ContractName, Locale, ModelId
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.errors import StoreError
from routecanary.judge.filtering import FilteringContract
from routecanary.judge.integrity import IntegrityContract
from routecanary.judge.settings import Settings
from routecanary.replay.texts import transcript_of
from routecanary.rounds import rejudge
from routecanary.rounds.rejudge import Changed, Rejudging, Unread
from tests.conformance.stored import MODEL, NOON, OTHER

REFUSAL = "I'm sorry, but I can't help with that request."
NOW = FilteringContract(settings=Settings()).version
WHOLE = IntegrityContract(settings=Settings()).version


def said(
    kind: VerdictKind, code: str | None = None, *, contract: ContractName = FILTERING, version: int = NOW
) -> Mapping[ContractName, Verdict]:
    return {contract: Verdict(contract=contract, kind=kind, code=code, version=version)}


def pack(
    store: MemoryStore,
    verdicts: Mapping[ContractName, Verdict],
    *,
    hours_ago: int = 0,
    model: ModelId = MODEL,
    text: str = REFUSAL,
) -> PackedTranscript:
    transcript = replace(transcript_of(text, FILTERING, Locale("en")), model=model)
    packed = store.pack(transcript, at=NOON - timedelta(hours=hours_ago), verdicts=verdicts)
    store.put([packed])
    return packed


def test_a_verdict_that_stays_is_counted_and_not_told() -> None:
    """Another sentence for the same reason is no change."""
    store = MemoryStore()
    pack(store, said(VerdictKind.FAIL, "refusal", version=NOW - 1))
    work = Rejudging(store=store, settings=Settings())
    assert list(work.run([MODEL], None)) == []
    (count,) = work.counts.values()
    assert (work.transcripts, count.now, count.verdicts, count.changed) == (1, NOW, 1, 0)


def test_changes_are_told_newest_first_and_counted_by_the_version_then() -> None:
    """A fail that is new, a fail that is gone, and another code; each with what it was and what it is."""
    store = MemoryStore()
    new = pack(store, said(VerdictKind.PASS, version=NOW - 1), hours_ago=1)
    gone = pack(store, said(VerdictKind.FAIL, "loop", contract=INTEGRITY), hours_ago=2)
    other = pack(store, said(VerdictKind.FAIL, "lecture"), hours_ago=3)
    work = Rejudging(store=store, settings=Settings())
    told = [each for each in work.run([MODEL], None) if isinstance(each, Changed)]
    assert [each.entry.id for each in told] == [new.entry.id, gone.entry.id, other.entry.id]
    assert [(str(each.was), str(each.now)) for each in told] == [
        ("pass", "fail:refusal"),
        ("fail:loop", "pass"),
        ("fail:lecture", "fail:refusal"),
    ]
    assert [each.now.version for each in told] == [NOW, WHOLE, NOW]
    counts = {key: (each.new_fails, each.gone_fails) for key, each in work.counts.items()}
    assert counts == {(FILTERING, NOW - 1): (1, 0), (INTEGRITY, NOW): (0, 1), (FILTERING, NOW): (0, 0)}


def test_only_the_contracts_that_judged_then_and_the_time_and_models_asked_for() -> None:
    """A confirmation was judged by the contract that failed alone; what is older is left alone."""
    store = MemoryStore()
    pack(store, said(VerdictKind.PASS, contract=INTEGRITY))
    pack(store, said(VerdictKind.PASS), hours_ago=5)
    pack(store, said(VerdictKind.PASS), model=OTHER)
    work = Rejudging(store=store, settings=Settings())
    assert list(work.run([MODEL], NOON - timedelta(hours=4))) == []
    assert list(work.counts) == [(INTEGRITY, NOW)]


def test_todays_limits_are_the_configured_ones() -> None:
    """What they convict no longer shows as a fail that is gone, by the same judge."""
    store = MemoryStore()
    pack(store, said(VerdictKind.FAIL, "refusal"))
    work = Rejudging(store=store, settings=Settings(refusal_points=10_000))
    (change,) = work.run([MODEL], None)
    assert isinstance(change, Changed)
    assert change.now.kind is not VerdictKind.FAIL
    assert change.was.version == change.now.version


def test_one_that_cannot_be_read_does_not_hide_the_others() -> None:
    """It is told with the store's own words."""

    class Altered(MemoryStore):
        def get(self, transcript_id: str) -> StoredTranscript | None:
            if transcript_id == bad.entry.id:
                raise StoreError("altered")
            return super().get(transcript_id)

    store = Altered()
    bad = pack(store, said(VerdictKind.PASS))
    pack(store, said(VerdictKind.PASS), hours_ago=1)
    unread, changed = Rejudging(store=store, settings=Settings()).run([MODEL], None)
    assert isinstance(unread, Unread)
    assert (unread.entry.id, unread.problem) == (bad.entry.id, "altered")
    assert isinstance(changed, Changed)


def test_one_that_breaks_our_reading_is_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it would be in a round."""

    def broken(_: object) -> None:
        raise RecursionError

    store = MemoryStore()
    pack(store, said(VerdictKind.FAIL, "refusal"))
    monkeypatch.setattr(rejudge, "read_answer", broken)
    (change,) = Rejudging(store=store, settings=Settings()).run([MODEL], None)
    assert isinstance(change, Changed)
    assert str(change.now) == "inconclusive:judge_crashed"
