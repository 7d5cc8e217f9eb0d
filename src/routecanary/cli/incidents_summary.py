"""How often are suspensions wrong, by what people said of them?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from routecanary.cli.output import instant, say, say_table
from routecanary.domain.names import ContractName, ModelId
from routecanary.domain.probe import Json
from routecanary.rounds.incidents import Incident, Tally, tally

CONFIDENCE: Final = 0.95
_MODES: Final = ((True, "observe"), (False, "enforce"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Suspensions that are counted together."""

    model: ModelId | None  # None = all
    mode: str
    contract: ContractName | None  # None = all; one suspension may be for several
    counts: Tally


def groups_of(found: Sequence[Incident]) -> tuple[Group, ...]:
    """Count by model, mode and contract, then over all models."""
    return tuple(
        group
        for model in (*sorted({incident.model for incident in found}), None)
        for shadow, mode in _MODES
        for group in _groups(
            model, mode, [one for one in found if one.shadow is shadow and model in (None, one.model)]
        )
    )


def _groups(model: ModelId | None, mode: str, here: Sequence[Incident]) -> Iterator[Group]:
    if not here:
        return
    yield Group(model=model, mode=mode, contract=None, counts=tally(here))
    for contract in sorted(frozenset[ContractName]().union(*(one.contracts for one in here))):
        counts = tally(one for one in here if contract in one.contracts)
        yield Group(model=model, mode=mode, contract=contract, counts=counts)


def document(groups: Sequence[Group], *, since: datetime | None) -> Json:
    """Write the groups as JSON."""
    return {
        "confidence": CONFIDENCE,
        "since": instant(since),
        "groups": [_counted(group) for group in groups],
    }


def _counted(group: Group) -> dict[str, Json]:
    counts = group.counts
    low, high = counts.interval(CONFIDENCE)
    return {
        "model": group.model,
        "mode": group.mode,
        "contract": group.contract,
        "incidents": counts.incidents,
        "right": counts.right,
        "wrong": counts.wrong,
        "unsure": counts.unsure,
        "unlabelled": counts.unlabelled,
        "false_positive_share": None if counts.share is None else round(counts.share, 6),
        "low": round(low, 6),
        "high": round(high, 6),
    }


def show(groups: Sequence[Group]) -> None:
    """Print the groups for people."""
    if not groups:
        say("no suspension yet")
        return
    say_table(
        (
            "model", "mode", "contract", "incidents", "right", "wrong", "unsure", "unmarked",
            "wrong of those told",
        ),
        [_row(group) for group in groups],
    )  # fmt: skip
    say(f"in brackets the exact {CONFIDENCE:.0%} interval; it holds if what is marked was not picked")


def _row(group: Group) -> tuple[str, ...]:
    counts = group.counts
    low, high = counts.interval(CONFIDENCE)
    numbers = (counts.incidents, counts.right, counts.wrong, counts.unsure, counts.unlabelled)
    return (
        group.model or "all models",
        group.mode,
        group.contract or "all",
        *map(str, numbers),
        "unknown" if counts.share is None else f"{counts.share:.1%} ({low:.1%} to {high:.1%})",
    )
