"""Is what is told of a life what its scenario says?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from routecanary.domain.names import CONTRACT_NAMES, INTEGRITY, LANGUAGE, STRUCTURED, ContractName, RouteId
from routecanary.domain.round import RouteReport
from routecanary.domain.verdict import VerdictKind
from routecanary.simulate.asking import Signal
from routecanary.simulate.rounds import Told, dollars_of, rounds_of
from routecanary.simulate.scenario import Churn, Fault, Host, Regression, Scenario, Weather

A_DAY = timedelta(days=1)
NO_CHANCE = dict.fromkeys(CONTRACT_NAMES, 0.0)


def a_scenario(hosts: int = 4, days: float = 20, **facts: Any) -> Scenario:
    return Scenario(
        name="a",
        about="",
        hosts=tuple(
            Host(route=RouteId(f"h{number}"), price_prompt=1.0, price_completion=2.0)
            for number in range(hosts)
        ),
        life=days * A_DAY,
        **{"natural": NO_CHANCE, **facts},
    )


def a_fault(rate: float = 1.0, contract: ContractName = STRUCTURED, **facts: Any) -> Fault:
    return Fault(contracts=frozenset({contract}), rate=rate, **{"hosts": (RouteId("h0"),), **facts})


def told(scenario: Scenario, seed: int = 1) -> Iterator[Told]:
    return rounds_of(scenario, Random(seed))


def first_attempts_failing(rounds: Iterator[Told], host: str, contract: ContractName) -> float:
    """The share of first attempts that failed, of a contract that one probe a round feeds."""
    said = [each.line.routes[RouteId(host)] for each in rounds]
    return sum(is_first_failing(report, contract) for report in said) / len(said)


def is_first_failing(report: RouteReport, contract: ContractName) -> bool:
    attempts = report.attempts.get(contract)
    return attempts[0] if attempts else report.verdicts[contract] is VerdictKind.FAIL


def test_rounds_come_by_the_period_and_end_with_the_life() -> None:
    """One every half hour, the first half an hour in."""
    sinces = [each.since for each in told(a_scenario(days=1))]
    assert sinces == [timedelta(minutes=30) * number for number in range(1, 49)]


def test_the_same_seed_tells_the_same_life() -> None:
    """And another seed another one."""
    scenario = a_scenario(
        natural=dict.fromkeys(CONTRACT_NAMES, 0.05), weather=Weather(transport=0.05), days=5
    )
    assert list(told(scenario)) == list(told(scenario))
    assert [each.line for each in told(scenario)] != [each.line for each in told(scenario, seed=2)]


def test_without_chance_and_faults_everything_passes() -> None:
    """Every verdict of every host, and three requests for each."""
    for each in told(a_scenario(days=2)):
        assert {kind for report in each.line.routes.values() for kind in report.verdicts.values()} == {
            VerdictKind.PASS
        }
        assert all(requests == (Signal.WELL,) * 3 for requests in each.requests.values())


def test_chance_fails_as_often_as_it_should() -> None:
    """Each contract at its own rate; confirmations fail at that rate too."""
    rates = {contract: 0.02 * (1 + number) for number, contract in enumerate(CONTRACT_NAMES)}
    scenario = a_scenario(hosts=10, days=60, natural=rates)
    attempts: Counter[str] = Counter()
    fails: Counter[str] = Counter()
    for each in told(scenario):
        for report in each.line.routes.values():
            for contract, kind in report.verdicts.items():
                said = report.attempts.get(contract, (kind is VerdictKind.FAIL,))
                attempts[contract] += len(said)
                fails[contract] += sum(said)
    for contract, rate in rates.items():
        spread = (attempts[contract] * rate * (1 - rate)) ** 0.5
        assert abs(fails[contract] - attempts[contract] * rate) < 5 * spread, contract
    assert attempts[INTEGRITY] > 3 * attempts[LANGUAGE] * 0.98


def test_chance_failures_repeat_as_often_as_the_scenario_says() -> None:
    """Measured over confirmations of failures that nothing is behind."""
    scenario = a_scenario(hosts=10, days=60, natural=dict.fromkeys(CONTRACT_NAMES, 0.02), repeat=0.3)
    confirmed = repeated = 0
    for each in told(scenario):
        confirmed += each.confirmed
        repeated += each.repeated
    assert confirmed > 5_000
    assert abs(repeated - 0.3 * confirmed) < 5 * (confirmed * 0.21) ** 0.5


def test_a_fault_fails_its_contract_on_its_host_in_its_time() -> None:
    """At its rate, from its start to its end; nobody else and nothing else."""
    scenario = a_scenario(days=60, faults=(a_fault(0.2, start=10 * A_DAY, end=50 * A_DAY),))
    rounds = list(told(scenario))
    inside = [each for each in rounds if 10.1 * A_DAY < each.since < 50 * A_DAY]
    outside = [each for each in rounds if each.since < 10 * A_DAY or each.since >= 50 * A_DAY]
    assert abs(first_attempts_failing(iter(inside), "h0", STRUCTURED) - 0.2) < 0.05
    assert first_attempts_failing(iter(inside), "h1", STRUCTURED) == 0
    assert first_attempts_failing(iter(inside), "h0", LANGUAGE) == 0
    assert first_attempts_failing(iter(outside), "h0", STRUCTURED) == 0
    assert all(RouteId("h0") in each.ill for each in inside)
    assert not any(each.ill for each in outside)


def test_hosts_are_drawn_anew_in_each_life() -> None:
    """As many as the fault says, all different."""
    scenario = a_scenario(hosts=20, days=1, faults=(a_fault(1.0, hosts=(), drawn=3),))
    chosen = [frozenset(list(told(scenario, seed))[-2].ill) for seed in range(8)]
    assert {len(each) for each in chosen} == {3}
    assert len(set(chosen)) > 4


def test_a_drifting_fault_goes_from_one_rate_to_the_other() -> None:
    """In a straight line."""
    scenario = a_scenario(days=10, faults=(a_fault(0.1, drift_to=0.9),))
    rates = {
        round(each.since / A_DAY, 3): each.ill[RouteId("h0")][0][1] for each in told(scenario) if each.ill
    }
    assert rates[5.0] == pytest.approx(0.5, abs=0.01)
    assert rates[9.0] == pytest.approx(0.82, abs=0.01)


def test_a_diurnal_fault_has_its_peak_and_its_trough() -> None:
    """The whole rate at its hour, nothing twelve hours later."""
    scenario = a_scenario(days=3, faults=(a_fault(0.5, peak=timedelta(hours=15)),))
    rates = {each.since: each.ill[RouteId("h0")][0][1] for each in told(scenario) if each.ill}
    assert rates[timedelta(days=1, hours=15)] == pytest.approx(0.5)
    assert timedelta(days=1, hours=3) not in rates
    assert rates[timedelta(days=1, hours=9)] == pytest.approx(0.25)


def test_spells_come_and_go_and_may_be_shared() -> None:
    """Together, the hosts are ill at the same times; apart, each at its own."""
    hosts = (RouteId("h0"), RouteId("h1"))
    fault = a_fault(1.0, hosts=hosts, faulty_for=A_DAY, healthy_for=2 * A_DAY)
    apart = list(told(a_scenario(days=200, faults=(fault,))))
    together = list(told(a_scenario(days=200, faults=(replace(fault, together=True),))))
    assert {frozenset(each.ill) for each in together} == {frozenset(), frozenset(hosts)}
    assert len({frozenset(each.ill) for each in apart}) == 4
    share = sum(RouteId("h0") in each.ill for each in together) / len(together)
    assert 0.2 < share < 0.5  # a third


def test_a_judge_that_goes_wrong_fails_everybody() -> None:
    """Each host by itself, or all by the same question; the illness is nobody's."""
    regression = Regression(contract=LANGUAGE, rate=0.3, start=A_DAY, lasting=10 * A_DAY)
    apart = list(told(a_scenario(hosts=10, days=12, regressions=(regression,))))
    shared = list(told(a_scenario(hosts=10, days=12, regressions=(replace(regression, together=True),))))
    for rounds in (apart, shared):
        inside = [each for each in rounds if A_DAY <= each.since < 11 * A_DAY]
        assert abs(first_attempts_failing(iter(inside), "h3", LANGUAGE) - 0.3) < 0.1
        assert not any(each.ill for each in rounds)
        assert sum(each.confirmed for each in rounds) == 0
    counts = {
        sum(is_first_failing(report, LANGUAGE) for report in each.line.routes.values()) for each in shared
    }
    assert counts == {0, 10}


