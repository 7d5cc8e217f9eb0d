"""How do the exclusions enter a request to a gateway that knows no `ignore`?

Such a gateway takes an allow-list. It is the caller's own `only`, or else all routes that the last round
named, without those that are to be avoided; where nothing is to be avoided the request stays as it is, since
a list made of our listing locks out whoever came after it. An empty list is never made: it might allow all.

An application runs this on its request path: standard library only, no dataclasses, no typing.

Source: docs/routing.md, "A gateway without ignore".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from routecanary.routing.merge import EMPTYING
from routecanary.routing.patch import models_of
from routecanary.routing.view import View, Views

Request = Mapping[str, object]
Changes = dict[str, object]


def allow(views: Sequence[View], only: Sequence[str], counts: dict[str, int]) -> list[str] | None:
    """Work out what `only` must say for a request that any of these models may serve.

    Args:
        views: Each model's view, at one time; at least one.
        only: The caller's own list; empty = the caller admits everybody.
        counts: Its `merge_would_empty` grows by one when the canary layer is left out of this call.
    Returns:
        A list in the caller's order, or sorted; None: the request may go as it is.
    """
    own = tuple(only)
    first = views[0]
    if len(views) == 1 and first.allowed is not None and first.allowed[0] == own:
        _, names, emptied = first.allowed
    else:
        names, emptied = _worked_out(views, own)
        if len(views) == 1:
            first.allowed = (own, names, emptied)
    if emptied:
        counts[EMPTYING] += 1
    return None if names is None else names.copy()


def _worked_out(views: Sequence[View], own: tuple[str, ...]) -> tuple[list[str] | None, bool]:
    base = own or _all_listed(views)
    whole = _without(views, base, [view.ignored for view in views])
    if len(whole) == len(base):
        return None, False
    if _keeps_each(views, whole):
        return whole, False
    kept = _without(views, base, [frozenset(view.kept) for view in views])
    if not kept or len(kept) == len(base):
        return None, True
    return kept, len(kept) != len(whole)


def _all_listed(views: Sequence[View]) -> tuple[str, ...]:
    """List everybody whom some model's last round named, as the gateway spells them."""
    names = {
        room.index.spelled.get(tag, tag)
        for view in views
        for room in view.rooms
        for tag in room.index.tags - room.index.tiers
    }
    return tuple(sorted(names))


def _without(views: Sequence[View], names: Sequence[str], ignored: Sequence[frozenset[str]]) -> list[str]:
    """Leave out whom some model avoids, save where another model is served by the same and does not."""
    avoided: set[str] = set()
    wanted: set[str] = set()
    for view, refused in zip(views, ignored, strict=True):
        avoided |= refused
        for room in view.rooms:
            dead = {tag for name in refused for tag in room.index.named(name)}
            avoided |= dead
            wanted |= room.index.tags - dead
    return [name for name in names if name.lower() not in avoided or name.lower() in wanted]


def _keeps_each(views: Sequence[View], names: Sequence[str]) -> bool:
    """Say whether every model of which routes are known keeps one that it does not avoid."""
    left = {name.lower() for name in names}
    return all(
        any(tag in left for tag in room.index.tags - room.dead) for view in views for room in view.rooms
    )


def fallbacks_of(request: Request) -> tuple[str, ...] | None:
    """List the fallback models that a request names in its routing options; None where it is unreadable."""
    names = []
    models = _table(_table(request.get("providerOptions")).get("gateway")).get("models")
    for entry in () if models is None else models if isinstance(models, (list, tuple)) else (None,):
        name = entry.get("model") if isinstance(entry, Mapping) else entry
        if not isinstance(name, str) or not name:
            return None
        names.append(name)
    return tuple(names)


def changes_of(views: Sequence[View], request: Request, counts: dict[str, int]) -> Changes | None:
    """Say which top-level keys of a request must read otherwise, and how.

    A caller may state `only` in `providerOptions.gateway`, or in the short form `provider`; it is narrowed
    wherever it stands. Where it stands nowhere, it is put into the first.

    Args:
        views: Of the models that may serve it.
        request: The whole chat request, or as much of it as says how it is routed; not changed.
        counts: As for `allow`.
    Returns:
        New values, whose other parts are shared with the request; empty: it may go as it is. None: its
        routing options are not what they should be, for the gateway to refuse.
    """
    options, short = request.get("providerOptions"), request.get("provider")
    if not _is_table(options) or not _is_table(short) or not _is_table(_table(options).get("gateway")):
        return None
    gateway = _table(_table(options).get("gateway"))
    stated, stated_short = _names(gateway.get("only")), _names(_table(short).get("only"))
    if stated is None or stated_short is None:
        return None
    changes: Changes = {}
    if not stated and not stated_short and not all(map(_is_known, views)):
        if any(view.ignore for view in views) and all(view.doubt is None for view in views):
            counts[EMPTYING] += 1
        return changes
    if stated or not stated_short:
        names = allow(views, stated, counts)
        if names is not None:
            changes["providerOptions"] = {**_table(options), "gateway": {**gateway, "only": names}}
    if stated_short:
        names = allow(views, stated_short, counts)
        if names is not None:
            changes["provider"] = {**_table(short), "only": names}
    return changes


def left_out(views: Views, request: Request, now: float) -> list[str]:
    """List the routes that a request's allow-list leaves out, of those that are listed for its models.

    It is to such a gateway what `ignore` is to others: who is named here must not serve the request.
    """
    models = models_of(request)
    only = _names(_table(_table(request.get("providerOptions")).get("gateway")).get("only"))
    only = only or _names(_table(request.get("provider")).get("only"))
    if not only or isinstance(models, str):
        return []
    admitted = {name.lower() for name in only}
    rooms = [room for name in models for room in views.at(name, now, None).rooms]
    return sorted({tag for room in rooms for tag in room.index.tags} - admitted)


def _is_known(view: View) -> bool:
    """Say whether routes of its model are known, of which an allow-list could be made."""
    return any(room.index.tags for room in view.rooms)


def _is_table(value: object) -> bool:
    return value is None or isinstance(value, Mapping)


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _names(value: object) -> Sequence[str] | None:
    """Read a list of names; nothing said is an empty one, and what is no list of names None."""
    if value is None:
        return ()
    if not isinstance(value, (list, tuple)) or not all(isinstance(name, str) for name in value):
        return None
    return value
