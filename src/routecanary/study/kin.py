"""With whom is a route fairly compared?

Two hosts of one precision class serve the same weights; the model's own vendor serves those that were meant.
Who the vendor is, the configuration says; else it is a provider of the same name as the model's author.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from routecanary.domain.names import ModelId
from routecanary.domain.route import Route
from routecanary.study.values import StudyRoute

_OTHER: Final = re.compile(r"[^a-z0-9]+")


def is_official(route: Route, model: ModelId, configured: Collection[str]) -> bool:
    """Say whether the model's own vendor serves a route.

    Args:
        configured: Tags and provider slugs; where there are any, they alone decide.
    Example: of `acme/chat-2`, the routes `acme` and `acme/fp8`; of `x-ai/talk`, `xai`.
    """
    if configured:
        return any(route.tag == entry or route.tag.startswith(entry + "/") for entry in configured)
    author = _folded(model.split("/", 1)[0])
    names = {route.tag.split("/", 1)[0], *route.provider_names}
    return bool(author) and any(_folded(name) == author for name in names)


def same_precision(one: StudyRoute, other: StudyRoute) -> bool:
    """Say whether two routes declare the same precision class; one that declares none has no equal."""
    return bool(one.quantizations) and one.quantizations == other.quantizations


def _folded(name: str) -> str:
    """Reduce a name to its letters and digits."""
    return _OTHER.sub("", name.lower())