def test_weather_loses_answers_and_takes_hosts_and_the_gateway_down() -> None:
    """Lost askings are transport; a host that is down answers nothing, and in an outage nobody does."""
    weather = Weather(
        transport=0.05, outage_every=10 * A_DAY, outage_lasting=A_DAY,
        host_outage_every=10 * A_DAY, host_outage_lasting=A_DAY,
    )  # fmt: skip
    rounds = list(told(a_scenario(hosts=5, days=300, weather=weather)))
    outages = [each for each in rounds if len(each.down) == 5]
    assert 0.02 < len(outages) / len(rounds) < 0.2
    for each in rounds:
        for host in each.down:
            assert set(each.line.routes[host].verdicts.values()) == {VerdictKind.TRANSPORT}
    up = [r for each in rounds if not each.down for r in each.requests.values()]
    lost = sum(requests.count(Signal.LOST) for requests in up) / sum(map(len, up))
    assert lost == pytest.approx(0.05, abs=0.005)


def test_churn_takes_hosts_off_the_list() -> None:
    """A fifth of the time each, one by one."""
    scenario = a_scenario(hosts=5, days=300, churn=Churn(listed_for=4 * A_DAY, absent_for=A_DAY))
    listed = [len(each.line.routes) for each in told(scenario)]
    assert sum(listed) / len(listed) == pytest.approx(4.0, abs=0.4)
    assert len(set(listed)) > 2


def test_an_asking_costs_its_tokens() -> None:
    """USD per million tokens of prompt and answer."""
    scenario = a_scenario(prompt_tokens=1_000, completion_tokens=500)
    assert dollars_of(scenario.hosts[0], scenario) == pytest.approx(0.002)
