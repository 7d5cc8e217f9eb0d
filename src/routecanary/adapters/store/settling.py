"""Which of the generations that are told are new, and which complete one that is kept?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from routecanary.domain.generation import Generation, completed

_FIRST_FRESH: Final = 2**62  # numbers for what is not kept yet; beyond any that a table gives


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What a table has to do, in this order."""

    gone: tuple[int, ...]  # numbers of those that are the same as another one
    changed: tuple[tuple[int, Generation], ...]  # each with its number
    fresh: tuple[Generation, ...]


def settle(known: Mapping[int, Generation], told: Sequence[Generation]) -> Settled:
    """Bring what is told together with what is kept.

    The gateway's id decides before the key: two tellers draw different keys for the same generation. Where a
    telling shows that two that are kept are one, the younger is completed into the elder.

    Args:
        known: By number, all that have the key or the id of one that is told.
        told: In their order.
    """
    places = dict(known)
    by_key = {each.key: number for number, each in known.items()}
    by_id: dict[str | None, int] = {each.id: number for number, each in known.items() if each.id is not None}
    changed: set[int] = set()
    gone: list[int] = []
    for each in told:
        found = {by_key.get(each.key), by_id.get(each.id)} - {None}
        same = sorted(number for number in found if number is not None and _agree(places[number], each))
        if not same and each.key in by_key:
            continue  # another generation's key: what was said stays
        number = same[0] if same else _FIRST_FRESH + len(places) + len(gone)
        merged = each
        for other in reversed(same):
            merged = completed(places[other], merged)
        for other in same[1:]:
            by_key = {key: number if place == other else place for key, place in by_key.items()}
            del places[other]
            gone.append(other)
            changed.discard(other)
        if places.get(number) != merged:
            changed.add(number)
        places[number] = merged
        by_key.setdefault(each.key, number)
        if merged.id is not None:
            by_id[merged.id] = number
    return Settled(
        gone=tuple(number for number in gone if number in known),
        changed=tuple((number, places[number]) for number in sorted(changed) if number in known),
        fresh=tuple(places[number] for number in sorted(places) if number not in known),
    )


def _agree(one: Generation, other: Generation) -> bool:
    """Say whether no id tells the two apart."""
    return one.id is None or other.id is None or one.id == other.id
