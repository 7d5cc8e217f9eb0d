"""What every store promises of what users were served."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tests
from routecanary.adapters.store.connection import Connection
from routecanary.adapters.store.memory import MemoryStore
from routecanary.adapters.store.queries import MIGRATIONS, QUERIES
from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.domain.generation import Generation, Source
from routecanary.domain.names import Locale, ModelId, RouteId
from routecanary.errors import StoreError
from routecanary.rounds.ports import Store
from tests.conformance.stored import MODEL, NOON, OTHER, ROUTE, a_draft, a_generation, a_whole_generation
from tests.conformance.test_store import MAKERS

LATER = NOON + timedelta(hours=1)
ALPHA = RouteId("alpha")


@pytest.fixture(params=MAKERS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with MAKERS[request.param](tmp_path) as made:
        yield made


def keep(store: Store, *generations: Generation, at: datetime = LATER) -> int:
    return store.keep_generations(generations, at=at)


def kept(store: Store, model: ModelId = MODEL) -> list[Generation]:
    return list(store.generations(model, since=NOON - timedelta(days=9), until=NOON + timedelta(days=9)))


def after(store: Store, number: int, received_before: datetime, limit: int = 100) -> list[tuple[int, str]]:
    found = store.generations_after(number, received_before=received_before, limit=limit)
    return [(place, each.key) for place, each in found]


def test_a_generation_comes_back_as_it_was_kept(store: Store) -> None:
    """With everything known, with nothing known, and told in another zone."""
    tokyo = NOON.astimezone(timezone(timedelta(hours=9)))
    told = [
        a_whole_generation(),
        a_generation("bare", 1),
        a_generation("east", 2, started_at=tokyo, model=OTHER),
    ]
    assert keep(store, *told) == 3
    assert kept(store) == told[:2]
    assert kept(store, OTHER) == [told[2]]


def test_what_is_told_twice_is_kept_once(store: Store) -> None:
    """In one call or in several, with the gateway's id or with a key alone."""
    told = [a_generation("drawn"), a_whole_generation()]
    assert keep(store, *told, *told) == 2
    assert keep(store, *told) == 0
    assert keep(store, a_generation("third", 2), *reversed(told)) == 1
    assert kept(store) == [*told, a_generation("third", 2)]


def test_what_was_missing_is_filled_in_and_what_was_said_stays(store: Store) -> None:
    """Every field, in both directions."""
    bare, whole = a_generation("k"), a_whole_generation(key="k")
    keep(store, bare)
    assert keep(store, whole) == 0
    assert kept(store) == [whole]
    other = replace(
        whole,
        source=Source.BROADCAST,
        model=OTHER,
        started_at=LATER,
        provider="Beta",
        candidates=frozenset({RouteId("beta")}),
        carried=frozenset(),
        unchanged="stale",
        list_written_at=LATER,
        ttft_ms=1,
        duration_ms=2,
        status=500,
        finish_reason="error",
        empty=True,
        prompt_tokens=3,
        completion_tokens=4,
        conversation="d",
        locale=Locale("th"),
    )
    assert keep(store, other, bare) == 0
    assert kept(store) == [whole]


def test_another_teller_of_the_same_generation_completes_it(store: Store) -> None:
    """The gateway's id joins them whatever their keys, and whoever saw the request is the source."""
    told_by_gateway = a_generation(
        "gen-7",
        id="gen-7",
        source=Source.BROADCAST,
        provider="Alpha AI",
        candidates=frozenset({ALPHA, ROUTE}),
    )
    told_by_hook = a_generation(
        "drawn", 1, id="gen-7", ttft_ms=90, carried=frozenset({ROUTE, RouteId("beta")})
    )
    assert keep(store, told_by_gateway) == 1
    assert keep(store, told_by_hook) == 0
    whole = replace(told_by_gateway, source=Source.HOOK, ttft_ms=90, carried=frozenset({ROUTE}))
    assert kept(store) == [whole]
    assert store.find_generations(generation="gen-7") == (whole,)


def test_two_that_turn_out_to_be_one_become_one(store: Store) -> None:
    """A sender that learns the id late: the elder stays, completed by the younger, also within one call."""
    keep(store, a_generation("drawn", ttft_ms=90))
    keep(store, a_generation("gen-7", 1, id="gen-7", status=200, source=Source.BROADCAST))
    assert keep(store, a_generation("drawn", id="gen-7", empty=True)) == 0
    one = a_generation("drawn", id="gen-7", ttft_ms=90, status=200, empty=True)
    assert kept(store) == [one]
    told = [
        a_generation("x", 5),
        a_generation("y", 5, id="gen-8"),
        a_generation("x", 5, id="gen-8", ttft_ms=3),
        a_generation("y", 5, status=200),
    ]
    assert keep(store, *told) == 1
    assert kept(store)[1:] == [a_generation("x", 5, id="gen-8", ttft_ms=3, status=200)]
    assert keep(store, a_generation("new", 9)) == 1


