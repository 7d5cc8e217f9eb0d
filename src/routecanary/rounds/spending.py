"""Whom does the day's budget allow to be asked?

Pure arithmetic on what is already committed: what settled rounds cost, and what open ones may still cost. A
route is asked all of its probes or none, each with all its possible confirmations set aside, so that no round
ever stops halfway for want of money.

Source: docs/money.md; product.md §3.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from random import Random

from routecanary.domain.money import NOTHING
from routecanary.domain.names import RouteId
from routecanary.domain.settings import BudgetSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """One route that a round would ask, and the most that this can cost."""

    route: RouteId
    usd: Decimal
    recovers: bool = False  # it is suspended, and asked to see whether it has recovered


@dataclass(frozen=True, slots=True, kw_only=True)
class Ration:
    """Who is asked, who is not, and what is set aside for those who are."""

    granted: tuple[RouteId, ...]  # in the order in which they were chosen
    refused: tuple[RouteId, ...]
    usd: Decimal


def general_part(budget: BudgetSettings) -> Decimal:
    """Work out how far routes that are not suspended may take the day.

    Example: of 5 USD at a share of 0.1, 4.5.
    """
    return budget.per_day_usd * (1 - budget.recovery_share)


def ration(wishes: Iterable[Wish], *, committed: Decimal, budget: BudgetSettings) -> Ration:
    """Grant wishes in their order as long as the day's budget covers the most that they can cost.

    Args:
        wishes: The one that matters most first.
        committed: What the day has cost, or may still cost, before this round.
    Returns:
        A wish too dear for what is left is passed over and those behind it are still looked at: a single dear
        route must not keep the cheap ones from being asked. What costs nothing is always granted.
    Example: with 4.4 of 5 USD committed, wishes of 0.2, 0.1 and (suspended) 0.3 USD in this order: the first
        is refused since it would pass 4.5, the second is granted, the third too.
    """
    general = general_part(budget)
    spent = committed
    granted: list[RouteId] = []
    refused: list[RouteId] = []
    for wish in wishes:
        ceiling = budget.per_day_usd if wish.recovers else general
        if not wish.usd or spent + wish.usd <= ceiling:
            granted.append(wish.route)
            spent += wish.usd
        else:
            refused.append(wish.route)
    return Ration(granted=tuple(granted), refused=tuple(refused), usd=spent - committed)


def in_order(
    costs: Mapping[RouteId, Decimal],
    *,
    suspended: Collection[RouteId],
    controls: Collection[RouteId],
    targets: Collection[RouteId],
    left_out: Mapping[RouteId, datetime],
    rng: Random,
) -> tuple[Wish, ...]:
    """Make the wishes of a round, the one that matters most first.

    Suspended routes come first, since only asking them can bring them back; then the controls, without which
    the others' passes are unproven; then the targets of a targeted round; then everybody else. Within each,
    whoever the budget left out first comes first, and equals are drawn, so that over rounds each gets its
    turn.

    Args:
        costs: Every route that the round would ask → the most that this can cost.
        left_out: The routes that the budget left out of the last rounds → since when.
    """

    def rank(route: RouteId) -> tuple[int, bool, float]:
        place = next(
            (place for place, group in enumerate((suspended, controls, targets)) if route in group), 3
        )
        since = left_out.get(route)
        return place, since is None, 0.0 if since is None else since.timestamp()

    drawn: Sequence[RouteId] = sorted(costs)
    drawn = rng.sample(drawn, len(drawn))
    return tuple(
        Wish(route=route, usd=costs[route], recovers=route in suspended) for route in sorted(drawn, key=rank)
    )


def left_today(budget: BudgetSettings, committed: Decimal) -> Decimal:
    """Work out what may still be spent; never less than nothing."""
    return max(NOTHING, budget.per_day_usd - committed)
