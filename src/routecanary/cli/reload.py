"""`routecanary reload`: let the daemon read its configuration anew."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Final

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import complain, say, say_json
from routecanary.clock import SystemClock
from routecanary.domain.operation import OPERATION_NAMES, Reloaded, operation_from_json
from routecanary.domain.times import parse_duration
from routecanary.errors import ConfigError, InputError, StoreError
from routecanary.rounds.records import Records
from routecanary.wiring import offline_records, running_daemon, settings_at

NAP: Final = 0.1
"""Seconds between two looks for the daemon's answer."""


def reload(*, wait: str = "5m", config: Path | None = None, json: bool = False) -> int:
    """Let the daemon of this store read its configuration anew, and say how that went.

    The daemon reads the file that it was started with. It refuses a bad one as a whole (exit code 2) and goes
    on with the old one; a good one takes effect between the rounds, so that the answer may wait for a round
    to end. Exit code 1 when no daemon runs, or none answered in time.

    Parameters
    ----------
    wait
        How long to wait for the daemon's answer, such as "30s"; "0s" waits for none.
    config
        The configuration file, which names the store.
    json
        Print one JSON object.
    """
    patience = parse_duration(wait).total_seconds()
    settings = settings_at(config)
    pid = running_daemon(settings)
    if pid is None:
        complain(f"{settings.store_path}: no daemon watches this store")
        return ExitCode.FINDING
    with offline_records(settings, SystemClock()) as records:
        known = records.ledger.head().seq
        _signal(pid)
        answer = _answer(records, known, patience)
    if json:
        say_json(
            {
                "pid": pid,
                "ok": None if answer is None else answer.ok,
                "detail": None if answer is None else answer.detail,
            }
        )
    if answer is None:
        if patience:
            complain(f"the daemon with process id {pid} has not answered within {wait}; it may yet")
            return ExitCode.FINDING
        return ExitCode.OK
    if not answer.ok:
        raise ConfigError(f"the daemon refused the configuration and keeps the old one: {answer.detail}")
    if not json:
        say(f"the daemon with process id {pid} has taken the configuration over")
    return ExitCode.OK


def _signal(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGHUP)
    except ProcessLookupError:
        raise StoreError(f"the daemon with process id {pid} is gone, or runs in another container") from None
    except PermissionError:
        raise InputError(
            f"the daemon with process id {pid} belongs to another user", allowed="its user, or root"
        ) from None


def _answer(records: Records, known: int, patience: float) -> Reloaded | None:
    """Wait for what the daemon keeps in the log of a reload; None when nothing came in time."""
    deadline = time.monotonic() + patience
    while True:
        for stored in records.store.read(known, kinds={OPERATION_NAMES[Reloaded]}):
            answer = operation_from_json(stored.body)
            if isinstance(answer, Reloaded):
                return answer
        if time.monotonic() >= deadline:
            return None
        time.sleep(NAP)
