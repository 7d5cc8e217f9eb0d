"""What every store promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256
from pathlib import Path
from threading import Thread

import pytest

from routecanary.adapters.store.memory import MemoryStore
from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.domain.log import EMPTY_LOG, Head, StoredDraft
from routecanary.domain.names import INTEGRITY, LANGUAGE, ModelId, RouteId
from routecanary.domain.probe import ProbeKind
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.errors import HeadMovedError, StoreError
from routecanary.rounds.ports import Store
from tests.conformance.stored import MODEL, NOON, OTHER, ROUTE, a_draft, a_transcript, a_verdict

MAKERS: dict[str, Callable[[Path], SqliteStore | MemoryStore]] = {
    "sqlite": lambda folder: SqliteStore(folder / "store.db"),
    "memory": lambda _: MemoryStore(),
}


@pytest.fixture(params=MAKERS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with MAKERS[request.param](tmp_path) as made:
        yield made


def test_an_empty_log_is_empty(store: Store) -> None:
    """Nothing was appended, so there is nothing to read, list or count."""
    assert store.head() == EMPTY_LOG == Head(seq=0, hash="0" * 64)
    assert list(store.read()) == []
    assert store.newest(5) == ()
    assert store.models() == ()
    assert store.count() == 0
    assert store.last_checkpoint(MODEL) is None
    assert store.verify() is None


def test_events_come_back_as_they_were_appended(store: Store) -> None:
    """An event keeps its kind, time, model and body; numbers run without a gap, each knows the one before."""
    drafts = [
        a_draft("suspended", route="alpha", contracts=["language"]),
        a_draft("excluded", model=None, target="beta", nested={"deep": [1, 2.5, None, True, "é"]}),
        StoredDraft(kind="expired", at=NOON.astimezone(timezone(timedelta(hours=9))), model=OTHER, body={}),
    ]
    head = store.append(drafts, EMPTY_LOG)
    events = list(store.read())
    assert [(event.kind, event.at, event.model, event.body) for event in events] == [
        (draft.kind, draft.at, draft.model, draft.body) for draft in drafts
    ]
    assert all(event.at.tzinfo is UTC for event in events)
    assert [event.seq for event in events] == [1, 2, 3]
    assert [event.previous for event in events] == [EMPTY_LOG.hash, *(event.hash for event in events[:2])]
    assert head == store.head() == events[-1].head


def test_an_events_hash_can_be_computed_by_hand(store: Store) -> None:
    """The hash is the SHA-256 of the canonical JSON that the documentation states."""
    store.append([a_draft("held", b="é", a=1)], EMPTY_LOG)
    (event,) = store.read()
    written = (
        r'{"at":"2026-11-29T12:00:00.000250Z","body":{"a":1,"b":"\u00e9"},"kind":"held",'
        r'"model":"acme/llama-70b","previous":"' + "0" * 64 + r'","seq":1}'
    )
    assert event.hash == sha256(written.encode()).hexdigest()


def test_an_append_on_a_moved_head_writes_nothing(store: Store) -> None:
    """The loser of a race is told so, and the log is the winner's."""
    head = store.append([a_draft(winner=True)], EMPTY_LOG)
    packed = store.pack(a_transcript(), at=NOON, verdicts={})
    for stale in (EMPTY_LOG, Head(seq=1, hash="f" * 64), Head(seq=2, hash=head.hash)):
        with pytest.raises(HeadMovedError, match="fold again"):
            store.append([a_draft(winner=False)], stale, transcripts=[packed])
    assert store.head() == head
    assert [event.body for event in store.read()] == [{"winner": True}]
    assert store.get(packed.entry.id) is None


