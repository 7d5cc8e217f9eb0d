"""Does a scenario file mean what it says, and is a bad one refused with all of its faults?"""

from __future__ import annotations

from datetime import timedelta

import pytest

from routecanary.domain.names import FILTERING, LANGUAGE, LATENCY, RouteId
from routecanary.errors import ScenarioError, ScenarioFaultsError
from routecanary.simulate.reading import scenario_from_toml
from routecanary.simulate.scenario import Churn, Fault, Regression, Traffic, Weather
from routecanary.simulate.shipped import shipped_names, shipped_scenario

HOSTS = '[[hosts]]\nname = "a"\ncount = 3\n'
FAULT = HOSTS + '[[faults]]\ncontracts = ["latency"]\nrate = 1\n'
WHOLE = """
about = "All of it."
life = "40d"
period = "1h"
repeat = 0.25
traffic = "equal"

[natural]
every = 0.02
language = 0.5

[probes]
prompt_tokens = 10
completion_tokens = 20

[[hosts]]
name = "big/fp8"
price_prompt = 1
price_completion = 2.5

[[hosts]]
name = "a"
count = 3
price_spread = 4

[[faults]]
hosts = ["a-01", "big/fp8"]
contracts = ["latency", "language"]
rate = 0.25
drift_to = 1
peak = "15h"
from = "2d"
to = "30d"
faulty_for = "1d"
healthy_for = "12h"
together = true

[[regressions]]
contract = "filtering"
rate = 0.3
from = "1d"
lasting = "6h"
together = true

[weather]
transport = 0.1
outage_every = "10d"
outage_lasting = "1h"
host_outage_every = "20d"
host_outage_lasting = "2h"

[churn]
listed_for = "5d"
absent_for = "1d"
"""


def test_everything_that_a_file_may_say() -> None:
    """Each key in its place."""
    found = scenario_from_toml(WHOLE, "whole")
    assert (found.name, found.about, found.repeat, found.traffic) == (
        "whole",
        "All of it.",
        0.25,
        Traffic.EQUAL,
    )
    assert (found.life, found.period, found.rounds) == (timedelta(days=40), timedelta(hours=1), 960)
    assert (found.prompt_tokens, found.completion_tokens) == (10, 20)
    assert (found.natural[LANGUAGE], found.natural[LATENCY]) == (0.5, 0.02)
    assert [host.route for host in found.hosts] == ["big/fp8", "a-01", "a-02", "a-03"]
    assert [host.price_prompt for host in found.hosts] == pytest.approx([1.0, 0.2, 0.4, 0.8])
    assert found.faults == (
        Fault(
            contracts=frozenset({LATENCY, LANGUAGE}),
            rate=0.25,
            hosts=(RouteId("a-01"), RouteId("big/fp8")),
            start=timedelta(days=2),
            end=timedelta(days=30),
            drift_to=1.0,
            peak=timedelta(hours=15),
            faulty_for=timedelta(days=1),
            healthy_for=timedelta(hours=12),
            together=True,
        ),
    )
    assert found.regressions == (
        Regression(
            contract=FILTERING, rate=0.3, start=timedelta(days=1), lasting=timedelta(hours=6), together=True
        ),
    )
    assert found.weather == Weather(
        transport=0.1,
        outage_every=timedelta(days=10),
        outage_lasting=timedelta(hours=1),
        host_outage_every=timedelta(days=20),
        host_outage_lasting=timedelta(hours=2),
    )
    assert found.churn == Churn(listed_for=timedelta(days=5), absent_for=timedelta(days=1))


def test_what_is_left_out_has_a_default() -> None:
    """One host is a whole scenario; a fault takes one drawn host for the rest of the life."""
    found = scenario_from_toml(HOSTS + '[[faults]]\ncontracts = ["latency"]\nrate = 1\n', "small")
    assert (found.life, found.traffic) == (timedelta(days=30), Traffic.PRICE)
    assert found.churn is None
    (fault,) = found.faults
    assert (fault.hosts, fault.drawn, fault.start, fault.end) == ((), 1, timedelta(), timedelta(days=30))


