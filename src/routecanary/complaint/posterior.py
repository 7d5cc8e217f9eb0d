"""Which routes may have served it, ranked, and how likely was it none of them?

Each answer that may be meant gets a weight: how well its time and language fit, times how likely its route
then failed as the user says. Against all of them stands that no route was at fault: moods, prompts, the
product itself, what most routes do. Weights of one set of routes are added up and divided by the whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from math import fsum
from typing import Final

from routecanary.complaint.knowledge import Knowledge, Seen, condition_of
from routecanary.complaint.served import SHOWING, SHOWN, Served, likelihood, locale_weight
from routecanary.complaint.value import Complaint, Ranking, Sureness, Suspect
from routecanary.complaint.window import Window
from routecanary.domain.names import ContractName, Locale, RouteId

UNFOUNDED: Final = 0.001
"""Complaints without a route's fault behind them, as a rate beside the faults: of a thousand answers, as many
are complained of for nothing, in the words of one contract, as are where a route spoiled one of them."""

UNSEEN: Final = 0.0001
"""How likely a fault that no probe sees spoiled an answer; where nothing is known it ranks by traffic."""

POSSIBLE: Final = 0.3
"""A best set below this is no answer."""

LIKELY: Final = 0.6
"""From here on, with telemetry, it is a likely one."""

COUNTED: Final = timedelta(hours=2)
"""Around the window: where the attempts lie that an answer counts."""


def rank(
    complaint: Complaint,
    window: Window,
    served: Iterable[Served],
    knowledge: Knowledge,
    *,
    guessed: bool = False,
    named: bool = False,
) -> Ranking:
    """Weigh every explanation of a complaint.

    Args:
        served: Every answer that may be meant; the order changes nothing.
        guessed: They are a guess of the traffic, and no telemetry.
        named: They are all the answers of one id or conversation, whatever their time.
    Example: one answer by each of two hosts at the stated time. The canary makes it that one of them spoiled
        57 % of its answers around it, and the other none. They weigh 0.57 + 0.0001 and 0.0001; that no route
        was at fault weighs 2 × 0.001. The first gets 0.5701 / 0.5722 = 0.996.
    """
    weigher = _Weigher(complaint, knowledge)
    weighed = []
    for each in served:
        in_time = window.weight(each.at)
        weight = each.weight * locale_weight(each, complaint.locale)
        weighed.append((each, weight * (max(in_time, _NAMED) if named else in_time)))
    for each, weight in weighed:
        weigher.look_at(each, weight)
    for each, weight in weighed:
        weigher.take_in(each, weight)
    since, until = window.since - COUNTED, window.until + COUNTED
    suspects = []
    whole = fsum([weigher.unfounded, *(found.blame for found in weigher.sets.values())])
    traffic = fsum(found.traffic for found in weigher.sets.values())
    for routes, found in weigher.sets.items():
        counted = knowledge.counted(routes, complaint.symptom.contracts, since, until)
        suspects.append(
            Suspect(
                routes=found.ordered(routes),
                posterior=found.blame / whole,
                share=found.traffic / traffic,
                generations=0 if guessed else found.answers,
                attempts=counted.attempts,
                fails=counted.fails,
            )
        )
    suspects.sort(key=lambda suspect: (-suspect.posterior, suspect.routes))
    return Ranking(
        suspects=tuple(suspects),
        no_fault=weigher.unfounded / whole if whole else 1.0,
        generations=sum(suspect.generations for suspect in suspects),
        guessed=guessed,
        exact=named and len(suspects) == 1 and all(each.candidates for each, _ in weighed),
    )


def sureness_of(ranking: Ranking) -> Sureness:
    """Say how sure a ranking is.

    Who served is exact where an id or a conversation names one set, whatever was wrong with the answer. A
    guess of the traffic is never more than possible.
    """
    if ranking.exact:
        return Sureness.EXACT
    best = ranking.suspects[0].posterior if ranking.suspects else 0.0
    if best < POSSIBLE or best <= ranking.no_fault:
        return Sureness.UNKNOWN
    return Sureness.LIKELY if best >= LIKELY and not ranking.guessed else Sureness.POSSIBLE


_LEAST_ONSET: Final = 1e-6  # a fault is never impossible
_MOST_ONSET: Final = 1 - 1e-6  # nor certain

_NAMED: Final = 0.02
"""What an answer of the named conversation weighs in time at least: then the stated time matters less."""


@dataclass(slots=True)
class _Shown:
    """How many answers of one set show the trouble, and how many do not, by weight."""

    fails: list[float] = field(default_factory=list)
    passes: list[float] = field(default_factory=list)

    def faulty(self, onset: float) -> float:
        """Say how likely the set has a fault, when probes alone say `onset`."""
        seen = Seen(fails=fsum(self.fails), passes=fsum(self.passes))
        return condition_of(seen, onset=min(max(onset, _LEAST_ONSET), _MOST_ONSET)).faulty


@dataclass(slots=True)
class _Found:
    """One set's sums; exact ones, so that no order of adding shows."""

    answers: int = 0
    weights: list[float] = field(default_factory=list)
    blames: defaultdict[RouteId, list[float]] = field(default_factory=lambda: defaultdict(list))

    @property
    def traffic(self) -> float:
        return fsum(self.weights)

    @property
    def blame(self) -> float:
        return fsum(blame for each in self.blames.values() for blame in each)

    def ordered(self, routes: Sequence[RouteId]) -> tuple[RouteId, ...]:
        """Put the routes of the set in order, the likeliest first."""
        return tuple(sorted(routes, key=lambda route: (-fsum(self.blames[route]), route)))


