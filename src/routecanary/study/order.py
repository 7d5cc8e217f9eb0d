"""In which order are the routes of a study asked?

Interleaved in time, so that an hour in which everything is slow meets all of them: the askings of each route
are spread evenly over the whole study, and where they fall within their part of it is drawn.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from random import Random
from typing import NamedTuple

from routecanary.domain.names import RouteId
from routecanary.study.values import Study


class Asking(NamedTuple):
    """One asking of a study; a route's turns count from 0."""

    route: RouteId
    turn: int


def order_of(study: Study) -> tuple[Asking, ...]:
    """Put a study's askings in order; the same study gives the same order.

    Example: routes that are asked equally often come round once in each pass, in a drawn order; one that is
        asked twice as often as the others comes twice, once in either half of each of their passes.
    """
    rng = Random(study.seed)  # noqa: S311 - a fair order, no secret
    placed = [
        ((turn + rng.random()) / each.n, Asking(each.route, turn))
        for each in study.routes
        for turn in range(each.n)
    ]
    return tuple(asking for _, asking in sorted(placed))


def spread(askings: int, routes: Collection[RouteId], rng: Random) -> dict[RouteId, int]:
    """Spread a number of askings over routes as evenly as it goes; who gets one more is drawn.

    Example: 49 askings of 14 routes are 4 for half of them and 3 for the other half.
    """
    order: Sequence[RouteId] = sorted(routes)
    order = rng.sample(order, len(order))
    each, more = divmod(askings, max(1, len(order)))
    return {route: each + (place < more) for place, route in enumerate(order)}
