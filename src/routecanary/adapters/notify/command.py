"""A command: called once for each message, which it reads as JSON from its standard input.

No shell is involved, nothing that it prints is kept, and its environment holds no secret of ours. It has a
process group of its own, so that whatever it started ends with it when its time is up.
"""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final

from routecanary.domain.outbox import Delivery
from routecanary.errors import DeliveryError

PASSED_ON: Final = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ"),
    *("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_TIME"),
)
"""Variables that a command finds in its environment, where we have them."""

IDEMPOTENCY_KEY: Final = "ROUTECANARY_IDEMPOTENCY_KEY"


class Command:
    """A program that takes messages, with the meaning of `rounds.ports.Channel`."""

    def __init__(
        self,
        name: str,
        argv: Sequence[str],
        *,
        timeout: timedelta,
        environ: Mapping[str, str],
        hidden: Collection[str] = (),
    ) -> None:
        """Hold the command.

        Args:
            argv: The program, absolute or looked up in PATH, and its arguments.
            hidden: Variables that are not passed on, whatever they are called: those that hold our secrets.
        """
        self.name = name
        self._argv = tuple(argv)
        self._timeout = timeout.total_seconds()
        self._environ = {
            variable: environ[variable]
            for variable in PASSED_ON
            if variable in environ and variable not in hidden
        }

    async def deliver(self, delivery: Delivery) -> None:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._argv,
                stdin=PIPE,
                stdout=DEVNULL,
                stderr=DEVNULL,
                env={**self._environ, IDEMPOTENCY_KEY: delivery.idempotency_key},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise DeliveryError(f"cannot be started: {reason}") from None
        try:
            async with asyncio.timeout(self._timeout):
                await process.communicate(delivery.body.encode("ascii") + b"\n")
        except TimeoutError:
            raise DeliveryError("did not end in time") from None
        finally:
            if process.returncode is None:
                await _end(process)
        if process.returncode:
            raise DeliveryError(_ending(process.returncode))


async def _end(process: Process) -> None:
    """End the command and whatever it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _ending(code: int) -> str:
    return f"ended with {code}" if code > 0 else f"ended by signal {-code}"
