"""Which routes a name in a caller's lists stands for."""

from __future__ import annotations

import pytest

from routecanary.routing.index import KnownRoute, RouteIndex

ROUTES = (
    KnownRoute("fireworks", swallows=["fireworks/us"], providers=["Fireworks"]),
    KnownRoute("fireworks/us", providers=["Fireworks"]),
    KnownRoute("fireworks/priority", tier=True, providers=["Fireworks"]),
    KnownRoute("deepinfra/fp4", providers=["DeepInfra"]),
    KnownRoute("deepinfra/fp8", providers=["DeepInfra"]),
    KnownRoute("google-vertex/global", providers=["Google"]),
    KnownRoute("google-vertex/global/fast", providers=["Google"]),
)


@pytest.mark.parametrize(
    ("name", "named", "admitted"),
    [
        ("fireworks", ("fireworks", "fireworks/us"), ("fireworks", "fireworks/us")),
        ("fireworks/us", ("fireworks/us",), ("fireworks/us",)),
        ("fireworks/priority", ("fireworks/priority",), ("fireworks/priority",)),
        ("deepinfra", ("deepinfra/fp4", "deepinfra/fp8"), ("deepinfra/fp4", "deepinfra/fp8")),
        ("deepinfra/fp4", ("deepinfra/fp4",), ("deepinfra/fp4",)),
        (
            "google",
            ("google-vertex/global", "google-vertex/global/fast"),
            ("google-vertex/global", "google-vertex/global/fast"),
        ),
        # In doubt `ignore` takes the longer tag too, and `only` does not count on it.
        (
            "google-vertex/global",
            ("google-vertex/global", "google-vertex/global/fast"),
            ("google-vertex/global",),
        ),
        ("nobody", (), ()),
        ("deep", (), ()),
    ],
)
def test_a_name_stands_for_the_routes_that_the_gateway_would_match(
    name: str, named: tuple[str, ...], admitted: tuple[str, ...]
) -> None:
    """A bare slug names all but the tiers, a tag itself, a display name its provider's routes."""
    index = RouteIndex(ROUTES)
    assert index.named(name) == named
    assert index.admitted(name) == admitted


def test_a_stated_swallow_goes_beyond_the_spelling() -> None:
    """What a provider entry was stated to name is named by it, known routes only."""
    index = RouteIndex(ROUTES, {"Big-Cloud": ["deepinfra/fp4", "gone"]})
    assert index.named("big-cloud") == index.admitted("big-cloud") == ("deepinfra/fp4",)


def test_the_order_of_routes_changes_nothing() -> None:
    """Routes come sorted, whatever the listing's order."""
    assert [(group.names, group.routes) for _, group in sorted(RouteIndex(ROUTES).groups.items())] == [
        (group.names, group.routes) for _, group in sorted(RouteIndex(reversed(ROUTES)).groups.items())
    ]