def test_an_append_of_nothing_still_checks_the_head(store: Store) -> None:
    """No events leave the head where it is, if it is there."""
    assert store.append([], EMPTY_LOG) == EMPTY_LOG
    head = store.append([a_draft()], EMPTY_LOG)
    assert store.append([], head) == head
    with pytest.raises(HeadMovedError):
        store.append([], EMPTY_LOG)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (a_draft(x=float("nan")), "not storable JSON"),
        (a_draft(x=float("inf")), "not storable JSON"),
        (a_draft(x=object()), "not storable JSON"),
        (a_draft(x=10**5000), "not storable JSON"),
        (a_draft(x=(1, 2)), "read back changed"),
        (a_draft(x={1: "a number as a key"}), "read back changed"),
        (a_draft(x={"\ud83d\ude00": 1, "😀": 2}), "two keys are one in JSON"),
        (replace(a_draft(), body=["a list"]), "not a plain JSON object"),
        (a_draft(x="y" * 8 * 1024 * 1024), "8388616 bytes; allowed: 8388608"),
        (replace(a_draft(), at=datetime(2026, 11, 29)), "without a zone"),  # noqa: DTZ001 - the point
        (
            replace(a_draft(), at=datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))),
            "outside of the cal",
        ),
        (a_draft(kind=""), "kind cannot be stored"),
        (a_draft(kind="\ud800"), r"kind cannot be stored: '\\ud800'"),
        (a_draft(model=ModelId("\udfff/x")), "model cannot be stored"),
        (a_draft(model=ModelId("x" * 501)), "1 to 500 characters"),
    ],
)
def test_an_event_that_is_not_storable_leaves_nothing(store: Store, bad: StoredDraft, said: str) -> None:
    """One bad event in the middle refuses the whole append."""
    head = store.append([a_draft(first=1)], EMPTY_LOG)
    with pytest.raises(StoreError, match=said):
        store.append([a_draft(), bad, a_draft()], head)
    assert store.head() == head
    assert store.count() == 1


def test_a_body_nested_without_end_is_refused(store: Store) -> None:
    """Nesting beyond what can be read back is an error, not a crash."""
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(StoreError, match="not storable JSON"):
        store.append([a_draft(x=deep)], EMPTY_LOG)
    assert store.head() == EMPTY_LOG


@pytest.mark.parametrize(
    "text",
    [
        "\ud800 alone, \udc00 too",
        "\x00 inside",
        "\u2028\u2029\ufeff\ufffd",
        "👩🏽‍🚀 ภาษาไทย اللغة",
        "'; DROP TABLE event; --",
        "",
    ],
)
def test_hostile_text_comes_back_unchanged(store: Store, text: str) -> None:
    """What a model wrote is kept as it is, as a key and as a value."""
    store.append([a_draft(**{text: [text]})], EMPTY_LOG)
    (event,) = store.read()
    assert event.body == {text: [text]}
    assert store.verify() is None


def test_the_halves_of_a_pair_come_back_as_their_character(store: Store) -> None:
    """JSON knows one way to write both, so the character is what is read back."""
    store.append([a_draft(passage="\ud83d" + "\ude00")], EMPTY_LOG)
    (event,) = store.read()
    assert event.body == {"passage": "😀"}


def test_a_body_just_within_the_bound_is_kept(store: Store) -> None:
    """8 MiB are allowed."""
    store.append([a_draft(x="y" * (8 * 1024 * 1024 - len('{"x":""}')))], EMPTY_LOG)
    assert store.count() == 1


def some_events(store: Store) -> Head:
    """Append 200 events: more than a page; numbers 1…200, kinds and models in turn."""
    kinds = ["round_closed", "suspended", "held"]
    models = [MODEL, OTHER, None, MODEL]
    return store.append([a_draft(kinds[n % 3], models[n % 4], n=n) for n in range(1, 201)], store.head())


@pytest.mark.parametrize("model", [None, MODEL, ModelId("un/known"), ModelId("\ud800")])
def test_filters_pick_the_same_events_everywhere(store: Store, model: ModelId | None) -> None:
    """Reading, the newest and the count agree with a plain filter over all events."""
    some_events(store)
    for kinds in (None, ["held"], {"held", "suspended"}, [], ["unknown"], ["\ud800"]):
        passing = [
            event
            for event in store.read()
            if (model is None or event.model == model) and (kinds is None or event.kind in kinds)
        ]
        assert store.count(model, kinds=kinds) == len(passing)
        for after in (0, 1, 64, 137, 199, 200, 201, 2**70, -1, -(2**70)):
            later = [event for event in passing if event.seq > after]
            assert list(store.read(after, model, kinds=kinds)) == later
            assert list(store.read(after, model, kinds=kinds, limit=65)) == later[:65]
        for limit in (0, 1, 3, 64, 65, 10**30):
            assert list(store.read(0, model, kinds=kinds, limit=limit)) == passing[:limit]
            assert list(store.newest(limit, model, kinds=kinds)) == (passing[-limit:] if limit else [])


