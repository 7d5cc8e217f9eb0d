"""How do the two listeners live? Beside the daemon and without it.

What they tell comes from the snapshot file and the store, as they are found; that the daemon died, the store
is locked or the file is spoiled ends nothing here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from routecanary.client.file import SnapshotFile
from routecanary.client.watch import FAILED, LOOK_COUNTERS, Watch
from routecanary.clock import Clock
from routecanary.domain.address import Address
from routecanary.domain.probe import Json
from routecanary.domain.settings import Settings
from routecanary.errors import ConfigError, StoreError
from routecanary.rounds.records import Records
from routecanary.telemetry.candidates import nothing_known
from routecanary.web.desk import Desk
from routecanary.web.guard import Guard
from routecanary.web.http import Handler, Server, listen
from routecanary.web.keeping import Keeper
from routecanary.web.reports import Reports
from routecanary.web.router import Router
from routecanary.web.routes import administrator_routes, application_routes
from routecanary.web.sidecar import Sidecar
from routecanary.web.telemetry import Telemetry
from routecanary.web.token_watch import TokenWatch, watched_tokens

LOOK_SECONDS: Final = 0.2  # between two looks at the snapshot file
GRACE_SECONDS: Final = 3.0  # in which answers under way are finished at the end


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Where both listen."""

    applications: Address
    administrators: Address


@asynccontextmanager
async def listeners(
    settings: Settings, clock: Clock, describe: Callable[[Records], Json]
) -> AsyncIterator[Listening]:
    """Listen for as long as this is entered.

    Args:
        describe: How the canary stands, as `status --json` prints it.
    Raises:
        ConfigError: An address is not to be had, or strangers could reach it and no token keeps them out.
        StoreError: Whether one does cannot be read.
    """
    guard = Guard(clock.now)
    watch = Watch(
        SnapshotFile(settings.snapshot_path),
        interval=LOOK_SECONDS,
        clock=lambda: clock.now().timestamp(),
        counts=dict.fromkeys((*LOOK_COUNTERS, FAILED), 0),
        threaded=True,
    )
    async with AsyncExitStack() as stack:
        tokens = stack.enter_context(watched_tokens(guard, settings))
        at = settings.listen
        for key, address in (("applications", at.applications), ("administrators", at.administrators)):
            if not address.is_loopback:
                require_token(guard, tokens, settings, key=f"listen.{key}", address=address)
        watch.look()
        watch.ensure_thread()
        stack.callback(watch.close)
        sidecar = Sidecar(
            watch, lambda: clock.now().timestamp(), beside=lambda: {"wrong_tokens": guard.wrong}
        )
        keeper = Keeper(settings, clock)
        stack.callback(keeper.close)
        telemetry = Telemetry(
            keeper,
            lambda: nothing_known if watch.views is None else watch.views.facts,
            keep=settings.retention.generations,
        )
        desk = Desk(settings, clock, describe)
        reports = Reports(desk)
        applications = Router(application_routes(sidecar, telemetry, reports), guard, at.applications)
        administrators = Router(administrator_routes(desk, reports), guard, at.administrators)
        first = await _open(stack, settings, "listen.applications", at.applications, applications)
        second = await _open(stack, settings, "listen.administrators", at.administrators, administrators)
        stack.callback(sidecar.close)  # first of all, so that nobody waits on
        yield Listening(applications=first, administrators=second)


def require_token(
    guard: Guard, tokens: TokenWatch, settings: Settings, *, key: str, address: Address
) -> None:
    """Refuse to listen beyond this machine where nobody could show who it is.

    Raises:
        ConfigError: No token lives.
        StoreError: It cannot be known.
    """
    if guard.living():
        return
    if tokens.problem is not None:
        raise StoreError(f"{key}: whether there is a token cannot be read: {tokens.problem}")
    raise ConfigError(
        "beyond this machine only whoever shows a token is answered, and there is none:"
        " `routecanary token create NAME --role app` makes one",
        place=settings.place,
        key=key,
        value=str(address),
    )


async def _open(
    stack: AsyncExitStack, settings: Settings, key: str, address: Address, handler: Handler
) -> Address:
    """Listen at an address and return the one that was bound."""
    try:
        server = await listen(handler, address.host, address.port)
    except (OSError, UnicodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else None
        raise ConfigError(
            f"cannot be listened at: {problem or error}", place=settings.place, key=key, value=str(address)
        ) from None
    stack.push_async_callback(_close, server)
    host, port = server.address
    return Address(host=host, port=port)


async def _close(server: Server) -> None:
    await server.close(GRACE_SECONDS)
