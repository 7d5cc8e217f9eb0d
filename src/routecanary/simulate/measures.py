"""What did a policy do to the hosts and to the users, over many lives?

A suspension is *false* when none of the contracts that it names had a planted fault on that host within the
last six hours, the time after which the policy itself forgets a suspicion. What a judge of ours that went
wrong brought about is false. One without contracts (a rival's) is false only if nothing at all was wrong with
the host, an outage included.

Source: docs/simulation.md, What is measured.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from routecanary.domain.names import ContractName, RouteId
from routecanary.simulate.life import Illness
from routecanary.simulate.player import Begun, Played
from routecanary.simulate.rounds import Told
from routecanary.simulate.scenario import Scenario, Traffic

GRACE: Final = timedelta(hours=6)
_AN_HOUR: Final = timedelta(hours=1)


@dataclass(slots=True)
class Measures:
    """Sums over all lives of one player; lists are in the order of what happened."""

    rounds: int = 0
    suspensions: int = 0
    false_suspensions: int = 0
    delay_rounds: list[int] = field(default_factory=list)  # of the faults that were found
    delay_hours: list[float] = field(default_factory=list)
    missed: int = 0  # faults that ended, or whose life ended, before they were found
    out_already: int = 0  # faults that began while their host was kept away
    faulty_hosts_without: float = 0.0  # sum over rounds: share of traffic that a faulty host serves
    faulty_hosts_with: float = 0.0
    faulty_answers_without: float = 0.0  # sum over rounds: share of answers that are faulty
    faulty_answers_with: float = 0.0
    healthy_hours_lost: float = 0.0  # of listed hosts without a fault, kept away
    noted: Counter[str] = field(default_factory=Counter)


class Measuring:
    """Follows one player through one life, and adds to its measures."""

    def __init__(self, scenario: Scenario, measures: Measures) -> None:
        self._measures = measures
        self._hours = scenario.period / _AN_HOUR
        self._weights = {
            host.route: 1.0
            if scenario.traffic is Traffic.EQUAL
            else (host.price_prompt + host.price_completion) ** -2
            for host in scenario.hosts
        }
        self._away: Mapping[RouteId, float] = {}
        self._last_ill: dict[tuple[RouteId, ContractName | None], timedelta] = {}
        self._open: dict[int, tuple[Illness, int]] = {}  # faults not found yet, with their rounds so far
        self._met: set[int] = set()
        self._kept: list[Illness] = []  # so that an identity stays one

    def take(self, told: Told, played: Played) -> None:
        """Take up a round and what followed from it."""
        measures = self._measures
        measures.rounds += 1
        self._meet(told)
        for begun in played.begun:
            measures.suspensions += 1
            measures.false_suspensions += self._is_false(begun, told.since)
            self._find(begun, told.since)
        measures.noted.update(played.noted)
        self._serve(told, played.away)
        self._away = played.away

    def end(self) -> None:
        """End the life: what is open was not found."""
        self._measures.missed += len(self._open)
        self._open.clear()

    def _meet(self, told: Told) -> None:
        """Notice what is wrong now, and what no longer is."""
        for host in told.down:
            self._last_ill[host, None] = told.since
        for host, what in told.ill.items():
            self._last_ill[host, None] = told.since
            for illness, _ in what:
                for contract in illness.contracts:
                    self._last_ill[host, contract] = told.since
                if id(illness) not in self._met:
                    self._met.add(id(illness))
                    self._kept.append(illness)
                    if self._away.get(host):
                        self._measures.out_already += 1
                    else:
                        self._open[id(illness)] = (illness, 0)
        for key, (illness, rounds) in list(self._open.items()):
            if told.since >= illness.end:
                del self._open[key]
                self._measures.missed += 1
            elif illness.host in told.requests and illness.host not in told.down:
                self._open[key] = (illness, rounds + 1)

    def _find(self, begun: Begun, since: timedelta) -> None:
        for key, (illness, rounds) in list(self._open.items()):
            named = begun.contracts is None or not begun.contracts.isdisjoint(illness.contracts)
            if illness.host == begun.host and named:
                del self._open[key]
                self._measures.delay_rounds.append(rounds)
                self._measures.delay_hours.append((since - illness.start) / _AN_HOUR)

    def _is_false(self, begun: Begun, since: timedelta) -> bool:
        times = [self._last_ill.get((begun.host, contract)) for contract in begun.contracts or (None,)]
        return not any(last is not None and since - last <= GRACE for last in times)

    def _serve(self, told: Told, away: Mapping[RouteId, float]) -> None:
        """Spread the users over the hosts until the next round; if none were left, nobody is kept away."""
        measures, weights, listed = self._measures, self._weights, told.requests
        kept = {host: share for host, share in away.items() if host in listed}
        measures.healthy_hours_lost += self._hours * sum(
            share for host, share in kept.items() if host not in told.ill
        )
        if not told.ill:
            return
        whole = sum(weights[host] for host in listed)
        left = whole - sum(weights[host] * share for host, share in kept.items())
        if left <= whole * 1e-9:
            kept, left = {}, whole
        for host, what in told.ill.items():
            well = 1.0
            for _, rate in what:
                well *= 1.0 - rate
            here = weights[host] / whole
            there = weights[host] * (1.0 - kept.get(host, 0.0)) / left
            measures.faulty_hosts_without += here
            measures.faulty_hosts_with += there
            measures.faulty_answers_without += here * (1.0 - well)
            measures.faulty_answers_with += there * (1.0 - well)
