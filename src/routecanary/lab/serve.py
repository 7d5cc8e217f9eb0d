"""The lab in a process of its own: for benchmarks, for trying a client, for any other program.

`python -m routecanary.lab.serve [SCENARIO] [--seed N] [--port N] [--time-scale X]` prints its base URL and
serves until it is interrupted.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Final

from routecanary.errors import ScenarioError
from routecanary.lab.gateway import LabGateway
from routecanary.lab.scenario import Scenario, builtin_names, builtin_scenario, scenario_from_toml

BAD_INPUT: Final = 2  # exit code


def scenario_at(name: str) -> Scenario:
    """Read a scenario: one that the package ships by its name, or a file by its path.

    Raises:
        ScenarioError: There is none, it cannot be read, or it breaks the format.
    """
    if name in builtin_names():
        return builtin_scenario(name)
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a NUL in the name
        allowed = f"a readable file, or one of {', '.join(builtin_names())}"
        raise ScenarioError("no such scenario", value=name, allowed=allowed) from error
    return scenario_from_toml(text, name)


async def serve(
    scenario: Scenario,
    *,
    seed: int = 0,
    time_scale: float = 1.0,
    host: str = "127.0.0.1",
    port: int = 0,
    ready: Callable[[str], None] = print,
    until: asyncio.Event | None = None,
) -> None:
    """Serve a scenario until `until` is set, or until SIGINT or SIGTERM where it is not given.

    Args:
        ready: Called once with the base URL.
    Raises:
        OSError: The port cannot be bound.
    """
    stop = until or asyncio.Event()
    if until is None:
        for wanted in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError):  # no signal handlers on this platform's loop
                asyncio.get_running_loop().add_signal_handler(wanted, stop.set)
    async with LabGateway(scenario, seed=seed, time_scale=time_scale, host=host, port=port) as lab:
        ready(lab.base_url)
        await stop.wait()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m routecanary.lab.serve", description=__doc__)
    parser.add_argument("scenario", nargs="?", default="demo", help="a shipped name or a file (demo)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--port", type=int, default=0, help="0 = any free port (0)")
    parser.add_argument("--time-scale", type=float, default=1.0, help="scenario seconds in a real second (1)")
    options = parser.parse_args(arguments)
    if not 0 <= options.port < 65_536:
        parser.error("--port: allowed: 0 to 65535")
    if not 0 < options.time_scale <= 1e6:
        parser.error("--time-scale: allowed: above 0, at most 1000000")
    try:
        scenario = scenario_at(options.scenario)
    except ScenarioError as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    serving = serve(
        scenario,
        seed=options.seed,
        time_scale=options.time_scale,
        port=options.port,
        ready=lambda url: print(url, flush=True),
    )
    try:
        _run(serving)
    except OSError as error:
        print(f"port {options.port}: {error.strerror or error}", file=sys.stderr)
        return 1
    return 0


def _run(serving: Coroutine[None, None, None]) -> None:
    try:
        import uvloop  # noqa: PLC0415 - not on every platform
    except ModuleNotFoundError:
        asyncio.run(serving)
    else:
        uvloop.run(serving)


if __name__ == "__main__":
    sys.exit(main())
