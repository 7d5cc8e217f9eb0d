"""How likely did a route fail a contract at a time, given what probes saw before and after?

Every attempt nearby is weighed by its nearness in time, and for `language` in locale. Beside a healthy route,
which fails now and then, stand three faulty ones, which spoil one answer in five, every second or nearly all;
what the attempts say of these four is Bayes' rule, as the evidence trigger's ratio is (docs/policy.md).

What most routes do at the same time is no fault of one: it is taken off everybody, and told apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import exp, log
from statistics import median
from typing import Final, NamedTuple

from routecanary.domain.names import LANGUAGE, ContractName, Locale, RouteId

NATURAL: Final = 0.01
"""How often a healthy route fails a probe, at least; the median of the others where that is more."""

MOST_NATURAL: Final = 0.15
"""Where more than this seems natural, a single fail says hardly anything of a route already."""

FAULTY: Final = (0.2, 0.5, 0.9)
"""How often faulty routes fail: now and then, every second time, nearly always. Equally likely beforehand."""

ONSET: Final = 0.006
"""How likely a route is faulty in one contract before it was looked at: of 30 about one, in one of five."""

SUSPENDED_ONSET: Final = 0.3
"""The same while a suspension for the contract is in force; what it is for may be over already."""

NEAR: Final = timedelta(minutes=60)
"""An attempt this far away in time counts 1/e of one at the very time: faults come and go in hours."""

REACH: Final = 6 * NEAR
"""Attempts beyond are not looked at; they would count less than 1 in 400."""

REPEATED: Final = 0.3
"""How often a chance failure repeats when it is asked again at once: so much less a confirmation says."""

OTHER_LOCALE_FAIL: Final = 0.5
"""What a `language` fail in another locale counts: most such faults touch several."""

OTHER_LOCALE_PASS: Final = 0.15
"""And a pass: a fault of one language is not seen in the others."""

UNASKED: Final = ONSET * sum(FAULTY) / len(FAULTY)
"""How likely an answer of a route fails that no round named."""

GRID: Final = timedelta(minutes=5)
"""Times are looked at in steps of this size, unless a wider window asks for fewer; fine beside `NEAR`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """What one round saw of one route in one contract."""

    at: datetime
    route: RouteId
    contract: ContractName
    attempts: tuple[bool, ...]  # conclusive ones in their order, true for a fail; at least one
    locale: Locale | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spell:
    """A suspension: who was out, for what, from when until when."""

    route: RouteId
    contracts: frozenset[ContractName]
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """How many attempts there were, and how many of them failed."""

    attempts: int = 0
    fails: int = 0


@dataclass(slots=True, kw_only=True)
class Seen:
    """Attempts added up, each by its weight: first ones, and those that followed a failure."""

    fails: float = 0.0
    passes: float = 0.0
    fails_again: float = 0.0
    passes_again: float = 0.0

    def add(self, attempts: Sequence[bool], weight: float, *, same_locale: bool = True) -> None:
        for place, failed in enumerate(attempts):
            if failed:
                counts = weight * (1.0 if same_locale else OTHER_LOCALE_FAIL)
                if place == 0:
                    self.fails += counts
                else:
                    self.fails_again += counts
            else:
                counts = weight * (1.0 if same_locale else OTHER_LOCALE_PASS)
                if place == 0:
                    self.passes += counts
                else:
                    self.passes_again += counts


class Condition(NamedTuple):
    """What attempts say of a route in a contract at one time."""

    faulty: float  # how likely it has a fault, of whatever kind
    rate: float  # how likely its next answer fails by that


class _Look(NamedTuple):
    """How likely answers failed at one time."""

    own: Mapping[RouteId, Condition]  # by the route's own fault
    common: float  # whoever gave it


