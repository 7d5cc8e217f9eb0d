"""Rules that need no statistics: one strike, and two failed rounds in a row.

- One strike: the first failed attempt keeps a host away for a day; or the first failed *round*, confirmed as
  ours is. The simplest rule that there is; nobody's in particular.
- Two rounds, `language` alone confirmed: two failed rounds in a row, a day, nothing else. It is the rule from
  which this project's policy grew; docs/policy.md (Confirmation) does its arithmetic.

None of them has a floor, a share, a common cause or an early return.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from routecanary.domain.names import LANGUAGE, ContractName, RouteId
from routecanary.domain.round import RouteReport
from routecanary.domain.verdict import VerdictKind
from routecanary.simulate.asking import ALL_WELL
from routecanary.simulate.player import Begun, Played
from routecanary.simulate.rivals.ejections import Ejections
from routecanary.simulate.rounds import Told

A_DAY: Final = timedelta(days=1)


class Strikes:
    """So many failed rounds in a row keep a host away for a day."""

    def __init__(self, period: timedelta, *, strikes: int, confirmed: frozenset[ContractName]) -> None:
        """Set the rule.

        Args:
            period: Between two rounds.
            strikes: Failed rounds in a row.
            confirmed: Contracts whose first fail must be borne out by a majority; any other fails at once.
        """
        self._period, self._strikes, self._confirmed = period, strikes, confirmed
        self._streaks: dict[RouteId, tuple[int, frozenset[ContractName]]] = {}  # with what failed in it
        self._away = Ejections()

    def play(self, told: Told) -> Played:
        begun = []
        for host, report in told.line.routes.items():
            if report is ALL_WELL.report:
                self._streaks.pop(host, None)
                continue
            failing = self._failing(report)
            if failing:
                count, before = self._streaks.get(host, (0, frozenset()))
                self._streaks[host] = (count + 1, before | failing)
                if count + 1 >= self._strikes and not self._away.holds(host, told.since):
                    self._away.put(host, told.since + A_DAY)
                    begun.append(Begun(host, before | failing))
            elif VerdictKind.TRANSPORT not in report.verdicts.values():
                self._streaks.pop(host, None)
        return Played(self._away.away(told.since, self._period), tuple(begun))

    def _failing(self, report: RouteReport) -> frozenset[ContractName]:
        """Name the contracts that fail; every failed attempt of an unconfirmed one is a fail."""
        return frozenset(
            contract
            for contract, kind in report.verdicts.items()
            if kind is VerdictKind.FAIL
            or (contract not in self._confirmed and True in report.attempts.get(contract, ()))
        )


def one_strike(period: timedelta, *, confirmed: frozenset[ContractName] = frozenset()) -> Strikes:
    """Keep a host away at its first fail."""
    return Strikes(period, strikes=1, confirmed=confirmed)


def two_rounds(period: timedelta) -> Strikes:
    """Keep a host away at its second failed round in a row; only `language` is confirmed."""
    return Strikes(period, strikes=2, confirmed=frozenset({LANGUAGE}))
