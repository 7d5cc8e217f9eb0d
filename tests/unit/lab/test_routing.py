"""Which routes may serve a request, and in which order."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from routecanary.lab.host import Rules, Window
from routecanary.lab.refusal import RefusedError
from routecanary.lab.routing import candidates
from tests.lab import a_body, a_card_body, a_model, a_request, a_route

MODEL = a_model(
    a_route("maple", parameters=("max_tokens", "tools")),
    a_route("maple/us", provider="Maple", quantization="fp8"),
    a_route("maple/flex", provider="Maple", service_tier="flex"),
    a_route("north-host/fp8", quantization="fp8", rows=2, max_completion_tokens=500),
    a_route(
        "dear", price_prompt=Decimal("0.00001"), price_completion=Decimal("0.00001"), trains_on_data=True
    ),
    a_route("deep/slug/one", slug="deep/slug", provider="Deep & Co", keeps_data=True),
)
ALL = {"maple", "maple/us", "north-host/fp8", "dear", "deep/slug/one"}


def served(body: dict[str, Any], *, seed: int = 0, elapsed: timedelta = timedelta(0)) -> list[str]:
    return [route.tag for route in candidates(MODEL, a_request(body), elapsed, Random(seed))]


def refused(body: dict[str, Any]) -> dict[str, Any]:
    with pytest.raises(RefusedError) as caught:
        served(body)
    assert caught.value.refusal.status == 404
    return dict(caught.value.refusal.metadata)


@pytest.mark.parametrize(
    ("provider", "expected"),
    [
        ({}, ALL),
        ({"only": ["north-host/fp8"]}, {"north-host/fp8"}),
        ({"only": ["maple"]}, {"maple", "maple/us"}),
        ({"only": ["maple/us"]}, {"maple/us"}),
        ({"only": ["maple/flex"]}, {"maple/flex"}),
        ({"only": ["maple"], "ignore": ["maple/us"]}, {"maple"}),
        ({"only": ["MAPLE/US"]}, {"maple/us"}),
        ({"only": ["Deep & Co"]}, {"deep/slug/one"}),
        ({"only": ["deep/slug"]}, {"deep/slug/one"}),
        ({"only": ["north-host"]}, {"north-host/fp8"}),
        ({"only": []}, ALL),
        ({"ignore": ["maple"]}, ALL - {"maple", "maple/us"}),
        ({"ignore": ["maple/us"]}, ALL - {"maple/us"}),
        ({"ignore": ["fp8", "us"]}, ALL),
        ({"quantizations": ["fp8"]}, {"maple/us", "north-host/fp8"}),
        ({"quantizations": ["unknown"]}, {"maple", "dear", "deep/slug/one"}),
        ({"max_price": {"prompt": "0.5"}}, ALL - {"dear"}),
        ({"max_price": {"prompt": 0.2, "completion": 0.8}}, ALL - {"dear"}),
        ({"data_collection": "deny"}, ALL - {"dear"}),
        ({"zdr": True}, ALL - {"deep/slug/one"}),
        ({"allow_fallbacks": False, "order": ["dear", "maple"]}, {"dear", "maple", "maple/us"}),
    ],
)
def test_the_provider_object_decides_who_may_serve(provider: dict[str, Any], expected: set[str]) -> None:
    """Exactly the routes that the lists name or leave are tried, tiers only by their full tag."""
    assert set(served(a_body(provider=provider))) == expected


@pytest.mark.parametrize(
    ("body", "gone"),
    [
        (a_body(max_tokens=501), "north-host/fp8"),
        (a_card_body(max_tokens=500, provider={"require_parameters": True}), "maple"),
        (a_body(temperature=1, provider={"require_parameters": True}), "maple"),
    ],
)
def test_what_an_endpoint_cannot_do_removes_it(body: dict[str, Any], gone: str) -> None:
    """A cap below `max_tokens`, or under `require_parameters` a missing parameter, takes a route out."""
    tags = served(body)
    assert gone not in tags
    assert tags


def test_a_cap_equal_to_the_limit_stays() -> None:
    """`max_tokens` equal to the endpoint's cap does not remove it."""
    assert "north-host/fp8" in served(a_body(max_tokens=500))


