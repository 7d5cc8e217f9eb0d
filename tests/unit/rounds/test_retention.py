"""What is old goes, and everything that is remembered stays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.log import EMPTY_LOG, PRUNED
from routecanary.domain.names import FILTERING
from routecanary.domain.operation import (
    AccountFault,
    Requalifying,
    Reserved,
    RoundOverdue,
    Settled,
    operation_draft,
)
from routecanary.domain.round import Pause
from routecanary.domain.settings import RetentionSettings
from routecanary.domain.verdict import VerdictKind
from routecanary.errors import StoreError
from routecanary.rounds.act import act, exclude
from routecanary.rounds.fold import Fold
from routecanary.rounds.ports import Store
from routecanary.rounds.record import Ledger
from routecanary.rounds.records import Records
from routecanary.rounds.retention import BATCH, Pruned, prune, prune_if_due, would_prune
from tests.conformance.stored import a_generation, a_transcript, a_verdict
from tests.conformance.test_store import MAKERS
from tests.records import some_records, tell_round, wait_until
from tests.story import HEALTHY, MODEL, START, moment

DAY = timedelta(days=1)
SHORT = RetentionSettings(events=10 * DAY, passes=DAY, failures=5 * DAY)


@pytest.fixture(params=MAKERS)
def records(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Records]:
    with MAKERS[request.param](tmp_path) as store:
        yield some_records(store, retention=SHORT)


def a_life(records: Records) -> None:
    """Let much happen in two days: a suspension, an exclusion, a pause, money, an account fault, a trial."""
    for at in ("0m", "30m"):
        tell_round(records, at, {"a": "structured:fail", **HEALTHY})
    exclude(
        records,
        RuntimeEntry(target="h1", models=None, reason="slow", actor="ops", created=records.clock.now()),
    )
    act(records, Pause(at=records.clock.now(), model=MODEL, until=moment("99d")))
    records.ledger.note(
        operation_draft(AccountFault(at=moment("1h"), model=MODEL, code="credits")),
        operation_draft(Reserved(at=moment("1h"), model=MODEL, round_id="r1", usd=Decimal("0.5"))),
        operation_draft(Settled(at=moment("1h"), model=MODEL, round_id="r1", usd=Decimal("0.25"))),
        operation_draft(
            Requalifying(at=moment("1h"), model=MODEL, contract=FILTERING, until=moment("99d"), version="2")
        ),
    )
    tell_round(records, "2d", {"a": "ok", **HEALTHY})


def remembered(store: Store) -> tuple[object, ...]:
    """Fold the log from its beginning, or from the checkpoints, as a restart does."""
    fold = Fold(store)
    fold.catch_up()
    return fold.states, fold.listings, fold.runtime.all(), fold.operating, fold.conditions.known()


def test_a_restart_remembers_everything_after_all_was_pruned(records: Records) -> None:
    """State, listing, exclusion, pause, money and trial are folded from what was carried over."""
    a_life(records)
    before = remembered(records.store)
    head = records.store.head()
    wait_until(records, "50d")
    gone = prune(records, now=records.clock.now(), actor="ops", reason="room")
    assert gone == Pruned(events=head.seq, through=head)
    assert records.store.anchor() == head
    assert records.store.verify() is None
    assert remembered(records.store) == before
    (announced,) = records.store.read(kinds={PRUNED})
    assert (announced.body["actor"], announced.body["reason"]) == ("ops", "room")
    tell_round(records, "50d1h", {"a": "ok", **HEALTHY})
    assert remembered(records.store)[0] == {MODEL: records.ledger.state(MODEL)}


def test_what_was_carried_over_once_is_not_carried_over_again(records: Records) -> None:
    """A second pruning of a young log only announces itself."""
    a_life(records)
    wait_until(records, "50d")
    prune(records, now=records.clock.now(), actor="ops", reason="room")
    kept = records.store.count()
    before = remembered(records.store)
    wait_until(records, "70d")
    gone = prune(records, now=records.clock.now(), actor="ops", reason="room")
    assert gone.events == kept
    assert records.store.count() == kept
    assert remembered(records.store) == before


def test_young_events_stay(records: Records) -> None:
    """Only what is older than `keep_events` goes; checkpoints that are there already are not repeated."""
    a_life(records)
    third_round = next(event.seq for event in records.store.read() if event.at == moment("2d"))
    wait_until(records, "11d")
    assert would_prune(records).events == third_round - 1
    gone = prune(records, now=records.clock.now(), actor="ops", reason="room")
    assert gone.events == third_round - 1
    assert next(iter(records.store.read())).seq == third_round
    wait_until(records, "11d1h")
    assert prune(records, now=records.clock.now(), actor="ops", reason="room") == Pruned()


def test_generations_go_by_their_own_age(records: Records) -> None:
    """In pieces, whatever else is there; the young ones stay."""
    old = [a_generation(f"old{n}", model=MODEL, started_at=START) for n in range(BATCH + 5)]
    young = a_generation("young", model=MODEL, started_at=START + DAY)
    records.store.keep_generations([*old, young], at=START)
    records.settings = some_records(retention=replace(SHORT, generations=DAY)).settings
    wait_until(records, "1d1m")
    assert would_prune(records) == Pruned(generations=BATCH + 5)
    pieces: list[Pruned] = []
    gone = prune(records, now=records.clock.now(), actor="ops", reason="room", progress=pieces.append)
    assert gone == Pruned(generations=BATCH + 5)
    assert [piece.generations for piece in pieces] == [BATCH, BATCH + 5, BATCH + 5]
    assert list(records.store.generations(MODEL, since=START, until=START + 9 * DAY)) == [young]


def test_passes_go_before_failures_and_events_stay_with_their_evidence(records: Records) -> None:
    """An event whose transcript is kept stays though it is old."""
    patient = RetentionSettings(events=2 * DAY, passes=DAY, failures=30 * DAY)
    records.settings = some_records(retention=patient).settings
    packed = [
        records.store.pack(a_transcript(model=MODEL, attempt=n), at=START, verdicts=a_verdict(kind))
        for n, kind in enumerate([VerdictKind.FAIL, VerdictKind.PASS, VerdictKind.PASS])
    ]
    records.ledger.note(operation_draft(AccountFault(at=START - DAY, model=MODEL, code="credits")))
    head = records.store.head()
    records.store.append(
        [operation_draft(AccountFault(at=START, model=MODEL, code="credits"))], head, transcripts=packed
    )
    wait_until(records, "10d")
    expected = Pruned(events=1, passes=2, through=head)
    assert would_prune(records) == expected
    assert prune(records, now=records.clock.now(), actor="ops", reason="room") == expected
    assert [entry.failed for entry in records.store.find(MODEL)] == [True]
    wait_until(records, "31d")
    gone = prune(records, now=records.clock.now(), actor="ops", reason="room")
    assert (gone.failures, gone.passes) == (1, 0)
    assert gone.events > 1
    assert list(records.store.find(MODEL)) == []


def test_many_transcripts_go_in_short_transactions(records: Records) -> None:
    """After each it tells how many have gone."""
    told: list[Pruned] = []
    records.store.put(
        [
            records.store.pack(a_transcript(model=MODEL, attempt=n), at=START, verdicts={})
            for n in range(BATCH + 1)
        ]
    )
    wait_until(records, "2d")
    prune(records, now=records.clock.now(), actor="ops", reason="room", progress=told.append)
    assert [each.passes for each in told] == [BATCH, BATCH + 1]


def test_pruning_is_due_once_a_day(records: Records) -> None:
    """The first time at once, then after a day; one that a wrong clock dated ahead does not count."""
    assert prune_if_due(records) is None, "there is nothing yet"
    a_life(records)
    tell_round(records, "50d", {"a": "ok", **HEALTHY})
    assert prune_if_due(records)
    assert prune_if_due(records) is None
    wait_until(records, "50d23h59m59s")
    assert prune_if_due(records) is None
    wait_until(records, "51d")
    assert prune_if_due(records) == Pruned()
    wait_until(records, "49d")
    assert prune_if_due(records) is not None


def test_a_clock_that_woke_up_wrong_makes_nothing_old(records: Records) -> None:
    """Ages are counted from the last round and a day more; with the next round they are right again."""
    a_life(records)
    wait_until(records, "9999d")
    records.ledger.note(operation_draft(RoundOverdue(at=moment("9999d"), model=MODEL)))
    assert prune_if_due(records) == Pruned()
    assert records.store.anchor() == EMPTY_LOG
    tell_round(records, "9999d", {"a": "ok", **HEALTHY})
    gone = prune_if_due(records)
    assert gone is not None
    assert gone.events > 0


def test_a_fold_that_slept_through_a_pruning_begins_anew(records: Records) -> None:
    """What it missed is gone; it is not taken for nothing."""
    tell_round(records, "0m", {"a": "structured:fail", **HEALTHY})
    sleeper = Fold(records.store)
    sleeper.catch_up()
    a_life_goes_on = [f"{day}d" for day in range(1, 4)]
    for at in a_life_goes_on:
        tell_round(records, at, {"a": "structured:fail", **HEALTHY})
    wait_until(records, "50d")
    prune(records, now=records.clock.now(), actor="ops", reason="room")
    sleeper.catch_up()
    assert sleeper.states == {MODEL: records.ledger.state(MODEL)}
    assert sleeper.head == records.store.head()


def test_a_pruning_that_is_overtaken_leaves_the_log_whole(records: Records) -> None:
    """Killed between the announcement and the deletion, nothing is gone, and the next time it goes."""
    a_life(records)
    before = remembered(records.store)
    wait_until(records, "50d")
    through = records.store.prunable(moment("40d"), moment("50d"))
    assert through is not None
    Ledger(records.store, records.settings.policy).carry_over(
        through, now=moment("50d"), actor="ops", reason="killed"
    )
    assert records.store.anchor() == EMPTY_LOG
    assert records.store.verify() is None
    assert remembered(records.store) == before
    assert prune(records, now=records.clock.now(), actor="ops", reason="again").through == through
    assert remembered(records.store) == before


def test_an_unannounced_event_is_not_pruned(records: Records) -> None:
    """The store refuses what nobody carried over."""
    a_life(records)
    with pytest.raises(StoreError, match="announces it"):
        records.store.prune_events(records.store.head(), at=moment("50d"))
