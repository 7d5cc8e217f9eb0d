"""How is the lab run by itself: for trying a client, for benchmarks, for any other program?"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable
from pathlib import Path

from routecanary.adapters.config.files import read_text_file
from routecanary.domain.gateway import GatewayKind
from routecanary.errors import ConfigError, ScenarioError
from routecanary.lab.gateway import LabGateway
from routecanary.lab.scenario import MAX_TEXT, Scenario, builtin_names, builtin_scenario, scenario_from_toml


def scenario_at(name: str) -> Scenario:
    """Read a scenario: one that the package ships by its name, or a file by its path.

    Raises:
        ScenarioError: There is none, it cannot be read, or it breaks the format.
    """
    if name in builtin_names():
        return builtin_scenario(name)
    try:
        text = read_text_file(Path(name), limit=MAX_TEXT)
    except ConfigError as error:
        allowed = f"a scenario file, or one of {', '.join(builtin_names())}"
        raise ScenarioError(error.problem, place=error.place, allowed=allowed) from None
    return scenario_from_toml(text, name)


async def serve(
    scenario: Scenario,
    *,
    seed: int = 0,
    time_scale: float = 1.0,
    host: str = "127.0.0.1",
    port: int = 0,
    wire: GatewayKind = GatewayKind.OPENROUTER,
    ready: Callable[[str], None] = print,
    until: asyncio.Event | None = None,
) -> None:
    """Serve a scenario until `until` is set, or until SIGINT or SIGTERM where it is not given.

    Args:
        wire: Whose calls and shapes are spoken.
        ready: Called once with the base URL.
    Raises:
        OSError: The port cannot be bound.
    """
    stop = until or asyncio.Event()
    if until is None:
        for wanted in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError):  # no signal handlers on this platform's loop
                asyncio.get_running_loop().add_signal_handler(wanted, stop.set)
    lab = LabGateway(scenario, seed=seed, time_scale=time_scale, host=host, port=port, wire=wire)
    async with lab:
        ready(lab.base_url)
        await stop.wait()
