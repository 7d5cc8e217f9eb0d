"""When is which host ill, absent or unreachable? One life of a scenario, drawn before its first round."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Final, Generic, TypeVar

from routecanary.domain.names import ContractName, RouteId
from routecanary.simulate.scenario import Fault, Scenario

_A_DAY: Final = timedelta(days=1)

_What = TypeVar("_What")

Span = tuple[timedelta, timedelta]
"""From a time to before another, since the beginning of the life."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Illness:
    """One fault on one host for one unbroken time: what a policy should notice."""

    fault: Fault
    host: RouteId
    start: timedelta
    end: timedelta

    def rate_at(self, at: timedelta) -> float:
        """Say which share of the attempts fails for it at a time within its span."""
        fault, rate = self.fault, self.fault.rate
        if fault.drift_to is not None:
            rate += (fault.drift_to - rate) * ((at - self.start) / (self.end - self.start))
        if fault.peak is not None:
            rate *= (1 + math.cos(2 * math.pi * ((at - fault.peak) / _A_DAY))) / 2
        return rate

    @property
    def contracts(self) -> frozenset[ContractName]:
        """Name the contracts whose attempts fail."""
        return self.fault.contracts


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What is drawn once, by start time where there are several."""

    illnesses: tuple[Illness, ...]
    absences: tuple[tuple[RouteId, Span], ...]
    outages: tuple[Span, ...]  # of the gateway
    host_outages: tuple[tuple[RouteId, Span], ...]


def life_of(scenario: Scenario, rng: Random) -> Life:
    """Draw one life."""
    routes = [host.route for host in scenario.hosts]
    illnesses = [illness for fault in scenario.faults for illness in _illnesses(fault, scenario, rng)]
    absences: list[tuple[RouteId, Span]] = []
    if scenario.churn is not None:
        absences = [
            (route, span)
            for route in routes
            for span in _spells(scenario.churn.listed_for, scenario.churn.absent_for, scenario.life, rng)
        ]
    weather = scenario.weather
    outages = _spells(weather.outage_every, weather.outage_lasting, scenario.life, rng)
    host_outages = [
        (route, span)
        for route in routes
        for span in _spells(weather.host_outage_every, weather.host_outage_lasting, scenario.life, rng)
    ]
    return Life(
        illnesses=tuple(sorted(illnesses, key=lambda each: (each.start, each.host))),
        absences=tuple(sorted(absences, key=lambda each: (each[1], each[0]))),
        outages=tuple(outages),
        host_outages=tuple(sorted(host_outages, key=lambda each: (each[1], each[0]))),
    )


def _illnesses(fault: Fault, scenario: Scenario, rng: Random) -> Iterator[Illness]:
    """Let a fault begin somewhere within a period after its start: no round is made because of it."""
    hosts: Sequence[RouteId] = fault.hosts or rng.sample([each.route for each in scenario.hosts], fault.drawn)
    begin = fault.start + rng.random() * scenario.period
    end = scenario.life if fault.end is None else min(fault.end, scenario.life)
    shared = _spans(fault, begin, end, rng) if fault.together else None
    for host in hosts:
        for first, last in _spans(fault, begin, end, rng) if shared is None else shared:
            yield Illness(fault=fault, host=host, start=first, end=last)


def _spans(fault: Fault, begin: timedelta, end: timedelta, rng: Random) -> list[Span]:
    """Draw when a fault is there: all the time, or in spells, the first of them at its beginning."""
    if fault.faulty_for is None or fault.healthy_for is None:
        return [(begin, end)]
    first_end = begin + _drawn(fault.faulty_for, rng)
    later = _spells(fault.healthy_for, fault.faulty_for, end - first_end, rng)
    spans = [(begin, first_end), *((first_end + a, first_end + b) for a, b in later)]
    return [(a, min(b, end)) for a, b in spans if a < end]


def _spells(quiet: timedelta | None, lasting: timedelta, end: timedelta, rng: Random) -> list[Span]:
    """Draw spells that begin after exponential quiet times and last exponential times."""
    spans: list[Span] = []
    at = timedelta()
    while quiet is not None:
        at += _drawn(quiet, rng)
        if at >= end:
            break
        over = at + _drawn(lasting, rng)
        spans.append((at, min(over, end)))
        at = over
    return spans


def _drawn(mean: timedelta, rng: Random) -> timedelta:
    """Draw a time, at least a second."""
    return max(timedelta(seconds=1), mean * rng.expovariate(1.0))


class InForce(Generic[_What]):
    """What is in force as time goes on, out of spans that are sorted by their start."""

    def __init__(self, spans: Sequence[tuple[timedelta, timedelta, _What]]) -> None:
        self._waiting = list(reversed(spans))
        self._begun: list[tuple[timedelta, timedelta, _What]] = []

    def at(self, since: timedelta) -> list[_What]:
        """List what is in force; each time is asked no earlier than the last."""
        while self._waiting and self._waiting[-1][0] <= since:
            self._begun.append(self._waiting.pop())
        if self._begun:
            self._begun = [span for span in self._begun if since < span[1]]
        return [what for _, _, what in self._begun]
