"""Complaints over a store: what is read, what is bounded, what is kept and linked."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from routecanary.adapters.store.memory import MemoryStore
from routecanary.clock import zone_named
from routecanary.complaint.value import Complaint, Sureness, Symptom
from routecanary.domain.names import Locale, ModelId, RouteId
from routecanary.domain.policy import Policy
from routecanary.domain.round import Mode
from routecanary.errors import InputError
from routecanary.rounds import receive, suspects
from routecanary.rounds.complaints import complaints_of, received_draft, received_from
from routecanary.rounds.fold import listing_draft
from routecanary.rounds.incidents import INCIDENT_KINDS, incidents_of
from routecanary.rounds.receive import complaints_about, received_of, take_complaint
from routecanary.rounds.record import Ledger
from routecanary.rounds.stated import Stated, understand
from routecanary.rounds.suspects import answer_to
from tests.complained import BAD, MODEL, PROVIDERS, a_generation, a_listing, serve, tell_rounds
from tests.records import some_records

NOW = datetime(2026, 11, 29, 16, tzinfo=UTC)
HOUR = timedelta(hours=1)


def a_complaint(at: datetime = NOW - HOUR, **facts: object) -> Complaint:
    told = Complaint(
        at=NOW,
        actor="ops",
        model=MODEL,
        readings=(at,),
        within_s=900,
        symptom=Symptom.LANGUAGE,
        locale=Locale("th"),
    )
    return replace(told, **facts)  # type: ignore[arg-type]  # by name, as the tests choose


@pytest.fixture
def store() -> MemoryStore:
    """Four hours, the last two of which one route was bad."""
    found = MemoryStore()
    tell_rounds(found, NOW - 4 * HOUR, NOW - 2 * HOUR)
    tell_rounds(found, NOW - 2 * HOUR, NOW, bad={BAD})
    serve(found, NOW - 4 * HOUR, NOW)
    return found


def test_a_flood_of_answers_is_looked_at_in_pieces(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each piece of the window the first ones, so that no part of it is left out; and it is said."""
    whole = answer_to(store, a_complaint())
    monkeypatch.setattr(suspects, "MOST_IN_A_SLICE", 6)
    pieces = answer_to(store, a_complaint())
    assert pieces.ranking.generations < whole.ranking.generations
    assert pieces.ranking.suspects[0].routes == whole.ranking.suspects[0].routes == (BAD,)
    assert [warning for warning in pieces.warnings if "only the first 6" in warning]
    assert not whole.warnings


def test_an_id_of_another_model_is_refused(store: MemoryStore) -> None:
    """Its answer was not given by this model's routes."""
    other = replace(a_generation("acme", NOW - HOUR, key="o", id="gen-9"), model=ModelId("acme/other"))
    store.keep_generations([other], at=NOW)
    with pytest.raises(InputError, match="names answers of another model"):
        answer_to(store, a_complaint(generation="gen-9"))


def test_a_conversation_of_several_routes_is_ranked_within(store: MemoryStore) -> None:
    """No other answer comes into question, and who served is not exact."""
    told = [
        a_generation(tag, NOW - HOUR + number * timedelta(minutes=1), key=f"c{number}", conversation="c")
        for number, tag in enumerate(("acme", BAD))
    ]
    store.keep_generations(told, at=NOW)
    answer = answer_to(store, a_complaint(conversation="c"))
    assert [suspect.routes for suspect in answer.ranking.suspects] == [(BAD,), ("acme",)]
    assert answer.sureness is Sureness.LIKELY


def test_a_conversation_of_another_day_is_still_exact(store: MemoryStore) -> None:
    """People mistake the day; the hash does not."""
    store.keep_generations([a_generation("plover", NOW - HOUR, key="c", conversation="c")], at=NOW)
    answer = answer_to(store, a_complaint(NOW - 40 * 24 * HOUR, conversation="c"))
    assert (answer.sureness, answer.ranking.suspects[0].routes) == (Sureness.EXACT, ("plover",))


