"""Do false alarms of the evidence trigger come as often as the exact chain says?

Healthy hosts whose failure rate is exactly the p0 that they are weighed by: what the chain takes for granted.
Each alarm ends after one round, and its route begins anew at M = 1.

Source: docs/simulation.md, The exact chain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from random import Random
from typing import Final

from routecanary.decide.attempts import attempts_of
from routecanary.decide.evidence import scale_at
from routecanary.decide.step import decided
from routecanary.domain.event import Suspended
from routecanary.domain.interval import Interval, exact_interval
from routecanary.domain.names import CONTRACT_NAMES, ContractName, RouteId
from routecanary.domain.policy import Policy, Trigger
from routecanary.domain.state import ModelState
from routecanary.simulate.asking import ALL_WELL, CONFIRMATIONS, SLOTS
from routecanary.simulate.exact import hazard
from routecanary.simulate.rounds import MODEL, rounds_of
from routecanary.simulate.run import YEAR
from routecanary.simulate.scenario import Host, Scenario

P0: Final = 0.01
CONFIDENCE: Final = 1 - 0.05 / len(CONTRACT_NAMES)
"""Of each contract's interval: all five at once hold in 95 of 100 runs."""
FIRSTS: Final = Counter(contract for _, contract in SLOTS)
"""First attempts of a contract in a round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmCheck:
    """One contract's false alarms, as counted and as computed."""

    contract: ContractName
    attempts: int  # of routes that were at risk: not suspended
    alarms: int
    interval: Interval  # Clopper–Pearson at `CONFIDENCE`, of alarms per attempt
    exact: float  # alarms per attempt, by the chain
    declared: float  # likewise, as the budget spreads them

    @property
    def contained(self) -> bool:
        """Say whether what was counted bears out what was computed."""
        return self.interval.low <= self.exact <= self.interval.high


def policy_of(budget: float) -> Policy:
    """Make a policy under which the premises of the chain hold: p0 is known, and no alarm is held back."""
    return Policy(
        trigger=Trigger.EVIDENCE,
        false_suspensions_per_year=budget,
        p0_min=P0,
        p0_prior=(0.001, 1e9),  # whatever the others do, p0 is p0_min
        common_cause_min_routes=10_000,  # nor does a single round change it
        floor=1,
        max_suspended_share=Fraction(1),
        ladder=(timedelta(seconds=1),),
    )


def check_alarms(
    years: float, *, seed: int, budget: float, hosts: int = 30, steps_of_a_pass: int = 16
) -> tuple[AlarmCheck, ...]:
    """Count the false alarms of so many model-years, contract by contract.

    Args:
        budget: Declared false suspensions a year, for the model.
        steps_of_a_pass: The fineness of the chain that the count is laid beside; finer is slower.
    """
    policy = policy_of(budget)
    attempts: Counter[ContractName] = Counter()
    alarms: Counter[ContractName] = Counter()
    for at_risk, fired in _rounds(years, seed, hosts, policy):
        attempts.update(at_risk)
        alarms.update(fired)
    scale = scale_at(P0, policy, routes=hosts)
    per_firsts = {
        firsts: hazard(P0, firsts, scale, steps_of_a_pass=steps_of_a_pass, rounds=200)
        / (firsts * (1 + CONFIRMATIONS * P0))
        for firsts in sorted(set(FIRSTS.values()))
    }
    return tuple(
        AlarmCheck(
            contract=contract,
            attempts=attempts[contract],
            alarms=alarms[contract],
            interval=exact_interval(alarms[contract], attempts[contract], CONFIDENCE),
            exact=per_firsts[FIRSTS[contract]],
            declared=_declared(policy, hosts),
        )
        for contract in CONTRACT_NAMES
    )


def _declared(policy: Policy, hosts: int) -> float:
    """Spread the budget over the attempts of a year."""
    attempts = hosts * policy.attempts_per_round * (1 + CONFIRMATIONS * P0) * (YEAR / policy.round_period)
    return policy.false_suspensions_per_year / attempts


def _rounds(
    years: float, seed: int, hosts: int, policy: Policy
) -> Iterator[tuple[Counter[ContractName], Counter[ContractName]]]:
    """Tell, for each round, the attempts of the routes at risk and the alarms, by contract."""
    routes = [RouteId(f"route-{number:02}") for number in range(hosts)]
    scenario = Scenario(
        name="alarms",
        about="",
        hosts=tuple(Host(route=route, price_prompt=1.0, price_completion=1.0) for route in routes),
        life=years * YEAR,
        natural=dict.fromkeys(CONTRACT_NAMES, P0),
    )
    state = ModelState.empty(MODEL)
    for told in rounds_of(scenario, Random(f"{seed}/alarms")):  # noqa: S311 - chance to be repeated
        at_risk: Counter[ContractName] = Counter()
        suspended = state.suspensions()
        for route, report in told.line.routes.items():
            if route in suspended:
                continue
            if report is ALL_WELL.report:
                at_risk.update(FIRSTS)
            else:
                at_risk.update({contract: len(attempts_of(report, contract)) for contract in CONTRACT_NAMES})
        events, state = decided(state, told.line, policy)
        fired = (event.evidence for event in events if isinstance(event, Suspended))
        yield at_risk, Counter(contract for earned in fired for contract in earned)
