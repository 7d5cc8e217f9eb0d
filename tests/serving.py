"""The two listeners, served from a thread of this process or as a process of their own, and asked plainly."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from routecanary.adapters.snapshot import write_snapshot
from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.cli.status import status_document
from routecanary.clock import Clock, ScaledClock
from routecanary.domain.address import Address, parse_address
from routecanary.domain.settings import ListenSettings, Settings
from routecanary.domain.token import Role
from routecanary.rounds.tokens import create_token, mint
from routecanary.web.serve import listeners
from tests.commandline import command, environment
from tests.records import some_records
from tests.snapshots import NOW

ANY_PORT = "127.0.0.1:0"
LISTEN = f"""
[listen]
applications = "{ANY_PORT}"
administrators = "{ANY_PORT}"
"""


@dataclass(frozen=True, kw_only=True)
class Answered:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def etag(self) -> str:
        return self.headers["etag"]


def ask(
    address: Address | str,
    path: str,
    *,
    method: str = "GET",
    token: str | None = None,
    body: object = None,
    **headers: str,
) -> Answered:
    """Ask once, by a connection of its own; `headers` with underscores for dashes."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if token is not None:
        named["Authorization"] = f"Bearer {token}"
    content = None
    if body is not None:
        content = json.dumps(body)
        named.setdefault("Content-Type", "application/json")
    where = parse_address(urlsplit(address).netloc) if isinstance(address, str) else address
    connection = HTTPConnection(where.host, where.port, timeout=90)
    try:
        connection.request(method, path, body=content, headers=named)
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        return Answered(status=response.status, headers=found, body=response.read())
    finally:
        connection.close()


@dataclass(frozen=True, kw_only=True)
class Served:
    """Where both listen, and what is behind them."""

    applications: Address
    administrators: Address
    settings: Settings
    clock: ScaledClock
    tokens: dict[Role, str] = field(default_factory=dict)

    def publish(self, snapshot: Mapping[str, Any]) -> None:
        write_snapshot(Path(self.settings.snapshot_path), snapshot)

    def at(self, path: str) -> Address:
        return self.administrators if path.startswith("/api/") else self.applications


def some_settings(folder: Path, at: str = ANY_PORT) -> Settings:
    return Settings(
        store_path=str(folder / "events.sqlite3"),
        snapshot_path=str(folder / "snapshot.json"),
        listen=ListenSettings(applications=parse_address(at), administrators=parse_address(at)),
    )


def make_tokens(settings: Settings) -> dict[Role, str]:
    """Make a token of each role, named like it."""
    made = {}
    with SqliteStore(Path(settings.store_path)) as store:
        records = some_records(store)
        for role in Role:
            secret = mint()
            create_token(records, role.value, role, secret=secret, length=None, actor="ada", reason=None)
            made[role] = secret.reveal()
    return made


@contextlib.contextmanager
def served(
    folder: Path,
    snapshot: Mapping[str, Any] | None = None,
    *,
    at: str = ANY_PORT,
    tokens: bool = False,
    clock: ScaledClock | None = None,
) -> Iterator[Served]:
    """Serve from a thread; wall time stands at the snapshots' `NOW` until it is moved."""
    settings, clock = some_settings(folder, at), clock or ScaledClock(start=NOW, rate=1.0)
    if snapshot is not None:
        write_snapshot(Path(settings.snapshot_path), snapshot)
    made = make_tokens(settings) if tokens else {}
    with listening(settings, clock) as (applications, administrators):
        yield Served(
            applications=applications,
            administrators=administrators,
            settings=settings,
            clock=clock,
            tokens=made,
        )


@contextlib.contextmanager
def listening(settings: Settings, clock: Clock) -> Iterator[tuple[Address, Address]]:
    """Listen in a thread of this process; what goes wrong there is raised here."""
    ends: list[Callable[[], object]] = []
    found: list[tuple[Address, Address]] = []
    failed: list[BaseException] = []
    started = threading.Event()

    async def go() -> None:
        loop, end = asyncio.get_running_loop(), asyncio.Event()
        async with listeners(settings, clock, status_document) as both:
            ends.append(lambda: loop.call_soon_threadsafe(end.set))
            found.append(tuple(Address(host="127.0.0.1", port=each.port) for each in _both(both)))  # type: ignore[arg-type]
            started.set()
            await end.wait()

    def run() -> None:
        try:
            asyncio.run(go())
        except BaseException as error:
            failed.append(error)
            started.set()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert started.wait(20)
        if failed:
            raise failed[0]
        yield found[0]
    finally:
        for end in ends:
            end()
        thread.join(20)
    assert not failed, failed


def _both(both: Any) -> tuple[Address, Address]:
    return both.applications, both.administrators


@contextlib.contextmanager
def the_listeners(
    folder: Path, *tokens: str, **variables: str
) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    """Run `routecanary serve` on the configuration of a folder; yields the process and its addresses."""
    with (
        (folder / "serve.log").open("a") as log,
        subprocess.Popen(
            command("serve", "--json", *tokens),
            cwd=folder,
            env=environment(folder, **variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, (folder / "serve.log").read_text()
            yield process, json.loads(line)
        finally:
            process.kill()
