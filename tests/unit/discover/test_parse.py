"""The gateway's listing, read into routes, and what a hostile one does."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from routecanary.discover.parse import MAX_NOTES, MAX_ROWS, listing_from_json
from routecanary.domain.strict_json import parse_json
from routecanary.errors import ListingError
from tests.unit.discover.listings import AT, MODEL, a_document, a_row, only_route, read


def test_a_row_becomes_a_route() -> None:
    """Every field that the rounds use is read, and the routes are sorted by tag."""
    listing = read(a_row("south-host"), a_row())
    assert [route.tag for route in listing.routes] == ["north-host/fp8", "south-host"]
    route = listing.routes[0]
    assert route.provider_names == {"North Host"}
    assert route.rows == 1
    assert route.quantizations == {"fp8"}
    assert (route.context_length, route.max_completion_tokens) == (131_072, 32_768)
    assert route.parameters == {"max_tokens", "temperature", "response_format", "structured_outputs"}
    assert (route.price_prompt, route.price_completion) == (Decimal("0.0000002"), Decimal("0.0000008"))
    assert route.status == 0
    assert listing.notes == ()


def test_an_answer_may_carry_the_id_or_a_dated_one() -> None:
    """The asked id, the listing's, its canonical slug and the rows', each with and without its variant."""
    listing = listing_from_json(
        a_document(a_row(model_id="acme/chat-2-20260901"), canonical_slug="acme/chat-2-0901"),
        model=MODEL + ":free",
        at=AT,
        facts={"data": {"id": "acme/chat-latest", "canonical_slug": 7}},
    )
    assert listing.accepted_models == {
        "acme/chat-2:free",
        "acme/chat-2",
        "acme/chat-2-0901",
        "acme/chat-2-20260901",
        "acme/chat-latest",
    }


def test_twin_rows_are_one_route_that_promises_least() -> None:
    """Rows of one tag: the smaller caps, the dearer price, the parameters of both, the worse status."""
    route = only_route(
        a_row(supported_parameters=["max_tokens", "temperature"], max_completion_tokens=None),
        a_row(
            "North-Host/FP8",
            supported_parameters=["max_tokens", "stop"],
            max_completion_tokens=4_096,
            context_length=8_192,
            quantization="fp4",
            provider_name="North Host EU",
            status=-2,
            pricing={"prompt": "0.0000003", "completion": "0.0000001"},
        ),
    )
    assert route.rows == 2
    assert route.parameters == {"max_tokens"}
    assert (route.context_length, route.max_completion_tokens) == (8_192, 4_096)
    assert route.quantizations == {"fp8", "fp4"}
    assert route.provider_names == {"North Host", "North Host EU"}
    assert (route.price_prompt, route.price_completion) == (Decimal("0.0000003"), Decimal("0.0000008"))
    assert route.status == -2


def test_a_bare_slug_swallows_what_is_below_it_save_tiers() -> None:
    """Naming `fireworks` names `fireworks/us` too, but not the tier `fireworks/priority`."""
    listing = read(
        a_row("fireworks"),
        a_row("fireworks/us"),
        a_row("fireworks/priority", service_tier="priority"),
        a_row("fireworks-ai"),
    )
    swallows = {route.tag: route.swallows for route in listing.routes}
    assert swallows.pop("fireworks") == {"fireworks/us"}
    assert set(swallows.values()) == {frozenset()}


def test_a_tag_that_only_one_twin_calls_a_tier_is_swallowed() -> None:
    """Where rows of one tag disagree, the route counts as collateral."""
    listing = read(a_row("a"), a_row("a/x", service_tier="flex"), a_row("a/x"))
    assert listing.routes[0].swallows == {"a/x"}
    assert listing.routes[1].tier is None


@pytest.mark.parametrize(
    "tag", [None, "", "two words", "a//b", "x" * 201, 7, ["a"], "a\nb", "\ud800", "a\u202eb"]
)
def test_a_row_without_a_usable_tag_is_noted_and_no_route(tag: object) -> None:
    """Such a row cannot be pinned; the others stay."""
    listing = read(a_row(tag), a_row("south-host"))
    assert [route.tag for route in listing.routes] == ["south-host"]
    assert len(listing.notes) == 1
    assert listing.notes[0].startswith("data.endpoints[0]")


def test_a_row_that_lacks_the_tag_altogether_is_noted() -> None:
    """A missing key is like a null."""
    row = a_row()
    del row["tag"]
    assert read(row).routes == ()


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("status", "0", 0),
        ("status", "-5", -5),
        ("status", None, None),
        ("context_length", None, None),
        ("context_length", 4_096.0, 4_096),
        ("max_completion_tokens", None, None),
        ("quantizations", "unknown field of the future", frozenset({"fp8"})),
    ],
)
def test_shapes_that_captures_show_are_read(field: str, value: object, expected: object) -> None:
    """Status as a string, nulls and unknown fields are usual, and nothing to note."""
    listing = read(a_row(**{field: value}))
    assert getattr(listing.routes[0], field) == expected
    assert listing.notes == ()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("provider_name", 3),
        ("provider_name", "x" * 201),
        ("provider_name", "evil\x1b[2J"),
        ("quantization", ["fp8"]),
        ("context_length", "large"),
        ("context_length", -1),
        ("context_length", True),
        ("max_completion_tokens", 0),
        ("max_completion_tokens", 10**30),
        ("status", "fine"),
        ("status", 1.5),
        ("status", True),
        ("status", "²"),
        ("supported_parameters", "temperature"),
        ("supported_parameters", ["x"] * 201),
        ("supported_parameters", ["temperature", 4]),
        ("pricing", "cheap"),
        ("pricing", {"prompt": "free"}),
        ("pricing", {"prompt": "-1"}),
        ("pricing", {"prompt": "NaN"}),
        ("pricing", {"prompt": True}),
        ("pricing", {"prompt": "0." + "0" * 50 + "1"}),
        ("pricing", {"prompt": 10**400}),
        ("pricing", {"prompt": "0.1", "discount": "half"}),
        ("pricing", {"prompt": "0.1", "discount": 2}),
        ("service_tier", 1),
    ],
)
def test_one_odd_value_is_noted_and_taken_as_not_stated(field: str, value: object) -> None:
    """A single bad field does not stop the canary for the model, and does not pass unseen."""
    listing = read(a_row(**{field: value}))
    assert [route.tag for route in listing.routes] == ["north-host/fp8"]
    assert len(listing.notes) == 1
    assert field in listing.notes[0]
    assert listing.notes[0].isprintable()


@pytest.mark.parametrize(
    ("pricing", "prompt"),
    [
        ({"prompt": "0.0000010", "discount": 0.25}, "0.00000075"),
        ({"prompt": "0.0000010", "discount": "-0.5"}, "0.0000015"),
        ({"prompt": 0.000001}, "0.000001"),
        ({"prompt": 0}, "0"),
        ({"prompt": "0.000001", "overrides": [{"prompt": "0.000003", "utc_start": "0800"}]}, "0.000003"),
        ({"prompt": "0.000001", "overrides": [{"prompt": "0.0000005"}]}, "0.000001"),
        (
            {"prompt": "0.000001", "overrides": [{"prompt": "0.000009", "min_prompt_tokens": 200_000}]},
            "0.000001",
        ),
        ({"prompt": "0.000001", "overrides": "none"}, "0.000001"),
    ],
)
def test_prices_are_those_that_a_probe_may_meet(pricing: dict[str, Any], prompt: str) -> None:
    """The discount is taken off, a markup put on; an override counts where it is dearer and within reach."""
    assert only_route(a_row(pricing=pricing)).price_prompt == Decimal(prompt)


def test_a_price_that_is_not_stated_stays_unknown() -> None:
    """Unknown is not free."""
    assert only_route(a_row(pricing=None)).price_prompt is None
    assert only_route(a_row(pricing={})).price_prompt is None


@pytest.mark.parametrize(
    ("listed", "facts", "mandatory"),
    [
        ({}, None, False),
        ({"reasoning": {"mandatory": True}}, None, True),
        ({"reasoning": {"mandatory": "yes"}}, None, False),
        (
            {"reasoning": None},
            {"data": {"reasoning": {"mandatory": True, "supported_efforts": ["low"]}}},
            True,
        ),
        ({}, {"data": {"reasoning": {"mandatory": False}}}, False),
        ({}, {"data": None}, False),
        ({}, {"error": {"code": 404}}, False),
        ({}, ["data"], False),
    ],
)
def test_mandatory_reasoning_is_read_wherever_the_gateway_states_it(
    listed: dict[str, Any], facts: object, mandatory: bool
) -> None:
    """In the listing or in the model's own description; silence says no."""
    listing = listing_from_json(a_document(a_row(), **listed), model=MODEL, at=AT, facts=facts)
    assert listing.reasoning_mandatory is mandatory


