"""What changed between two listings, and is the new one to be believed?

A gateway's own trouble can empty a listing. Taken at its word, that would drop routes from the round and with
them the capacity that the floor counts; so a listing that shrank is doubted until others agree with it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from routecanary.domain.names import RouteId
from routecanary.domain.route import Listing, Route


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One route that both listings name, differently."""

    before: Route
    after: Route

    def fields(self) -> tuple[str, ...]:
        """List what differs, in the order of `Route`'s fields."""
        return tuple(
            field.name
            for field in fields(Route)
            if getattr(self.before, field.name) != getattr(self.after, field.name)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The difference of two listings of one model; every part sorted by tag."""

    appeared: tuple[Route, ...] = ()
    vanished: tuple[Route, ...] = ()
    changed: tuple[Change, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.appeared or self.vanished or self.changed)


def changes_between(before: Listing | None, after: Listing) -> Changes:
    """Compare two listings by tag; before the first one there was nothing."""
    old: dict[RouteId, Route] = {} if before is None else {route.tag: route for route in before.routes}
    new = {route.tag: route for route in after.routes}
    return Changes(
        appeared=tuple(new[tag] for tag in sorted(new.keys() - old.keys())),
        vanished=tuple(old[tag] for tag in sorted(old.keys() - new.keys())),
        changed=tuple(
            Change(before=old[tag], after=new[tag])
            for tag in sorted(old.keys() & new.keys())
            if old[tag] != new[tag]
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """Which listing of a model is believed, and which one waits for agreement."""

    believed: Listing | None = None
    doubted: Listing | None = None  # the newest of those that agree
    agreed: int = 0  # further listings in a row that agreed with the doubted one


AGREEMENTS_NEEDED = 2
"""Further listings in a row that must agree with one that shrank."""


def weigh(belief: Belief, listing: Listing) -> Belief:
    """Take in the next listing of a model.

    Returns:
        A belief in `listing` when it did not shrink, or when two further listings in a row have agreed with
        a shrunken one (they name the same tags). Otherwise `doubted` is set: no round is made of it, and
        what was believed before stays.
    Example: of 10 routes, a listing with 5 is believed at once; with 4, at its third appearance in a row.
    Source: policy.md §4.
    """
    if not has_shrunk(belief.believed, listing):
        return Belief(believed=listing)
    agreed = 0
    if belief.doubted is not None and belief.doubted.tags() == listing.tags():
        agreed = belief.agreed + 1
    if agreed >= AGREEMENTS_NEEDED:
        return Belief(believed=listing)
    return Belief(believed=belief.believed, doubted=listing, agreed=agreed)


def has_shrunk(before: Listing | None, after: Listing) -> bool:
    """Say whether a listing is empty or has lost more than half of the routes that were believed.

    A route that came instead of a lost one does not make up for it.
    """
    if not after.routes:
        return before is None or bool(before.routes)
    if before is None:
        return False
    lost = before.tags() - after.tags()
    return 2 * len(lost) > len(before.routes)
