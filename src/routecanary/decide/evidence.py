"""Do the attempts of a route, all added up, speak of a fault? The evidence trigger.

Every conclusive attempt counts, confirmations too: a sequential likelihood ratio of "fails as often as a
fault would" against "fails as often as its peers do", one for each (route, contract).

Source: docs/policy.md, Evidence trigger.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Final, NamedTuple

from routecanary.decide.attempts import attempts_of
from routecanary.decide.capacity import covered
from routecanary.decide.peers import Peers
from routecanary.decide.thresholds import Threshold, log_gain, log_loss, threshold
from routecanary.domain.evidence import Earned, Evidence, Weighed
from routecanary.domain.names import LANGUAGE, ContractName, Locale, RouteId
from routecanary.domain.policy import Policy
from routecanary.domain.round import Round, RouteReport
from routecanary.domain.state import ModelState, RouteState

MIN_ROUNDS: Final = 2  # different rounds with a fail, without which no ratio suspends anybody
_GRID: Final = 2_000  # p0 is rounded up to a multiple of 1/2000: few thresholds serve many rounds
_ROUNDING: Final = 1e-9  # of a grid step
_MOST_P0: Final = 0.95
_YEAR: Final = timedelta(days=365)
_CONFIRMATIONS: Final = 2  # further attempts that a chance fail brings along
NO_EVIDENCE: Final = Evidence()


class Weighing(NamedTuple):
    """What a round's attempts add up to for one route, and what they ask for."""

    added: Mapping[ContractName, Weighed]
    fired: Mapping[ContractName, Earned]  # contracts whose ratio asks for a suspension


NOTHING_WEIGHED: Final = Weighing({}, {})


class Scales:
    """The rates and thresholds of one round of one model; what all its routes share is worked out once."""

    def __init__(
        self, state: ModelState, line: Round, policy: Policy, *, silent: frozenset[ContractName]
    ) -> None:
        self._state = state
        self._line = line
        self._at = line.at
        self._locale = line.locale
        self._policy = policy
        self._silent = silent
        self._peers: Peers | None = None  # until a route asks
        self._scales: dict[int, Scale] = {}  # by p0, in grid steps
        self._all_passed: dict[int, Weighing] = {}  # by the report's identity: routes may share one
        self._countable = len(state.named - covered(state))

    def weigh(self, name: RouteId, report: RouteReport, *, weak: frozenset[ContractName]) -> Weighing:
        """Weigh one route's attempts of this round.

        Args:
            weak: Contracts whose passes a control puts in doubt: they end no suspension.
        Returns:
            Nothing for a contract that a brake silenced in this round or that the route is control for, and
            for a round too soon after the last whose attempts counted.
        """
        route = self._state.routes[name]
        if route.weighed_at is not None and self._at - route.weighed_at < self._policy.min_round_gap:
            return NOTHING_WEIGHED
        held = route.suspension
        quiet = held is None and not route.evidence
        if quiet and id(report) in self._all_passed:
            return self._all_passed[id(report)]
        added: dict[ContractName, Weighed] = {}
        fired: dict[ContractName, Earned] = {}
        for contract in report.verdicts:
            if contract in self._silent or contract in report.control_for:
                continue
            attempts = attempts_of(report, contract)
            if not attempts:
                continue
            known = route.evidence.get(contract, NO_EVIDENCE)
            earned = None if held is None else held.evidence.get(contract)
            if known.log_m == 0.0 and earned is None and True not in attempts:
                added[contract] = _all_passed(len(attempts))  # nothing to weigh: M stays 1
                continue
            quiet = False
            scale = self._scale(name, contract)
            locale = (report.locale or self._locale) if contract == LANGUAGE else None
            walk = _walk(known, attempts, scale, locale)
            log_r = 0.0
            if held is not None and earned is not None:
                log_r = _reversed(held.log_r.get(contract, 0.0), earned, attempts, weak=contract in weak)
            added[contract] = Weighed(
                attempts=len(attempts), fails=sum(attempts), after=walk.after, log_r=log_r
            )
            if True in attempts and _reaches(walk.peak, scale.limit):
                fired[contract] = Earned(
                    attempts=walk.peak.attempts,
                    fails=walk.peak.fails,
                    p0=scale.p0,
                    p1=scale.p1,
                    log_m=walk.peak.log_m,
                    log_threshold=scale.limit.log_m,
                    exact=scale.limit.exact,
                )
        weighing = Weighing(added, fired)
        if quiet:
            self._all_passed[id(report)] = weighing
        return weighing

    def _scale(self, name: RouteId, contract: ContractName) -> Scale:
        """Look up what a fail weighs for a route, by how often the others fail the contract."""
        if self._peers is None:
            self._peers = Peers(self._state, self._line, self._policy)
        p0 = min(_MOST_P0, self._peers.rate_beside(name, contract))
        step = math.ceil(p0 * _GRID - _ROUNDING)
        scale = self._scales.get(step)
        if scale is None:
            scale = self._scales[step] = scale_at(step / _GRID, self._policy, routes=self._countable)
        return scale


