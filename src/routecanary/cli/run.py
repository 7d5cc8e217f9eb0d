"""`routecanary run`: the daemon."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from routecanary import __version__
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.loop import run_async
from routecanary.cli.output import abandon_output, facts_of, plain, say_json
from routecanary.cli.trouble import trouble_of
from routecanary.clock import SystemClock
from routecanary.daemon.supervisor import Supervisor
from routecanary.domain.event import Exclusions
from routecanary.domain.times import format_instant
from routecanary.errors import ConfigError, OutputError
from routecanary.replay.printed import printed
from routecanary.rounds.run import RoundResult
from routecanary.wiring import api_key_of, online_world, settings_at

LOG: Final = logging.getLogger("routecanary.run")


def run_daemon(*, config: Path | None = None, json: bool = False) -> int:
    """Watch every configured model on the clock until SIGINT or SIGTERM.

    A round that fails is logged and the next one comes all the same. The log goes to standard error. At the
    end a round that is under way is dropped; the store holds whole rounds only.

    Parameters
    ----------
    config
        The configuration file.
    json
        Print each event as a JSON line on standard output, as `replay` prints it.
    """
    settings = settings_at(config)
    if not settings.models:
        raise ConfigError(
            "no model to watch", place=settings.place, key="models", allowed='a table [models."author/slug"]'
        )
    key = api_key_of(settings)
    _log_to_standard_error()

    async def go() -> None:
        async with online_world(settings, key, SystemClock()) as world:
            LOG.info(
                "started version=%s config=%s gateway=%s store=%s snapshot=%s models=%d",
                __version__,
                settings.place,
                settings.gateway.base_url,
                settings.store_path,
                settings.snapshot_path,
                len(settings.models),
            )
            await Supervisor(world, on_round=Teller(json=json)).run()
            LOG.info("stopped")

    run_async(go())
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


class Lines(logging.Formatter):
    """One line an entry, in UTC, escaped where it is not printable; a traceback follows as it is.

    The methods have the names that `logging` calls.
    """

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802
        del datefmt
        return format_instant(datetime.fromtimestamp(record.created, UTC))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        return plain(super().formatMessage(record))


def _log_to_standard_error() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(Lines("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
