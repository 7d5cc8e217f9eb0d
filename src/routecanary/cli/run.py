"""`routecanary run`: the daemon."""

from __future__ import annotations

import logging
from pathlib import Path

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.loop import run_async
from routecanary.cli.output import say_json
from routecanary.clock import SystemClock
from routecanary.daemon.supervisor import Supervisor
from routecanary.errors import ConfigError
from routecanary.replay.printed import printed
from routecanary.rounds.run import RoundResult
from routecanary.wiring import api_key_of, online_world, settings_at


def run_daemon(*, config: Path | None = None, json: bool = False) -> int:
    """Watch every configured model on the clock until SIGINT or SIGTERM.

    Parameters
    ----------
    config
        The configuration file.
    json
        Print each event as a JSON line on standard output; the log goes to standard error.
    """
    settings = settings_at(config)
    if not settings.models:
        raise ConfigError("no model to watch", key="models", allowed='a table [models."author/slug"]')
    key = api_key_of(settings)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")

    def print_events(result: RoundResult) -> None:
        for event in result.events:
            shown = printed(event)
            if shown is not None:
                say_json(shown)

    async def go() -> None:
        async with online_world(settings, key, SystemClock()) as world:
            await Supervisor(world, on_round=print_events if json else lambda _: None).run()

    run_async(go())
    return ExitCode.OK
