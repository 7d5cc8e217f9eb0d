"""How does the list of exclusions enter a caller's provider preferences?

The caller's entries come first, in the caller's order and spelling; ours follow, sorted; nothing stands there
twice. All other keys stay as they are, and whatever is returned is the caller's own to change.

An application runs this on its request path: standard library only, and what was worked out for one list of a
caller is remembered for the next request that carries the same.

Source: policy.md §8; openrouter-wire.md §2.1
(`only`, `ignore`, `order`, `allow_fallbacks`: any may be null).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from routecanary.routing.view import Settled, View

EMPTYING = "merge_would_empty"

_MEMO_SIZE = 128  # callers' lists remembered by a view, before all are forgotten
_MEMO_CHARACTERS = 4_000  # a longer list is worked out each time

Names = Sequence[str]
Preferences = Mapping[str, object]


def merge(view: View, existing: Preferences | None, counts: dict[str, int]) -> dict[str, object] | None:
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
        merged: dict[str, object] = {}
    elif type(existing) is dict:
        merged = existing.copy()  # half the price of dict(…)
    else:
        merged = dict(existing)
    refused: Names
    ignore = merged.get("ignore")
    if type(ignore) is list or isinstance(ignore, (list, tuple)):
        refused = ignore
    elif ignore is None:
        refused = ()
    else:
        return None
    try:
        joined = "\n".join(refused)
        key: object = joined
        limits: tuple[Names, ...] = ()
        if len(merged) > 1:
            for name, value in merged.items():  # no key comes or goes
                if type(value) is list:
                    merged[name] = value.copy()
            if "only" in merged or merged.get("allow_fallbacks") is False:
                limits = _limits(merged)
                key = (joined, limits)
        settled = view.memo.get(key)
        # The same text from as many names is the same list: one that holds a line break is not remembered.
        if settled is None or settled[0] != len(refused):
            settled = _settle(view, refused, limits, joined)
            _remember(view, key, joined, settled)
    except TypeError:  # something is no list, or something in it no string
        return None
    _, names, emptied = settled
    if emptied:
        counts[EMPTYING] += 1
    if names is None:
        merged["ignore"] = [*refused, *view.ignore]
    elif names or ignore is not None:
        merged["ignore"] = names.copy()
    return merged


def _limits(preferences: dict[str, object]) -> tuple[Names, ...]:
    """Collect the lists outside of which the caller takes no route; an empty list limits nothing.

    Raises:
        TypeError: One is no list of strings.
    """
    lists = [preferences.get("only")]
    if preferences.get("allow_fallbacks") is False:  # then nothing but `order` is tried
        lists.append(preferences.get("order"))
    limits = []
    for names in lists:
        if names is not None:
            if not isinstance(names, (list, tuple)):
                raise TypeError
            if names:
                limits.append(tuple(map(str.lower, names)))
    return tuple(limits)


def _settle(view: View, refused: Names, limits: tuple[Names, ...], joined: str) -> Settled:
    """Unite the lists, and find out whether the canary layer has to be left out."""
    lowered = frozenset(refused if joined == joined.lower() else map(str.lower, refused))
    safe = (len(refused) <= view.ample and not limits) or _is_left(view, limits, lowered)
    if safe and view.ignore and len(lowered) == len(refused) and lowered.isdisjoint(view.ignored):
        return len(refused), None, False
    whole = _united(refused, view.ignore, lowered)
    if safe:
        return len(refused), whole, False
    kept = _united(refused, view.kept, lowered)
    return len(refused), kept, kept != whole


def _remember(view: View, key: object, joined: str, settled: Settled) -> None:
    if len(joined) <= _MEMO_CHARACTERS and joined.count("\n") == max(settled[0] - 1, 0):
        if len(view.memo) >= _MEMO_SIZE:
            view.memo.clear()
        view.memo[key] = settled


def _is_left(view: View, limits: tuple[Names, ...], refused: frozenset[str]) -> bool:
    """Say whether every one of the view's models has a route left for this caller."""
    if not limits:
        return all(room.is_left(refused) for room in view.rooms)
    return all(room.is_left_of(limits, refused) for room in view.rooms)


def _united(refused: Names, ours: Names, lowered: frozenset[str]) -> list[str]:
    return [*dict.fromkeys(refused), *[name for name in ours if name not in lowered]]
