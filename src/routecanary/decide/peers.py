"""How often do the other routes fail? The p0 of the evidence trigger.

Source: docs/policy.md, Evidence trigger.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from routecanary.decide.attempts import attempts_of, window_of
from routecanary.decide.brakes import known_offenders
from routecanary.domain.names import ContractName, RouteId
from routecanary.domain.policy import Policy
from routecanary.domain.round import Round, RouteReport
from routecanary.domain.state import ModelState
from routecanary.domain.verdict import VerdictKind

_SURPRISE: Final = 0.03  # so unlikely a number of failing peers is believed to be news, not chance


class Peers:
    """The failure rates of one round of one model, as each route has them beside itself."""

    def __init__(self, state: ModelState, line: Round, policy: Policy) -> None:
        """Look at the attempts as they stood before this round, and at the round itself."""
        self._state, self._line, self._policy = state, line, policy
        since = line.at - policy.p0_window
        self._windows = {name: window_of(route.days, since) for name, route in state.routes.items()}
        self._failed = [(name, report) for name, report in line.routes.items() if _has_failed(report)]
        self._known: dict[ContractName, _Contract] = {}

    def rate_beside(self, name: RouteId, contract: ContractName) -> float:
        """Estimate how often the other routes fail a contract; at least `p0_min`."""
        everybody = self._known.get(contract)
        if everybody is None:
            everybody = self._known[contract] = self._contract(contract)
        attempts, fails = everybody.attempts, everybody.fails
        if name not in everybody.offenders:
            own = self._windows[name]
            attempts -= own.attempts.get(contract, 0) - own.attempts_before.get(contract, 0)
            fails -= own.fails.get(contract, 0) - own.fails_before.get(contract, 0)
        prior_fails, prior_passes = self._policy.p0_prior
        estimate = (fails + prior_fails) / (attempts + prior_fails + prior_passes)
        rate = max(self._policy.p0_min, estimate)
        return max(rate, self._rate_now(name, contract, everybody, rate))

    def _rate_now(self, name: RouteId, contract: ContractName, everybody: _Contract, rate: float) -> float:
        """Say how often the others failed in this round, where their rate hardly explains so many; else 0.

        A judge of ours that goes wrong fails everybody at once, and a week's average would notice it last.
        Routes are counted, not attempts: one that fails always is one, and no sign of what the others do.
        """
        failing = len(everybody.failing) - (name in everybody.failing)
        if failing == 0:
            return 0.0
        asked, tries = self._asked(contract, everybody.offenders, but=name)
        if asked < self._policy.common_cause_min_routes:
            return 0.0
        expected = asked * (1 - math.pow(1 - rate, tries))
        if _chance_of(failing, expected) >= _SURPRISE:
            return 0.0
        return 1 - math.pow(1 - failing / asked, 1 / tries)

    def _contract(self, contract: ContractName) -> _Contract:
        offenders = known_offenders(self._state, contract)
        attempts = fails = 0
        for name, window in self._windows.items():
            if name not in offenders:
                attempts += window.attempts.get(contract, 0) - window.attempts_before.get(contract, 0)
                fails += window.fails.get(contract, 0) - window.fails_before.get(contract, 0)
        failing = {
            name
            for name, report in self._failed
            if contract in report.verdicts and name not in offenders and True in attempts_of(report, contract)
        }
        return _Contract(offenders, attempts, fails, failing)

    def _asked(self, contract: ContractName, offenders: frozenset[str], *, but: RouteId) -> tuple[int, int]:
        """Count the other routes whose answers of this round tell something, and the attempts of one of them.

        These are the fewest that any route made: more are confirmations of a fail.
        """
        asked, tries = 0, 0
        for name, report in self._line.routes.items():
            if contract in report.verdicts and name not in offenders:
                made = len(attempts_of(report, contract))
                if made:
                    asked += name != but
                    tries = min(tries or made, made)
        return asked, max(1, tries)


def _has_failed(report: RouteReport) -> bool:
    """Say whether any attempt at any contract failed."""
    return VerdictKind.FAIL in report.verdicts.values() or any(
        True in each for each in report.attempts.values()
    )


class _Contract(NamedTuple):
    """What all routes but known offenders show of one contract."""

    offenders: frozenset[str]
    attempts: int  # within the window
    fails: int  # of them
    failing: set[RouteId]  # in this round: some attempt failed


def _chance_of(count: int, mean: float) -> float:
    """Compute how likely so many or more events are where `mean` of them are expected (Poisson)."""
    term = fewer = math.exp(-mean)
    for each in range(1, count):
        term *= mean / each
        fewer += term
    return 1.0 - fewer