class Scale(NamedTuple):
    """The failure rates that a (route, contract) is weighed by, and what follows from them."""

    p0: float  # of the other routes
    p1: float  # of a fault worth finding
    gain: float  # of a fail, in the logarithm of M
    loss: float  # of a pass
    limit: Threshold


def scale_at(p0: float, policy: Policy, *, routes: int) -> Scale:
    """Work out what attempts weigh where sound routes fail at a rate, and from which ratio on they suspend.

    Args:
        routes: Of the model, those that could be suspended: they share its budget.
    """
    p1 = min(max(policy.p1_min, policy.p1_ratio * p0), (1 + p0) / 2)
    streams = max(1, routes) * policy.attempts_per_round
    a_year = streams * (1 + _CONFIRMATIONS * p0) * (_YEAR / policy.round_period)
    limit = threshold(p0, p1, a_year / policy.false_suspensions_per_year)
    return Scale(p0, p1, log_gain(p0, p1), log_loss(p0, p1), limit)


def recovered(route: RouteState, policy: Policy) -> bool:
    """Say whether the reverse ratio clears a route of every contract by which evidence suspended it."""
    held = route.suspension
    if held is None:
        return False
    needed = math.log(policy.evidence_to_recover)
    return all(held.log_r.get(contract, 0.0) >= needed for contract in held.evidence)


def ratios_after(
    known: Mapping[ContractName, Evidence], added: Mapping[ContractName, Weighed]
) -> Mapping[ContractName, Evidence]:
    """Lay what a round added into the ratios; those that stand at 1 are not kept."""
    moved = {contract: weighed.after for contract, weighed in added.items() if weighed.after.log_m > 0}
    if not known:
        return moved
    kept = {contract: one for contract, one in known.items() if contract not in added}
    return {**kept, **moved}


@lru_cache(maxsize=64)
def _all_passed(attempts: int) -> Weighed:
    return Weighed(attempts=attempts, fails=0, after=NO_EVIDENCE)


class _Walk(NamedTuple):
    """The ratio after a round, and where it stood highest with fails of enough rounds behind it."""

    after: Evidence
    peak: Evidence


def _walk(known: Evidence, attempts: Sequence[bool], scale: Scale, locale: Locale | None) -> _Walk:
    gain, loss = scale.gain, scale.loss
    log_m, counted, failed, rounds = known.log_m, known.attempts, known.fails, known.rounds
    locales = known.locales
    peak = NO_EVIDENCE
    fresh = True  # no fail of this round is counted yet
    for fail in attempts:
        log_m = max(0.0, log_m + (gain if fail else -loss))
        if log_m == 0.0:
            counted, failed, rounds, fresh, locales = 0, 0, 0, True, frozenset()
            continue
        counted += 1
        if fail:
            failed, rounds, fresh = failed + 1, rounds + fresh, False
            locales = locales if locale is None else locales | {locale}
        if rounds >= MIN_ROUNDS and log_m > peak.log_m:
            peak = Evidence(log_m=log_m, rounds=rounds, attempts=counted, fails=failed)
    after = Evidence(log_m=log_m, rounds=rounds, attempts=counted, fails=failed, locales=locales)
    return _Walk(after, peak)


def _reaches(peak: Evidence, limit: Threshold) -> bool:
    """Say whether a ratio asks: a budget so large that any ratio would do still needs fails of two rounds."""
    return peak.rounds >= MIN_ROUNDS and peak.log_m >= limit.log_m


def _reversed(log_r: float, earned: Earned, attempts: Sequence[bool], *, weak: bool) -> float:
    """Move the reverse ratio on, for a contract that earned the suspension in force."""
    gain, loss = log_gain(earned.p0, earned.p1), log_loss(earned.p0, earned.p1)
    for fail in attempts:
        if fail or not weak:
            log_r = max(0.0, log_r + (-gain if fail else loss))
    return log_r
