"""What must callers of one model avoid at this time?

A snapshot holds facts with their ends; a view is what follows from them between two instants. The daemon's
`ignore` command and every application's client take their lists from here, so they cannot differ.

An application imports this module on its request path: standard library only, no dataclasses, no typing.

Source: policy.md §8.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nextafter

from routecanary.routing.index import Group, RouteIndex, slugs_above

TYPE_CHECKING = False
if TYPE_CHECKING:  # what reads the file is imported when there is one
    from routecanary.routing.reading import Entry, ModelFacts, Snapshot, Suspended
    from routecanary.routing.scope import Scope

FUTURE_TOLERANCE = 300.0  # seconds by which the writer's clock may be ahead of the reader's

OPENROUTER = "openrouter"  # the gateway whose requests carry `provider.ignore`
VERCEL = "vercel"  # the one whose requests carry an allow-list, `providerOptions.gateway.only`

NO_SNAPSHOT = "no_snapshot"
STALE = "stale"
FROM_FUTURE = "from_future"
UNKNOWN_MODEL = "unknown_model"

_ANY = 1 << 62  # names; more than anybody has
_REMEMBERED = 256  # combinations of models, and scopes
_BASE_VARIANTS = frozenset({"nitro", "floor", "exacto"})  # the same model, routed by another wish


class Room:
    """What is left of one model's routes when the whole list is merged; asked by the emptiness rule."""

    __slots__ = ("ample", "dead", "groups", "index")

    def __init__(self, index: RouteIndex, ignored: tuple[str, ...]) -> None:
        self.index = index
        self.dead = frozenset(tag for name in ignored for tag in index.named(name))
        groups = dict(index.groups)
        for base in {index.group_of[tag] for tag in self.dead if tag in index.group_of}:
            left = tuple(tag for tag in groups[base].routes if tag not in self.dead)
            if left:
                groups[base] = Group(groups[base].names, left)
            else:
                del groups[base]
        self.groups = tuple(groups.values())
        self.ample = (len(groups) - 1) // index.reach

    def is_left(self, refused: frozenset[str]) -> bool:
        """Say whether a caller that ignores these names too still has a route, tiers not counted.

        Costs time in proportion to `refused`, whatever the number of routes: a group that is wholly named is
        passed over at once, and in any other one few routes are named before one is found that is not.
        """
        names_of = self.index.names_of
        for group in self.groups:
            if group.names.isdisjoint(refused):
                for tag in group.routes:
                    if names_of[tag].isdisjoint(refused):
                        return True
        return False

    def is_left_of(self, admitted: tuple[Sequence[str], ...], refused: frozenset[str]) -> bool:
        """Say the same for a caller that admits only routes which each of the sets of names admits."""
        names_of = self.index.names_of
        first, *others = ([tag for name in names for tag in self.index.admitted(name)] for names in admitted)
        rest = [frozenset(tags) for tags in others]
        for tag in first:
            if (
                tag not in self.dead
                and names_of[tag].isdisjoint(refused)
                and all(tag in tags for tags in rest)
            ):
                return True
        return False


Settled = tuple[list[str] | None, tuple[Sequence[str], ...], list[str] | None, bool]
"""A caller's `ignore` and limits; the united list, None for one after the other; canary layer left out?"""

Allowed = tuple[tuple[str, ...], list[str] | None, bool]
"""A caller's `only`; what it has to be, None for as it is; canary layer left out?"""


class View:
    """The exclusions of one model (or of several at once) while `since <= now < until`, in epoch seconds.

    `ignore` is the whole list, `kept` the same without the canary layer; both sorted, in lower case.
    `doubt` is the reason why less is known than should be, None if nothing is amiss. `last` belongs to the
    merge, `allowed` to the allow-list: what was worked out for the lists of the last caller, which mostly
    come again.
    """

    __slots__ = (
        "allowed",
        "ample",
        "doubt",
        "ignore",
        "ignored",
        "kept",
        "last",
        "rooms",
        "since",
        "until",
    )

    def __init__(
        self,
        *,
        since: float,
        until: float,
        ignore: tuple[str, ...],
        kept: tuple[str, ...],
        rooms: tuple[Room, ...],
        doubt: str | None,
    ) -> None:
        self.since = since
        self.until = until
        self.ignore = ignore
        self.ignored = frozenset(ignore)
        self.kept = kept
        self.rooms = rooms
        # So many names of a caller, or fewer, surely leave a route; or there is no canary layer to leave out.
        self.ample = _ANY if ignore == kept else min((room.ample for room in rooms), default=_ANY)
        self.doubt = doubt
        self.last: Settled = (None, (), None, False)
        self.allowed: Allowed | None = None


NOTHING_KNOWN = View(since=-inf, until=inf, ignore=(), kept=(), rooms=(), doubt=NO_SNAPSHOT)
"""The view of every model before the first snapshot."""


