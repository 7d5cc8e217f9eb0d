"""`routecanary proxy`: the pass-through to the gateway that merges the list."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Final

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.log_lines import Lines, log_to_standard_error
from routecanary.cli.loop import calm_collector, run_async
from routecanary.cli.output import say_json
from routecanary.clock import SystemClock
from routecanary.domain.address import parse_address
from routecanary.domain.redaction import Redactor
from routecanary.domain.settings import GatewaySettings, ProxySettings, Settings
from routecanary.errors import ConfigError, InputError
from routecanary.proxy.serve import ProxyOptions, proxied, snapshot_path
from routecanary.proxy.upstream import base_from_url
from routecanary.wiring import redactor_of, settings_at

LOG: Final = logging.getLogger("routecanary.proxy")

_FILES: Final = 65_536  # open at once: two for each answer under way
_SWITCH_SECONDS: Final = 0.0002  # for which the thread that keeps records may hold up a request


def proxy(
    *,
    config: Path | None = None,
    upstream: str | None = None,
    snapshot: Path | None = None,
    listen: str | None = None,
    json: bool = False,
) -> int:
    """Pass requests to the gateway, with what they must avoid merged into `provider.ignore`.

    An application changes only its base address, to the one printed here with `/v1`. Answers go back byte for
    byte as they come; who served is recorded if there is a configuration. It needs no daemon: without a list
    requests go out as they are. SIGTERM or Ctrl-C lets answers under way finish. The log goes to standard
    error.

    Parameters
    ----------
    config
        The configuration file; none is needed.
    upstream
        The gateway's base address, in place of the configured one.
    snapshot
        The daemon's snapshot file, likewise.
    listen
        Where to listen, likewise; beyond this machine only with a token.
    json
        Print one JSON object with the address once it listens.
    """
    settings = _settings(config)
    options = _options(settings, upstream, snapshot, listen)
    log_to_standard_error(Lines(hide=Redactor([]) if settings is None else redactor_of(settings)))
    _allow_files()
    sys.setswitchinterval(_SWITCH_SECONDS)
    calm_collector()
    run_async(_served(options, json=json))
    return ExitCode.OK


def _settings(config: Path | None) -> Settings | None:
    """Read the configuration; one that nobody named may be missing."""
    try:
        return settings_at(config)
    except ConfigError as error:
        if config is None and not os.environ.get("ROUTECANARY_CONFIG") and error.place is None:
            return None
        raise


def _options(
    settings: Settings | None, upstream: str | None, snapshot: Path | None, listen: str | None
) -> ProxyOptions:
    """Put the command line's words in place of the configured ones."""
    configured = ProxySettings() if settings is None else settings.proxy
    gateway = GatewaySettings() if settings is None else settings.gateway
    try:
        address = configured.listen if listen is None else parse_address(listen)
    except InputError as error:
        raise InputError(error.problem, key="--listen", value=listen, allowed=error.allowed) from None
    try:
        base = base_from_url(upstream or configured.upstream or gateway.base_url)
    except InputError as error:
        raise InputError(error.problem, key="--upstream", allowed=error.allowed) from None
    return ProxyOptions(
        listen=address,
        upstream=base,
        snapshot_path=snapshot_path(settings, snapshot),
        max_edit_bytes=configured.max_edit_bytes,
        settings=settings,
    )


async def _served(options: ProxyOptions, *, json: bool) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with proxied(options, SystemClock()) as address:
        base_url = f"http://{address}/v1"
        LOG.info(
            "listening base_url=%s upstream=%s snapshot=%s records=%s",
            base_url,
            options.upstream,
            options.snapshot_path,
            "none" if options.settings is None else options.settings.store_path,
        )
        if json:
            say_json({"base_url": base_url, "upstream": str(options.upstream)})
        await stop.wait()
        LOG.info("stopping")


def _allow_files() -> None:
    """Ask for room for many connections; where that is refused, the system's bound stands."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
