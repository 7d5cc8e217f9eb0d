"""Do our entries in a guardrail keep routes from the canary's own key after all?

Whom a guardrail covers is read from the account's own lists. This asks the routing itself, with the canary's
key, by a refusal that costs nothing; what the gateway does not tell is no evidence. Where the last round's
listing is not that of the gateway any more, the refusal does not add up and tells nothing.

Source: openrouter-wire.md §1.6.
"""

from __future__ import annotations

from typing import Final

from routecanary.domain.guardrail import Granularity
from routecanary.rounds.guardrail_lists import model_lists
from routecanary.rounds.preflight import preflight
from routecanary.rounds.world import World
from routecanary.routing.guardrail import named_by

MODELS_ASKED: Final = 3
"""Models asked about at one time: an entry that reaches the canary's key reaches it for each of them."""


async def withheld_by(world: World, entries: frozenset[str], granularity: Granularity) -> frozenset[str]:
    """List the routes that entries name and that the canary's own requests do not reach.

    Raises:
        StoreError: The log cannot be read.
    """
    found, asked = set[str](), 0
    for settings, model in zip(world.settings.models, model_lists(world).models, strict=True):
        named = {tag for entry in entries for tag in named_by(entry.lower(), model.index, granularity)}
        listing = world.ledger.listing(settings.model)
        if not named or listing is None or asked == MODELS_ASKED:
            continue
        asked += 1
        told = await preflight(world.gateway, listing, users=world.users, rng=world.rng)
        found |= named & {tag.lower() for tag in told.withheld}
    return frozenset(found)
