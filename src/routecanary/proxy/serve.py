"""How does the proxy live? Beside the daemon and without it, with a configuration and without one.

It needs nothing but the gateway: no snapshot, a locked store or a dead daemon cost the list or the records,
never a request.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from routecanary.client import Canary, default_path
from routecanary.client.advice import Adviser
from routecanary.clock import Clock
from routecanary.domain.address import Address
from routecanary.domain.settings import Settings
from routecanary.domain.token import SENDERS
from routecanary.errors import ConfigError, InputError
from routecanary.proxy.forwarder import Forwarder
from routecanary.proxy.recorder import Recorder
from routecanary.proxy.upstream import Base, Upstream
from routecanary.telemetry.candidates import Lookup, nothing_known
from routecanary.web.desk import Desk
from routecanary.web.guard import Denied, Guard
from routecanary.web.head import RefusedError
from routecanary.web.http import Connection, Request, Taker, listen
from routecanary.web.keeping import Keeper
from routecanary.web.reports import Reports
from routecanary.web.router import Router
from routecanary.web.routes import application_routes
from routecanary.web.serve import require_token
from routecanary.web.sidecar import Sidecar
from routecanary.web.telemetry import Telemetry
from routecanary.web.token_watch import watched_tokens

LOOK_SECONDS: Final = 0.2  # between two looks at the snapshot file
OWN: Final = (
    *("/v1/exclusions", "/v1/snapshot", "/v1/health", "/v1/ready"),
    *("/v1/telemetry", "/v1/traces", "/v1/reports"),
)
"""What begins so is ours and never passed on, served here or not: the gateway need not know what it holds."""

GRACE_SECONDS: Final = 30.0  # in which answers under way are finished at the end


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyOptions:
    """What the proxy goes by, from the configuration and the command line."""

    listen: Address
    upstream: Base
    snapshot_path: str
    max_edit_bytes: int
    settings: Settings | None  # None = no configuration: no store, and so no tokens and no records


class Doorkeeper:
    """Says which requests pass through, which are answered here, and who may ask for either."""

    def __init__(self, forwarder: Forwarder, guard: Guard | None) -> None:
        """Keep the door.

        Args:
            guard: Asked for every request that is to pass through; None = this machine alone can ask.
        """
        self._forwarder = forwarder
        self._guard = guard

    def open(self, request: Request, client: Connection) -> Taker | None:
        """Let a request through; the opener of the listener.

        Raises:
            RefusedError: Whoever asks has shown no token that allows it.
        """
        if request.path.startswith(OWN):
            return None
        if self._guard is not None:
            asker = self._guard.admit(request.headers, SENDERS, own_only=True)
            if isinstance(asker, Denied):
                raise RefusedError(asker.status, asker.message, asker.headers.items())
        return self._forwarder.open(request, client)


def snapshot_path(settings: Settings | None, named: Path | None) -> str:
    """Find the snapshot file: as named, as configured, or where the client looks."""
    if named is not None:
        return str(named)
    return default_path() if settings is None else settings.snapshot_path


@asynccontextmanager
async def proxied(options: ProxyOptions, clock: Clock) -> AsyncIterator[Address]:
    """Listen for as long as this is entered; at the end, answers under way are finished first.

    Raises:
        ConfigError: The address is not to be had, or strangers could reach it and no token keeps them out.
        StoreError: Whether one does cannot be read.
    """
    settings, guard = options.settings, Guard(clock.now)
    async with AsyncExitStack() as stack:
        if settings is not None:
            tokens = stack.enter_context(watched_tokens(guard, settings))
            if not options.listen.is_loopback:
                require_token(guard, tokens, settings, key="proxy.listen", address=options.listen)
        elif not options.listen.is_loopback:
            raise InputError(
                "beyond this machine only whoever shows a token is let through, and without a configuration"
                " there is no store that holds one",
                key="--listen",
                value=str(options.listen),
                allowed="an address of this machine, or a configuration",
            )
        adviser = Adviser(stack.enter_context(Canary(options.snapshot_path, interval=LOOK_SECONDS)))

        def lookup() -> Lookup:
            views = adviser.watch.views
            return nothing_known if views is None else views.facts

        recorder: Recorder | None = None
        sidecar = Sidecar(
            adviser.watch, lambda: clock.now().timestamp(), beside=lambda: _told(forwarder, recorder)
        )
        routes = sidecar.routes()
        if settings is not None:
            keeper = Keeper(settings, clock)
            stack.callback(keeper.close)
            recorder = Recorder(keeper, lookup)
            telemetry = Telemetry(keeper, lookup, keep=settings.retention.generations)
            routes = application_routes(sidecar, telemetry, Reports(Desk(settings, clock, lambda _: None)))
        upstream = Upstream(options.upstream)
        stack.push_async_callback(upstream.close)
        forwarder = Forwarder(
            adviser,
            upstream,
            max_edit=options.max_edit_bytes,
            record=None if recorder is None else recorder.record,
        )
        if recorder is not None:
            stack.push_async_callback(_finish, recorder, asyncio.create_task(recorder.run()))
        doorkeeper = Doorkeeper(forwarder, None if options.listen.is_loopback else guard)
        router = Router(routes, guard, options.listen)
        try:
            server = await listen(router, options.listen.host, options.listen.port, opener=doorkeeper.open)
        except (OSError, UnicodeError) as error:
            problem = error.strerror if isinstance(error, OSError) else None
            raise ConfigError(
                f"cannot be listened at: {problem or error}", key="proxy.listen", value=str(options.listen)
            ) from None
        stack.push_async_callback(server.close, GRACE_SECONDS)
        stack.callback(sidecar.close)  # first of all, so that nobody waits on
        host, port = server.address
        yield Address(host=host, port=port)


async def _finish(recorder: Recorder, keeping: asyncio.Task[None]) -> None:
    """Keep what still waits, as far as the store takes it."""
    keeping.cancel()
    with suppress(asyncio.CancelledError):
        await keeping
    while recorder.waiting and await recorder.keep_some():
        pass


def _told(forwarder: Forwarder, recorder: Recorder | None) -> dict[str, object]:
    """Tell how the proxy fares, for `/v1/health`."""
    upstream = forwarder.upstream
    kept: dict[str, object] = {}
    if recorder is not None:
        kept = {
            "kept": recorder.kept,
            "waiting": recorder.waiting,
            "dropped": recorder.dropped,
            "problem": recorder.problem,
        }
    return {
        "proxy": {
            "upstream": str(upstream.base),
            "counters": dict(sorted(forwarder.counts.items())),
            "list": dict(forwarder.canary.status()["counters"]),
            "connections": {"open": len(upstream.lines), "idle": upstream.idle, "opened": upstream.opened},
            "records": kept or None,
        }
    }