def test_tools_leave_only_routes_that_declare_them() -> None:
    """A request with tools is routed by tool compatibility alone."""
    assert served(a_body(tools=[{"type": "function"}])) == ["maple"]


def test_a_service_tier_is_opt_in() -> None:
    """Naming the tier admits its route beside the others."""
    assert set(served(a_body(service_tier="flex"))) == ALL | {"maple/flex"}


def test_order_comes_first_then_the_rest() -> None:
    """With fallbacks, routes of `order` are tried in its order before all others."""
    tags = served(a_body(provider={"order": ["dear", "north-host", "dear"]}))
    assert tags[:2] == ["dear", "north-host/fp8"]
    assert set(tags) == ALL


def test_without_fallbacks_one_route_is_tried() -> None:
    """`allow_fallbacks: false` without `order` leaves the first choice alone."""
    assert len(served(a_body(provider={"allow_fallbacks": False}))) == 1


@pytest.mark.parametrize(
    ("sort", "first"), [("price", "deep/slug/one"), ("throughput", "dear"), ({"by": "latency"}, "dear")]
)
def test_sort_replaces_the_draw(sort: Any, first: str) -> None:
    """A sorted request gets the same order under every seed; equals go by tag."""
    orders = {tuple(served(a_body(provider={"sort": sort}), seed=seed)) for seed in range(5)}
    assert len(orders) == 1
    assert orders.pop()[0] == first


def test_the_draw_is_weighted_by_the_inverse_square_of_the_price() -> None:
    """A route of three times the price is drawn first about a ninth as often."""
    model = a_model(
        a_route("cheap", price_prompt=Decimal("0.000001"), price_completion=Decimal("0.000001")),
        a_route("dear", price_prompt=Decimal("0.000003"), price_completion=Decimal("0.000003")),
    )
    first = Counter(
        candidates(model, a_request(), timedelta(0), Random(seed))[0].tag for seed in range(2_000)
    )
    assert 150 < first["dear"] < 250  # expected 200


def test_degraded_and_free_routes_keep_their_place() -> None:
    """A non-zero status puts a route last; a price of nothing breaks no draw."""
    model = a_model(
        a_route("down", status=-2, price_prompt=Decimal(0), price_completion=Decimal(0)),
        a_route("free", price_prompt=Decimal(0), price_completion=Decimal(0)),
    )
    for seed in range(10):
        assert [route.tag for route in candidates(model, a_request(), timedelta(0), Random(seed))] == [
            "free",
            "down",
        ]


@pytest.mark.parametrize(
    ("body", "step"),
    [
        (a_body(provider={"only": ["nobody"]}), "Filter by Allowed Providers"),
        (a_body(provider={"ignore": sorted(ALL)}), "Filter by Ignored Providers"),
        (a_body(max_tokens=10_000, provider={"only": ["north-host/fp8"]}), "Filter by Parameters"),
        (a_body(top_k=3, provider={"require_parameters": True}), "Filter by Parameters"),
        (a_body(tools=[{}], provider={"only": ["dear"]}), "Filter by Tool Compatibility"),
        (a_body(provider={"quantizations": ["int4"]}), "Filter by Quantization"),
        (a_body(provider={"max_price": {"completion": "0.0001"}}), "Filter by Max Price"),
        (a_body(provider={"only": ["dear"], "data_collection": "deny"}), "Filter by Allowed Providers"),
        (a_body(provider={"order": ["nobody"], "allow_fallbacks": False}), "Filter by Fallback"),
    ],
)
def test_a_refusal_names_the_step_that_left_nobody(body: dict[str, Any], step: str) -> None:
    """The 404 carries the failing step and a funnel that ends there with no endpoint."""
    metadata = refused(body)
    assert metadata["failed_routing_step"] == step
    funnel = metadata["routing_funnel"]
    assert funnel[0] == {"step": "Initial Endpoints", "endpoint_count": 6}  # rows: two share a tag, no tiers
    assert funnel[-1]["step"] == step
    assert funnel[-1]["endpoint_count"] == 0


ABSENT = {"order": ["no-such-host"], "allow_fallbacks": False}


