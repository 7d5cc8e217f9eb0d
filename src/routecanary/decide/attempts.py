"""Which attempts did a round bring, and how are they counted, day by day?

Source: docs/policy.md, Evidence trigger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from routecanary.domain.evidence import Day, Weighed
from routecanary.domain.names import ContractName
from routecanary.domain.round import RouteReport
from routecanary.domain.verdict import VerdictKind

_DAY: Final = timedelta(days=1)
_MOST_DAYS: Final = 32  # more than the longest window has
_NOTHING: Final[Mapping[ContractName, int]] = {}
_IMPLIED: Final[Mapping[VerdictKind | None, tuple[bool, ...]]] = {
    VerdictKind.PASS: (False,),
    VerdictKind.FAIL: (True,),
}


class Window(NamedTuple):
    """The days of a route that a rate is estimated from: running totals at their end, and before them."""

    attempts: Mapping[ContractName, int]
    fails: Mapping[ContractName, int]
    attempts_before: Mapping[ContractName, int]
    fails_before: Mapping[ContractName, int]


def attempts_of(report: RouteReport, contract: ContractName) -> Sequence[bool]:
    """List the conclusive attempts of a contract in a round, true for a fail; one where none are stated."""
    stated = report.attempts.get(contract)
    return _IMPLIED.get(report.verdicts[contract], ()) if stated is None else stated


def implied_attempts(verdict: VerdictKind | None) -> tuple[bool, ...]:
    """Say what a verdict means where no attempts are stated: one, if it is conclusive."""
    return _IMPLIED.get(verdict, ())


def days_after(days: tuple[Day, ...], added: Mapping[ContractName, Weighed], at: datetime) -> tuple[Day, ...]:
    """Count a round's attempts; a day begins with the first round that is a day later than its start."""
    attempts: dict[ContractName, int] = {}
    fails: Mapping[ContractName, int] = {}
    kept, start = days[-_MOST_DAYS + 1 :], at
    if days:
        last = days[-1]
        attempts.update(last.attempts)
        fails = last.fails
        if at - last.start < _DAY:
            kept, start = days[:-1], last.start
    for contract, weighed in added.items():
        attempts[contract] = attempts.get(contract, 0) + weighed.attempts
        if weighed.fails:
            fails = {**fails, contract: fails.get(contract, 0) + weighed.fails}
    return (*kept, Day(start=start, attempts=attempts, fails=fails))


def days_without(days: tuple[Day, ...], contracts: frozenset[ContractName]) -> tuple[Day, ...]:
    """Forget the attempts of some contracts."""
    return tuple(
        Day(start=day.start, attempts=_without(day.attempts, contracts), fails=_without(day.fails, contracts))
        for day in days
    )


def _without(
    counts: Mapping[ContractName, int], contracts: frozenset[ContractName]
) -> dict[ContractName, int]:
    return {contract: count for contract, count in counts.items() if contract not in contracts}


def window_of(days: tuple[Day, ...], since: datetime) -> Window:
    """Take the days of a route that began at a time or later."""
    if not days:
        return Window(_NOTHING, _NOTHING, _NOTHING, _NOTHING)
    last = days[-1]
    for day in reversed(days):
        if day.start < since:
            return Window(last.attempts, last.fails, day.attempts, day.fails)
    return Window(last.attempts, last.fails, _NOTHING, _NOTHING)
