"""Asking for a targeted round: who may ask for what, how often, and what answers it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from routecanary.domain.names import Locale, ModelId, RouteId
from routecanary.domain.operating import ModelOperation
from routecanary.domain.operation import RoundAnswered
from routecanary.domain.wanted import WAITS, Because, Wanted
from routecanary.errors import ConfigError, InputError
from routecanary.rounds.asking import LONGEST_DETAIL, Asked, answered, ask_round, least_gap
from routecanary.rounds.records import Records
from tests.records import some_records, tell_round, wait_until
from tests.story import MODEL, START

A, B, C = map(RouteId, "abc")
THAI, CZECH = Locale("th"), Locale("cs")


def records_of(at: str = "1m") -> Records:
    records = some_records()
    tell_round(records, "0m", {"a": "ok", "b": "ok", "c": "ok"})
    wait_until(records, at)
    return records


def ask(records: Records, *routes: RouteId, locale: Locale | None = None, **more: timedelta) -> Asked:
    return ask_round(records, MODEL, routes, why=Because.COMPLAINT, locale=locale, **more)


def said(asked: str = "", waiting: str = "", too_soon: str = "") -> Asked:
    sets = (frozenset(map(RouteId, names)) for names in (asked, waiting, too_soon))
    return Asked(**dict(zip(("asked", "waiting", "too_soon"), sets, strict=True)))


def test_a_wish_stands_in_the_log_for_every_process() -> None:
    """Another ledger over the same store folds it."""
    records = records_of()
    assert ask(records, A, B, locale=THAI) == said("ab")
    other = records.ledger.another().operating().model(MODEL)
    assert [(each.route, each.locale) for each in other.wanted] == [(A, THAI), (B, THAI)]


def test_the_same_wish_waits_once() -> None:
    """Asked again while it waits, nothing is appended; for another route it is."""
    records = records_of()
    ask(records, A, locale=THAI)
    head = records.ledger.head()
    assert ask(records, A, locale=THAI) == said(waiting="a")
    assert records.ledger.head() == head
    assert ask(records, A, B, locale=THAI) == said("b", waiting="a")


def test_a_flood_for_one_route_is_one_wish() -> None:
    """In whatever locale, for two hours of a schedule of half an hour; at the edge it is heard again."""
    records = records_of("0m")
    gap = least_gap(records.settings)
    assert gap == timedelta(hours=2)
    locales = records.settings.probes.locales
    for locale in locales:
        ask(records, A, locale=locale)
    assert len(records.ledger.operating().model(MODEL).wanted) == 1
    wait_until(records, "1h59m59s")
    assert ask(records, A) == said(too_soon="a")
    wait_until(records, "2h1s")
    assert ask(records, A) == said("a")


def test_whoever_asks_may_wait_longer_than_others_must() -> None:
    """A gap of one's own, and never a shorter one."""
    records = records_of("0m")
    ask(records, A)
    wait_until(records, "2h1s")
    assert ask(records, A, locale=THAI, gap=timedelta(hours=6)) == said(too_soon="a")
    assert ask(records, A, locale=THAI, gap=timedelta(0)) == said("a")


def test_an_old_wish_makes_way() -> None:
    """One that nobody granted in time is asked anew."""
    records = records_of("0m")
    ask(records, A)
    wait_until(records, "6h1s")
    assert ask(records, A) == said("a")
    (wanted,) = records.ledger.operating().model(MODEL).wanted
    assert wanted.at - START > timedelta(hours=6)


@pytest.mark.parametrize("ahead", [1, -1])
def test_a_wish_waits_six_hours_either_way(ahead: int) -> None:
    """A clock that was wrong leaves no wish that nobody can grant or replace."""
    wish = Wanted(route=A, at=START, why=Because.TRAFFIC)
    assert wish.is_open(START + ahead * WAITS)
    assert not wish.is_open(START + ahead * (WAITS + timedelta(seconds=1)))


def test_what_cannot_be_asked_is_refused() -> None:
    """Each with what is allowed; nothing is kept."""
    records = records_of()
    head = records.ledger.head()
    with pytest.raises(InputError, match=r"not a route of this model \(got 'z'\); allowed: a, b, c"):
        ask(records, A, RouteId("z"))
    with pytest.raises(InputError, match="no route is named"):
        ask(records)
    with pytest.raises(InputError, match=r"not a locale of the rotation \(got 'cs'\); allowed: en"):
        ask(records, A, locale=CZECH)
    with pytest.raises(ConfigError, match="not a configured model"):
        ask_round(records, ModelId("other/model"), [A], why=Because.TRAFFIC)
    with pytest.raises(InputError, match="none: no round was made yet"):
        ask(some_records(), A)
    assert records.ledger.head() == head


def test_the_detail_is_bounded_and_printable() -> None:
    """It may quote what came from outside."""
    records = records_of()
    ask_round(records, MODEL, [A], why=Because.COMPLAINT, detail="\x1b[2J" + "x" * 10_000)
    (wanted,) = records.ledger.operating().model(MODEL).wanted
    assert wanted.detail.isprintable()
    assert len(wanted.detail) <= LONGEST_DETAIL + 10


@pytest.mark.parametrize(
    ("asked_in", "expected"),
    [
        ({A: THAI, B: THAI}, [(None, {B}), (THAI, {A})]),
        ({A: CZECH, B: CZECH}, [(None, {B})]),
        ({A: THAI}, [(THAI, {A})]),
        ({C: THAI}, []),
        ({}, []),
    ],
)
def test_a_round_answers_what_it_asked_in_the_wanted_locale(
    asked_in: dict[RouteId, Locale], expected: list[tuple[Locale | None, set[RouteId]]]
) -> None:
    """Whatever it was made for; a wish without a locale is answered in any."""
    known = ModelOperation(
        wanted=(
            Wanted(route=A, at=START, why=Because.COMPLAINT, locale=THAI),
            Wanted(route=B, at=START, why=Because.TRAFFIC),
        )
    )
    found = list(answered(known, asked_in, model=MODEL, at=START))
    assert found == [
        RoundAnswered(at=START, model=MODEL, routes=frozenset(routes), locale=locale)
        for locale, routes in expected
    ]
