"""Which numbers decided last? The log remembers."""

from __future__ import annotations

from dataclasses import replace

from routecanary.domain.policy import Policy, policy_from_mapping
from routecanary.domain.round import Mode, SwitchMode
from routecanary.rounds.act import act
from routecanary.rounds.record import Ledger
from routecanary.rounds.records import Records
from routecanary.rounds.retention import prune
from tests.records import some_records, tell_round, wait_until
from tests.story import HEALTHY, MODEL, moment

LONGER = replace(Policy(), rounds_to_suspend=3)


def taken(records: Records) -> list[Policy]:
    return [
        policy_from_mapping(stored.body["policy"], "log")
        for stored in records.store.read(kinds={"policy_taken"})
    ]


def test_a_round_says_its_policy_where_it_is_another() -> None:
    """Once; a reload that changes it is seen at the next round, and an act decides nothing by it."""
    records = some_records()
    act(records, SwitchMode(at=moment("0m"), model=MODEL, mode=Mode.OBSERVE))
    assert taken(records) == []
    tell_round(records, "1m", HEALTHY)
    tell_round(records, "30m", HEALTHY)
    assert taken(records) == [Policy()]
    records.ledger.replace_policy(LONGER)
    act(records, SwitchMode(at=moment("40m"), model=MODEL, mode=Mode.ENFORCE))
    assert taken(records) == [Policy()]
    tell_round(records, "1h", HEALTHY)
    assert taken(records) == [Policy(), LONGER]
    (last,) = records.store.newest(1, kinds={"policy_taken"})
    assert last.at == moment("1h")


def test_it_is_remembered_over_a_restart_and_a_pruning() -> None:
    """By the fold, from the events or from a checkpoint."""
    records = some_records()
    tell_round(records, "0m", HEALTHY)
    again = Ledger(records.store, LONGER)
    known = again.operating().policy
    assert known is not None
    assert policy_from_mapping(known.policy, "log") == Policy()
    tell_round(records, "99d", HEALTHY)
    wait_until(records, "100d")
    prune(records, now=records.clock.now(), actor="ada", reason="r")
    assert taken(records) == []
    kept = Ledger(records.store, Policy()).operating().policy
    assert kept == known
