"""`routecanary simulate`: what would a policy do, over years, to simulated hosts?"""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import Final

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import say, say_json, say_table
from routecanary.domain.policy import Policy, Trigger
from routecanary.domain.times import format_duration
from routecanary.errors import InputError, ScenarioError
from routecanary.replay.run import read_policy
from routecanary.simulate.figures import document_of
from routecanary.simulate.ours import PolicyPlayer
from routecanary.simulate.page import page, rows_of
from routecanary.simulate.reading import scenario_from_toml
from routecanary.simulate.run import simulate as play
from routecanary.simulate.scenario import Scenario
from routecanary.simulate.shipped import shipped_names, shipped_scenario

MOST_YEARS: Final = 10_000.0
_MOST_BYTES: Final = 1024 * 1024
_NAME: Final = "policy"


def simulate(
    *,
    scenario: str = "quiet",
    policy: Path | None = None,
    years: float = 1.0,
    seed: int = 1,
    json: bool = False,
    html: bool = False,
) -> int:
    """Let a policy decide over simulated hosts in virtual time, by the real decision core.

    Parameters
    ----------
    scenario
        The name of a shipped scenario, or the path of a scenario file (docs/simulation.md).
    policy
        A TOML file whose table [policy] replaces the defaults.
    years
        Of one model, at least; whole lives of the scenario are simulated.
    seed
        Of every draw.
    json
        Print one JSON document.
    html
        Print one HTML page that needs nothing else.
    """
    if json and html:
        raise InputError("exclude each other", key="--json, --html", allowed="one of them")
    if not (isfinite(years) and 0 < years <= MOST_YEARS):
        raise InputError(
            "not a number of years", key="--years", value=years, allowed=f"above 0, up to {MOST_YEARS:g}"
        )
    played = scenario_at(scenario)
    numbers = read_policy(policy) if policy else Policy()
    if numbers.trigger is not Trigger.STREAK and numbers.round_period != played.period:
        raise InputError(
            "the budget is spread over another schedule than the scenario's",
            place=str(policy),
            key="round_period",
            value=format_duration(numbers.round_period),
            allowed=format_duration(played.period),
        )
    simulated = play(played, {_NAME: lambda: PolicyPlayer(numbers)}, years=years, seed=seed)
    document = document_of(simulated, _NAME)
    if json:
        say_json(document)
    elif html:
        for line in page(document, simulated.measures[_NAME], numbers).splitlines():
            say(line)
    else:
        say_table(("", played.name), rows_of(document))
    return ExitCode.OK


def scenario_at(name: str) -> Scenario:
    """Read a scenario: one that the package ships by its name, or a file by its path.

    Raises:
        ScenarioError: There is none, it cannot be read, or it breaks the format.
    """
    if name in shipped_names():
        return shipped_scenario(name)
    allowed = (
        f"a scenario file of at most {_MOST_BYTES} bytes in UTF-8, or one of {', '.join(shipped_names())}"
    )
    try:
        with Path(name).open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
        text = raw.decode("utf-8")
    except OSError as error:
        raise ScenarioError(f"cannot be read: {error.strerror}", place=name, allowed=allowed) from None
    except ValueError:  # not UTF-8, or a name that no file can have
        raise ScenarioError("cannot be read", place=name, allowed=allowed) from None
    if len(raw) > _MOST_BYTES:
        raise ScenarioError("too long", place=name, allowed=allowed)
    return scenario_from_toml(text, name)
