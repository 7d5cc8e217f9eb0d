"""The daemon in virtual time, asked for targeted rounds by another process."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from routecanary.adapters.store.memory import MemoryStore
from routecanary.domain.names import Locale, RouteId
from routecanary.domain.policy import Policy
from routecanary.domain.settings import BudgetSettings
from routecanary.domain.wanted import Because
from routecanary.rounds.asking import ask_round
from routecanary.rounds.records import Records
from tests.lab_watch import BEGIN, LOCALES, SPANISH, TARGET, THAI, a_daemon, rounds_of, settings_of
from tests.virtual_time import VirtualClock
from tests.watched import NAME, PERIOD


def asking(locale: Locale | None = THAI, *routes: RouteId) -> Callable[[Records], object]:
    return lambda records: ask_round(
        records, NAME, routes or [TARGET], why=Because.COMPLAINT, locale=locale, detail="a report"
    )


def test_a_round_that_was_asked_for_is_made_in_its_locale_when_it_can_count(tmp_path: Path) -> None:
    """Asked at 11:05 it comes at 11:20, with three others in the same locale, and the rotation goes on."""
    watched = a_daemon(settings_of(tmp_path), timedelta(minutes=65), {5: asking(THAI)})
    rounds = rounds_of(watched.world.store)
    assert [each.minute for each in rounds] == ["11:00", "11:20", "11:30", "12:00"]
    assert [each.locale for each in rounds] == ["en", "th", "es", "th"]
    assert TARGET in rounds[1].asked
    assert len(rounds[1].asked) == 4 < len(rounds[0].asked)
    (closed,) = [
        stored.body["outcomes"][TARGET]
        for stored in watched.world.store.read(kinds={"round_closed"})
        if stored.at == rounds[1].at
    ]
    assert closed["counted"]
    assert watched.world.ledger.operating().model(NAME).wanted == ()


def test_a_round_that_cannot_count_before_the_next_one_is_made_at_once(tmp_path: Path) -> None:
    """With a gap as long as the period it shows what there is."""
    settings = settings_of(tmp_path, policy=Policy(min_round_gap=PERIOD))
    watched = a_daemon(settings, timedelta(minutes=20), {6: asking()})
    assert [each.minute for each in rounds_of(watched.world.store)] == ["11:00", "11:05"]


def test_the_rotation_s_own_round_answers_what_it_asks_anyway(tmp_path: Path) -> None:
    """No second one is paid for: neither in the locale that is next, nor in any locale at all."""
    settings = settings_of(tmp_path, policy=Policy(min_round_gap=PERIOD))
    watched = a_daemon(
        settings, timedelta(minutes=35), {3: asking(SPANISH), 4: asking(None, RouteId("cindermoor"))}
    )
    assert [each.minute for each in rounds_of(watched.world.store)] == ["11:00", "11:30"]
    assert watched.world.ledger.operating().model(NAME).wanted == ()


def test_a_wish_outlives_the_daemon_and_is_granted_once(tmp_path: Path) -> None:
    """Killed before it came to it, the next daemon makes the round; a third one does not."""
    store = MemoryStore()
    settings = settings_of(tmp_path)
    a_daemon(settings, timedelta(minutes=7), {5: asking()}, store=store)
    assert len(rounds_of(store)) == 1
    second = VirtualClock(BEGIN + timedelta(minutes=12))
    a_daemon(settings, timedelta(minutes=12), {}, store=store, clock=second)
    assert [each.minute for each in rounds_of(store)] == ["11:00", "11:20"]
    third = VirtualClock(BEGIN + timedelta(minutes=25))
    a_daemon(settings, timedelta(minutes=25), {}, store=store, clock=third)
    assert [each.minute for each in rounds_of(store)][2:] == ["11:30"]


def test_a_flood_of_wishes_is_one_round_between_two(tmp_path: Path) -> None:
    """Every route in every locale each minute: at most one more round follows each full one."""

    def flood(records: Records) -> None:
        listing = records.ledger.listing(NAME)
        assert listing is not None
        for route in sorted(listing.tags()):
            for locale in LOCALES:
                ask_round(records, NAME, [route], why=Because.TRAFFIC, locale=locale)

    watched = a_daemon(settings_of(tmp_path), timedelta(hours=3), dict.fromkeys(range(3, 180), flood))
    rounds = rounds_of(watched.world.store)
    full = [each for each in rounds if each.minute[3:] in {"00", "30"}]
    assert 0 < len(rounds) - len(full) <= len(full)
    asked = list(watched.world.store.read(kinds={"round_asked"}))
    listing = watched.world.ledger.listing(NAME)
    assert listing is not None
    assert len(asked) <= 2 * len(listing.tags())


def test_a_day_without_budget_makes_no_round_that_was_asked_for(tmp_path: Path) -> None:
    """The purse is the same as of every round; the wish waits."""
    settings = settings_of(tmp_path, budget=BudgetSettings(per_day_usd=Decimal("0.0001")))
    watched = a_daemon(settings, timedelta(minutes=40), {3: asking()})
    assert all(not each.asked for each in rounds_of(watched.world.store))
    assert [each.route for each in watched.world.ledger.operating().model(NAME).wanted] == [TARGET]
