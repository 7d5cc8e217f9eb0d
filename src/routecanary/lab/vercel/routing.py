"""Which routes may serve a request at the Vercel AI Gateway, and in which order are they tried?

A provider is named by its slug, and only as a whole. Whoever is left is tried one after another.

Source: docs/gateway.md, "The Vercel AI Gateway".
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from random import Random
from typing import Final

from routecanary.lab.host import NO_RULES, LabModel, LabRoute, Rules
from routecanary.lab.presence import serving_routes
from routecanary.lab.refusal import Refusal, RefusedError
from routecanary.lab.request import ChatRequest, Preferences
from routecanary.lab.restriction import Restriction
from routecanary.lab.routing import drawn, price_of

NOBODY: Final = "no_providers_available"  # the type of the error


def candidates(
    model: LabModel,
    request: ChatRequest,
    elapsed: timedelta,
    rng: Random,
    rules: Rules = NO_RULES,
    *,
    restrictions: Sequence[Restriction] = (),
) -> tuple[LabRoute, ...]:
    """List the routes that will be tried, in order.

    Args:
        rules: Of the account: whom it withholds.
        restrictions: Of the team, likewise; they are refused by a sentence of their own.
    Raises:
        RefusedError: With 403 or 400, when no route is left.
    """
    wanted = request.preferences
    serving = [route for route in serving_routes(model, elapsed) if route.service_tier is None]
    asked = [route for route in serving if _is_wanted(route, wanted)]
    left = [
        route
        for route in asked
        if route.slug not in rules.withheld and all(each.admits(route) for each in restrictions)
    ]
    considered = ", ".join(sorted({route.slug for route in (asked or serving)}))
    if asked and not left:
        message = f"Your team has restricted access to this provider. Providers considered: {considered}"
        raise RefusedError(Refusal(status=403, message=message, metadata={"error_type": NOBODY}))
    if not left:
        message = f"No providers available for model: {model.id}. Providers considered: {considered}"
        raise RefusedError(Refusal(status=400, message=message, metadata={"error_type": NOBODY}))
    return _in_order(left, wanted, rng)


def _is_wanted(route: LabRoute, wanted: Preferences) -> bool:
    return (
        (wanted.only is None or route.slug in wanted.only)
        and not (wanted.zero_retention and route.keeps_data)
        and not (wanted.deny_data_collection and route.trains_on_data)
    )


def _in_order(routes: Sequence[LabRoute], wanted: Preferences, rng: Random) -> tuple[LabRoute, ...]:
    tried = drawn(routes, rng)
    match wanted.sort:
        case "price":
            tried.sort(key=price_of)
        case "throughput":
            tried.sort(key=lambda route: -route.pace.tokens_per_second)
        case "latency":
            tried.sort(key=lambda route: route.pace.first_text_seconds)
    place = {slug: number for number, slug in reversed(tuple(enumerate(wanted.order)))}
    return tuple(sorted(tried, key=lambda route: place.get(route.slug, len(place))))