def test_models_are_listed_once_and_sorted(store: Store) -> None:
    """Events of no model add none."""
    some_events(store)
    store.append([a_draft(model=ModelId("Zeta/x")), a_draft(model=ModelId("éa/x"))], store.head())
    assert store.models() == ("Zeta/x", MODEL, OTHER, "éa/x")


def test_a_fold_starts_from_the_models_last_checkpoint(store: Store) -> None:
    """Each model has its own; reading on from its number gives the rest."""
    store.append(
        [
            a_draft("checkpoint", MODEL, state=1),
            a_draft("held", MODEL),
            a_draft("checkpoint", MODEL, state=2),
            a_draft("checkpoint", OTHER, state=3),
            a_draft("held", MODEL, n=5),
        ],
        EMPTY_LOG,
    )
    checkpoint = store.last_checkpoint(MODEL)
    assert checkpoint is not None
    assert (checkpoint.seq, checkpoint.body) == (3, {"state": 2})
    assert [event.seq for event in store.read(checkpoint.seq, MODEL)] == [5]
    assert store.last_checkpoint(ModelId("un/known")) is None


def test_reading_sees_what_is_appended_meanwhile(store: Store) -> None:
    """A reader neither blocks a writer nor misses its events."""
    some_events(store)
    reader = store.read()
    first = next(reader)
    store.append([a_draft("late")], store.head())
    assert [first.seq, *(event.seq for event in reader)] == list(range(1, 202))