BAD = [
    ("not TOML", "a = ", "not readable as TOML"),
    ("no host", "", "hosts: no number of hosts (got 0); allowed: 1 to 500"),
    ("unknown key", HOSTS + "[wheather]\n", "wheather: unknown key; allowed: about, churn,"),
    ("unknown key in a table", HOSTS + "[weather]\nfog = 1\n", "weather.fog: unknown key; allowed: "),
    ("no table", "weather = 3\n" + HOSTS, "weather: not allowed (got 3); allowed: a table [weather]"),
    ("no tables", 'hosts = ["a"]\n', "hosts: not allowed (got 'list'); allowed: at most 1000 tables"),
    ("a share above 1", "repeat = 1.5\n" + HOSTS, "repeat: not allowed (got 1.5); allowed: a number from 0"),
    ("not a number", "repeat = nan\n" + HOSTS, "repeat: not allowed (got nan)"),
    ("true is no number", "repeat = true\n" + HOSTS, "repeat: not allowed (got True)"),
    ("a huge number", f"repeat = {'9' * 400}\n" + HOSTS, "repeat: not allowed (got 999"),
    ("no duration", "life = 3\n" + HOSTS, 'life: not allowed (got 3); allowed: a duration such as "6h"'),
    ("too short a life", 'life = "1m"\n' + HOSTS, "life: not allowed (got '1m')"),
    ("many rounds", 'life = "3000d"\nperiod = "1m"\n' + HOSTS, "period: no number of rounds for a life"),
    ("no round", 'life = "1h"\nperiod = "2h"\n' + HOSTS, "period: no number of rounds for a life (got '2h')"),
    ("a host twice", HOSTS + '[[hosts]]\nname = "a-02"\n', "hosts: two hosts of this name (got 'a-02')"),
    ("a name with a blank", '[[hosts]]\nname = "a b"\n', "hosts[0].name: not allowed (got 'a b')"),
    ("a host without a name", "[[hosts]]\ncount = 2\n", "hosts[0].name: missing"),
    ("a host too cheap", HOSTS + "price_prompt = 0\n", "hosts[0].price_prompt: not allowed (got 0)"),
    ("too many hosts", '[[hosts]]\nname = "a"\ncount = 501\n', "hosts[0].count: not allowed (got 501)"),
    ("traffic by whim", 'traffic = "whim"\n' + HOSTS, "(got 'whim'); allowed: price, equal"),
    ("no rate", HOSTS + '[[faults]]\ncontracts = ["latency"]\n', "faults[0].rate: missing"),
    ("no contract", HOSTS + "[[faults]]\ncontracts = []\nrate = 1\n", "faults[0].contracts: not allowed"),
    (
        "nested",
        HOSTS + '[[faults]]\ncontracts = [["latency"]]\nrate = 1\n',
        "faults[0].contracts: not allowed",
    ),
    ("an unknown host", FAULT + 'hosts = ["b"]\n', "faults[0].hosts: no host of this scenario (got 'b')"),
    ("more than there are", FAULT + "hosts = 4\n", "faults[0].hosts: out of range (got 4)"),
    ("an end too early", FAULT + 'from = "3d"\nto = "2d"\n', "faults[0].to: not after `from`"),
    ("half of a spell", FAULT + 'faulty_for = "1d"\n', "`faulty_for` and `healthy_for` go together"),
    ("churn without absence", HOSTS + '[churn]\nlisted_for = "1d"\n', "churn.absent_for: missing"),
    ("a text too long", f'about = "{"a" * 501}"\n' + HOSTS, "about: not allowed"),
]


@pytest.mark.parametrize(("text", "said"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_bad_files_are_refused(text: str, said: str) -> None:
    """The error names the file, the key, the value and what is allowed."""
    with pytest.raises(ScenarioError) as caught:
        scenario_from_toml(text, "bad.toml")
    assert str(caught.value).startswith("bad.toml: ")
    assert said in str(caught.value)


def test_all_faults_of_a_file_are_named_at_once() -> None:
    """One line for each."""
    with pytest.raises(ScenarioFaultsError) as caught:
        scenario_from_toml('repeat = 2\nlife = "x"\n' + HOSTS + "[weather]\ntransport = -1\n", "bad.toml")
    assert len(caught.value.faults) == 3


def test_shipped_scenarios_are_readable_and_say_what_they_are() -> None:
    """At least eight, each with a sentence."""
    assert len(shipped_names()) >= 8
    assert all(shipped_scenario(name).about.endswith(".") for name in shipped_names())
    with pytest.raises(ScenarioError, match="no such scenario"):
        shipped_scenario("nope")
