"""What would another policy have done with what is in the log?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from routecanary.domain.event import EVENT_NAMES, RoundClosed
from routecanary.domain.log import StoredDraft, StoredEvent
from routecanary.domain.names import ContractName, RouteId
from routecanary.domain.policy import Trigger
from routecanary.domain.probe import Json
from routecanary.domain.round import Lift, Mode, SwitchMode
from routecanary.rounds.act import act
from routecanary.rounds.backtest import Backtest, Change, Marked, backtest
from routecanary.rounds.incidents import INCIDENT_KINDS, incidents_of
from routecanary.rounds.labels import Judgement, Label, label_draft
from routecanary.rounds.records import Records
from routecanary.rounds.requalify import put_on_trial
from routecanary.rounds.retention import prune
from tests.records import some_records, tell_round, wait_until
from tests.story import HEALTHY, MODEL, a_report, moment

A = RouteId("a")
FAIL = {**HEALTHY, "a": "structured:fail"}
CLEAN = {**HEALTHY, "a": "ok"}


def tell(records: Records, *rounds: tuple[str, str]) -> Records:
    """Make rounds in which route `a` fails or not."""
    for at, how in rounds:
        tell_round(records, at, {**HEALTHY, "a": how})
    return records


def failing(*times: str, clean: tuple[str, ...] = (), **settings: Any) -> Records:
    """Make rounds in which `a` fails, and some in which it does not."""
    told = dict.fromkeys(times, "structured:fail") | dict.fromkeys(clean, "ok")
    return tell(some_records(**settings), *sorted(told.items(), key=lambda one: moment(one[0])))


def tried(records: Records, since: str | None = None, **numbers: Any) -> Backtest:
    policy = replace(records.settings.policy, **numbers)
    return backtest(records.store, MODEL, policy, since=None if since is None else moment(since))


def changes(result: Backtest) -> list[tuple[str, Change]]:
    return [(pair.route, pair.change) for pair in result.pairs]


def replace_body(stored: StoredEvent, body: Mapping[str, Json]) -> StoredDraft:
    return StoredDraft(kind=stored.kind, at=stored.at, body=body, model=stored.model)


def mark(records: Records, judgement: Judgement) -> None:
    """Mark the newest incident."""
    *_, incident = incidents_of(records.store.read(kinds=INCIDENT_KINDS))
    records.ledger.note(
        label_draft(
            Label(
                at=records.clock.now(),
                incident=incident.id,
                model=MODEL,
                route=incident.route,
                judgement=judgement,
                actor="ada",
                reason="looked at it",
            )
        )
    )


def test_the_same_policy_changes_nothing() -> None:
    """Same beginning, same end, as many hours."""
    records = failing("0m", "30m", clean=("1h", "90m", "2h"))
    result = tried(records)
    assert (result.rounds, result.since, result.until) == (5, moment("0m"), moment("2h"))
    (pair,) = result.pairs
    assert (pair.change, pair.route) == (Change.SAME, "a")
    assert pair.was is not None
    assert pair.would_be is not None
    assert pair.was.ended_at == pair.would_be.ended_at == moment("90m")
    assert result.time_out(would_be=False) == result.time_out(would_be=True) == timedelta(hours=1)
    assert result.rounds_in_part == 0


def test_a_policy_suspends_earlier_later_or_never() -> None:
    """By the round at which each began; the hours out follow."""
    records = failing("0m", "30m", "1h", "90m", "2h", clean=("3h",))
    for numbers, change, hours in (
        ({"rounds_to_suspend": 1}, Change.EARLIER, 3.0),
        ({"rounds_to_suspend": 4}, Change.LATER, 1.5),
        ({"rounds_to_suspend": 9}, Change.GONE, 0.0),
        ({"min_round_gap": timedelta(0)}, Change.SAME, 2.5),
    ):
        result = tried(records, **numbers)
        assert changes(result) == [("a", change)]
        assert result.count(change) == 1
        assert result.time_out(would_be=False) == timedelta(hours=2.5)
        assert result.time_out(would_be=True) == timedelta(hours=hours)


def test_a_policy_suspends_whom_the_old_one_did_not() -> None:
    """A single failed round is enough for it; and the end may differ where the beginning does not."""
    records = failing("0m", "4h", "5h", clean=("30m", "1h", "6h", "7h", "8h"))
    result = tried(records, rounds_to_suspend=1)
    assert changes(result) == [("a", Change.NEW), ("a", Change.EARLIER)]
    (first, _) = result.pairs
    assert first.was is None
    assert first.would_be is not None
    assert (first.would_be.began_at, first.would_be.until) == (moment("0m"), moment("1d"))
    (pair,) = tried(records, rounds_to_recover=(3,)).pairs
    assert pair.change is Change.SAME
    assert pair.was is not None
    assert pair.would_be is not None
    assert (pair.was.ended_at, pair.would_be.ended_at) == (moment("7h"), moment("8h"))


def test_suspensions_of_one_route_are_paired_by_their_time() -> None:
    """Two that were and one that would have been: the nearer one is met, the other is gone."""
    records = failing("0m", "30m", "4h", "270m", "5h", "330m", clean=("1h", "90m", "6h", "390m"))
    result = tried(records, rounds_to_suspend=3)
    assert changes(result) == [("a", Change.GONE), ("a", Change.LATER)]


def test_what_a_person_did_is_done_again() -> None:
    """A lift ends what would have been too; of what would not have been it is none; a switch of mode also."""
    records = failing("0m", "30m")
    act(records, Lift(at=moment("40m"), model=MODEL, route=A, actor="ada", reason="r"))
    tell(records, ("1h", "structured:fail"), ("90m", "structured:fail"))
    act(records, SwitchMode(at=moment("100m"), model=MODEL, mode=Mode.OBSERVE))
    tell(records, ("2h", "structured:fail"))
    for numbers in ({}, {"rounds_to_suspend": 1}):
        result = tried(records, **numbers)
        ends = [
            (pair.would_be.ended_by, pair.would_be.ended_at, pair.would_be.shadow)
            for pair in result.pairs
            if pair.would_be is not None
        ]
        assert ends == [
            ("lifted", moment("40m"), False),
            ("closed_by_mode", moment("100m"), False),
            (None, None, True),
        ], numbers
    assert set(changes(tried(records, rounds_to_suspend=9))) == {("a", Change.GONE)}


def test_what_people_marked_is_counted_by_what_would_become_of_it() -> None:
    """A wrong one that would be gone speaks for a policy, a right one that would be gone against it."""
    records = failing("0m", "30m", clean=("1h", "90m"))
    mark(records, Judgement.WRONG)
    tell(records, ("4h", "structured:fail"), ("5h", "structured:fail"), ("6h", "structured:fail"))
    mark(records, Judgement.RIGHT)
    result = tried(records, rounds_to_suspend=3)
    assert result.marked(Judgement.WRONG) == Marked(kept=0, gone=1)
    assert result.marked(Judgement.RIGHT) == Marked(kept=1, gone=0)


def test_a_history_from_a_time_on_goes_on_from_the_state_then() -> None:
    """A suspension in force then goes on under both, under its own number, and ends by either's rules."""
    records = failing("0m", "30m", "1h", clean=("90m", "2h", "3h"))
    (incident,) = incidents_of(records.store.read(kinds=INCIDENT_KINDS))
    result = tried(records, since="1h", rounds_to_suspend=9, rounds_to_recover=(3,))
    assert (result.rounds, result.since) == (4, moment("1h"))
    (pair,) = result.pairs
    assert pair.change is Change.SAME
    assert pair.was == incident
    assert pair.would_be is not None
    assert (pair.would_be.id, pair.would_be.began_at) == (incident.id, moment("30m"))
    assert (pair.was.ended_at, pair.would_be.ended_at) == (moment("2h"), moment("3h"))  # type: ignore[union-attr]
    assert result.time_out(would_be=False) == timedelta(hours=1), "only from then on"
    nothing = tried(records, since="1d")
    assert (nothing.rounds, nothing.since, nothing.pairs) == (0, None, ())
    assert nothing.time_out(would_be=True) == timedelta()


