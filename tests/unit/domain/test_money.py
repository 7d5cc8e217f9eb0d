"""What an asking may cost, and what it is counted at, whatever the usage says."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from routecanary.domain.answer import read_answer
from routecanary.domain.money import CREDIBLE_USD, UNSTATED, Extent, Price, amount_from, charged, price_of
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.probe import Json
from routecanary.domain.route import Listing, Route
from routecanary.domain.settings import AssumedPrice
from routecanary.domain.transcript import EndingKind, Transcript
from tests.answers import DONE, a_document, a_frame, a_message, a_transcript, as_event

PRICE = Price(prompt=Decimal("0.000001"), completion=Decimal("0.00001"))
MOST = Extent(prompt=1_000, completion=900)
SET_ASIDE = Decimal("0.01")  # 0.001 + 0.009
FREE = Price(prompt=Decimal(0), completion=Decimal(0))
TEXT = "x" * 1_600  # of 100 tokens at least: 0.001 USD


def an_answer(usage: Json = None, text: str = TEXT) -> Transcript:
    reads = [as_event(a_frame({"content": text})), as_event(a_frame(finish="stop"))]
    if usage is not None:
        reads.append(as_event(a_frame(choices=[], usage=usage)))
    return replace(a_transcript(*reads, DONE), connect_ms=3.0)


def counted(transcript: Transcript, price: Price = PRICE) -> Decimal:
    return charged(read_answer(transcript), price, MOST)


def test_the_most_of_an_asking_is_price_times_room() -> None:
    """Prompt and completion are priced apart, a price by the request comes on top."""
    assert PRICE.of(MOST) == SET_ASIDE
    assert replace(PRICE, request=Decimal("0.5")).of(MOST) == Decimal("0.51")


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"cost": 0.0042}, "0.0042"),
        ({"cost": "0.0042"}, "0.0042"),
        ({"cost": 0.001}, "0.001"),  # just what the text must have cost
        ({"cost": 0.0009, "prompt_tokens": 200, "completion_tokens": 300}, "0.0032"),  # less than that
        ({"prompt_tokens": 200, "completion_tokens": 300}, "0.0032"),
        ({"cost": None, "prompt_tokens": 200, "completion_tokens": 300}, "0.0032"),
        ({"prompt_tokens": 200, "completion_tokens": 5}, "0.001"),  # tokens that cannot be: the text counts
        ({"cost": 0, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.004}}, "0.004"),
        ({"cost": 0.002, "is_byok": True, "prompt_tokens": 0, "completion_tokens": 400}, "0.004"),
        ({"total_tokens": 500}, SET_ASIDE),
        ({"prompt_tokens": 200}, SET_ASIDE),
        ({"cost": 0.5}, "0.5"),  # a limit ignored, a price that rose: believed
    ],
)
def test_a_charge_is_believed_as_far_as_it_can_be(usage: dict[str, Json], expected: Decimal | str) -> None:
    """The stated charge, else the stated tokens, else what was set aside."""
    assert counted(an_answer(usage)) == Decimal(expected)


@pytest.mark.parametrize(
    "cost",
    [-0.01, -1e308, float("nan"), float("-inf"), True, "free", "", [], {}, "1" * 41, "NaN", 10**400, 1e300],
)
@pytest.mark.parametrize("tokens", [-1, 10**400, "12", None, 1.5, True, [1]])
def test_a_hostile_usage_counts_as_what_was_set_aside(cost: Json, tokens: Json) -> None:
    """Nothing that is no amount lowers the count, raises it without bound, or breaks the reading."""
    usage = {"cost": cost, "prompt_tokens": tokens, "completion_tokens": tokens}
    answer = replace(read_answer(an_answer({"x": 1})), usage=usage)
    assert charged(answer, PRICE, MOST) == SET_ASIDE


def test_an_absurd_charge_is_bounded() -> None:
    """One answer cannot use up a budget by naming a number, however dear its route is not."""
    assert counted(an_answer({"cost": 900_000})) == CREDIBLE_USD
    dear = Price(prompt=Decimal("0.001"), completion=Decimal("0.01"))
    assert counted(an_answer({"cost": 900_000}), dear) == 10 * dear.of(MOST)


def test_an_answer_without_end_may_cost_what_it_is_long() -> None:
    """Where more came than the room allows, a charge is believed up to a token for each byte that came."""
    dear = Price(prompt=Decimal(0), completion=Decimal("0.001"))
    long = an_answer({"cost": 60}, text="y" * 100_000)
    assert counted(long, dear) == 60


def test_a_free_route_costs_what_it_says_that_it_cost() -> None:
    """A listing that calls a route free does not unmake a charge."""
    assert counted(an_answer({"cost": 0}), FREE) == 0
    assert counted(an_answer({"cost": 0.25}), FREE) == Decimal("0.25")
    assert counted(an_answer(), FREE) == 0


def test_an_answer_without_usage_keeps_what_was_set_aside() -> None:
    """Cut streams, timeouts and resets may have been charged for, so they count in full."""
    assert counted(an_answer()) == SET_ASIDE
    for ending in (EndingKind.RESET, EndingKind.CLIENT_TIMEOUT):
        asked = replace(a_transcript(status=None, ending=ending), connect_ms=3.0)
        assert counted(asked) == SET_ASIDE


def test_what_was_never_sent_or_refused_costs_nothing() -> None:
    """No connection, no cost; an HTTP error came before the first token."""
    assert counted(a_transcript(status=None, ending=EndingKind.CONNECT_FAILED)) == 0
    for status in (402, 404, 429, 503):
        assert counted(a_document({"error": {"code": status}}, status=status)) == 0
    charged_all_the_same = a_document({"error": {"code": 502}, "usage": {"cost": 0.002}}, status=502)
    assert counted(charged_all_the_same) == Decimal("0.002")


def test_nothing_said_and_nothing_charged_is_nothing() -> None:
    """The gateway does not charge for an answer without tokens, and is believed."""
    empty = a_document({**a_message(""), "usage": {"cost": 0, "completion_tokens": 0}})
    assert counted(empty) == 0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0"),
        (0.1, "0.1"),
        ("1e-3", "0.001"),
        (1e-15, "0.000000001"),  # rounded up
        (0.0000096, "0.0000096"),
        (10**9, "1000000000"),
        (10**9 + 1, None),
        (-1, None),
        (None, None),
    ],
)
def test_an_amount_from_outside(value: Json, expected: str | None) -> None:
    """What was written, not its nearest binary fraction; None where it cannot be one."""
    assert amount_from(value) == (None if expected is None else Decimal(expected))


def a_route(tag: str, prompt: str | None = None, completion: str | None = None) -> Route:
    return Route(
        tag=RouteId(tag),
        provider_names=frozenset(),
        price_prompt=None if prompt is None else Decimal(prompt),
        price_completion=None if completion is None else Decimal(completion),
    )


def a_listing(*routes: Route) -> Listing:
    return Listing(model=ModelId("acme/chat"), at=datetime(2026, 1, 5, tzinfo=UTC), routes=routes)


def test_a_price_that_is_not_stated_is_assumed() -> None:
    """As configured, else the dearest of the listing, else a dear one: never free."""
    silent, half = a_route("silent"), a_route("half", prompt="0.000002")
    listing = a_listing(silent, half, a_route("cheap", "0.000001", "0.000003"))
    assert price_of(silent, listing, AssumedPrice()) == Price(
        prompt=Decimal("0.000002"), completion=Decimal("0.000003")
    )
    assert price_of(half, listing, AssumedPrice(completion=Decimal(7))).completion == Decimal("0.000007")
    assert price_of(silent, a_listing(silent), AssumedPrice()) == UNSTATED
    assert price_of(silent, a_listing(silent), AssumedPrice(request=Decimal("0.1"))).request == Decimal("0.1")


def test_a_price_that_is_stated_is_taken() -> None:
    """An assumed price is for those that state none; a stated zero is a price."""
    free = a_route("free", "0", "0")
    assumed = AssumedPrice(prompt=Decimal(9), completion=Decimal(9))
    assert price_of(free, a_listing(free), assumed) == FREE


def test_a_price_beyond_all_reason_is_priced_all_the_same() -> None:
    """A listing may claim anything: the arithmetic holds, and nothing that dear is ever asked."""
    absurd = Price(prompt=Decimal(10) ** 12, completion=Decimal(10) ** 12)
    assert absurd.of(MOST) == Decimal(10) ** 12
    for usage in (None, {"cost": 1}, {"prompt_tokens": 10**9, "completion_tokens": 10**9}):
        assert 0 < counted(an_answer(usage), absurd) <= 10 * absurd.of(MOST)
