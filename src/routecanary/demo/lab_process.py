"""Where does the demo's lab run? In a process of its own, so that it does not take time from the canary."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Protocol

from routecanary.errors import ScenarioError
from routecanary.lab.gateway import LabGateway
from routecanary.lab.scenario import Scenario

START_SECONDS = 60.0  # until it must have answered
STOP_SECONDS = 5.0


class _Cell(Protocol):
    value: float


class LabProcess:
    """A lab that runs elsewhere: its address, and the policy time that it is told."""

    def __init__(self, base_url: str, now: _Cell) -> None:
        self.base_url = base_url
        self._now = now

    def tell(self, now: datetime) -> None:
        """Move the lab's policy time, by which its faults are scheduled."""
        self._now.value = now.timestamp()


@contextmanager
def lab_process(scenario: Scenario, *, seed: int, time_scale: float, start: datetime) -> Iterator[LabProcess]:
    """Start a lab and stop it at the end; it ends by itself when this process dies.

    Raises:
        ScenarioError: The lab could not be started.
    """
    context = get_context("spawn")
    now = context.Value("d", start.timestamp())
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(scenario, seed, time_scale, now, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        if not ours.poll(START_SECONDS):
            raise ScenarioError("the lab did not start in time", place=scenario.name)
        try:
            base_url = ours.recv()
        except EOFError:
            raise ScenarioError("the lab could not be started", place=scenario.name) from None
        yield LabProcess(base_url, now)
    finally:
        ours.close()
        process.join(STOP_SECONDS)
        if process.is_alive():
            process.kill()


def _serve(scenario: Scenario, seed: int, time_scale: float, now: _Cell, pipe: Connection) -> None:
    """Run in the other process: serve until the pipe closes."""

    async def serve() -> None:
        lab = LabGateway(
            scenario, seed=seed, time_scale=time_scale, now=lambda: datetime.fromtimestamp(now.value, UTC)
        )
        async with lab:
            pipe.send(lab.base_url)
            closed = asyncio.Event()
            asyncio.get_running_loop().add_reader(pipe.fileno(), closed.set)
            await closed.wait()

    try:
        asyncio.run(serve())
    except KeyboardInterrupt:
        pass  # Ctrl-C reaches the whole group; the parent says what there is to say