def test_a_renewal_of_what_was_in_force_at_the_beginning_is_no_new_incident() -> None:
    """Under the same policy nothing changes, wherever the history is cut."""
    records = failing("0m", "30m", "1d10m", "1d31m", clean=("2d", "2d30m"))
    for since in ("0m", "20m", "1h", "1d10m", "1d31m", "2d30m"):
        result = tried(records, since=since)
        assert changes(result) == [("a", Change.SAME)] * len(result.pairs)
        for pair in result.pairs:
            assert pair.was is not None
            assert pair.would_be is not None
            assert (pair.was.ended_at, pair.was.renewals) == (pair.would_be.ended_at, pair.would_be.renewals)
    assert len(tried(records, since="1d31m").pairs) == 1


def test_a_pruned_history_begins_where_its_state_is_known() -> None:
    """At the first checkpoint that is left."""
    records = some_records()
    for number in range(60):
        tell_round(records, f"{number * 30}m", FAIL if 50 <= number < 52 else CLEAN)
    wait_until(records, "91d")
    tell_round(records, "91d", CLEAN)
    prune(records, now=moment("90d20h"), actor="ada", reason="r")
    assert records.store.anchor().seq
    result = tried(records)
    assert result.rounds == 13, "those after the 48th"
    assert changes(result) == [("a", Change.SAME)]
    assert changes(tried(records, rounds_to_suspend=3)) == [("a", Change.GONE)]