def test_what_telemetry_lacks_is_said(store: MemoryStore) -> None:
    """That it begins later, has a gap, or was never there."""
    early = answer_to(store, a_complaint(NOW - 7 * HOUR))
    assert any("begins only at 2026-11-29T12:00:00Z" in warning for warning in early.warnings)
    late = answer_to(store, a_complaint(NOW + 3 * HOUR))
    assert any("no telemetry of that time" in warning for warning in late.warnings)
    empty = answer_to(MemoryStore(), a_complaint())
    assert any("no telemetry of this model" in warning for warning in empty.warnings)
    assert any("made no round" in warning for warning in empty.warnings)
    assert (empty.sureness, empty.ranking.suspects) == (Sureness.UNKNOWN, ())


def test_a_guess_prefers_cheap_routes_that_were_not_ignored() -> None:
    """By the inverse square of the price; what is kept away got nothing."""
    store = MemoryStore()
    tell_rounds(store, NOW - 4 * HOUR, NOW, bad={BAD}, mode=Mode.ENFORCE)
    listing = a_listing(NOW - 2 * HOUR)
    priced = tuple(
        replace(
            route,
            price_prompt=Decimal(2) if route.tag == "acme" else Decimal(1),
            price_completion=Decimal(0),
        )
        for route in listing.routes
    )
    Ledger(store, Policy()).note(listing_draft(replace(listing, routes=priced)))
    shares = {
        suspect.routes: suspect.share for suspect in answer_to(store, a_complaint(NOW)).ranking.suspects
    }
    assert (BAD,) not in shares
    assert len(shares) == len(PROVIDERS) - 1
    assert shares[RouteId("plover"),] == pytest.approx(4 * shares[RouteId("acme"),])


def test_a_complaint_survives_its_event(store: MemoryStore) -> None:
    """All of it, as kept."""
    complaint = a_complaint(conversation="c0ffee", generation="gen-1", note="ticket 7")
    received = received_of(complaint, answer_to(store, complaint), {BAD})
    Ledger(store, Policy()).note(received_draft(received))
    (kept,) = complaints_of(store)
    assert kept.received == received
    assert received_from(next(iter(store.read(kept.id - 1, limit=1)))) == received


def test_an_incident_that_began_later_is_linked_too() -> None:
    """A complaint in the first minutes of a fault belongs to the suspension that came of it."""
    store = MemoryStore()
    tell_rounds(store, NOW - 4 * HOUR, NOW)
    tell_rounds(store, NOW, NOW + HOUR / 2, bad={BAD})
    serve(store, NOW - 2 * HOUR, NOW + HOUR / 2)
    complaint = a_complaint(NOW - timedelta(minutes=10))
    received = received_of(complaint, answer_to(store, complaint))
    assert received.incidents == ()
    Ledger(store, Policy()).note(received_draft(received))
    tell_rounds(store, NOW + HOUR / 2, NOW + 2 * HOUR, bad={BAD})
    (incident,) = incidents_of(store.read(0, MODEL, kinds=INCIDENT_KINDS))
    assert [each.received for each in complaints_about(complaints_of(store), incident)] == [received]
    later = replace(incident, began_at=NOW + 9 * HOUR, until=NOW + 33 * HOUR)
    assert not complaints_about(complaints_of(store), later)
    assert not complaints_about(complaints_of(store), replace(incident, route=RouteId("acme")))


def test_a_flood_of_complaints_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond so many of a model in a day they are refused; one that is known is still told."""
    monkeypatch.setattr(receive, "MOST_A_DAY", 2)
    records = some_records()
    model = records.settings.models[0].model

    def take(at: str) -> bool:
        stated = Stated(model=model, at=at)
        understood = understand(records, stated, actor="ops", zone_named=zone_named, assumed=None)
        return take_complaint(records, understood, zone_named=zone_named).known

    assert [take("2026-01-04 10:00Z"), take("2026-01-04 11:00Z"), take("2026-01-04 10:00Z")] == [
        False,
        False,
        True,
    ]
    with pytest.raises(InputError, match="2 a day"):
        take("2026-01-04 12:00Z")
    assert len(complaints_of(records.store)) == 2