def test_what_was_completed_before_it_turned_out_to_be_another(store: Store) -> None:
    """In one call the younger is told of again, and then found to be the elder."""
    keep(store, a_generation("drawn"), a_generation("gen-7", id="gen-7"))
    told = [a_generation("gen-7", id="gen-7", status=200), a_generation("drawn", id="gen-7", ttft_ms=5)]
    assert keep(store, *told) == 0
    assert kept(store) == [a_generation("drawn", id="gen-7", status=200, ttft_ms=5)]


def test_a_key_that_another_generation_has_mixes_nothing(store: Store) -> None:
    """Two ids are two generations; the one told second under a taken key is not kept."""
    first = a_generation("1", id="gen-1")
    keep(store, first, a_generation("2", id="gen-2"))
    assert keep(store, a_generation("1", id="gen-9", ttft_ms=5)) == 0
    assert keep(store, a_generation("1", id="gen-2", ttft_ms=6), a_generation("1", status=200)) == 0
    assert kept(store) == [replace(first, status=200), a_generation("2", id="gen-2", ttft_ms=6)]


def test_a_request_that_carried_the_list_was_not_sent_without_it(store: Store) -> None:
    """Whatever another teller says: no reason is a statement where a list is named."""
    carried = a_generation("k", list_written_at=NOON)
    keep(store, carried, a_generation("l"))
    keep(store, a_generation("k", unchanged="stale"), a_generation("l", unchanged="stale"))
    assert kept(store) == [carried, a_generation("l", unchanged="stale")]


