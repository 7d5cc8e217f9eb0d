"""How does the list of exclusions enter a caller's provider preferences?

The caller's entries come first, in the caller's order and spelling; ours follow, sorted; nothing stands there
twice. All other keys stay as they are, and whatever is returned is the caller's own to change.

An application runs this on its request path: standard library only, and what was worked out for one list of a
caller is remembered for the next request that carries the same.

Source: policy.md §8; openrouter-wire.md §2.1
(`only`, `ignore`, `order`, `allow_fallbacks`: any may be null).
"""

from __future__ import annotations

from collections.abc import Mapping

from routecanary.routing.view import Room, View

EMPTYING = "merge_would_empty"

_MEMO_SIZE = 512  # callers' lists remembered by a view
_MEMO_ENTRIES = 64  # a longer list is worked out each time

Names = tuple[str, ...]


def merge(
    view: View, existing: Mapping[str, object] | None, counts: dict[str, int]
) -> dict[str, object] | None:
    """Lay a view's list into a copy of the caller's preferences.

    Args:
        view: What callers of the model must avoid now.
        existing: The caller's `provider` object; None = it has none. Not changed.
        counts: Its `merge_would_empty` grows by one when the canary layer is left out of this call.
    Returns:
        A new dict whose lists are new too (deeper values are shared); None when `ignore`, `only` or `order`
        is not a list of strings, so that there is nothing to unite with: the gateway will refuse it.
    """
    merged: dict[str, object] = {} if existing is None else dict(existing)
    ignore = merged.get("ignore")
    if ignore is None:
        refused: Names = ()
    elif isinstance(ignore, (list, tuple)):
        refused = tuple(ignore)
    else:
        return None
    limits: tuple[Names, ...] = ()
    if len(merged) > 1:
        for name, value in merged.items():  # no key comes or goes
            if type(value) is list:
                merged[name] = value.copy()
        found = _limits(merged)
        if found is None:
            return None
        limits = found
    memo: dict[object, tuple[list[str], bool]] = view.limited_memo if limits else view.memo
    key = (refused, limits) if limits else refused
    try:
        settled = memo.get(key)
        if settled is None:
            settled = _settle(view, refused, limits)
            if len(refused) <= _MEMO_ENTRIES:
                if len(memo) >= _MEMO_SIZE:
                    memo.clear()
                memo[key] = settled
    except TypeError:  # an item that is no string
        return None
    names, emptied = settled
    if emptied:
        counts[EMPTYING] += 1
    if names or ignore is not None:
        merged["ignore"] = names.copy()
    return merged


def _limits(preferences: dict[str, object]) -> tuple[Names, ...] | None:
    """Collect the lists outside of which the caller takes no route; None when one is no list."""
    lists = [preferences.get("only")]
    if preferences.get("allow_fallbacks") is False:  # then nothing but `order` is tried
        lists.append(preferences.get("order"))
    limits = []
    for names in lists:
        if isinstance(names, (list, tuple)):
            if names:  # an empty list limits nothing
                limits.append(tuple(names))
        elif names is not None:
            return None
    return tuple(limits)


def _settle(view: View, refused: Names, limits: tuple[Names, ...]) -> tuple[list[str], bool]:
    """Unite the lists; say whether the canary layer had to be left out.

    Raises:
        TypeError: An item of a list is no string.
    """
    lowered = frozenset(map(str.lower, refused))
    admitted = tuple(frozenset(map(str.lower, names)) for names in limits)
    whole = _united(refused, view.ignore, lowered)
    if view.ignore == view.kept or all(_is_left(room, admitted, lowered) for room in view.rooms):
        return whole, False
    kept = _united(refused, view.kept, lowered)
    return kept, kept != whole


def _is_left(room: Room, admitted: tuple[frozenset[str], ...], refused: frozenset[str]) -> bool:
    return room.is_left_of(admitted, refused) if admitted else room.is_left(refused)


def _united(refused: Names, ours: Names, lowered: frozenset[str]) -> list[str]:
    return [*dict.fromkeys(refused), *[name for name in ours if name not in lowered]]
