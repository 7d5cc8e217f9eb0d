"""Which scenarios does the package ship?"""

from __future__ import annotations

from importlib import resources
from typing import Final

from routecanary.errors import ScenarioError
from routecanary.simulate.reading import scenario_from_toml
from routecanary.simulate.scenario import Scenario

_FOLDER: Final = resources.files("routecanary.simulate") / "scenarios"


def shipped_names() -> tuple[str, ...]:
    """List them, sorted."""
    return tuple(sorted(entry.name[:-5] for entry in _FOLDER.iterdir() if entry.name.endswith(".toml")))


def shipped_scenario(name: str) -> Scenario:
    """Read one.

    Raises:
        ScenarioError: There is none of this name.
    """
    if name not in shipped_names():
        raise ScenarioError("no such scenario", value=name, allowed=", ".join(shipped_names()))
    return scenario_from_toml((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"), name)