@pytest.mark.parametrize(
    ("provider", "rules", "steps"),
    [
        (
            {},
            Rules(),
            "Filter by Fallback removed dear, deep/slug/one, maple, maple/us, north-host/fp8",
        ),
        (
            {},
            Rules(withheld=("maple", "dear")),
            (
                "Filter by Guardrails removed dear, maple, maple/us (Provider not allowed (account "
                "settings)); "
                "Filter by Fallback removed deep/slug/one, north-host/fp8"
            ),
        ),
        (
            {"data_collection": "deny"},
            Rules(withheld=("maple/us",)),
            (
                "Filter by Data Policy removed dear, maple/us; "
                "Filter by Fallback removed deep/slug/one, maple, north-host/fp8"
            ),
        ),
        (
            {"zdr": True},
            Rules(),
            (
                "Filter by Data Policy removed deep/slug/one; "
                "Filter by Fallback removed dear, maple, maple/us, north-host/fp8"
            ),
        ),
    ],
)
def test_an_order_that_cannot_be_met_shows_what_each_step_removed(
    provider: dict[str, Any], rules: Rules, steps: str
) -> None:
    """Without fallbacks nobody is left, and the message lists tags where the funnel counts rows."""
    with pytest.raises(RefusedError) as caught:
        candidates(MODEL, a_request(a_body(provider=ABSENT | provider)), timedelta(0), Random(0), rules)
    message = caught.value.refusal.message
    assert message == (
        f"No endpoints found for {MODEL.id}. Every candidate endpoint was removed during routing: {steps}."
    )
    funnel = caught.value.refusal.metadata["routing_funnel"]
    names = [entry["step"] for entry in funnel]
    assert ("Filter by Guardrails" in names) == ("Guardrails" in steps)
    assert (funnel[0]["endpoint_count"], funnel[-1]["endpoint_count"]) == (6, 0)


def test_a_withheld_route_serves_nobody() -> None:
    """What the account's settings remove cannot even be pinned."""
    rules = Rules(withheld=("north-host/fp8",))
    pinned = a_request(a_body(provider={"only": ["north-host/fp8"]}))
    with pytest.raises(RefusedError):
        candidates(MODEL, pinned, timedelta(0), Random(0), rules)
    free = candidates(MODEL, a_request(), timedelta(0), Random(0), rules)
    assert {route.tag for route in free} == ALL - {"north-host/fp8"}


@pytest.mark.parametrize(
    ("ignore", "left"),
    [
        (["maple/us"], ALL),
        (["maple"], ALL - {"maple", "maple/us"}),
        (["North-Host"], ALL - {"north-host/fp8"}),
        (["dear", "north-host/fp8"], ALL - {"dear"}),
    ],
)
def test_a_gateway_may_be_deaf_to_full_tags(ignore: list[str], left: set[str]) -> None:
    """Then only a slug or a display name keeps a route away; an allow-list is heeded all the same."""
    rules = Rules(ignore_full_tags=False)
    request = a_request(a_body(provider={"ignore": ignore}))
    assert {route.tag for route in candidates(MODEL, request, timedelta(0), Random(0), rules)} == left
    pinned = a_request(a_body(provider={"only": ["maple/us"]}))
    assert [route.tag for route in candidates(MODEL, pinned, timedelta(0), Random(0), rules)] == ["maple/us"]


def test_an_unsatisfiable_allow_list_shows_who_serves() -> None:
    """The refusal lists the slugs that serve the model and those that were asked for."""
    metadata = refused(a_body(provider={"only": ["nobody"]}))
    assert metadata["available_providers"] == ["dear", "deep/slug", "maple", "north-host"]
    assert metadata["requested_providers"] == ["nobody"]


def test_a_route_is_served_only_while_it_is_listed() -> None:
    """A window in policy time bounds the route's life at both ends."""
    window = Window(start=timedelta(hours=1), end=timedelta(hours=2))
    model = a_model(a_route("steady"), a_route("brief", listed=window))
    for minutes, expected in ((59, 1), (60, 2), (119, 2), (120, 1)):
        assert len(candidates(model, a_request(), timedelta(minutes=minutes), Random(0))) == expected
