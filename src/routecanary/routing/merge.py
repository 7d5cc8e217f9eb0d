"""How does the list of exclusions enter a caller's provider preferences?

The caller's entries come first, in the caller's order and spelling; ours follow, sorted; nothing stands there
twice. All other keys stay as they are, and whatever is returned is the caller's own to change.

An application runs this on its request path: standard library only, and what was worked out for a caller's
lists is remembered until others come.

Source: policy.md §8; openrouter-wire.md §2.1
(`only`, `ignore`, `order`, `allow_fallbacks`: any may be null).
"""

from __future__ import annotations

from collections.abc import Sequence

from routecanary.routing.view import Settled, View

EMPTYING = "merge_would_empty"

Names = Sequence[str]
Preferences = dict[str, object]


def merge(view: View, existing: Preferences | None, counts: dict[str, int]) -> Preferences | None:
    """Lay a view's list into a copy of the caller's preferences.

    Args:
        view: What callers of the model must avoid now.
        existing: The caller's `provider` object; None = it has none. Not changed.
        counts: Its `merge_would_empty` grows by one when the canary layer is left out of this call.
    Returns:
        A new dict whose lists are new too (deeper values are shared); None when `ignore`, `only` or `order`
        is not a list of strings, so that there is nothing to unite with: the gateway will refuse it.
    """
    if existing is None:
        existing = {}
    ignore = existing.get("ignore")
    if type(ignore) is list:
        refused: list[str] = ignore
    elif ignore is None:
        refused = []
    elif isinstance(ignore, (list, tuple)):
        refused = list(ignore)
    else:
        return None
    merged: Preferences = {}
    limits: tuple[Names, ...] = ()
    if len(existing) > 1 or ignore is None:  # there are other keys
        for name, value in existing.items():
            merged[name] = value.copy() if type(value) is list else value
        if "only" in existing or existing.get("allow_fallbacks") is False:
            found = _limits(existing)
            if found is None:
                return None
            limits = found
    settled = view.last
    if refused != settled[0] or limits != settled[1]:
        try:
            settled = view.last = _settle(view, refused, limits)
        except TypeError:  # an item that is no string
            return None
    _, _, names, emptied = settled
    if emptied:
        counts[EMPTYING] += 1
    if names is None:
        merged["ignore"] = [*refused, *view.ignore]
    elif names or ignore is not None:
        merged["ignore"] = names.copy()
    return merged


def _limits(preferences: Preferences) -> tuple[Names, ...] | None:
    """Collect the lists outside of which the caller takes no route; None when one is no list.

    An empty list limits nothing. Without fallbacks, nothing but `order` is tried.
    """
    limits = []
    for name in ("only", "order") if preferences.get("allow_fallbacks") is False else ("only",):
        names = preferences.get(name)
        if isinstance(names, (list, tuple)):
            if names:
                limits.append(tuple(names))
        elif names is not None:
            return None
    return tuple(limits)


def _settle(view: View, refused: list[str], limits: tuple[Names, ...]) -> Settled:
    """Unite the lists, and find out whether the canary layer has to be left out.

    Raises:
        TypeError: An item of a list is no string.
    """
    joined = "\n".join(refused)  # one look at all of them: mostly there is nothing to lower
    lowered = frozenset(refused if joined == joined.lower() else map(str.lower, refused))
    ample = len(refused) <= view.ample and not limits
    if ample and view.ignore and len(lowered) == len(refused) and lowered.isdisjoint(view.ignored):
        return refused.copy(), limits, None, False
    whole = _united(refused, view.ignore, lowered)
    if ample or _is_left(view, limits, lowered):
        return refused.copy(), limits, whole, False
    kept = _united(refused, view.kept, lowered)
    return refused.copy(), limits, kept, kept != whole


def _is_left(view: View, limits: tuple[Names, ...], refused: frozenset[str]) -> bool:
    """Say whether every one of the view's models has a route left for this caller."""
    if not limits:
        return all(room.is_left(refused) for room in view.rooms)
    admitted = tuple(tuple(map(str.lower, names)) for names in limits)
    return all(room.is_left_of(admitted, refused) for room in view.rooms)


def _united(refused: Names, ours: Names, lowered: frozenset[str]) -> list[str]:
    return [*dict.fromkeys(refused), *[name for name in ours if name not in lowered]]