class InForce:
    """What of a snapshot holds for callers of one model while `since <= now < until`.

    `builtin`, `runtime` and `canary` are the layers that are merged, as far as the emptiness rule allows.
    `changes` is when the facts alone make another list of them, however old the snapshot; inf = never.
    """

    __slots__ = ("builtin", "canary", "changes", "doubt", "runtime", "since", "until")

    def __init__(
        self,
        *,
        since: float,
        until: float,
        changes: float,
        doubt: str | None,
        builtin: tuple[Entry, ...],
        runtime: tuple[Entry, ...],
        canary: tuple[Suspended, ...],
    ) -> None:
        self.since = since
        self.until = until
        self.changes = changes
        self.doubt = doubt
        self.builtin = builtin
        self.runtime = runtime
        self.canary = canary


def in_force(
    snapshot: Snapshot, model: str, facts: ModelFacts | None, now: float, scope: Scope | None = None
) -> InForce:
    """Find what holds for callers of a model at `now`, and until when that is so.

    Args:
        model: The id that the snapshot has for it; of an unknown model, whatever the caller said.
        facts: None for a model that the canary does not watch: entries for all models still apply.
        now: Epoch seconds.
        scope: What the caller needs; None = the whole list.
    """
    trusted_from = snapshot.written_at - FUTURE_TOLERANCE
    stale_from = nextafter(snapshot.written_at + snapshot.max_age, inf)  # older than, not as old as
    ends = [
        entry.expires for entry in snapshot.runtime if entry.expires is not None and entry.applies_to(model)
    ]
    runtime = tuple(
        entry
        for entry in snapshot.runtime
        if entry.applies_to(model) and (entry.expires is None or now < entry.expires)
    )
    doubt = None
    if now < trusted_from:
        doubt = FROM_FUTURE
        ends.append(trusted_from)
    elif now >= stale_from:
        doubt = STALE
    else:
        ends.append(stale_from)
        if facts is None:
            doubt = UNKNOWN_MODEL
    changes = [entry.expires for entry in runtime if entry.expires is not None]
    canary: tuple[Suspended, ...] = ()
    if facts is not None and facts.enforced and not facts.released:
        if facts.paused_until is not None:
            ends.append(facts.paused_until)
        ends.extend(suspension.until for suspension in facts.suspensions)
        if not facts.is_paused(now) and doubt is None:
            canary = tuple(
                suspension
                for suspension in facts.suspensions
                if now < suspension.until and (scope is None or scope.touches(suspension))
            )
            changes.extend(suspension.until for suspension in canary)
        elif facts.is_paused(now) and facts.paused_until is not None:
            changes.append(facts.paused_until)
    return InForce(
        since=-inf if doubt is FROM_FUTURE else trusted_from,
        until=min((end for end in ends if now < end), default=inf),
        changes=min(changes, default=inf),
        doubt=doubt,
        builtin=tuple(entry for entry in snapshot.builtin if entry.applies_to(model)),
        runtime=runtime,
        canary=canary,
    )


def view_of(
    snapshot: Snapshot, model: str, facts: ModelFacts | None, now: float, scope: Scope | None = None
) -> View:
    """Work out what callers of a model must avoid at `now`, and until when that holds; as `in_force`."""
    return view_from(in_force(snapshot, model, facts, now, scope), facts)


def view_from(found: InForce, facts: ModelFacts | None) -> View:
    """Work out what callers of a model must avoid from what is in force for it."""
    kept = {entry.target for entry in (*found.builtin, *found.runtime)}
    ignore = tuple(sorted(kept.union(suspension.route for suspension in found.canary)))
    return View(
        since=found.since,
        until=found.until,
        ignore=ignore,
        kept=tuple(sorted(kept)),
        rooms=() if facts is None else (Room(facts.index, ignore),),
        doubt=found.doubt,
    )


def common_view(views: list[tuple[View, RouteIndex | None]]) -> View:
    """Work out what is ignored for every one of several models, of which the gateway may choose any.

    A name is ignored for a model if that model's list holds it or a bare slug above it. Each model must keep
    a route of its own, for a fallback without routes is none.

    Args:
        views: Each model's view and routes, at one time; at least one.
    """
    doubts = [view.doubt for view, _ in views if view.doubt is not None]
    ignore = _common([(frozenset(view.ignore), index) for view, index in views])
    kept = _common([(frozenset(view.kept), index) for view, index in views])
    return View(
        since=max(view.since for view, _ in views),
        until=min(view.until for view, _ in views),
        ignore=ignore,
        kept=kept,
        rooms=tuple(Room(index, ignore) for _, index in views if index is not None),
        doubt=doubts[0] if doubts else None,
    )


def _common(lists: list[tuple[frozenset[str], RouteIndex | None]]) -> tuple[str, ...]:
    named = frozenset[str]().union(*(names for names, _ in lists))
    return tuple(sorted(name for name in named if all(_covers(names, index, name) for names, index in lists)))


def _covers(names: frozenset[str], index: RouteIndex | None, name: str) -> bool:
    if name in names:
        return True
    is_tier = index is not None and name in index.tiers
    return not is_tier and not names.isdisjoint(slugs_above(name))


def base_model(name: str) -> str:
    """Strip the variants that mean the base model: `a/b:nitro` is `a/b`, `a/b:free` is itself."""
    while True:
        base, colon, variant = name.rpartition(":")
        if not colon or variant not in _BASE_VARIANTS:
            return name
        name = base


