"""Which routes the product's own requests can reach."""

from __future__ import annotations

from decimal import Decimal

import pytest

from routecanary.discover.admission import is_admitted
from routecanary.domain.names import RouteId
from routecanary.domain.route import Route
from routecanary.domain.settings import PriceCeiling, ProductionSettings


def a_route(tag: str = "fireworks", **changes: object) -> Route:
    return Route(tag=RouteId(tag), provider_names=frozenset({"Host"}), **changes)


@pytest.mark.parametrize(
    ("tag", "tier", "only", "ignore", "admitted"),
    [
        ("fireworks", None, (), (), True),
        ("fireworks", None, ("fireworks",), (), True),
        ("fireworks/us", None, ("fireworks",), (), True),
        ("fireworks/us", None, ("fireworks/us",), (), True),
        ("fireworks", None, ("fireworks/us",), (), False),
        ("fireworks-ai", None, ("fireworks",), (), False),
        ("fireworks", None, (), ("fireworks",), False),
        ("fireworks/us", None, (), ("fireworks",), False),
        ("fireworks", None, (), ("fireworks/us",), True),
        ("fireworks/us", None, ("fireworks",), ("fireworks/us",), False),
        ("fireworks-ai", None, (), ("fireworks",), True),
        ("amazon-bedrock/claude-on-aws", None, ("amazon-bedrock/claude-on-aws",), (), True),
        ("fireworks/priority", "priority", (), (), False),
        ("fireworks/priority", "priority", ("fireworks",), (), False),
        ("fireworks/priority", "priority", ("fireworks/priority",), (), True),
        ("fireworks/priority", "priority", ("fireworks/priority",), ("fireworks",), True),
        ("fireworks/priority", "priority", ("fireworks/priority",), ("fireworks/priority",), False),
    ],
)
def test_slugs_name_what_is_below_them(
    tag: str, tier: str | None, only: tuple[str, ...], ignore: tuple[str, ...], admitted: bool
) -> None:
    """A slug names its provider's routes save the tiers; a full tag names that route."""
    production = ProductionSettings(only=only, ignore=ignore)
    assert is_admitted(a_route(tag, tier=tier), production) is admitted


@pytest.mark.parametrize(
    ("declared", "wanted", "admitted"),
    [
        ((), (), True),
        ((), ("fp8",), False),
        ((), ("fp8", "unknown"), True),
        (("fp8",), ("fp8",), True),
        (("fp4",), ("fp8", "bf16"), False),
        (("fp4", "fp8"), ("fp8",), True),
    ],
)
def test_a_precision_class_must_be_declared(
    declared: tuple[str, ...], wanted: tuple[str, ...], admitted: bool
) -> None:
    """One row of the wanted class is enough to be served; an undeclared class is `unknown`."""
    route = a_route(quantizations=frozenset(declared))
    assert is_admitted(route, ProductionSettings(quantizations=frozenset(wanted))) is admitted


@pytest.mark.parametrize(
    ("prices", "ceiling", "admitted"),
    [
        ({}, {}, True),
        ({"price_prompt": "0.0000005"}, {"prompt": "0.5"}, True),
        ({"price_prompt": "0.00000050001"}, {"prompt": "0.5"}, False),
        ({"price_prompt": "0", "price_completion": "0.000002"}, {"prompt": "0", "completion": "1.5"}, False),
        ({}, {"prompt": "0.5"}, False),
        ({}, {"request": "0"}, True),
        ({"price_request": "0.01"}, {"request": "0.01"}, True),
        ({"price_request": "0.011"}, {"request": "0.01"}, False),
    ],
)
def test_a_price_ceiling_is_per_million_tokens(
    prices: dict[str, str], ceiling: dict[str, str], admitted: bool
) -> None:
    """At the ceiling is affordable; an unstated token price is not, and one per request is none."""
    route = a_route(**{name: Decimal(price) for name, price in prices.items()})
    limits = PriceCeiling(**{name: Decimal(limit) for name, limit in ceiling.items()})
    assert is_admitted(route, ProductionSettings(max_price=limits)) is admitted


def test_every_required_parameter_must_be_declared() -> None:
    """A route that lacks one of them never gets such a request."""
    production = ProductionSettings(required_parameters=frozenset({"tools", "seed"}))
    assert is_admitted(a_route(parameters=frozenset({"tools", "seed", "stop"})), production)
    assert not is_admitted(a_route(parameters=frozenset({"tools"})), production)


def test_what_the_gateway_withholds_is_not_capacity() -> None:
    """Data policy and account lists do not show in the listing; what is known of them counts."""
    production = ProductionSettings(data_collection="deny", zdr=True)
    assert is_admitted(a_route(), production)
    assert not is_admitted(a_route(), production, withheld={RouteId("fireworks")})
