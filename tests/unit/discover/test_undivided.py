"""A provider whose tags cannot be ignored one by one is one route."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

from routecanary.discover.undivided import united
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.route import Listing, Route


def a_route(tag: str, **fields: object) -> Route:
    name = tag.split("/", maxsplit=1)[0].title()
    return Route(tag=RouteId(tag), provider_names=frozenset({name}), **fields)  # type: ignore[arg-type]


LISTING = Listing(
    model=ModelId("acme/chat"),
    at=datetime(2026, 1, 5, tzinfo=UTC),
    routes=(
        a_route("birch/fp8"),
        a_route("maple", swallows=frozenset({RouteId("maple/fp8"), RouteId("maple/us")})),
        a_route(
            "maple/fp8",
            rows=2,
            quantizations=frozenset({"fp8"}),
            context_length=8_000,
            max_completion_tokens=500,
            parameters=frozenset({"stop", "seed"}),
            price_prompt=Decimal("0.1"),
            status=-2,
        ),
        a_route("maple/priority", tier="priority"),
        a_route(
            "maple/us",
            context_length=9_000,
            parameters=frozenset({"stop"}),
            price_prompt=Decimal("0.2"),
            price_completion=Decimal("0.3"),
            status=0,
        ),
        a_route("maplewood/fp8"),
    ),
)


def test_the_endpoints_of_an_undivided_provider_are_one_route() -> None:
    """It promises what the least of them promises; tiers and neighbours by name stay apart."""
    found = united(LISTING, {"maple"})
    assert [route.tag for route in found.routes] == ["birch/fp8", "maple", "maple/priority", "maplewood/fp8"]
    assert found.routes[1] == Route(
        tag=RouteId("maple"),
        provider_names=frozenset({"Maple"}),
        rows=4,
        quantizations=frozenset({"fp8"}),
        context_length=8_000,
        max_completion_tokens=500,
        parameters=frozenset(),
        price_prompt=Decimal("0.2"),
        price_completion=Decimal("0.3"),
        status=-2,
    )


def test_a_single_tag_is_renamed_too() -> None:
    """A name that `ignore` is deaf to keeps nobody away, also where it is the provider's only one."""
    assert united(LISTING, {"birch"}).routes[0].tag == "birch"


def test_other_listings_stay_as_they_are() -> None:
    """No provider, none that is listed, or one that is united already: nothing changes."""
    assert united(LISTING, ()) == LISTING
    assert united(LISTING, {"oak"}) == LISTING
    once = united(LISTING, {"maple", "birch"})
    assert united(once, {"maple", "birch"}) == once
    assert united(replace(LISTING, routes=()), {"maple"}).routes == ()
