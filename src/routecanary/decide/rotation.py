"""In which locale is each route asked next?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from routecanary.domain.names import Locale, RouteId
from routecanary.domain.state import ModelState


def round_locale(state: ModelState, locales: Sequence[Locale]) -> Locale:
    """Pick the locale of the model's next round: `locales[k mod n]` after k finished rounds.

    A round in a locale that somebody asked for is none of those k: it takes no turn from anybody.

    Args:
        locales: The configured ones, at least one, in their configured order.
    """
    return locales[(state.rounds - state.out_of_turn) % len(locales)]


def locales_for(
    state: ModelState,
    locales: Sequence[Locale],
    routes: Iterable[RouteId],
    *,
    out_of_turn: Locale | None = None,
) -> dict[RouteId, Locale]:
    """Pick the locale of each route's next probes.

    Args:
        out_of_turn: The locale that was asked for; None = the rotation's.
    Returns:
        The round's locale, or the one that the route failed last and has not passed since, if that one is
        still configured: a fail in one locale is not escaped by the rotation moving on.
    Source: docs/policy.md, Locale rotation.
    """
    common = round_locale(state, locales) if out_of_turn is None else out_of_turn
    chosen: dict[RouteId, Locale] = {}
    for name in sorted(routes):
        known = state.routes.get(name)
        retry = known.streak.retry_locale if known else None
        chosen[name] = retry if retry in locales and retry is not None else common
    return chosen
