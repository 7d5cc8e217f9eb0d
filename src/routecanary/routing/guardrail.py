"""What of the exclusions may stand in a guardrail's list, and which entry there is ours?

A guardrail's list holds for every model and every request of the keys that it covers, and never ends by
itself. So less goes into it than into `provider.ignore`: only what takes no route away that a watched
model's own list would leave. Whatever else stands there is somebody else's: it is neither removed nor
counted as ours.

An entry names whom it names in whatever case; but ours is only what stands there letter by letter.

Source: policy.md §8; openrouter-wire.md §1.4, §2.4; docs/guardrail.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from routecanary.domain.guardrail import Granularity, Guardrail, GuardrailStanding
from routecanary.routing.index import RouteIndex


class Why(StrEnum):
    """Why an exclusion does not go into the guardrail."""

    FOREIGN = "foreign"  # it is there already, and not ours
    SWALLOWS = "swallows"  # it would also name routes that are not excluded
    EMPTIES = "empties"  # too little of a model would be left
    UNSEEN = "unseen"  # of a watched model nobody knows the routes yet
    LOST = "lost"  # somebody took it out


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelList:
    """One watched model: its routes, and what its callers must avoid now."""

    model: str
    index: RouteIndex
    ignore: frozenset[str]  # the whole merged list
    kept: frozenset[str]  # the same without the canary layer
    admitted: frozenset[str]  # routes that the product's own requests may be served by


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """An exclusion that is left to the hooks."""

    entry: str  # as the guardrail would name it
    why: Why
    model: str | None = None  # of whose routes
    routes: tuple[str, ...] = ()  # that it would take away, or that would be left; sorted


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A guardrail's list as it is and as it should be."""

    add: tuple[str, ...]  # sorted
    remove: tuple[str, ...]  # ours that are not wanted any more, as they are written there
    foreign: tuple[str, ...]  # not ours, in their order
    lost: tuple[str, ...]  # ours that somebody took out since; sorted
    left_out: tuple[LeftOut, ...]
    list: tuple[str, ...]  # what should stand there

    @property
    def changes(self) -> bool:
        return bool(self.add or self.remove)


def plan(
    guardrail: Guardrail,
    standing: GuardrailStanding,
    models: Sequence[ModelList],
    *,
    granularity: Granularity,
    floor: int,
    again: bool = False,
) -> Plan:
    """Compare what should stand in a guardrail's list with what does.

    Args:
        standing: What is ours there; a pending write must have been settled.
        models: Every watched model.
        floor: Routes that entries of the canary layer must leave of each model; others leave one.
        again: Put back what somebody took out.
    """
    ours = standing.owned & set(guardrail.ignored)
    gone = standing.owned - ours
    lost = frozenset[str]() if again else standing.lost | {name.lower() for name in gone}
    foreign = tuple(name for name in guardrail.ignored if name not in ours)
    wanted, left_out = _wanted(guardrail, foreign, models, granularity=granularity, floor=floor)
    left_out += [LeftOut(entry=entry, why=Why.LOST) for entry in sorted(wanted & lost)]
    wanted -= lost
    remove = tuple(sorted(name for name in ours if name.lower() not in wanted))
    add = tuple(sorted(wanted - {name.lower() for name in ours}))
    kept = tuple(name for name in guardrail.ignored if name not in remove)
    return Plan(
        add=add,
        remove=remove,
        foreign=foreign,
        lost=tuple(sorted(gone)),
        left_out=tuple(left_out),
        list=(*kept, *add),
    )


def as_written(entries: Iterable[str], ignored: Sequence[str]) -> frozenset[str]:
    """Find entries in a list: as we write them where that is there, else in whatever case they come first."""
    found: dict[str, str] = {}
    for name in ignored:
        if name == name.lower() or name.lower() not in found:
            found[name.lower()] = name
    return frozenset(found[entry] for entry in entries if entry in found)


def _wanted(
    guardrail: Guardrail,
    foreign: Iterable[str],
    models: Sequence[ModelList],
    *,
    granularity: Granularity,
    floor: int,
) -> tuple[set[str], list[LeftOut]]:
    """Choose the entries that may stand there, those outside of the canary layer first, by name."""
    taken = {name.lower() for name in foreign}
    rooms = [_Room(model, taken, guardrail.allowed) for model in models]
    wanted: set[str] = set()
    left_out: list[LeftOut] = []
    unseen = next((model.model for model in models if not model.index.tags), None)
    for entry, canary in _entries(models, granularity):
        if unseen is not None:
            left_out.append(LeftOut(entry=entry, why=Why.UNSEEN, model=unseen))
            continue
        if entry in taken:
            left_out.append(LeftOut(entry=entry, why=Why.FOREIGN))
            continue
        problem = _swallowing(entry, models, granularity) or _emptying(
            entry, rooms, granularity, least=floor if canary else 1
        )
        if problem is not None:
            left_out.append(problem)
            continue
        wanted.add(entry)
        for room in rooms:
            room.left -= named_by(entry, room.model.index, granularity)
    return wanted, left_out


def _entries(models: Sequence[ModelList], granularity: Granularity) -> list[tuple[str, bool]]:
    """List what the models' lists would put there, each with whether the canary layer alone wants it."""
    canary: dict[str, bool] = {}
    for model in models:
        for name in model.ignore:
            entry = entry_for(name, granularity)
            canary[entry] = canary.get(entry, True) and name not in model.kept
    return sorted(canary.items(), key=lambda item: (item[1], item[0]))


def entry_for(name: str, granularity: Granularity) -> str:
    """Write an exclusion as the guardrail would name it."""
    return name.split("/", 1)[0] if granularity is Granularity.SLUG else name


def named_by(entry: str, index: RouteIndex, granularity: Granularity) -> frozenset[str]:
    """List the routes that an entry may take away: in doubt, too many.

    A provider named by its slug is taken to lose its service tiers too.
    """
    named = frozenset(index.named(entry))
    if granularity is Granularity.SLUG:
        named |= {tag for tag in index.tags if tag == entry or tag.startswith(f"{entry}/")}
    return named


def _swallowing(entry: str, models: Sequence[ModelList], granularity: Granularity) -> LeftOut | None:
    """Find a model of which an entry would take a route away that the model's own list leaves."""
    for model in models:
        out = {tag for name in model.ignore for tag in model.index.named(name)}
        healthy = named_by(entry, model.index, granularity) - out
        if healthy:
            return LeftOut(entry=entry, why=Why.SWALLOWS, model=model.model, routes=tuple(sorted(healthy)))
    return None


def _emptying(entry: str, rooms: Sequence[_Room], granularity: Granularity, *, least: int) -> LeftOut | None:
    """Find a model of which an entry would take a route away and leave fewer than `least`."""
    for room in rooms:
        left = room.left - named_by(entry, room.model.index, granularity)
        if left != room.left and len(left) < least:
            return LeftOut(entry=entry, why=Why.EMPTIES, model=room.model.model, routes=tuple(sorted(left)))
    return None


class _Room:
    """The routes of a model that the guardrail leaves so far, service tiers not counted."""

    def __init__(self, model: ModelList, foreign: Iterable[str], allowed: Sequence[str]) -> None:
        index = model.index
        left = model.admitted - index.tiers
        if allowed:
            left &= {tag for name in allowed for tag in index.admitted(name.lower())}
        for name in foreign:
            # who wrote it meant one of the two; what may be gone is not counted on
            left -= named_by(name, index, Granularity.SLUG)
        self.model = model
        self.left = left
