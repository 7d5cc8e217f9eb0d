"""The rounds of a simulated life, as the decision core takes them, and the truth beside each.

Chance failures and lost askings are drawn by their gaps: a round costs what fails in it, not what passes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

from routecanary.domain.names import ContractName, ModelId, RouteId
from routecanary.domain.round import Round
from routecanary.simulate.asking import ALL_LOST, ALL_WELL, SLOTS, Asked, Signal, Slot, asked
from routecanary.simulate.chance import Gaps
from routecanary.simulate.life import Illness, InForce, Life, life_of
from routecanary.simulate.scenario import PROBES, Host, Regression, Scenario

MODEL: Final = ModelId("simulated/model")
EPOCH: Final = datetime(2026, 1, 1, tzinfo=UTC)

Ill = Mapping[RouteId, tuple[tuple[Illness, float], ...]]
"""Host → what is wrong with it now, and at which rate; no rate is 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One round of a life."""

    line: Round
    since: timedelta  # the beginning of the life
    requests: Mapping[RouteId, tuple[Signal, ...]]  # of every host that was asked, in order
    ill: Ill  # of the listed hosts
    down: frozenset[RouteId]  # out of reach
    confirmed: int  # confirmations of chance failures
    repeated: int  # of them, those that failed again


def rounds_of(scenario: Scenario, rng: Random) -> Iterator[Told]:
    """Tell one life, round by round.

    Args:
        rng: All chance of it; the same seed tells the same life, whoever listens.
    """
    teller = _Teller(scenario, life_of(scenario, rng), rng)
    for number in range(1, scenario.rounds + 1):
        yield teller.told(number * scenario.period)


def dollars_of(host: Host, scenario: Scenario) -> float:
    """Price one asking of a host."""
    prompt = host.price_prompt * scenario.prompt_tokens
    return (prompt + host.price_completion * scenario.completion_tokens) / 1e6


class _Teller:
    """One life in the making."""

    def __init__(self, scenario: Scenario, life: Life, rng: Random) -> None:
        self._scenario, self._rng = scenario, rng
        self._hosts = [host.route for host in scenario.hosts]
        self._natural = [
            (Gaps(chance, rng), [slot for slot in SLOTS if slot[1] == contract])
            for contract, chance in sorted(scenario.natural.items())
        ]
        self._lost = Gaps(scenario.weather.transport, rng)
        self._illnesses = InForce([(each.start, each.end, each) for each in life.illnesses])
        self._absences = InForce([(*span, route) for route, span in life.absences])
        self._outages = InForce([(*span, True) for span in life.outages])
        self._host_outages = InForce([(*span, route) for route, span in life.host_outages])
        self._regressions = InForce(
            sorted(
                ((each.start, each.start + each.lasting, each) for each in scenario.regressions),
                key=lambda each: each[0],
            )
        )

    def told(self, since: timedelta) -> Told:
        absent = frozenset(self._absences.at(since))
        listed = [route for route in self._hosts if route not in absent] if absent else self._hosts
        ill = self._ill(since, absent)
        down = frozenset(listed if self._outages.at(since) else self._host_outages.at(since))
        unusual = self._unusual(ill, self._regressions.at(since), down)
        answers = [(route, unusual.get(route, ALL_WELL)) for route in listed]
        return Told(
            line=Round(
                at=EPOCH + since, model=MODEL, routes={route: answer.report for route, answer in answers}
            ),
            since=since,
            requests={route: answer.requests for route, answer in answers},
            ill=ill,
            down=down,
            confirmed=sum(each.confirmed for route, each in unusual.items() if route not in absent),
            repeated=sum(each.repeated for route, each in unusual.items() if route not in absent),
        )

    def _ill(self, since: timedelta, absent: frozenset[RouteId]) -> Ill:
        found: dict[RouteId, tuple[tuple[Illness, float], ...]] = {}
        for illness in self._illnesses.at(since):
            rate = illness.rate_at(since)
            if rate > 0 and illness.host not in absent:
                found[illness.host] = (*found.get(illness.host, ()), (illness, rate))
        return found

    def _unusual(
        self, ill: Ill, regressions: Iterable[Regression], down: frozenset[RouteId]
    ) -> dict[RouteId, Asked]:
        """Ask the hosts that do not simply pass everything."""
        chance = self._chance_failures()
        failed: dict[RouteId, set[Slot]] = defaultdict(set)
        for route, slots in chance.items():
            failed[route] |= slots
        wrong = [_Wrong(regression, self._rng) for regression in regressions]
        for judge in wrong:
            for route in self._hosts:
                failed[route].update(slot for slot in SLOTS if judge.fails(slot))
        for route, what in ill.items():
            for illness, rate in what:
                for slot in SLOTS:
                    if slot[1] in illness.contracts and self._rng.random() < rate:
                        failed[route].add(slot)
        lost: dict[RouteId, set[int]] = defaultdict(set)
        for number in self._lost.within(len(self._hosts) * len(PROBES)):
            lost[self._hosts[number // len(PROBES)]].add(number % len(PROBES))
        unusual = dict.fromkeys(down, ALL_LOST)
        for route in self._hosts:
            if route not in unusual and (failed.get(route) or route in lost):
                unusual[route] = self._ask(
                    failed.get(route, set()), chance.get(route, set()), lost.get(route, set()),
                    what=ill.get(route, ()), wrong=wrong,
                )  # fmt: skip
        return unusual

    def _chance_failures(self) -> dict[RouteId, set[Slot]]:
        found: dict[RouteId, set[Slot]] = {}
        for gaps, slots in self._natural:
            for number in gaps.within(len(self._hosts) * len(slots)):
                route = self._hosts[number // len(slots)]
                found.setdefault(route, set()).add(slots[number % len(slots)])
        return found

    def _ask(
        self,
        failed: set[Slot],
        chance: set[Slot],
        lost: set[int],
        *,
        what: tuple[tuple[Illness, float], ...],
        wrong: list[_Wrong],
    ) -> Asked:
        """Ask one host, with the confirmations that follow.

        A chance failure comes again as often as the scenario's repeat rate says, and at least as often as
        whatever else is the matter.
        """
        rng, scenario = self._rng, self._scenario

        def confirm(slot: Slot, number: int) -> bool:
            contract = slot[1]
            well = 1.0 - scenario.natural.get(contract, 0.0)
            for illness, rate in what:
                if contract in illness.contracts:
                    well *= 1.0 - rate
            rate = max(1.0 - well, scenario.repeat if slot in chance else 0.0)
            return rng.random() < rate or any(judge.fails(slot, number + 1) for judge in wrong)

        concerned = {judge.contract for judge in wrong}.union(*(illness.contracts for illness, _ in what))
        return asked(
            failed,
            lost,
            confirm,
            lambda: rng.random() < scenario.weather.transport,
            by_chance={slot for slot in chance if slot[1] not in concerned},
        )


class _Wrong:
    """A judge of ours that is wrong in one round."""

    def __init__(self, regression: Regression, rng: Random) -> None:
        self.contract: ContractName = regression.contract
        self._rate, self._rng = regression.rate, rng
        self._shared: dict[tuple[Slot, int], bool] | None = {} if regression.together else None

    def fails(self, slot: Slot, number: int = 0) -> bool:
        """Say whether a healthy answer fails: the first asking, or a confirmation."""
        if slot[1] != self.contract:
            return False
        if self._shared is None:
            return self._rng.random() < self._rate
        if (slot, number) not in self._shared:
            self._shared[slot, number] = self._rng.random() < self._rate
        return self._shared[slot, number]