class Knowledge:
    """What probes knew of the routes of one model around a time."""

    def __init__(
        self,
        routes: Iterable[RouteId],
        sightings: Iterable[Sighting],
        spells: Iterable[Spell] = (),
        *,
        grid: timedelta = GRID,
    ) -> None:
        """Hold what was seen.

        Args:
            grid: Times are looked at in steps of this size.
        """
        self.routes = frozenset(routes)
        self._seen: defaultdict[tuple[RouteId, ContractName], list[Sighting]] = defaultdict(list)
        for sighting in sightings:
            self._seen[sighting.route, sighting.contract].append(sighting)
        for each in self._seen.values():
            each.sort(key=lambda sighting: (sighting.at, sighting.locale or "", sighting.attempts))
        self._spells = tuple(spells)
        self._grid_seconds = grid.total_seconds()
        self._natural: dict[ContractName, dict[RouteId, float]] = {}
        self._looks: dict[tuple[ContractName, int, Locale | None], _Look] = {}

    def condition(
        self, route: RouteId, contract: ContractName, at: datetime, locale: Locale | None
    ) -> Condition:
        """Estimate how likely a route was faulty then, and how likely an answer failed by that.

        From the rate is taken what the median of the others would fail too.
        """
        look = self._look(contract, at, locale)
        return look.own.get(route) or Condition(ONSET, max(0.0, UNASKED - look.common))

    def common(self, contract: ContractName, at: datetime, locale: Locale | None) -> float:
        """Estimate how likely an answer then failed whoever gave it."""
        return self._look(contract, at, locale).common

    def counted(
        self, routes: Iterable[RouteId], contracts: Iterable[ContractName], since: datetime, until: datetime
    ) -> Counted:
        """Count the attempts of some routes between two times."""
        wanted = tuple(contracts)
        found = [
            attempt
            for route in routes
            for contract in wanted
            for sighting in self._seen.get((route, contract), ())
            if since <= sighting.at <= until
            for attempt in sighting.attempts
        ]
        return Counted(attempts=len(found), fails=sum(found))

    def _look(self, contract: ContractName, at: datetime, locale: Locale | None) -> _Look:
        step = round(at.timestamp() / self._grid_seconds)
        wanted = locale if contract == LANGUAGE else None
        key = (contract, step, wanted)
        known = self._looks.get(key)
        if known is None:
            middle = datetime.fromtimestamp(step * self._grid_seconds, UTC)
            found = {route: self._condition(route, contract, middle, wanted) for route in sorted(self.routes)}
            known = self._looks[key] = _look_of(found)
        return known

    def _condition(
        self, route: RouteId, contract: ContractName, at: datetime, locale: Locale | None
    ) -> Condition:
        seen = Seen()
        for sighting in self._seen.get((route, contract), ()):
            distance = abs(sighting.at - at)
            if distance <= REACH:
                same = locale is None or sighting.locale is None or locale == sighting.locale
                seen.add(sighting.attempts, exp(-(distance / NEAR)), same_locale=same)
        suspended = any(
            spell.route == route and contract in spell.contracts and spell.since <= at <= spell.until
            for spell in self._spells
        )
        return condition_of(
            seen,
            natural=self._natural_beside(route, contract),
            onset=SUSPENDED_ONSET if suspended else ONSET,
        )

    def _natural_beside(self, route: RouteId, contract: ContractName) -> float:
        """Say how often the others fail first attempts over the whole time: their median."""
        if contract not in self._natural:
            self._natural[contract] = {
                name: _share_failed(self._seen.get((name, contract), ())) for name in self.routes
            }
        others = [rate for name, rate in self._natural[contract].items() if name != route]
        return min(MOST_NATURAL, max(NATURAL, median(others) if others else 0.0))


def condition_of(seen: Seen, *, natural: float = NATURAL, onset: float = ONSET) -> Condition:
    """Estimate how a route stands after such attempts.

    More fails never lower the rate, more passes never raise it, and neither does a higher `natural`.

    Example: nothing seen gives a rate of 0.0032, and 0.006 that there is a fault; three passes 0.0003 and
        0.0013; a fail among three passes 0.011 and 0.033; a fail that two more confirm, among three passes,
        0.022 and 0.056; two such fails 0.89 and 0.9993.
    """
    healthy = log(1 - onset)
    faulty = [log(onset / len(FAULTY)) + _evidence(seen, rate, natural) for rate in FAULTY]
    highest = max(healthy, *faulty)
    weights = [exp(each - highest) for each in faulty]
    whole = exp(healthy - highest) + sum(weights)
    return Condition(
        faulty=sum(weights) / whole,
        rate=sum(weight * rate for weight, rate in zip(weights, FAULTY, strict=True)) / whole,
    )


def _evidence(seen: Seen, rate: float, natural: float) -> float:
    """Compute the logarithm of how much likelier attempts are with a fault than without.

    A first attempt of a healthy route fails as often as is natural; one that follows a failure, as often as
    chance failures repeat. A fail never speaks against a fault, nor a pass for it.
    """
    return (
        seen.fails * log(rate / natural)
        + seen.passes * log((1 - rate) / (1 - NATURAL))
        + seen.fails_again * max(0.0, log(rate / REPEATED))
        + seen.passes_again * min(0.0, log((1 - rate) / (1 - REPEATED)))
    )


def _look_of(conditions: Mapping[RouteId, Condition]) -> _Look:
    """Take off each route's rate the median of the others'."""
    ordered = sorted(condition.rate for condition in conditions.values())
    own = {}
    for route, condition in conditions.items():
        others = ordered.copy()
        others.remove(condition.rate)
        rate = max(0.0, condition.rate - median(others)) if others else condition.rate
        own[route] = Condition(condition.faulty, rate)
    return _Look(own=own, common=median(ordered) if ordered else 0.0)


def _share_failed(sightings: Sequence[Sighting]) -> float:
    return sum(sighting.attempts[0] for sighting in sightings) / len(sightings) if sightings else 0.0