_Scoped = tuple[str, "frozenset[str] | None", "str | None"]
_Combination = tuple[tuple[str, ...], "frozenset[str] | None", "str | None"]


class Views:
    """The views of one snapshot by every name of every model, kept until they end.

    `by_name` may be read by any thread at any time; its views are replaced, never changed. A view is never
    replaced by an earlier one: when the clock steps back, what has ended stays ended. `mergeable` is
    `by_name` where the gateway knows `provider.ignore`, and empty where it does not.
    """

    __slots__ = ("_common", "_facts_of", "_latest", "_scoped", "by_name", "gateway", "mergeable", "snapshot")

    def __init__(self, snapshot: Snapshot, now: float) -> None:
        self.snapshot = snapshot
        self._latest = now
        self._facts_of = _facts_by_name(snapshot)
        self._common: dict[_Combination, View] = {}
        self._scoped: dict[_Scoped, View] = {}
        self.gateway = snapshot.gateway
        self.by_name: dict[str, View] = {}
        self.mergeable = self.by_name if snapshot.gateway == OPENROUTER else {}
        for name in snapshot.models:
            self.find(name, now)

    def at(self, name: str, now: float, scope: Scope | None) -> View:
        """Return the view of a model at `now`, one that is kept if it still holds."""
        if scope is not None:
            return self.find_scoped(name, now, scope)
        view = self.by_name.get(name)
        return view if view is not None and view.since <= now < view.until else self.find(name, now)

    def find(self, name: str, now: float) -> View:
        """Return the view of a model at `now`, whatever the caller calls it."""
        facts, at = self.facts(name), self._time(now)
        if facts is None:
            return view_of(self.snapshot, base_model(name), None, at)
        view = view_of(self.snapshot, facts.model, facts, at)
        for known in (facts.model, *facts.names):
            for spelled in (known, *(f"{known}:{variant}" for variant in _BASE_VARIANTS)):
                if self.facts(spelled) is facts:
                    self.by_name[spelled] = view
        return view

    def find_scoped(self, name: str, now: float, scope: Scope) -> View:
        """Return the view of a model at `now` for a caller that says what it needs."""
        key = (name, scope.needs, scope.language)
        view = self._scoped.get(key)
        if view is None or not view.since <= now < view.until:
            facts, at = self.facts(name), self._time(now)
            model = base_model(name) if facts is None else facts.model
            view = view_of(self.snapshot, model, facts, at, scope)
            if len(self._scoped) >= _REMEMBERED:
                self._scoped.clear()
            self._scoped[key] = view
        return view

    def find_in_force(self, name: str, now: float, scope: Scope | None) -> tuple[str, InForce, View]:
        """Return what a model is called in the snapshot, what holds for it at `now`, and its view."""
        facts, at = self.facts(name), self._time(now)
        model = base_model(name) if facts is None else facts.model
        found = in_force(self.snapshot, model, facts, at, scope)
        return model, found, view_from(found, facts)

    def find_common(self, names: tuple[str, ...], now: float, scope: Scope | None = None) -> View:
        """Return what is to be avoided for every one of these models at `now`."""
        key = (names, None, None) if scope is None else (names, scope.needs, scope.language)
        view = self._common.get(key)
        if view is None or not view.since <= now < view.until:
            facts = [self.facts(name) for name in names]
            view = common_view(
                [
                    (
                        self.find(name, now) if scope is None else self.find_scoped(name, now, scope),
                        None if known is None else known.index,
                    )
                    for name, known in zip(names, facts, strict=True)
                ]
            )
            if len(self._common) >= _REMEMBERED:
                self._common.clear()
            self._common[key] = view
        return view

    def doubt_at(self, now: float) -> str | None:
        """Say why the canary layer is not believed at `now`; None when it is."""
        written_at = self.snapshot.written_at
        if now < written_at - FUTURE_TOLERANCE:
            return FROM_FUTURE
        return STALE if max(now, self._latest) - written_at > self.snapshot.max_age else None

    def _time(self, now: float) -> float:
        """Hold a clock that stepped back at the latest time seen: what has ended stays ended."""
        trusted_from = self.snapshot.written_at - FUTURE_TOLERANCE
        at = now if now < trusted_from else max(now, self._latest)
        self._latest = max(at, self._latest)
        return at

    def facts(self, name: str) -> ModelFacts | None:
        """Return what is known of a model, by its id, an alias, or one of them with a variant."""
        return self._facts_of.get(name) or self._facts_of.get(base_model(name))


def _facts_by_name(snapshot: Snapshot) -> dict[str, ModelFacts]:
    """Index the models by id and alias; an id goes before an alias, and an alias of two models is none."""
    by_name: dict[str, ModelFacts] = {}
    claimed: set[str] = set()
    for facts in snapshot.models.values():
        for name in facts.names:
            if name in claimed:
                by_name.pop(name, None)
            else:
                claimed.add(name)
                by_name[name] = facts
    by_name.update(snapshot.models)
    return by_name
