"""The passive watch: each window once, and nothing but a wish for a round."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from routecanary.domain.generation import Generation
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.settings import TrafficSettings
from routecanary.domain.wanted import Because
from routecanary.rounds.passive_watch import BEFORE, PassiveWatch, level_of
from routecanary.rounds.records import Records
from tests.records import some_records, tell_round, wait_until
from tests.story import HEALTHY, MODEL
from tests.traffic import served

FINE = {**HEALTHY, "a": "ok"}
HOUR = 60


@pytest.fixture
def records() -> Records:
    """Five sound routes."""
    made = some_records()
    tell_round(made, "0m", FINE)
    return made


def keep(records: Records, hour: int, by: str, count: int, *, bad: int = 0, **facts: Any) -> None:
    """Keep answers of an hour, each of a conversation of its own, the first of them empty."""
    generations: list[Generation] = [
        served(
            by,
            f"{hour * HOUR + 1}m",
            empty=number < bad,
            conversation=f"{hour}-{by}-{number}",
            **facts,
        )
        for number in range(count)
    ]
    records.store.keep_generations(generations, at=records.clock.now())


def look(watch: PassiveWatch, times: int = 60) -> None:
    for _ in range(times):
        watch.look()


def wanted(records: Records, model: ModelId = MODEL) -> list[tuple[RouteId, Because, str]]:
    known = records.ledger.operating().model(model).wanted
    return [(each.route, each.why, each.detail) for each in known]


def test_odd_traffic_asks_for_a_round_and_for_nothing_else(records: Records) -> None:
    """Once its window is over; the wish says what was odd."""
    for hour in range(4):
        keep(records, hour, "a", 50)
        keep(records, hour, "h1", 50)
    keep(records, 4, "a", 40, bad=12)
    keep(records, 4, "h1", 40)
    watch = PassiveWatch(records)
    wait_until(records, "5h")
    look(watch)
    assert wanted(records) == []
    wait_until(records, "5h1m1s")
    head = records.ledger.head()
    look(watch)
    assert wanted(records) == [
        ("a", "traffic", "empty: 12 of 40 conversations, before 0 of 200, other routes 0 of 40")
    ]
    assert [stored.kind for stored in records.store.read(head.seq)] == ["round_asked"]


def test_the_same_route_is_not_asked_for_all_the_time(records: Records) -> None:
    """A fault that lasts asks again after six hours, and no more once it is the route's usual state."""
    watch = PassiveWatch(records)
    for hour in range(1, 60):
        keep(records, hour, "a", 40, bad=20 if hour > BEFORE else 0)
        keep(records, hour, "h1", 200)
        wait_until(records, f"{hour + 1}h2m")
        look(watch, 3)
    asked = [stored.at for stored in records.store.read(kinds={"round_asked"})]
    assert [round((at - asked[0]).total_seconds() / 3600) for at in asked] in ([0, 6], [0, 7])


def test_a_restart_reads_the_past_first(records: Records) -> None:
    """Window by window; until it has all of them it judges nobody."""
    for hour in range(BEFORE + 1):
        keep(records, hour, "a", 40, bad=4)
        keep(records, hour, "h1", 40)
    keep(records, BEFORE + 1, "a", 40, bad=8)
    keep(records, BEFORE + 1, "h1", 40)
    wait_until(records, f"{BEFORE + 2}h2m")
    watch = PassiveWatch(records)
    look(watch, BEFORE)
    assert wanted(records) == []
    look(watch)
    assert wanted(records) == []  # 8 of 40 is no news for a route that had 96 of 960
    keep(records, BEFORE + 2, "a", 40, bad=30)
    keep(records, BEFORE + 2, "h1", 40)
    wait_until(records, f"{BEFORE + 3}h2m")
    look(watch)
    assert [route for route, *_ in wanted(records)] == ["a"]


def test_who_is_suspended_is_watched_anyway(records: Records) -> None:
    """No round out of turn for it, nor for what is not listed."""
    for at in ("30m", "1h"):
        tell_round(records, at, {**HEALTHY, "a": "structured:fail"})
    assert RouteId("a") in records.ledger.state(MODEL).suspensions()
    for by in ("a", "gone"):
        keep(records, 1, by, 40, bad=40)
    keep(records, 1, "h1", 400)
    wait_until(records, "2h2m")
    look(PassiveWatch(records))
    assert wanted(records) == []


def test_of_several_candidates_all_are_asked(records: Records) -> None:
    """Nobody knows which of them it was."""
    keep(records, 1, "a h2", 40, bad=20)
    keep(records, 1, "h1", 400)
    wait_until(records, "2h2m")
    look(PassiveWatch(records))
    assert [route for route, *_ in wanted(records)] == ["a", "h2"]


def test_switched_off_it_asks_for_nothing(records: Records) -> None:
    """By the configuration."""
    records.settings = replace(records.settings, traffic=TrafficSettings(watch=False))
    keep(records, 1, "a", 40, bad=40)
    keep(records, 1, "h1", 400)
    wait_until(records, "2h2m")
    look(PassiveWatch(records))
    assert wanted(records) == []


def test_another_window_begins_anew(records: Records) -> None:
    """A reload may change its length."""
    watch = PassiveWatch(records)
    wait_until(records, "2h2m")
    look(watch)
    records.settings = replace(
        records.settings, traffic=TrafficSettings(window=2 * records.settings.traffic.window)
    )
    keep(records, 2, "a", 40, bad=40)
    keep(records, 3, "h1", 400)
    wait_until(records, "4h2m")
    look(watch)
    assert [route for route, *_ in wanted(records)] == ["a"]


def test_the_level_follows_from_what_a_week_may_have() -> None:
    """One false round a week, looked at hourly: 1 in 168."""
    assert level_of(TrafficSettings()) == pytest.approx(1 / 168)
    assert level_of(TrafficSettings(false_rounds_per_week=100)) == 0.05
