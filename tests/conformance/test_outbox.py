"""What every store promises of the messages on their way."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from routecanary.adapters.store.queries import QUERIES
from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.domain.log import EMPTY_LOG
from routecanary.domain.outbox import Delivery, Outgoing, Tally
from routecanary.errors import HeadMovedError, StoreError
from routecanary.rounds.ports import Store
from tests.conformance.stored import NOON, a_draft, a_transcript
from tests.conformance.test_store import MAKERS

LEASE = timedelta(minutes=1)
HORIZON = timedelta(hours=2)


@pytest.fixture(params=MAKERS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with MAKERS[request.param](tmp_path) as made:
        yield made


def outgoing(message: str = "m1", channel: str = "hook", minutes: int = 0) -> Outgoing:
    return Outgoing(
        message=message, channel=channel, at=NOON + timedelta(minutes=minutes), body=f'{{"id":"{message}"}}'
    )


def put(store: Store, *messages: Outgoing) -> None:
    store.append([a_draft()], store.head(), outgoing=messages)


def claim(store: Store, channel: str = "hook", minutes: int = 0) -> Delivery | None:
    return store.claim(channel, NOON + timedelta(minutes=minutes), lease=LEASE, horizon=HORIZON)


def claimed(store: Store, channel: str = "hook", minutes: int = 0) -> Delivery:
    found = claim(store, channel, minutes)
    assert found is not None
    return found


def test_a_message_is_written_with_its_events_or_not_at_all(store: Store) -> None:
    """A lost append, a bad event and a bad message each leave neither events nor messages."""
    packed = store.pack(a_transcript(), at=NOON, verdicts={})
    put(store, outgoing("first"))
    head = store.head()
    with pytest.raises(HeadMovedError):
        store.append([a_draft()], EMPTY_LOG, outgoing=[outgoing()])
    with pytest.raises(StoreError, match="storable JSON"):
        store.append([a_draft(x=float("nan"))], head, outgoing=[outgoing()])
    for bad in (outgoing("first"), outgoing("\ud800"), outgoing(channel="")):
        with pytest.raises(StoreError):
            store.append([a_draft()], head, transcripts=[packed], outgoing=[outgoing("new"), bad])
    with pytest.raises(StoreError, match="ASCII"):
        store.append(
            [a_draft()], head, outgoing=[Outgoing(message="m", channel="c", at=NOON, body='{"a":"é"}')]
        )
    assert store.head() == head
    assert store.get(packed.entry.id) is None
    assert store.tally() == {"hook": Tally(pending=1, oldest_pending_at=NOON)}


def test_the_oldest_due_message_of_the_channel_is_claimed(store: Store) -> None:
    """Each channel has its own copy; messages come in the order of writing, one at a time, when due."""
    put(store, outgoing("m1"), outgoing("m1", "command"), outgoing("m2", minutes=5))
    first = claimed(store)
    assert (first.message, first.channel, first.at, first.body, first.attempt) == (
        "m1",
        "hook",
        NOON,
        '{"id":"m1"}',
        1,
    )
    assert claim(store) is None, "the first is leased, the second not due"
    assert claimed(store, "command").message == "m1"
    assert claimed(store, minutes=5).message == "m1", "its lease is over"
    assert claimed(store, minutes=5).message == "m2"
    assert claim(store, "nobody") is None


def test_keys_are_of_message_and_channel_alone(store: Store) -> None:
    """Every attempt has the same key; another message, or another channel, has another one."""
    put(store, outgoing("m1"), outgoing("m1", "command"), outgoing("m2"))
    first, other, next_one = claimed(store), claimed(store, "command"), claimed(store)
    again = claimed(store, minutes=2)
    assert again.idempotency_key == first.idempotency_key
    assert (again.number, again.attempt) == (first.number, 2)
    assert len({first.idempotency_key, other.idempotency_key, next_one.idempotency_key}) == 3


def test_what_is_settled_is_not_claimed_again(store: Store) -> None:
    """Delivered and failed messages are over; a postponed one waits for its time."""
    put(store, outgoing("m1"), outgoing("m2"), outgoing("m3"))
    store.delivered(claimed(store))
    store.failed(claimed(store), "410 Gone")
    third = claimed(store)
    store.postponed(third, NOON + timedelta(minutes=30), "timed out")
    assert store.tally() == {
        "hook": Tally(pending=1, delivered=1, failed=1, oldest_pending_at=NOON, problem="timed out")
    }
    assert claim(store, minutes=29) is None
    again = claimed(store, minutes=30)
    assert (again.message, again.attempt) == ("m3", 2)
    store.delivered(again)
    assert store.tally() == {"hook": Tally(delivered=2, failed=1)}


def test_the_slower_of_two_changes_nothing(store: Store) -> None:
    """Whoever settles a message second, after its lease was over, does not bring it back."""
    put(store, outgoing())
    slow = claimed(store)
    fast = claimed(store, minutes=2)
    store.delivered(fast)
    store.postponed(slow, NOON, "timed out")
    store.failed(slow, "timed out")
    assert store.tally() == {"hook": Tally(delivered=1)}


def test_a_clock_that_stepped_back_strands_nothing(store: Store) -> None:
    """A message that would wait beyond the horizon is due now; one within it waits."""
    put(store, outgoing("m1"), outgoing("m2"))
    store.postponed(claimed(store), NOON + HORIZON, "timed out")
    store.postponed(claimed(store), NOON + HORIZON + timedelta(seconds=1), "timed out")
    assert claimed(store).message == "m2"
    assert claim(store) is None


def test_old_messages_are_forgotten_unless_pending(store: Store) -> None:
    """What is over goes when it is old; what is pending stays, however old."""
    put(store, outgoing("m1"), outgoing("m2"), outgoing("m3"), outgoing("m4", minutes=60))
    store.delivered(claimed(store))
    store.failed(claimed(store), "x")
    store.postponed(claimed(store), NOON, "y")
    store.forget_messages(NOON)
    assert store.tally()["hook"].delivered == 1
    store.forget_messages(NOON + timedelta(minutes=30))
    assert store.tally() == {"hook": Tally(pending=2, oldest_pending_at=NOON, problem="y")}
    put(store, outgoing("m5"))
    assert [claimed(store, minutes=60).message for _ in range(3)] == ["m3", "m4", "m5"]


def test_a_message_survives_its_process(tmp_path: Path) -> None:
    """What was claimed and not settled is there after a restart, with its attempt counted."""
    path = tmp_path / "store.db"
    with SqliteStore(path) as store:
        put(store, outgoing())
        key = claimed(store).idempotency_key
    with SqliteStore(path) as store:
        assert claim(store) is None
        again = claimed(store, minutes=1)
        assert (again.idempotency_key, again.attempt) == (key, 2)


def test_two_processes_claim_different_messages(tmp_path: Path) -> None:
    """A claim is seen by every other connection at once."""
    path = tmp_path / "store.db"
    with SqliteStore(path) as one, SqliteStore(path) as other:
        put(one, outgoing("m1"), outgoing("m2"))
        assert {claimed(one).message, claimed(other).message} == {"m1", "m2"}
        assert claim(one) is claim(other) is None


def test_a_claim_is_served_by_an_index(tmp_path: Path) -> None:
    """Delivered messages cost a claim nothing."""
    path = tmp_path / "store.db"
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as connection:
        names = dict.fromkeys(("channel", "now", "horizon"))
        plan = connection.execute("EXPLAIN QUERY PLAN " + QUERIES["due_outgoing"], names).fetchall()
    assert "outbox_by_channel" in str(plan)
    assert "TEMP B-TREE" not in str(plan)


def test_a_closed_store_delivers_nothing(store: Store) -> None:
    """Every use after closing is an error of ours."""
    put(store, outgoing())
    delivery = claimed(store)
    store.close()  # type: ignore[attr-defined]  # every maker's store has it
    for call in (
        lambda: claim(store),
        lambda: store.delivered(delivery),
        lambda: store.postponed(delivery, NOON, "x"),
        lambda: store.failed(delivery, "x"),
        store.tally,
        lambda: store.forget_messages(NOON),
    ):
        with pytest.raises(StoreError, match="closed"):
            call()
