"""Daemons in compressed time, begun as often as one likes without the cost of starting an interpreter.

`python -m tests.nursery CONFIG ORIGIN RATE LOG` imports everything once and then obeys lines on standard
input: `start` forks a daemon and answers with its process id, `wait PID` answers with how it ended. The
daemon is the real one: configuration, lock, store, gateway client, supervisor; only its clock runs faster.
"""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from routecanary.cli.log_lines import Lines
from routecanary.cli.loop import run_async
from routecanary.daemon.supervisor import Supervisor
from routecanary.wiring import Configuration, configuration_of, configured_world, daemon_lock, settings_at


class CompressedClock:
    """All time runs `rate` times as fast as real time since `origin`, for every process that knows both."""

    def __init__(self, *, origin: float, rate: float) -> None:
        """Begin.

        Args:
            origin: Epoch seconds at which this time and the real one were equal.
        """
        self.rate = rate
        self._origin = origin
        self._since = time.monotonic() - (time.time() - origin)
        self.set_by = timedelta()

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._origin, UTC) + timedelta(seconds=self.elapsed()) + self.set_by

    def monotonic(self) -> float:
        return time.monotonic() * self.rate

    def elapsed(self) -> float:
        return (time.monotonic() - self._since) * self.rate

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self.rate)


def daemon(config: Path, clock: CompressedClock, log: Path) -> None:
    """Be the daemon until a signal ends it."""

    def read() -> Configuration:
        return configuration_of(settings_at(config), clock)

    configuration = read()
    handler = logging.FileHandler(log, encoding="utf-8")
    handler.setFormatter(Lines(hide=configuration.hide))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)

    async def go() -> None:
        async with configured_world(configuration, clock) as world:
            supervisor = Supervisor(
                world,
                channels=configuration.channels,
                heartbeat=configuration.heartbeat,
                read=read,
            )
            await supervisor.run(ready=lock.announce)

    with daemon_lock(configuration.settings) as lock:
        run_async(go())


def main(config: str, origin: str, rate: str, log: str) -> None:
    clock = CompressedClock(origin=float(origin), rate=float(rate))
    configuration_of(settings_at(Path(config)), clock)  # loads whatever is loaded only when it is needed
    for line in sys.stdin:
        word, *facts = line.split()
        if word == "wait":
            _, status = os.waitpid(int(facts[0]), 0)
            print(os.waitstatus_to_exitcode(status), flush=True)
            continue
        clock.set_by = timedelta(seconds=float(facts[0]))
        pid = os.fork()
        if not pid:
            code = 1
            try:
                os.close(0)
                daemon(Path(config), clock, Path(log))
                code = 0
            finally:
                os._exit(code)
        print(pid, flush=True)


class Nursery:
    """The process from which daemons are forked, as a test sees it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def start(self, *, clock_set_by: timedelta = timedelta()) -> int:
        """Begin a daemon and return its process id; its wall clock may be wrong."""
        return int(self._say(f"start {clock_set_by.total_seconds()}"))

    def end(self, pid: int, signal: int) -> int:
        """Send a daemon a signal, wait until it is gone, and return its exit code, negative for a signal."""
        os.kill(pid, signal)
        return int(self._say(f"wait {pid}"))

    def _say(self, line: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()


@contextmanager
def a_nursery(
    config: Path, clock: CompressedClock, log: Path, environ: Mapping[str, str]
) -> Iterator[Nursery]:
    """Open a nursery; a daemon that is left in it is the caller's to end."""
    arguments = [str(config), str(clock._origin), str(clock.rate), str(log)]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.nursery", *arguments],
        cwd=Path(__file__).parents[1],
        env=dict(environ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Nursery(process)
        finally:
            process.kill()


if __name__ == "__main__":
    main(*sys.argv[1:])
