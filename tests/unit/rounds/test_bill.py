"""What does it cost to do without a route?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from routecanary.domain.names import LANGUAGE, RouteId
from routecanary.domain.probe import ProbeKind
from routecanary.domain.round import Mode
from routecanary.domain.route import Listing
from routecanary.domain.transcript import Chunk
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.rounds.bill import Bill, Item, bill_of
from routecanary.rounds.incidents import INCIDENT_KINDS, incidents_of
from routecanary.rounds.records import Records
from routecanary.rounds.retention import prune
from tests.conformance.stored import a_transcript
from tests.records import a_listing, some_records, tell_round, wait_until
from tests.story import HEALTHY, MODEL, a_round, moment

FAIL = {**HEALTHY, "a": "language:fail"}
PRICES = {"a": "0.1", "h1": "0.2", "h2": "0.3", "h3": "0.9"}  # USD per million tokens; h4 states none
TEXT = b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n'


def priced(listing: Listing, prices: Mapping[str, str]) -> Listing:
    """State what the routes charge: an answer's token ten times as much as a question's."""
    stated = {RouteId(tag): Decimal(price) / 1_000_000 for tag, price in prices.items()}
    return replace(
        listing,
        routes=tuple(
            replace(route, price_prompt=stated.get(route.tag), price_completion=stated[route.tag] * 10)
            if route.tag in stated
            else route
            for route in listing.routes
        ),
    )


def tell(
    records: Records,
    at: str,
    routes: Mapping[str, str],
    prices: Mapping[str, str] = PRICES,
    first_text: Mapping[str, float] | None = None,
) -> None:
    """Make a round, with a listing that states prices, and with chat answers whose text came so late."""
    wait_until(records, at)
    line = a_round(at, routes)
    answers = [
        records.store.pack(
            a_transcript(
                model=MODEL,
                route=RouteId(route),
                kind=ProbeKind.CHAT,
                attempt=0,
                chunks=(Chunk(ms, TEXT),) if ms else (),
            ),
            at=moment(at),
            verdicts={
                LANGUAGE: Verdict(
                    contract=LANGUAGE,
                    kind=VerdictKind.PASS if routes[route] == "ok" else VerdictKind.FAIL,
                )
            },
        )
        for route, ms in (first_text or {}).items()
    ]
    records.ledger.decide(
        MODEL,
        lambda _at, _acted: line,
        now=records.clock.now,
        listing=priced(a_listing(line), prices),
        transcripts=answers,
    )


def the_bill(records: Records) -> Bill | None:
    incident, *_ = incidents_of(records.store.read(kinds=INCIDENT_KINDS))
    return bill_of(records.store, incident)


@pytest.mark.parametrize("mode", list(Mode))
def test_the_price_of_those_that_remain_is_their_median(mode: Mode) -> None:
    """Of those that state one; a shadow is billed as if it were in force."""
    records = some_records(initial_mode=mode)
    for at in ("1m", "30m"):
        tell(records, at, FAIL)
    bill = the_bill(records)
    assert bill is not None
    assert bill.remaining == ("h1", "h2", "h3", "h4")
    assert bill.prompt == Item(suspended=pytest.approx(0.1), remaining=pytest.approx(0.3), routes=3)
    assert bill.completion == Item(suspended=pytest.approx(1.0), remaining=pytest.approx(3.0), routes=3)
    assert bill.first_text_ms == Item(suspended=None, remaining=None, routes=0)


def test_prices_are_those_of_then() -> None:
    """What the routes charged before and what they charge since is not billed."""
    records = some_records()
    tell(records, "0m", FAIL, {"a": "7", "h1": "7"})
    tell(records, "30m", FAIL)
    for number in range(70):
        tell(records, f"{60 + number * 30}m", FAIL, {"a": str(number), "h1": "5"})
    bill = the_bill(records)
    assert bill is not None
    assert (bill.prompt.suspended, bill.prompt.remaining) == (pytest.approx(0.1), pytest.approx(0.3))


def test_the_first_text_is_the_median_of_the_day_before() -> None:
    """Passing answers of those that remain, whatever brought text of the suspended one; nothing later."""
    records = some_records()
    tell(records, "0m", {**HEALTHY, "a": "ok"}, first_text={"a": 9_999, "h1": 9_999})
    tell(records, "2d", FAIL, first_text={"a": 100, "h1": 500, "h2": 800, "h3": 0})
    tell(
        records,
        "2d30m",
        {**FAIL, "h4": "language:fail"},
        first_text={"a": 300, "h1": 700, "h4": 10},
    )
    tell(records, "2d1h", FAIL, first_text={"a": 9_999, "h1": 9_999, "h3": 9_999})
    bill = the_bill(records)
    assert bill is not None
    assert bill.first_text_ms == Item(suspended=200.0, remaining=700.0, routes=2)


def test_routes_that_were_out_already_are_not_left() -> None:
    """Excluded by a person, or suspended themselves."""
    records = some_records()
    for at in ("0m", "30m"):
        tell_round(records, at, {**HEALTHY, "b": "structured:fail", "a": "ok"}, runtime=["h4"])
    for at in ("1h", "90m"):
        tell_round(records, at, {**HEALTHY, "b": "structured:fail", "a": "language:fail"}, runtime=["h4"])
    first, second = (
        bill_of(records.store, each) for each in incidents_of(records.store.read(kinds=INCIDENT_KINDS))
    )
    assert first is not None
    assert second is not None
    assert first.remaining == ("a", "h1", "h2", "h3")
    assert second.remaining == ("h1", "h2", "h3")


def test_what_was_pruned_is_not_billed() -> None:
    """Neither its rounds nor its listing is there; a checkpoint before it is enough for the routes."""
    records = some_records()
    for number in range(60):
        tell(records, f"{number * 30}m", FAIL if number in {1, 2, 50, 51} else {**HEALTHY, "a": "ok"})
    first, second = incidents_of(records.store.read(kinds=INCIDENT_KINDS))
    tell(records, "91d", {**HEALTHY, "a": "ok"})
    prune(records, now=moment("90d12h") + timedelta(minutes=30), actor="ada", reason="r")
    assert bill_of(records.store, first) is None
    bill = bill_of(records.store, second)
    assert bill is not None
    assert bill.remaining == ("h1", "h2", "h3", "h4")
    assert bill.prompt == Item(suspended=None, remaining=None, routes=0)
