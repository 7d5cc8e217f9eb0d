"""What world does the lab play?

A scenario is a TOML file; docs/lab.md describes it. Those that the package ships are in `scenarios/`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import Final

from routecanary.domain.strict_toml import TomlError, parse_toml
from routecanary.errors import ScenarioError
from routecanary.lab.guardrails import LabGuardrail
from routecanary.lab.host import NO_RULES, Account, Expectation, LabModel, LabRoute, Rules
from routecanary.lab.keyring import LabKey

MAX_TEXT: Final = 2 * 1024 * 1024  # characters of a scenario file
DEFAULT_KEY: Final = "lab-key"
DEFAULT_KEY_NAME: Final = "lab"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Models with their routes and faults, and how the gateway stands to its callers."""

    name: str
    models: tuple[LabModel, ...]
    about: str = ""
    key: str = DEFAULT_KEY  # the API key that the lab accepts
    keys: tuple[LabKey, ...] = ()  # further ones; or `key` itself, to say whose it is
    guardrails: tuple[LabGuardrail, ...] = ()
    guardrails_full_tags: bool = False  # their provider lists heed full tags
    account: Account = Account.OK
    rules: Rules = NO_RULES

    def all_keys(self) -> tuple[LabKey, ...]:
        """List every key that the lab accepts."""
        if any(each.key == self.key for each in self.keys):
            return self.keys
        return (LabKey(key=self.key, name=DEFAULT_KEY_NAME), *self.keys)

    def expected(self) -> dict[tuple[str, str], Expectation]:
        """List what a canary should make of each route with a planted fault, by model and tag."""
        return {
            (model.id, route.tag): route.expectation
            for model in self.models
            for route in model.routes
            if not route.healthy
        }

    def find(self, model: str, tag: str) -> LabRoute | None:
        for each in self.models:
            for route in each.routes if each.id == model else ():
                if route.tag == tag:
                    return route
        return None


def scenario_from_toml(text: str, place: str) -> Scenario:
    """Read a scenario.

    Args:
        text: The file's content.
        place: How errors name the file.
    Raises:
        ScenarioError: It breaks the format; a `ScenarioFaultsError` if in several places.
    """
    # the shape of the file needs the validation library, which whoever only holds a Scenario does not
    from routecanary.lab.conversion import scenario_from_table  # noqa: PLC0415

    if len(text) > MAX_TEXT:
        raise ScenarioError(f"longer than {MAX_TEXT} characters", place=place)
    try:
        table = parse_toml(text)
    except TomlError as error:
        raise ScenarioError(error.problem, place=place) from None
    return scenario_from_table(table, place)


def builtin_names() -> tuple[str, ...]:
    """List the scenarios that the package ships, sorted."""
    folder = resources.files("routecanary.lab") / "scenarios"
    return tuple(sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".toml")))


def builtin_scenario(name: str) -> Scenario:
    """Read a scenario that the package ships, such as `demo`.

    Raises:
        ScenarioError: There is none of this name.
    """
    if name not in builtin_names():
        raise ScenarioError("no such scenario", value=name, allowed=", ".join(builtin_names()))
    file = resources.files("routecanary.lab") / "scenarios" / f"{name}.toml"
    return scenario_from_toml(file.read_text(encoding="utf-8"), f"{name}.toml")
