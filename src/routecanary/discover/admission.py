"""May the product's own requests be served by this route?

Only routes that they admit count as production capacity: the floor must not rest on a route that no user's
request can reach.

Source: policy.md, "production routes"; openrouter-wire.md §1.4, §2.1.
"""

from __future__ import annotations

from collections.abc import Collection
from decimal import Decimal
from typing import Final

from routecanary.domain.names import RouteId
from routecanary.domain.route import Route
from routecanary.domain.settings import PriceCeiling, ProductionSettings

_PER_MILLION: Final = Decimal(1_000_000)
UNDECLARED: Final = "unknown"  # the gateway's word for a precision class that is not stated


def is_admitted(
    route: Route, production: ProductionSettings, *, withheld: Collection[RouteId] = frozenset()
) -> bool:
    """Say whether the product's routing settings admit a route.

    Args:
        route: As the listing describes it.
        production: The settings of the product's requests.
        withheld: Routes that the gateway is known to withhold for reasons that the listing does not show: the
            account's own lists, and the data policy (`data_collection`, `zdr`). Without that knowledge they
            count as admitted.
    Returns:
        True: Each setting admits the route. A service tier is opt-in, so `only` must name it by its full tag.
    Example: `only = ["fireworks"]` admits `fireworks/us`, but neither `fireworks/priority`, which is a
        tier, nor `fireworks-ai`.
    """
    return (
        route.tag not in withheld
        and _is_allowed(route, production.only)
        and not any(names(entry, route) for entry in production.ignore)
        and _has_precision(route, production.quantizations)
        and production.required_parameters <= route.parameters
        and _is_affordable(route, production.max_price)
    )


def names(entry: str, route: Route) -> bool:
    """Say whether an entry of `only` or `ignore` names a route: by its full tag, or by a slug above it.

    A slug names every route below it save the service tiers.
    """
    return route.tag == entry or (route.tier is None and route.tag.startswith(entry + "/"))


def _is_allowed(route: Route, only: tuple[str, ...]) -> bool:
    if route.tier is not None:
        return route.tag in only
    return not only or any(names(entry, route) for entry in only)


def _has_precision(route: Route, quantizations: frozenset[str]) -> bool:
    """Hold that some row of the route has an allowed precision class: that row can be served."""
    declared = route.quantizations or frozenset({UNDECLARED})
    return not quantizations or bool(declared & quantizations)


def _is_affordable(route: Route, ceiling: PriceCeiling) -> bool:
    """Hold that no price is above its ceiling; a token price must be stated, one per request need not."""
    for price, limit in (
        (route.price_prompt, ceiling.prompt),
        (route.price_completion, ceiling.completion),
    ):
        if limit is not None and (price is None or price * _PER_MILLION > limit):
            return False
    return ceiling.request is None or (route.price_request or Decimal(0)) <= ceiling.request