def test_a_window_is_read_earliest_first(store: Store) -> None:
    """From `since` on, before `until`, of one model or one conversation, at most `limit`; equals as kept."""
    told = [a_generation(f"k{n}", n // 3, conversation="odd" if n % 2 else None) for n in range(900)]
    keep(store, *reversed(told), a_generation("other", 5, model=OTHER))

    def read(**filters: object) -> list[str]:
        window = {"since": NOON + timedelta(minutes=10), "until": NOON + timedelta(minutes=290)}
        return [each.key for each in store.generations(MODEL, **window | filters)]  # type: ignore[arg-type]

    expected = [f"k{3 * minute + place}" for minute in range(10, 290) for place in (2, 1, 0)]
    assert read() == expected
    assert read(limit=4) == expected[:4]
    assert read(limit=600) == expected[:600]
    assert read(limit=0) == []
    assert read(conversation="odd") == [key for key in expected if int(key[1:]) % 2]
    assert read(conversation="even") == []
    assert read(until=NOON) == []


def test_a_conversation_is_found_by_its_newest(store: Store) -> None:
    """The newest thousand, earliest first, of all models; nothing asked for is nothing found."""
    keep(store, *(a_generation(f"k{n}", -n, conversation="c") for n in range(1005)))
    keep(store, a_generation("other", 1, model=OTHER, conversation="c", id="gen-5"), a_generation("none", 2))
    found = store.find_generations(conversation="c")
    assert [each.key for each in found] == [f"k{n}" for n in reversed(range(999))] + ["other"]
    assert store.find_generations(generation="gen-5", conversation="c") == found[-1:]
    assert store.find_generations(generation="gen-5", conversation="d") == ()
    assert store.find_generations(generation="gen-6") == ()
    assert store.find_generations() == ()


def test_a_reader_sees_each_once(store: Store) -> None:
    """In the order of keeping, some time after it was received; its place passes none that is to come."""
    keep(store, a_generation("a", 30), a_generation("b", 20), at=NOON)
    keep(store, a_generation("c", 10), at=NOON + timedelta(seconds=20))
    keep(store, a_generation("d"), at=NOON + timedelta(seconds=5))
    assert after(store, 0, NOON) == []
    ten = NOON + timedelta(seconds=10)
    first = after(store, 0, ten)
    assert [key for _, key in first] == ["a", "b"], "d waits for c"
    assert after(store, 0, ten, limit=1) == first[:1]
    assert after(store, first[-1][0], ten) == []
    keep(store, a_generation("a", ttft_ms=1), at=LATER)
    rest = after(store, first[-1][0], LATER)
    assert [key for _, key in rest] == ["c", "d"]
    assert [place for place, _ in first + rest] == sorted(place for place, _ in first + rest)


def test_a_number_is_never_given_twice(store: Store) -> None:
    """A reader that remembers a number misses nothing when the newest ones are forgotten."""
    keep(store, a_generation("a"), a_generation("b"), at=NOON)
    (_, (last, _)) = after(store, 0, LATER)
    assert store.forget_generations(LATER, limit=10) == 2
    keep(store, a_generation("c"), at=NOON)
    assert [key for _, key in after(store, last, LATER)] == ["c"]


def test_a_clock_that_leapt_ahead_keeps_no_reader_waiting(store: Store) -> None:
    """What was received beyond a day from now was dated by a clock that has stepped back since."""
    keep(store, a_generation("leapt"), at=NOON + timedelta(days=400))
    keep(store, a_generation("then"), at=NOON)
    assert [key for _, key in after(store, 0, NOON + timedelta(minutes=1))] == ["leapt", "then"]


def test_the_old_are_forgotten_in_pieces(store: Store) -> None:
    """Of every model, at most `limit` at a time, and nothing that is young."""
    keep(store, *(a_generation(f"{model}{n}", n, model=ModelId(model)) for model in "cab" for n in range(10)))
    before = NOON + timedelta(minutes=6)
    assert store.count_old_generations(before) == 18
    assert [store.forget_generations(before, limit=7) for _ in range(4)] == [7, 7, 4, 0]
    assert store.count_old_generations(before) == 0
    for model in "abc":
        assert [each.key for each in kept(store, ModelId(model))] == [f"{model}{n}" for n in range(6, 10)]


def test_an_empty_store_served_nobody(store: Store) -> None:
    """Nothing is found, told or forgotten."""
    assert keep(store) == 0
    assert kept(store) == []
    assert store.find_generations(conversation="c") == ()
    assert after(store, 0, LATER) == []
    assert store.forget_generations(LATER, limit=5) == 0


@pytest.mark.parametrize(
    "bad",
    [
        {"key": ""},
        {"key": "\ud800"},
        {"model": "x" * 501},
        {"conversation": "\udfff"},
        {"finish_reason": ""},
        {"started_at": NOON.replace(tzinfo=None)},
        {"list_written_at": NOON.replace(tzinfo=None)},
        {"ttft_ms": -1},
        {"prompt_tokens": 2**63},
        {"candidates": frozenset({"two tags"})},
        {"candidates": frozenset({""})},
    ],
    ids=str,
)
def test_one_that_cannot_be_stored_is_kept_with_none_of_the_others(
    store: Store, bad: dict[str, object]
) -> None:
    """All of a call are kept, or none."""
    with pytest.raises(StoreError):
        keep(store, a_generation("good"), replace(a_generation("bad"), **bad))  # type: ignore[arg-type]
    assert kept(store) == []
    with pytest.raises(StoreError, match="without a zone"):
        keep(store, a_generation("good"), at=NOON.replace(tzinfo=None))


def test_a_closed_store_served_nobody(store: Store) -> None:
    """Every use after closing is an error of ours."""
    store.close()  # type: ignore[attr-defined]  # every maker's store has it
    for call in (
        lambda: keep(store, a_generation()),
        lambda: kept(store),
        lambda: store.find_generations(generation="x"),
        lambda: after(store, 0, LATER),
        lambda: store.forget_generations(LATER, limit=1),
        lambda: store.count_old_generations(LATER),
    ):
        with pytest.raises(StoreError, match="closed"):
            call()


_SMALL = st.sampled_from([None, "x", "y", "z"])
_TOLD = st.builds(
    a_generation,
    st.sampled_from(["k", "l", "m", "n"]),
    st.integers(0, 3),
    id=_SMALL,
    finish_reason=_SMALL,
    source=st.sampled_from(Source),
)


@given(st.lists(st.lists(_TOLD, max_size=6), max_size=5))
def test_no_order_of_telling_breaks_the_table(calls: list[list[Generation]]) -> None:
    """Keys and ids stay unique, the counts add up, numbers only grow, and both stores agree."""
    with (
        tempfile.TemporaryDirectory() as folder,
        MemoryStore() as memory,
        SqliteStore(Path(folder) / "store.db") as file,
    ):
        for told in calls:
            assert keep(memory, *told) == keep(file, *told)
            assert kept(memory) == kept(file)
            assert after(memory, 0, NOON + timedelta(days=3)) == after(file, 0, NOON + timedelta(days=3))
            keys = [each.key for each in kept(file)]
            ids = [each.id for each in kept(file) if each.id is not None]
            assert len(keys) == len(set(keys))
            assert len(ids) == len(set(ids))
        assert {each.key for each in kept(file)} <= {each.key for told in calls for each in told}
        assert keep(file, *(each for told in calls for each in told)) == 0, "all of it is known"


# --- the file


def test_what_was_kept_outlives_its_process(tmp_path: Path) -> None:
    """A store is opened again with all that was kept, and knows it."""
    path = tmp_path / "store.db"
    with SqliteStore(path) as store:
        keep(store, a_whole_generation(), a_generation("bare", 1))
    with SqliteStore(path) as store:
        assert kept(store) == [a_whole_generation(), a_generation("bare", 1)]
        assert keep(store, a_whole_generation()) == 0


def test_a_file_of_before_gets_the_table(tmp_path: Path) -> None:
    """Its events are still there."""
    path = tmp_path / "store.db"
    with closing(Connection(path, migrations=MIGRATIONS[:4])):
        pass
    with SqliteStore(path) as store:
        store.append([a_draft()], store.head())
        assert keep(store, a_generation()) == 1
        assert store.verify() is None


def test_events_and_generations_are_written_at_the_same_time(tmp_path: Path) -> None:
    """Another process appends events meanwhile; neither loses anything."""
    path = tmp_path / "store.db"
    command = [sys.executable, "-m", "tests.conformance.store_writer", str(path), "ann", "40"]
    with (
        SqliteStore(path) as store,
        subprocess.Popen(command, cwd=Path(tests.__file__).parent.parent, stdout=subprocess.PIPE) as writer,
    ):
        assert writer.stdout is not None
        writer.stdout.readline()
        for n in range(40):
            assert keep(store, *(a_generation(f"k{n}-{m}", n) for m in range(50))) == 50
        assert writer.wait() == 0
        assert store.count() == 80
        assert store.verify() is None
        assert len(kept(store)) == 2000


def test_a_locked_file_keeps_nothing_of_a_call(tmp_path: Path) -> None:
    """The error is ours, after the wait; told again later, everything is new."""
    path = tmp_path / "store.db"
    told = [a_generation(f"k{n}") for n in range(3)]
    with (
        SqliteStore(path, busy_seconds=0.05) as store,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="is locked by another process"):
            keep(store, *told)
        other.execute("ROLLBACK")
        assert kept(store) == []
        assert keep(store, *told) == 3


def test_a_call_that_fails_in_the_middle_keeps_nothing(tmp_path: Path) -> None:
    """What was completed before the failing row is as it was."""
    path = tmp_path / "store.db"
    with (
        SqliteStore(path) as store,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        keep(store, a_generation("known"))
        other.execute(
            "CREATE TRIGGER full_disk BEFORE INSERT ON generation WHEN NEW.key = 'bad' "
            "BEGIN SELECT RAISE(ABORT, 'no room'); END"
        )
        with pytest.raises(StoreError, match="refused a row: no room"):
            keep(store, a_generation("known", ttft_ms=5), a_generation("good"), a_generation("bad"))
        assert kept(store) == [a_generation("known")]


@pytest.mark.parametrize(
    "change",
    ["source = 'rumour'", "started_us = 9000000000000000000", "list_written_us = -9000000000000000000"],
)
def test_an_altered_row_is_an_error_of_ours(tmp_path: Path, change: str) -> None:
    """What is not written here is not read."""
    path = tmp_path / "store.db"
    with (
        SqliteStore(path) as store,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        keep(store, a_generation(conversation="c"))
        other.execute(f"UPDATE generation SET {change}")
        with pytest.raises(StoreError, match="generation 1 cannot be read"):
            store.find_generations(conversation="c")


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("known_generations", "sqlite_autoindex_generation_1"),
        ("known_generations", "generation_by_id"),
        ("generations_of_model", "generation_by_model (model=? AND started_us>"),
        ("generations_of_conversation", "generation_by_conversation (conversation=? AND started_us>"),
        ("generation", "generation_by_id"),
        ("newest_of_conversation", "generation_by_conversation"),
        ("generations_after", "INTEGER PRIMARY KEY"),
        ("forget_generations", "COVERING INDEX generation_by_model (model=? AND started_us<"),
        ("count_old_generations", "COVERING INDEX generation_by_model (model=? AND started_us<"),
    ],
)
def test_generations_are_found_by_an_index(tmp_path: Path, query: str, index: str) -> None:
    """Nothing walks through the whole table or sorts it."""
    path = tmp_path / "store.db"
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as connection:
        names = dict.fromkeys(re.findall(r":(\w+)", QUERIES[query]))
        plan = connection.execute("EXPLAIN QUERY PLAN " + QUERIES[query], names).fetchall()
    steps = [step for *_, step in plan]
    assert any(index in step for step in steps), steps
    assert not any(step.startswith("SCAN generation") or "TEMP B-TREE" in step for step in steps), steps
