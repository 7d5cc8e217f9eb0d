"""Which world does a scenario file mean?

Reading is strict: every fault of the file is reported at once, with its key, its value and what is allowed.

Source: docs/simulation.md, The file.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from routecanary.domain.names import CONTRACT_NAMES, ContractName, RouteId, parse_route
from routecanary.domain.strict_toml import TomlError, parse_toml
from routecanary.domain.times import format_duration
from routecanary.errors import ScenarioError, ScenarioFaultsError
from routecanary.simulate.scenario import (
    NATURAL,
    Churn,
    Fault,
    Host,
    Regression,
    Scenario,
    Traffic,
    Weather,
)
from routecanary.simulate.table import Table

MOST_HOSTS: Final = 500
MOST_ROUNDS: Final = 200_000  # of one life
LONGEST_LIFE: Final = timedelta(days=3_650)
SHORTEST_SPELL: Final = timedelta(minutes=10)


def scenario_from_toml(text: str, name: str) -> Scenario:
    """Read a scenario.

    Args:
        name: Of the scenario, and for errors.
    Raises:
        ScenarioError: It is not TOML, or breaks the format; `ScenarioFaultsError` names every fault of it.
    """
    try:
        content = parse_toml(text, place=name)
    except TomlError as error:
        raise ScenarioError(error.problem, place=name) from None
    faults: list[ScenarioError] = []
    scenario = _scenario(Table(content, "", name, faults), name)
    if faults:
        raise faults[0] if len(faults) == 1 else ScenarioFaultsError(faults)
    return scenario


def _scenario(top: Table, name: str) -> Scenario:
    life = top.span("life", least=timedelta(hours=1), most=LONGEST_LIFE, default=timedelta(days=30))
    period = top.span("period", least=timedelta(minutes=1), default=timedelta(minutes=30))
    if not 1 <= life // period <= MOST_ROUNDS:
        top.refuse(
            "no number of rounds for a life", "period", format_duration(period), f"1 to {MOST_ROUNDS} of them"
        )
    hosts = _hosts(top)
    listed = {host.route for host in hosts}
    probes = top.table("probes")
    scenario = Scenario(
        name=name,
        about=top.text("about", default=""),
        hosts=hosts,
        life=life,
        period=period,
        natural=_natural(top.table("natural")),
        repeat=top.number("repeat", 0, 1, default=0.0),
        faults=tuple(_fault(each, listed, life) for each in top.tables("faults")),
        regressions=tuple(_regression(each) for each in top.tables("regressions")),
        weather=_weather(top.table("weather")),
        churn=_churn(top.table("churn")) if top.has("churn") else None,
        traffic=Traffic(top.word("traffic", tuple(Traffic), default=Traffic.PRICE)),
        prompt_tokens=probes.whole("prompt_tokens", 0, 1_000_000, default=400),
        completion_tokens=probes.whole("completion_tokens", 0, 1_000_000, default=300),
    )
    probes.end()
    top.end()
    return scenario


def _hosts(top: Table) -> tuple[Host, ...]:
    hosts: list[Host] = []
    for group in top.tables("hosts"):
        route = group.name("name", parse_route)
        count = group.whole("count", 1, MOST_HOSTS, default=1)
        prompt = group.number("price_prompt", 0.001, 10_000, default=0.2)
        completion = group.number("price_completion", 0.001, 10_000, default=0.8)
        spread = group.number("price_spread", 1, 1_000, default=1.0)
        group.end()
        for number in range(count):
            factor = spread ** (number / (count - 1)) if count > 1 else 1.0
            tag = route if count == 1 else RouteId(f"{route}-{number + 1:02}")
            hosts.append(Host(route=tag, price_prompt=prompt * factor, price_completion=completion * factor))
    if not 1 <= len(hosts) <= MOST_HOSTS:
        top.refuse("no number of hosts", "hosts", len(hosts), f"1 to {MOST_HOSTS}")
    names = [host.route for host in hosts]
    for twice in sorted({each for each in names if names.count(each) > 1}):
        top.refuse("two hosts of this name", "hosts", twice, "each name once")
    return tuple(hosts)


def _natural(table: Table) -> Mapping[ContractName, float]:
    rate = table.number("every", 0, 1, default=NATURAL)
    rates = {contract: table.number(contract, 0, 1, default=rate) for contract in CONTRACT_NAMES}
    table.end()
    return rates


def _fault(table: Table, listed: set[RouteId], life: timedelta) -> Fault:
    chosen = table.whole_or_names("hosts", default=1)
    names, drawn = ((), chosen) if isinstance(chosen, int) else (chosen, 0)
    if not isinstance(chosen, int):
        for each in chosen:
            if each not in listed:
                table.refuse(
                    "no host of this scenario", "hosts", each, "names of hosts, or how many are drawn"
                )
    elif not 1 <= chosen <= len(listed):
        table.refuse("out of range", "hosts", chosen, f"1 to {len(listed)}, or a list of names")
    start = table.span("from", default=timedelta())
    end = table.span("to", default=life)
    if not start < end <= life:
        table.refuse(
            "not after `from` and within the life", "to", format_duration(end), format_duration(life)
        )
    faulty = table.span("faulty_for", least=SHORTEST_SPELL) if table.has("faulty_for") else None
    healthy = table.span("healthy_for", least=SHORTEST_SPELL) if table.has("healthy_for") else None
    if (faulty is None) != (healthy is None):
        table.refuse("`faulty_for` and `healthy_for` go together", "healthy_for", None, "both or neither")
    fault = Fault(
        contracts=table.contracts("contracts"),
        rate=table.number("rate", 0, 1),
        hosts=tuple(map(RouteId, names)),
        drawn=drawn,
        start=start,
        end=end,
        drift_to=table.number("drift_to", 0, 1) if table.has("drift_to") else None,
        peak=table.span("peak", most=timedelta(days=1)) if table.has("peak") else None,
        faulty_for=faulty,
        healthy_for=healthy,
        together=table.switch("together", default=False),
    )
    table.end()
    return fault


def _regression(table: Table) -> Regression:
    regression = Regression(
        contract=ContractName(table.word("contract", CONTRACT_NAMES)),
        rate=table.number("rate", 0, 1),
        start=table.span("from", default=timedelta()),
        lasting=table.span("lasting", default=timedelta(days=1)),
        together=table.switch("together", default=False),
    )
    table.end()
    return regression


def _weather(table: Table) -> Weather:
    def every(key: str) -> timedelta | None:
        return table.span(key, least=SHORTEST_SPELL) if table.has(key) else None

    weather = Weather(
        transport=table.number("transport", 0, 1, default=0.0),
        outage_every=every("outage_every"),
        outage_lasting=table.span("outage_lasting", default=timedelta(hours=1)),
        host_outage_every=every("host_outage_every"),
        host_outage_lasting=table.span("host_outage_lasting", default=timedelta(hours=1)),
    )
    table.end()
    return weather


def _churn(table: Table) -> Churn:
    churn = Churn(
        listed_for=table.span("listed_for", least=SHORTEST_SPELL),
        absent_for=table.span("absent_for", least=SHORTEST_SPELL),
    )
    table.end()
    return churn
