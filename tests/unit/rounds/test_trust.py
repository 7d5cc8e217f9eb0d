"""Has observing a model shown enough?"""

from __future__ import annotations

from datetime import timedelta

import pytest

from routecanary.domain.round import Mode, SwitchMode
from routecanary.rounds.act import act
from routecanary.rounds.incidents import INCIDENT_KINDS, incidents_of
from routecanary.rounds.labels import Judgement, Label, label_draft
from routecanary.rounds.records import Records
from routecanary.rounds.retention import prune
from routecanary.rounds.trust import trust_in
from tests.records import some_records, tell_round, wait_until
from tests.story import HEALTHY, MODEL, moment

FAIL = {**HEALTHY, "a": "structured:fail"}
CLEAN = {**HEALTHY, "a": "ok"}
GAP = timedelta(minutes=62)  # two periods and the jitter


def switch(records: Records, at: str, mode: Mode) -> None:
    wait_until(records, at)
    act(records, SwitchMode(at=moment(at), model=MODEL, mode=mode))


def rounds(records: Records, *hours: float) -> None:
    for hour in hours:
        tell_round(records, f"{int(hour * 60)}m", CLEAN)


def observing() -> Records:
    records = some_records(initial_mode=Mode.OBSERVE)
    switch(records, "0m", Mode.OBSERVE)
    return records


def observed(records: Records) -> timedelta:
    return trust_in(records, MODEL).observed


def suspended_and_marked(records: Records, *marks: Judgement | None) -> None:
    """Have route `a` suspended and returned, day after day, each time marked otherwise."""
    for day, judgement in enumerate(marks):
        for at, routes in (("1h", FAIL), ("2h", FAIL), ("3h", CLEAN), ("4h", CLEAN)):
            tell_round(records, f"{day}d{at}", routes)
        *_, incident = incidents_of(records.store.read(kinds=INCIDENT_KINDS))
        if judgement is not None:
            said = Label(
                at=records.clock.now(), incident=incident.id, model=MODEL, route=incident.route,
                judgement=judgement, actor="ada", reason="r",
            )  # fmt: skip
            records.ledger.note(label_draft(said))


def test_what_is_observed_lies_between_rounds_in_observe_mode() -> None:
    """Nothing before the first, nothing in enforce mode, and of a long silence only as much as is usual."""
    records = observing()
    rounds(records, 1)
    assert observed(records) == timedelta()
    rounds(records, 1.5, 2)
    assert observed(records) == timedelta(hours=1)
    rounds(records, 12)
    assert observed(records) == timedelta(hours=1) + GAP
    switch(records, "12h30m", Mode.ENFORCE)
    rounds(records, 13, 13.5, 14)
    assert observed(records) == timedelta(hours=1) + GAP
    switch(records, "14h10m", Mode.OBSERVE)
    rounds(records, 14.5, 15)
    assert observed(records) == timedelta(hours=1.5) + GAP


def test_a_model_that_began_to_enforce_was_not_observed() -> None:
    """The log of such a model knows no switch."""
    records = some_records(initial_mode=Mode.ENFORCE)
    rounds(records, 1, 2, 3)
    assert observed(records) == timedelta()


def test_what_was_observed_before_a_pruning_is_gone_and_the_rest_is_not() -> None:
    """The switch to observe mode is among what is gone."""
    records = observing()
    rounds(records, *(hour / 2 for hour in range(2, 12)))
    tell_round(records, "90d", CLEAN)
    tell_round(records, "90d30m", CLEAN)
    before = observed(records)
    prune(records, now=moment("90d12h"), actor="ada", reason="r")
    assert not list(records.store.read(kinds={"mode_changed"}))
    assert observed(records) < before
    assert observed(records) >= timedelta(minutes=30)


def test_right_and_wrong_count_and_unsure_neither_way() -> None:
    """The share is of those of which somebody could tell."""
    records = observing()
    suspended_and_marked(
        records, Judgement.WRONG, Judgement.RIGHT, Judgement.RIGHT, Judgement.UNSURE, None, Judgement.RIGHT
    )
    trust = trust_in(records, MODEL)
    counts = trust.counts
    assert (counts.incidents, counts.told, counts.wrong, counts.unsure, counts.unlabelled) == (6, 4, 1, 1, 1)
    assert counts.share == 0.25
    assert not trust.enough


def test_the_measured_rate_stands_beside_the_declared_one() -> None:
    """Wrong ones by the observed time, with the exact interval of a count."""
    records = observing()
    suspended_and_marked(records, Judgement.WRONG, Judgement.RIGHT)
    trust = trust_in(records, MODEL)
    assert trust.declared == 1.0
    years = trust.observed / timedelta(days=365)
    assert trust.a_year == pytest.approx(1 / years)
    assert trust.interval_a_year(0.95) == pytest.approx((0.02532 / years, 5.572 / years), rel=1e-3)
    assert trust.exceeds(0.95)
    assert not trust.exceeds(0.999), "one wrong one in two days may be chance"


def test_nothing_observed_measures_nothing() -> None:
    """And is not enough."""
    trust = trust_in(some_records(initial_mode=Mode.OBSERVE), MODEL)
    assert (trust.a_year, trust.interval_a_year(0.95), trust.exceeds(0.95), trust.enough) == (
        None, None, False, False,
    )  # fmt: skip


def test_it_is_enough_at_twenty_told_and_seven_days() -> None:
    """Both, and neither one less."""
    records = observing()
    suspended_and_marked(records, *[Judgement.RIGHT] * 19, Judgement.UNSURE)
    start = 20 * 24
    rounds(records, *(start + hour for hour in range(24 * 7)))
    assert not trust_in(records, MODEL).enough, "one more must be told"
    enough = observing()
    suspended_and_marked(enough, *[Judgement.RIGHT] * 20)
    assert not trust_in(enough, MODEL).enough, "rounds were made for a few hours a day"
    rounds(enough, *(start + hour for hour in range(24 * 7)))
    assert trust_in(enough, MODEL).enough
    switch(enough, "30d", Mode.ENFORCE)
    switch(enough, "30d1m", Mode.OBSERVE)
    assert trust_in(enough, MODEL).enough, "what was shown stays shown"
