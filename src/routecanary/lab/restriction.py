"""What does a rule of the account forbid, whatever a request asks for?

The granularity of a guardrail's provider lists is unconfirmed, so both readings can be played: entries that
name providers only, and entries that name full tags as `provider.ignore` does.

Source: openrouter-wire.md §1.4, §2.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from routecanary.lab.host import LabRoute


@dataclass(frozen=True, slots=True, kw_only=True)
class Restriction:
    """One list of providers that are out, and one of those that alone are in; in lower case."""

    ignored: tuple[str, ...] = ()
    allowed: tuple[str, ...] | None = None  # None = all
    full_tags: bool = True
    reason: str = "Provider not allowed (guardrail)"

    @property
    def is_empty(self) -> bool:
        return not self.ignored and self.allowed is None

    def admits(self, route: LabRoute) -> bool:
        """Say whether a route may serve under it."""
        if any(self._names(entry, route) for entry in self.ignored):
            return False
        return self.allowed is None or any(self._names(entry, route) for entry in self.allowed)

    def _names(self, entry: str, route: LabRoute) -> bool:
        """Say whether an entry names a route; as a provider it names the service tiers too."""
        if self.full_tags:
            return names(entry, route)
        return entry in (route.slug, route.provider.lower())


def names(entry: str, route: LabRoute) -> bool:
    """Say whether an entry of `order`, `only` or `ignore` (in lower case) names a route.

    A full tag names that route alone; a base slug, or the provider's display name, names all of the
    provider's routes that are no service tier.
    """
    if entry == route.tag:
        return True
    return route.service_tier is None and entry in (route.slug, route.provider.lower())


def names_any(entries: Sequence[str], route: LabRoute) -> bool:
    return any(names(entry, route) for entry in entries)
