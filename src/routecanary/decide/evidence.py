"""Do the attempts of a route, all added up, speak of a fault? The evidence trigger.

Every conclusive attempt counts, confirmations too: a sequential likelihood ratio of "fails as often as a
fault would" against "fails as often as its peers do", one for each (route, contract).

Source: docs/policy.md, Evidence trigger.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final, NamedTuple

from routecanary.decide.brakes import known_offenders
from routecanary.decide.capacity import covered
from routecanary.decide.thresholds import Threshold, log_gain, log_loss, threshold
from routecanary.domain.evidence import Day, Earned, Evidence, Weighed
from routecanary.domain.names import LANGUAGE, ContractName, Locale, RouteId
from routecanary.domain.policy import Policy
from routecanary.domain.round import Round, RouteReport
from routecanary.domain.state import ModelState, RouteState
from routecanary.domain.verdict import VerdictKind

_DAY: Final = timedelta(days=1)
_MOST_DAYS: Final = 32  # more than the longest window has
MIN_ROUNDS: Final = 2  # different rounds with a fail, without which no ratio suspends anybody
_GRID: Final = 2_000  # p0 is rounded up to a multiple of 1/2000: few thresholds serve many rounds
_ROUNDING: Final = 1e-9  # of a grid step
_MOST_P0: Final = 0.95
_SURPRISE: Final = 0.05  # so unlikely a number of failing peers is believed to be news, not chance
_YEAR: Final = timedelta(days=365)
_CONFIRMATIONS: Final = 2  # further attempts that a chance fail brings along
_IMPLIED: Final[Mapping[VerdictKind | None, tuple[bool, ...]]] = {
    VerdictKind.PASS: (False,),
    VerdictKind.FAIL: (True,),
}
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
        self._peers: dict[ContractName, _Peers] = {}
        self._scales: dict[int, _Scale] = {}  # by p0, in grid steps
        self._since = line.at - policy.p0_window
        countable = state.named - covered(state)
        self._streams = max(1, len(countable)) * policy.attempts_per_round

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
            scale = self._scale(name, contract)
            locale = (report.locale or self._locale) if contract == LANGUAGE else None
            walk = _walk(known, attempts, scale, locale)
            log_r = 0.0
            if held is not None and earned is not None:
                log_r = _reversed(held.log_r.get(contract, 0.0), earned, attempts, weak=contract in weak)
            added[contract] = Weighed(
                attempts=len(attempts), fails=sum(attempts), after=walk.after, log_r=log_r
            )
            if True in attempts and walk.peak.log_m >= scale.limit.log_m:
                fired[contract] = Earned(
                    attempts=walk.peak.attempts,
                    fails=walk.peak.fails,
                    p0=scale.p0,
                    p1=scale.p1,
                    log_m=walk.peak.log_m,
                    log_threshold=scale.limit.log_m,
                    exact=scale.limit.exact,
                )
        return Weighing(added, fired)

    def _scale(self, name: RouteId, contract: ContractName) -> _Scale:
        """Estimate how often the other routes fail a contract, and what that makes of a fail."""
        peers = self._peers.get(contract)
        if peers is None:
            peers = self._peers[contract] = self._peers_of(contract)
        own = peers.tallies.get(name, (0, 0))
        prior_fails, prior_passes = self._policy.p0_prior
        attempts = peers.attempts - own[0] + prior_fails + prior_passes
        estimate = (peers.fails - own[1] + prior_fails) / attempts
        p0 = max(self._policy.p0_min, estimate)
        p0 = max(p0, self._rate_now(name, peers, p0))
        step = math.ceil(min(_MOST_P0, p0) * _GRID - _ROUNDING)
        scale = self._scales.get(step)
        if scale is None:
            scale = self._scales[step] = self._scale_of(step / _GRID)
        return scale

    def _rate_now(self, name: RouteId, peers: _Peers, p0: float) -> float:
        """Say how often the other routes failed in this round, where `p0` hardly explains so many; else 0.

        A judge of ours that goes wrong fails everybody at once, and a week's average would notice it last.
        Routes are counted, not attempts: one that fails always is one, and no sign of what the others do.
        """
        failing = len(peers.failing_now) - (name in peers.failing_now)
        asked = len(peers.asked_now) - (name in peers.asked_now)
        if failing == 0 or asked < self._policy.common_cause_min_routes:
            return 0.0
        expected = asked * (1 - math.pow(1 - p0, peers.tries_now))
        if _chance_of(failing, expected) >= _SURPRISE:
            return 0.0
        return 1 - math.pow(1 - failing / asked, 1 / peers.tries_now)

    def _peers_of(self, contract: ContractName) -> _Peers:
        offenders = known_offenders(self._state, contract)
        tallies = {
            name: _tally(route.days, contract, self._since)
            for name, route in self._state.routes.items()
            if name not in offenders
        }
        attempts, fails = (sum(tally[place] for tally in tallies.values()) for place in (0, 1))
        now = {
            name: stated
            for name, report in self._line.routes.items()
            if contract in report.verdicts
            and name not in offenders
            and (stated := attempts_of(report, contract))
        }
        return _Peers(
            attempts=attempts,
            fails=fails,
            tallies=tallies,
            asked_now=frozenset(now),
            failing_now=frozenset(name for name, stated in now.items() if True in stated),
            tries_now=min(map(len, now.values()), default=1),
        )

    def _scale_of(self, p0: float) -> _Scale:
        policy = self._policy
        p1 = min(max(policy.p1_min, policy.p1_ratio * p0), (1 + p0) / 2)
        a_year = self._streams * (1 + _CONFIRMATIONS * p0) * (_YEAR / policy.round_period)
        limit = threshold(p0, p1, a_year / policy.false_suspensions_per_year)
        return _Scale(p0, p1, log_gain(p0, p1), log_loss(p0, p1), limit)


class _Peers(NamedTuple):
    """The attempts of a contract within the window: of all peers, and of each, as (attempts, fails)."""

    attempts: int
    fails: int
    tallies: Mapping[RouteId, tuple[int, int]]
    asked_now: frozenset[RouteId]  # in this round, with an answer that tells
    failing_now: frozenset[RouteId]  # of them: some attempt failed
    tries_now: int  # attempts of a route without a fail: the fewest that any route made


class _Scale(NamedTuple):
    """The failure rates that a (route, contract) is weighed by, and what follows from them."""

    p0: float  # of the other routes
    p1: float  # of a fault worth finding
    gain: float  # of a fail, in the logarithm of M
    loss: float  # of a pass
    limit: Threshold


def attempts_of(report: RouteReport, contract: ContractName) -> Sequence[bool]:
    """List the conclusive attempts of a contract in a round, true for a fail; one where none are stated."""
    stated = report.attempts.get(contract)
    return implied_attempts(report.verdicts[contract]) if stated is None else stated


def implied_attempts(verdict: VerdictKind | None) -> tuple[bool, ...]:
    """Say what a verdict means where no attempts are stated: one, if it is conclusive."""
    return _IMPLIED.get(verdict, ())


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


def days_after(days: tuple[Day, ...], added: Mapping[ContractName, Weighed], at: datetime) -> tuple[Day, ...]:
    """Count a round's attempts; a day begins with the first round that is a day later than its start."""
    attempts: dict[ContractName, int] = {}
    fails: dict[ContractName, int] = {}
    kept, start = days[-_MOST_DAYS + 1 :], at
    if days:
        last = days[-1]
        attempts.update(last.attempts)
        fails.update(last.fails)
        if at - last.start < _DAY:
            kept, start = days[:-1], last.start
    for contract, weighed in added.items():
        attempts[contract] = attempts.get(contract, 0) + weighed.attempts
        if weighed.fails:
            fails[contract] = fails.get(contract, 0) + weighed.fails
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


