"""How a listing without tags is read, and what it says of data besides."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from routecanary.discover.parse_vercel import vercel_listing_from_json
from routecanary.discover.withheld import Untold, Withheld, withheld_from_listing
from routecanary.domain.gateway import GatewayKind
from routecanary.domain.names import ModelId
from routecanary.domain.probe import Json
from routecanary.domain.route import Listing
from routecanary.errors import ListingError

MODEL = ModelId("acme/chat-2")


def a_row(provider: Json = "northHost", **changes: Any) -> dict[str, Json]:
    row: dict[str, Json] = {
        "name": f"{provider} | {MODEL}",
        "model_name": "Acme: Chat 2",
        "context_length": 131072,
        "pricing": {"prompt": "0.0000002", "completion": "0.0000008", "request": "0", "discount": 0},
        "provider_name": provider,
        "has_zdr": True,
        "has_no_training": True,
        "tags": ["reasoning", "structured-output"],
        "quantization": None,
        "max_completion_tokens": 32768,
        "max_prompt_tokens": None,
        "supported_parameters": ["max_tokens", "temperature", "reasoning"],
        "status": 0,
    }
    return row | changes


def a_listing(*rows: Json, **data: Json) -> Listing:
    document = {"data": {"id": MODEL, "name": "Acme: Chat 2", "endpoints": list(rows), **data}}
    return vercel_listing_from_json(document, model=MODEL, at=datetime(2026, 1, 5, tzinfo=UTC))


def test_a_route_is_a_provider_and_keeps_its_spelling() -> None:
    """Tags are in lower case as everywhere; what is sent to the gateway is what it listed."""
    listing = a_listing(a_row(), a_row("birch"))
    assert listing.gateway is GatewayKind.VERCEL
    assert [route.tag for route in listing.routes] == ["birch", "northhost"]
    assert listing.routes[1].provider_names == {"northHost"}
    assert (listing.notes, listing.accepted_models) == ((), frozenset({MODEL}))
    assert listing.routes[1].parameters == {"max_tokens", "temperature", "reasoning"}


def test_the_rows_of_one_provider_are_one_route_that_promises_least() -> None:
    """A request can name them together only."""
    far = a_row(max_completion_tokens=8192, supported_parameters=["max_tokens"], has_no_training=None)
    (route,) = a_listing(a_row(), far).routes
    assert (route.rows, route.max_completion_tokens, route.parameters) == (2, 8192, {"max_tokens"})
    assert (route.zero_retention, route.no_training) == (True, None)


def test_a_price_of_some_region_counts_where_it_is_dearer() -> None:
    """Too much may be set aside, never too little."""
    regions = [
        {"scope": "zone", "geo_region": "us", "pricing": {"prompt": "0.0000003", "completion": "0.0000001"}},
        {"scope": "zone", "pricing": "odd"},
        "odd",
    ]
    (route,) = a_listing(a_row(inference_regions=regions)).routes
    assert (route.price_prompt, route.price_completion) == (Decimal("3E-7"), Decimal("8E-7"))


@pytest.mark.parametrize(
    ("provider", "note"),
    [
        (None, "data.endpoints[0]: no tag: cannot be pinned"),
        ("North Host", "data.endpoints[0]: the tag is not a slug: cannot be pinned"),
        (7, "data.endpoints[0]: the tag is not a slug: cannot be pinned"),
    ],
)
def test_a_row_without_a_usable_slug_is_no_route(provider: Json, note: str) -> None:
    """Its neighbours are."""
    listing = a_listing(a_row(provider), a_row("birch"))
    assert [route.tag for route in listing.routes] == ["birch"]
    assert note in listing.notes


@pytest.mark.parametrize(
    "document", [None, [], {}, {"data": []}, {"data": {"endpoints": {}}}, {"data": {"endpoints": [7]}}]
)
def test_what_has_not_the_shape_of_a_listing_is_refused(document: Json) -> None:
    """The place is named, and nothing of the document is shown."""
    with pytest.raises(ListingError):
        vercel_listing_from_json(document, model=MODEL, at=datetime(2026, 1, 5, tzinfo=UTC))


def test_the_data_policy_withholds_whoever_does_not_promise_to_keep_it() -> None:
    """Silence is no promise; without a policy nothing is known of the account's own lists."""
    listing = a_listing(
        a_row("birch", has_no_training=False),
        a_row("cedar", has_zdr=None),
        a_row("maple"),
        a_row("oak", has_zdr=1),
    )
    denied = withheld_from_listing(listing, deny=True, zdr=False)
    kept = withheld_from_listing(listing, deny=False, zdr=True)
    both = withheld_from_listing(listing, deny=True, zdr=True)
    assert isinstance(denied, Withheld)
    assert (denied.routes, denied.reached) == ({"birch"}, {"cedar", "maple", "oak"})
    assert isinstance(kept, Withheld)
    assert kept.routes == {"cedar", "oak"}
    assert isinstance(both, Withheld)
    assert both.reached == {"maple"}
    assert isinstance(withheld_from_listing(listing, deny=False, zdr=False), Untold)
