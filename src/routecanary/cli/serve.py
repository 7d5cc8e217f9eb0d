"""`routecanary serve`: the listeners for applications and administrators."""

from __future__ import annotations

import asyncio
import logging
import signal
from pathlib import Path
from typing import Final

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.log_lines import Lines, log_to_standard_error
from routecanary.cli.loop import calm_collector, run_async
from routecanary.cli.output import say_json
from routecanary.cli.status import status_document
from routecanary.clock import SystemClock
from routecanary.domain.settings import Settings
from routecanary.web.serve import listeners
from routecanary.wiring import redactor_of, settings_at

LOG: Final = logging.getLogger("routecanary.serve")


def serve(*, config: Path | None = None, json: bool = False) -> int:
    """Serve the exclusions to programs in any language, and status and tokens to administrators.

    It needs no daemon: what it serves comes from the snapshot file, and ends on time without one. Beyond this
    machine it listens only when there is a token. SIGTERM or Ctrl-C ends it. The log goes to standard error.

    Parameters
    ----------
    config
        The configuration file.
    json
        Print one JSON object with both addresses once it listens.
    """
    settings = settings_at(config)
    log_to_standard_error(Lines(hide=redactor_of(settings)))
    calm_collector()
    run_async(_served(settings, json=json))
    return ExitCode.OK


async def _served(settings: Settings, *, json: bool) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with listeners(settings, SystemClock(), status_document) as listening:
        applications, administrators = (
            f"http://{listening.applications}",
            f"http://{listening.administrators}",
        )
        LOG.info(
            "listening applications=%s administrators=%s snapshot=%s",
            applications,
            administrators,
            settings.snapshot_path,
        )
        if json:
            say_json({"applications": applications, "administrators": administrators})
        await stop.wait()
        LOG.info("stopping")
