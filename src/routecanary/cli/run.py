"""`routecanary run`: the daemon."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Final

from routecanary import __version__
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.log_lines import Lines, log_to_standard_error
from routecanary.cli.loop import calm_collector, run_async
from routecanary.cli.output import abandon_output, facts_of, say_json
from routecanary.cli.trouble import trouble_of
from routecanary.clock import SystemClock
from routecanary.daemon.supervisor import Supervisor
from routecanary.domain.event import Exclusions
from routecanary.errors import OutputError
from routecanary.replay.printed import printed
from routecanary.rounds.run import RoundResult
from routecanary.wiring import (
    Configuration,
    configuration_of,
    configured_world,
    daemon_lock,
    settings_at,
)

LOG: Final = logging.getLogger("routecanary.run")


def run_daemon(*, config: Path | None = None, json: bool = False) -> int:
    """Watch every configured model on the clock until SIGINT or SIGTERM.

    A round that fails is logged and the next one comes all the same. The log goes to standard error. At the
    end a round that is under way is dropped; the store holds whole rounds only. SIGHUP reads the
    configuration anew. A second daemon on the same store is refused with exit code 5.

    Parameters
    ----------
    config
        The configuration file.
    json
        Print each event as a JSON line on standard output, as `replay` prints it.
    """
    clock = SystemClock()

    def read() -> Configuration:
        return configuration_of(settings_at(config), clock)

    configuration = read()
    settings = configuration.settings
    lines = Lines(hide=configuration.hide)

    def reloaded(new: Configuration) -> None:
        lines.hide = new.hide

    async def go(ready: Callable[[], None]) -> None:
        async with configured_world(configuration, clock) as world:
            LOG.info(
                "started version=%s config=%s gateway=%s store=%s snapshot=%s models=%d",
                __version__,
                settings.place,
                settings.gateway.base_url,
                settings.store_path,
                settings.snapshot_path,
                len(settings.models),
            )
            supervisor = Supervisor(
                world,
                on_round=Teller(json=json),
                channels=configuration.channels,
                heartbeat=configuration.heartbeat,
                read=read,
                on_reload=reloaded,
                guardrail=configuration.guardrail,
            )
            await supervisor.run(ready=ready)
            LOG.info("stopped")

    signal.signal(
        signal.SIGHUP, signal.SIG_IGN
    )  # until it is heeded: what was just read need not be read anew
    with daemon_lock(settings) as lock:
        log_to_standard_error(lines)
        calm_collector()
        run_async(go(lock.announce))
    return ExitCode.OK


class Teller:
    """Tells what each round came to: in the log, and as JSON lines as long as somebody reads them."""

    def __init__(self, *, json: bool) -> None:
        self._json = json

    def __call__(self, result: RoundResult) -> None:
        trouble = trouble_of(result)
        if trouble is not None:
            LOG.error("round useless %s", trouble)
        for event in result.events:
            shown = printed(event)
            if shown is None:
                continue
            if not isinstance(event, Exclusions):
                LOG.info("%s model=%s", facts_of(shown), result.model)
            if self._json:
                self._print(shown)

    def _print(self, shown: dict[str, object]) -> None:
        try:
            say_json(shown)
        except (BrokenPipeError, OutputError) as error:
            # the watch goes on: suspensions must not grow stale because a reader of events is gone
            self._json = False
            abandon_output()
            LOG.error("events are printed no longer: %s", error)
