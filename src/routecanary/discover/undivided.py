"""What is one route of a provider whose tags cannot be ignored one by one?

A route is what `provider.ignore` can name. Where the gateway was seen to be deaf to a provider's full tags,
only its base slug names anything, and so all of its endpoints are one route: asked, judged and suspended as a
whole. Everything after discovery is as for any other route.

Source: docs/money.md, "check --live"; openrouter-wire.md §1.4, §10.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from decimal import Decimal

from routecanary.domain.names import RouteId
from routecanary.domain.route import Listing, Route


def united(listing: Listing, undivided: Collection[str]) -> Listing:
    """Fold each of these providers' routes into one, named by its slug.

    Args:
        undivided: Base slugs.
    Returns:
        The listing with one route for each such provider that it names, promising what its least endpoint
        promises. Service tiers stay apart: a slug does not name them.
    Example: with `maple` undivided, `maple/fp8` and `maple/us` become `maple`, of the rows of both.
    """
    routes = {route.tag: route for route in listing.routes}
    for slug in sorted(undivided):
        members = [route for route in routes.values() if is_below(route, slug)]
        if members:
            for member in members:
                del routes[member.tag]
            routes[RouteId(slug)] = _one(slug, members)
    return replace(listing, routes=tuple(routes[tag] for tag in sorted(routes)))


def is_below(route: Route, slug: str) -> bool:
    """Say whether a base slug names a route."""
    return route.tier is None and (route.tag == slug or route.tag.startswith(slug + "/"))


def _one(slug: str, members: Collection[Route]) -> Route:
    return Route(
        tag=RouteId(slug),
        provider_names=frozenset().union(*(member.provider_names for member in members)),
        rows=sum(member.rows for member in members),
        quantizations=frozenset().union(*(member.quantizations for member in members)),
        context_length=_least(member.context_length for member in members),
        max_completion_tokens=_least(member.max_completion_tokens for member in members),
        parameters=frozenset.intersection(*(member.parameters for member in members)),
        price_prompt=_dearest(member.price_prompt for member in members),
        price_completion=_dearest(member.price_completion for member in members),
        price_request=_dearest(member.price_request for member in members),
        status=max((member.status for member in members if member.status is not None), key=abs, default=None),
    )


def _least(counts: Iterable[int | None]) -> int | None:
    return min((count for count in counts if count is not None), default=None)


def _dearest(prices: Iterable[Decimal | None]) -> Decimal | None:
    return max((price for price in prices if price is not None), default=None)