@lru_cache(maxsize=64)
def _all_passed(attempts: int) -> Weighed:
    return Weighed(attempts=attempts, fails=0, after=NO_EVIDENCE)


class _Walk(NamedTuple):
    """The ratio after a round, and where it stood highest with fails of enough rounds behind it."""

    after: Evidence
    peak: Evidence


def _walk(known: Evidence, attempts: Sequence[bool], scale: _Scale, locale: Locale | None) -> _Walk:
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


def _reversed(log_r: float, earned: Earned, attempts: Sequence[bool], *, weak: bool) -> float:
    """Move the reverse ratio on, for a contract that earned the suspension in force."""
    gain, loss = log_gain(earned.p0, earned.p1), log_loss(earned.p0, earned.p1)
    for fail in attempts:
        if fail or not weak:
            log_r = max(0.0, log_r + (-gain if fail else loss))
    return log_r


def _chance_of(count: int, mean: float) -> float:
    """Compute how likely so many or more events are where `mean` of them are expected (Poisson)."""
    term = fewer = math.exp(-mean)
    for each in range(1, count):
        term *= mean / each
        fewer += term
    return 1.0 - fewer


def _tally(days: tuple[Day, ...], contract: ContractName, since: datetime) -> tuple[int, int]:
    """Add up the attempts and the fails of the days that began at `since` or later."""
    if not days:
        return 0, 0
    last = days[-1]
    attempts, fails = last.attempts.get(contract, 0), last.fails.get(contract, 0)
    for day in reversed(days):
        if day.start < since:
            return attempts - day.attempts.get(contract, 0), fails - day.fails.get(contract, 0)
    return attempts, fails