class _Weigher:
    """Adds up, answer by answer, what speaks for each explanation."""

    def __init__(self, complaint: Complaint, knowledge: Knowledge) -> None:
        self._contracts = complaint.symptom.contracts
        self._locale = complaint.locale
        self._knowledge = knowledge
        self._unfounded: list[float] = []
        self._shown: defaultdict[tuple[tuple[RouteId, ...], ContractName], _Shown] = defaultdict(_Shown)
        self.sets: defaultdict[tuple[RouteId, ...], _Found] = defaultdict(_Found)

    @property
    def unfounded(self) -> float:
        return fsum(self._unfounded)

    def look_at(self, served: Served, weight: float) -> None:
        """Count what the answers of each set show: all of them are looked at before any is taken in."""
        for contract in self._contracts:
            if contract in SHOWING and weight > 0.0:
                shown = self._shown[self._set_of(served), contract]
                (shown.fails if served.shows.get(contract, 0.0) > 0 else shown.passes).append(weight)

    def take_in(self, served: Served, weight: float) -> None:
        if weight <= 0.0:
            return
        routes = self._set_of(served)
        locale = self._locale or served.locale
        for contract in self._contracts:
            common = self._knowledge.common(contract, served.at, locale)
            self._unfounded.append(weight * (UNFOUNDED + common))
        if not routes:
            return  # nobody is known who could have given it
        found = self.sets[routes]
        found.answers += 1
        found.weights.append(weight)
        for contract in self._contracts:
            for route, rate in self._rates(routes, served, contract, locale):
                found.blames[route].append(weight * rate)
        if served.broken and len(self._contracts) > 1:
            for route in routes:
                found.blames[route].append(weight * SHOWN / len(routes))

    def _set_of(self, served: Served) -> tuple[RouteId, ...]:
        return tuple(sorted(served.candidates or self._knowledge.routes))

    def _rates(
        self, routes: tuple[RouteId, ...], served: Served, contract: ContractName, locale: Locale | None
    ) -> Iterator[tuple[RouteId, float]]:
        """Split among the routes of a set how likely its answer was spoiled; each tag may have given it."""
        stood = {route: self._knowledge.condition(route, contract, served.at, locale) for route in routes}
        whole = fsum(UNSEEN + condition.rate for condition in stood.values())
        faulty = fsum(condition.faulty for condition in stood.values()) / len(routes)
        if served.shows.get(contract, 0.0) > 0:
            faulty = self._shown[routes, contract].faulty(faulty)
        spoiled = likelihood(served, contract, whole / len(routes), faulty)
        for route, condition in stood.items():
            yield route, spoiled * (UNSEEN + condition.rate) / whole