def test_a_long_history_is_begun_at_the_last_checkpoint_before_its_time() -> None:
    """The same as from its very beginning."""
    records = some_records()
    for number in range(120):
        tell_round(records, f"{number * 30}m", FAIL if number % 10 < 3 else CLEAN)
    since = "55h"
    short = tried(records, since=since, rounds_to_suspend=3)
    assert (short.rounds, short.since) == (10, moment(since))
    whole = tried(records, rounds_to_suspend=3)
    assert whole.rounds == 120
    assert len(whole.pairs) == 12


def test_attempts_are_weighed_as_they_were_made() -> None:
    """A route that fails one of several attempts now and then is found by evidence, and by no streak."""
    records = some_records()
    flaky = replace(a_report("ok"), attempts={ContractName("structured"): (True, False, False)})
    for number in range(12):
        tell_round(records, f"{number * 30}m", {**HEALTHY, "a": flaky})
    result = tried(records, trigger=Trigger.BOTH, false_suspensions_per_year=100.0)
    assert changes(result) == [("a", Change.NEW)]
    assert changes(tried(records)) == []


def test_rounds_whose_attempts_were_not_kept_are_counted() -> None:
    """An older log: the evidence is weaker than it was, and it says so."""
    records = failing("0m", "30m")
    whole = list(records.store.read())
    closed = next(stored for stored in whole if stored.kind == EVENT_NAMES[RoundClosed])
    old = {name: value for name, value in closed.body.items() if name != "in_full"}
    aged = some_records()
    aged.store.append(
        [replace_body(stored, old if stored.seq == closed.seq else stored.body) for stored in whole],
        aged.store.head(),
    )
    assert tried(aged).rounds_in_part == 1
    assert tried(records).rounds_in_part == 0


def test_a_trial_clears_what_another_policy_had_gathered() -> None:
    """The requalification found nothing to clear then; it would have."""
    records = some_records()
    flaky = replace(a_report("ok"), attempts={ContractName("structured"): (True, False, False)})
    numbers: dict[str, Any] = {"trigger": Trigger.BOTH, "false_suspensions_per_year": 100.0}
    times = [f"{number * 30}m" for number in range(20)]
    for at in times:
        tell_round(records, at, {**HEALTHY, "a": flaky})
    (untried,) = tried(records, **numbers).pairs
    trialled = some_records()
    for at in times:
        tell_round(trialled, at, {**HEALTHY, "a": flaky})
        put_on_trial(
            trialled,
            MODEL,
            {ContractName("structured"): "2"},
            length=timedelta(minutes=1),
            actor="ada",
            reason="r",
        )
    assert untried.change is Change.NEW
    assert tried(trialled, **numbers).pairs == ()
