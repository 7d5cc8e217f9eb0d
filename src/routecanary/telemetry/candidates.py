"""Which routes may have served an answer, and which of them did its request ignore?

An answer names its provider, mostly by the display name, and a provider may have several tags of a model. In
doubt a route is a candidate, an opt-in tier too: nobody is blamed for what another one may have done.

Source: openrouter-wire.md §1.4, §3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from routecanary.domain.names import ModelId, RouteId
from routecanary.routing.index import slugs_above
from routecanary.routing.reading import ModelFacts
from routecanary.routing.view import base_model

Lookup = Callable[[str], ModelFacts | None]
"""What the snapshot knows of a model, by any of its names: `Views.facts`."""


class Located(NamedTuple):
    """Where a generation was served, as far as that is known."""

    model: ModelId  # as the canary calls it; a model that it does not watch, as the sender does
    candidates: frozenset[RouteId]
    carried: frozenset[RouteId]  # of these, what the request ignored; of all, while none is known


def nothing_known(model: str) -> ModelFacts | None:
    """Look nothing up: there is no snapshot."""


def locate(
    lookup: Lookup,
    model: str,
    *,
    provider: str | None = None,
    route: RouteId | None = None,
    ignore: Iterable[str] | None = None,
) -> Located:
    """Find the routes that may have served an answer.

    Args:
        model: As the request or the answer named it.
        provider: The display name that the answer gave; a slug or a tag serves as well.
        route: The tag, where the sender knows it exactly.
        ignore: The whole `provider.ignore` that the request carried; None = not said.
    """
    facts = lookup(model)
    candidates: Iterable[str] = ()
    if route is not None:
        candidates = (route,)
    elif provider is not None and facts is not None:
        candidates = facts.index.served(provider.lower())
    return Located(
        model=ModelId(base_model(model) if facts is None else facts.model),
        candidates=frozenset(map(RouteId, candidates)),
        carried=frozenset(map(RouteId, _ignored(facts, frozenset(candidates), ignore or ()))),
    )


def serves(facts: ModelFacts | None, name: str) -> bool:
    """Say whether a name is one of a provider that serves this model."""
    return facts is not None and bool(facts.index.served(name.lower()))


def _ignored(facts: ModelFacts | None, candidates: frozenset[str], ignore: Iterable[str]) -> Iterable[str]:
    names = frozenset(map(str.lower, ignore))
    named = {tag for name in names for tag in facts.index.named(name)} if facts is not None else set()
    if not candidates:
        return named
    tiers = frozenset() if facts is None else facts.index.tiers
    return {
        tag
        for tag in candidates
        if tag in named or tag in names or (tag not in tiers and not names.isdisjoint(slugs_above(tag)))
    }
