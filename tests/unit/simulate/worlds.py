"""Rounds made by hand, for whoever decides on them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from routecanary.domain.names import ContractName, RouteId
from routecanary.domain.round import Round
from routecanary.simulate.asking import ALL_WELL, Asked, Signal, asked
from routecanary.simulate.life import Illness
from routecanary.simulate.rounds import EPOCH, MODEL, Told
from routecanary.simulate.scenario import Fault, Host, Scenario, Traffic

PERIOD = timedelta(minutes=30)
HOSTS = tuple(RouteId(f"h{number}") for number in range(10))
WELL, FAULTY, LOST = Signal


def failing(contract: ContractName, place: int, *, again: bool = True) -> Asked:
    """A host that fails a contract on one probe, and in its confirmations or not."""
    return asked({(place, contract)}, (), lambda *_: again, lambda: False)


def a_round(
    number: int,
    unusual: Mapping[str, Asked] | None = None,
    *,
    ill: Mapping[str, tuple[Illness, float]] | None = None,
    down: frozenset[str] = frozenset(),
    hosts: tuple[RouteId, ...] = HOSTS,
) -> Told:
    """The round with a number, from 1 on; hosts that are not named pass everything."""
    since = number * PERIOD
    answers = {host: (unusual or {}).get(host, ALL_WELL) for host in hosts}
    return Told(
        line=Round(
            at=EPOCH + since, model=MODEL, routes={host: each.report for host, each in answers.items()}
        ),
        since=since,
        requests={host: each.requests for host, each in answers.items()},
        ill={RouteId(host): (each,) for host, each in (ill or {}).items()},
        down=frozenset(map(RouteId, down)),
        confirmed=0,
        repeated=0,
    )


def requests(number: int, said: Mapping[str, tuple[Signal, ...]], hosts: int = 10) -> Told:
    """A round of which only the requests matter."""
    told = a_round(number, hosts=HOSTS[:hosts])
    return Told(
        line=told.line, since=told.since, requests={**told.requests, **said},  # type: ignore[dict-item]
        ill={}, down=frozenset(), confirmed=0, repeated=0,
    )  # fmt: skip


def an_illness(
    host: str, contract: ContractName, start: timedelta, end: timedelta, rate: float = 1.0
) -> Illness:
    fault = Fault(contracts=frozenset({contract}), rate=rate, hosts=(RouteId(host),))
    return Illness(fault=fault, host=RouteId(host), start=start, end=end)


def a_scenario(*, traffic: Traffic = Traffic.EQUAL) -> Scenario:
    """Ten hosts; the first costs a third of what the others do."""
    return Scenario(
        name="by hand",
        about="",
        hosts=tuple(
            Host(route=host, price_prompt=1.0 if host == HOSTS[0] else 3.0, price_completion=0.0)
            for host in HOSTS
        ),
        life=timedelta(days=1),
        traffic=traffic,
    )
