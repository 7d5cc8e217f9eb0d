"""Would the configured policy have decided otherwise than the one that decided last?

Asked where the two differ, of the newest rounds: enough to see what a change does, and soon answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from routecanary.cli.backtest import document_in_short, summary
from routecanary.cli.output import instant
from routecanary.domain.event import EVENT_NAMES, Exclusions
from routecanary.domain.names import ModelId
from routecanary.domain.policy import changed_numbers
from routecanary.domain.probe import Json
from routecanary.rounds.backtest import Backtest, backtest
from routecanary.rounds.records import Records

WINDOW: Final = timedelta(days=30)
MOST_ROUNDS: Final = 1_500  # of all models together; acts count as well
LEAST_ROUNDS: Final = 48  # of each, however many there are
_LINE_ENDS: Final = EVENT_NAMES[Exclusions]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChange:
    """What is new about the configured policy, and what it would have done."""

    since: datetime  # when the one before began to decide
    numbers: Mapping[str, tuple[Json, Json]]  # that differ: before, after
    results: tuple[Backtest, ...]  # of every model with rounds in the window, sorted


def policy_change(records: Records) -> PolicyChange | None:
    """Try the configured policy on the newest rounds; None where it is the one that decided last.

    Raises:
        StoreError: The log cannot be read.
    """
    known = records.ledger.operating().policy
    policy = records.settings.policy
    numbers = {} if known is None else changed_numbers(known.policy, policy)
    if known is None or not numbers:
        return None
    models = records.store.models()
    most = max(LEAST_ROUNDS, MOST_ROUNDS // max(1, len(models)))
    results = (backtest(records.store, model, policy, since=_since(records, model, most)) for model in models)
    return PolicyChange(
        since=known.at, numbers=numbers, results=tuple(result for result in results if result.rounds)
    )


def _since(records: Records, model: ModelId, most: int) -> datetime:
    """Choose where to begin: the window ago, or so many lines ago; their ends are the smallest to read."""
    window = records.clock.now() - WINDOW
    newest = records.store.newest(most, model, kinds={_LINE_ENDS})
    return max(window, newest[0].at) if newest else window


def document(change: PolicyChange | None) -> Json:
    """Write it as JSON."""
    if change is None:
        return None
    return {
        "decided_since": instant(change.since),
        "numbers": {
            name: {"before": before, "after": after} for name, (before, after) in change.numbers.items()
        },
        "backtest": [document_in_short(result) for result in change.results],
    }


def lines(change: PolicyChange) -> Iterator[str]:
    """Tell it to people."""
    said = ", ".join(
        f"{name} {_shown(before)} → {_shown(after)}" for name, (before, after) in change.numbers.items()
    )
    yield f"policy: not the one that decides since {instant(change.since)}: {said}"
    for result in change.results:
        yield from summary(result)
    if change.results:
        yield "  `routecanary backtest` tells incident by incident"


def _shown(value: Json) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case list():
            return "[" + ", ".join(map(_shown, value)) + "]"
        case float():
            return f"{value:g}"
        case _:
            return str(value)
