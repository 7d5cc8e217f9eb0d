"""Whom does a round ask, and who of them is a control?"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from routecanary.domain.names import ContractName, RouteId, swallowed
from routecanary.domain.route import Listing
from routecanary.domain.settings import ProductionSettings
from routecanary.errors import InputError
from routecanary.rounds.world import World
from routecanary.routing.layers import builtin_for

COMPANY: Final = 3
"""Other routes that a targeted round asks at least, so that its brakes have something to compare with.

Source: policy.md, Vocabulary, round."""


def asked_routes(world: World, listing: Listing, only: Collection[RouteId] | None) -> frozenset[RouteId]:
    """Choose whom to ask.

    Args:
        only: The targets of a targeted round. None asks all but the opt-in tiers that production does not
            name.
    Returns:
        Of a targeted round: the targets, the controls, and `COMPANY` others, drawn, where there are so many.
    Raises:
        InputError: A target is not listed now.
    """
    usual = usual_routes(listing, world.model(listing.model).production)
    if only is None:
        return usual
    targets = frozenset(only)
    for unknown in sorted(targets - listing.tags()):
        raise InputError(
            "not a route of this model now",
            place=listing.model,
            value=str(unknown),
            allowed=", ".join(sorted(listing.tags())),
        )
    controls = frozenset(controls_of(world, listing))
    others = sorted(usual - targets - controls)
    return targets | controls | frozenset(world.rng.sample(others, min(COMPANY, len(others))))


def usual_routes(listing: Listing, production: ProductionSettings) -> frozenset[RouteId]:
    """List whom a round over everybody asks: all but the opt-in tiers that production does not name."""
    return frozenset(
        route.tag for route in listing.routes if route.tier is None or route.tag in production.only
    )


def controls_of(world: World, listing: Listing) -> dict[RouteId, frozenset[ContractName]]:
    """Find the controls, by configuration or the built-in layer: route → what it is a control for."""
    configured = world.model(listing.model)
    tiers = frozenset(route.tag for route in listing.routes if route.tier is not None)
    found = {tag: set(configured.control_for(tag)) for tag in listing.tags()}
    for entry in builtin_for(world.builtin, listing.model):
        for tag in ({entry.target} & listing.tags()) | swallowed(entry.target, listing.tags(), tiers):
            found[RouteId(tag)] |= set(entry.control_for)
    return {tag: frozenset(contracts) for tag, contracts in found.items() if contracts}