def test_threads_that_race_lose_nothing(store: Store) -> None:
    """Four threads append through one store; each event is there once, in its thread's order."""

    def write(writer: int) -> None:
        for n in range(25):
            while True:
                try:
                    store.append([a_draft(writer=writer, n=n)], store.head())
                    break
                except HeadMovedError:
                    continue

    threads = [Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    written = [(event.body["writer"], event.body["n"]) for event in store.read()]
    assert sorted(written) == [(writer, n) for writer in range(4) for n in range(25)]
    assert all([n for w, n in written if w == writer] == list(range(25)) for writer in range(4))
    assert store.verify() is None


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    """Closing twice is allowed; every use after it is an error of ours."""
    for make in MAKERS.values():
        store = make(tmp_path)
        with store:
            pass
        store.close()
        calls: list[Callable[[], object]] = [
            store.head,
            store.models,
            store.count,
            store.verify,
            lambda store=store: list(store.read()),
            lambda store=store: store.newest(1),
            lambda store=store: store.last_checkpoint(MODEL),
            lambda store=store: store.append([], EMPTY_LOG),
            lambda store=store: store.put([]),
            lambda store=store: store.get("x"),
            lambda store=store: list(store.find(MODEL)),
        ]
        for call in calls:
            with pytest.raises(StoreError, match="closed"):
                call()


def test_a_transcript_comes_back_whole(store: Store) -> None:
    """Bytes, times, headers, the request's order and the verdicts are what they were."""
    transcript = a_transcript()
    verdicts = {
        LANGUAGE: Verdict(
            contract=LANGUAGE, kind=VerdictKind.FAIL, code="language_mixing", detail="«\ud800»", version=4
        ),
        INTEGRITY: Verdict(contract=INTEGRITY, kind=VerdictKind.PASS),
    }
    packed = store.pack(transcript, at=NOON, verdicts=verdicts)
    assert store.get(packed.entry.id) is None, "packing writes nothing"
    store.put([packed])
    kept = store.get(packed.entry.id)
    assert kept is not None
    assert kept.transcript == transcript
    assert list(kept.transcript.request) == list(transcript.request)
    assert kept.entry == packed.entry
    assert kept.entry.verdicts == verdicts
    assert kept.entry.failed
    assert kept.entry.id.startswith("20261129T120000Z-")
    assert (kept.entry.at, kept.entry.route, kept.entry.attempt) == (NOON, ROUTE, 1)
    assert kept.entry.size == len(packed.data) < 1000


def test_transcripts_lie_beside_the_events_of_their_append(store: Store) -> None:
    """An event can name the transcript, and the transcript knows the last event of its append."""
    packed = store.pack(a_transcript(), at=NOON, verdicts=a_verdict())
    store.append([a_draft(evidence=packed.entry.id), a_draft()], EMPTY_LOG, transcripts=[packed])
    (event, _) = store.read()
    kept = store.get(event.body["evidence"])
    assert kept is not None
    assert kept.entry == replace(packed.entry, seq=2)


def test_equal_content_of_a_round_is_kept_once(store: Store) -> None:
    """The same transcript again changes nothing; in another round it is another transcript."""
    first = store.pack(a_transcript(), at=NOON, verdicts=a_verdict())
    again = store.pack(a_transcript(), at=NOON, verdicts=a_verdict())
    judged_anew = store.pack(a_transcript(), at=NOON, verdicts=a_verdict(VerdictKind.PASS))
    later = store.pack(a_transcript(), at=NOON + timedelta(minutes=30), verdicts={})
    assert first.entry.id == again.entry.id
    assert len({first.entry.id, judged_anew.entry.id, later.entry.id}) == 3
    store.append([a_draft()], EMPTY_LOG, transcripts=[first, again])
    store.put([again, later])
    assert [entry.id for entry in store.find(MODEL)] == [later.entry.id, first.entry.id]
    kept = store.get(first.entry.id)
    assert kept is not None
    assert kept.entry == replace(first.entry, seq=1)


def test_transcripts_are_found_by_every_filter(store: Store) -> None:
    """Filters agree with a plain filter over all entries; the newest round comes first."""
    packed = [
        store.pack(
            a_transcript(
                model=OTHER if n % 7 == 0 else MODEL,
                route=None if n % 11 == 0 else RouteId(f"host{n % 3}"),
                kind=ProbeKind.FILTER if n % 2 else ProbeKind.CHAT,
                attempt=n,
            ),
            at=NOON + timedelta(minutes=n // 10),
            verdicts=a_verdict(VerdictKind.FAIL if n % 5 == 0 else VerdictKind.PASS),
        )
        for n in range(200)
    ]
    store.put(packed)
    newest_first = sorted(
        (each.entry for each in packed), key=lambda entry: (entry.at, entry.attempt), reverse=True
    )
    for model in (MODEL, OTHER, ModelId("un/known"), ModelId("\ud800/x")):
        for route in (None, RouteId("host1"), RouteId("unknown")):
            for kind in (None, ProbeKind.FILTER):
                for failed in (None, True, False):
                    for since, until in (
                        (None, None),
                        (NOON + timedelta(minutes=3), NOON + timedelta(minutes=9)),
                    ):
                        found = store.find(model, route, kind=kind, failed=failed, since=since, until=until)
                        assert list(found) == [
                            entry
                            for entry in newest_first
                            if entry.model == model
                            and (route is None or entry.route == route)
                            and (kind is None or entry.kind == kind)
                            and (failed is None or entry.failed == failed)
                            and (since is None or entry.at >= since)
                            and (until is None or entry.at <= until)
                        ]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model": None}, "names no model"),
        ({"model": ModelId("\ud800")}, "model, route or locale cannot be stored"),
        ({"route": RouteId("")}, "model, route or locale cannot be stored"),
        ({"request": {"x": object()}}, "cannot be kept"),
    ],
)
def test_a_transcript_that_cannot_be_kept_is_refused(
    store: Store, changes: dict[str, object], said: str
) -> None:
    """It is refused when it is packed, before anything is written."""
    with pytest.raises(StoreError, match=said):
        store.pack(a_transcript(**changes), at=NOON, verdicts={})
    with pytest.raises(StoreError, match="without a zone"):
        store.pack(a_transcript(), at=datetime(2026, 11, 29), verdicts={})  # noqa: DTZ001 - the point


def test_a_verdict_under_a_false_name_is_refused(store: Store) -> None:
    """It could not be read back under the name it was given."""
    verdict = Verdict(contract=LANGUAGE, kind=VerdictKind.PASS)
    with pytest.raises(StoreError, match="another contract's name"):
        store.pack(a_transcript(), at=NOON, verdicts={INTEGRITY: verdict})


def test_both_stores_make_the_same_chain(tmp_path: Path) -> None:
    """Equal events have equal hashes, whichever store keeps them."""
    with closing(MAKERS["sqlite"](tmp_path)) as one, closing(MAKERS["memory"](tmp_path)) as two:
        assert some_events(one) == some_events(two)
        assert list(one.read()) == list(two.read())