@pytest.mark.parametrize(
    ("document", "place"),
    [
        (None, "listing"),
        ([], "listing"),
        ("data", "listing"),
        ({}, "data"),
        ({"error": {"code": 500, "message": "busy"}}, "data"),
        ({"data": []}, "data"),
        ({"data": {}}, "data.endpoints"),
        ({"data": {"endpoints": None}}, "data.endpoints"),
        ({"data": {"endpoints": {"tag": "a"}}}, "data.endpoints"),
        ({"data": {"endpoints": [a_row(), "row"]}}, "data.endpoints[1]"),
        ({"data": {"endpoints": [None]}}, "data.endpoints[0]"),
        ({"data": {"endpoints": [{}] * (MAX_ROWS + 1)}}, "data.endpoints"),
    ],
)
def test_what_is_no_listing_is_refused_with_its_place(document: object, place: str) -> None:
    """The message names where the shape is wrong, and shows nothing of the document."""
    with pytest.raises(ListingError) as refused:
        listing_from_json(document, model=MODEL, at=AT)
    assert place in str(refused.value)
    assert "busy" not in str(refused.value)


def test_an_empty_listing_is_a_listing() -> None:
    """Whether to believe it is decided elsewhere."""
    assert read().routes == ()


def test_notes_do_not_grow_without_bound() -> None:
    """Two thousand odd rows give a short list and a count."""
    listing = read(*(a_row(None) for _ in range(MAX_ROWS)))
    assert len(listing.notes) == MAX_NOTES + 1
    assert listing.notes[-1] == f"and {MAX_ROWS - MAX_NOTES} more"


def test_the_order_of_rows_changes_nothing() -> None:
    """Discovery may list the rows in any order."""
    rows = [a_row("b"), a_row("a", status=-1), a_row("a"), a_row("b/x")]
    assert read(*rows).routes == read(*reversed(rows)).routes


def test_a_document_as_it_comes_off_the_wire() -> None:
    """Escaped surrogates in a name survive JSON, and go no further."""
    document = parse_json(rb'{"data":{"id":"\ud800","endpoints":[{"tag":"a","provider_name":"\udfff"}]}}')
    listing = listing_from_json(document, model=MODEL, at=AT)
    assert listing.accepted_models == {MODEL}
    assert listing.routes[0].provider_names == frozenset()
