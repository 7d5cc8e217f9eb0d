"""A proxy in this loop before an upstream that says exactly what a test wants, however rude."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from routecanary.adapters.snapshot import write_snapshot
from routecanary.clock import SystemClock
from routecanary.domain.address import Address, parse_address
from routecanary.domain.settings import Settings
from routecanary.proxy.serve import ProxyOptions, proxied
from routecanary.proxy.upstream import base_from_url
from tests.snapshots import DAY, document, facts, suspended

CHAT = "/v1/chat/completions"

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


@dataclass(kw_only=True)
class Heard:
    """One request as an upstream got it."""

    head: bytes
    body: bytes = b""

    @property
    def line(self) -> str:
        return self.head.split(b"\r\n", 1)[0].decode()

    @property
    def headers(self) -> list[tuple[str, str]]:
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        return [(name, value) for name, _, value in (line.partition(": ") for line in lines)]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(kw_only=True)
class Peer:
    """One connection of an upstream; a script reads and writes on it."""

    number: int  # of the connection, from 1
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    upstream: Upstream

    async def hear(self) -> Heard:
        """Read a request whole."""
        head = (await self.reader.readuntil(b"\r\n\r\n"))[:-4]
        heard = Heard(head=head)
        fields = {name.lower(): value for name, value in heard.headers}
        if "content-length" in fields:
            heard.body = await self.reader.readexactly(int(fields["content-length"]))
        elif "transfer-encoding" in fields:
            while size := int((await self.reader.readuntil(b"\r\n"))[:-2], 16):
                heard.body += (await self.reader.readexactly(size + 2))[:-2]
            await self.reader.readexactly(2)
        self.upstream.heard.append(heard)
        return heard

    async def say(self, data: bytes, *, cut: bool = False) -> None:
        """Write; `cut`: each byte by itself, with time for it to arrive alone."""
        for piece in (data[at : at + 1] for at in range(len(data))) if cut else (data,):
            self.writer.write(piece)
            await self.writer.drain()
            if cut:
                await asyncio.sleep(0)

    async def until_closed(self) -> bytes:
        """Read until the other end closes or breaks the connection."""
        with contextlib.suppress(ConnectionError):
            return await self.reader.read()
        return b""


Script = Callable[[Peer], Awaitable[None]]


@dataclass(kw_only=True)
class Upstream:
    """What an upstream heard."""

    port: int = 0
    connections: int = 0
    heard: list[Heard] = field(default_factory=list)


@contextlib.asynccontextmanager
async def upstream_of(script: Script) -> AsyncIterator[Upstream]:
    """Play a script on every connection; the connection closes when the script ends."""
    upstream = Upstream()
    playing: set[asyncio.Task[None]] = set()

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        playing.add(task)
        upstream.connections += 1
        try:
            await script(Peer(number=upstream.connections, reader=reader, writer=writer, upstream=upstream))
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the proxy is gone
        finally:
            writer.close()
            playing.discard(task)

    server = await asyncio.start_server(play, "127.0.0.1", 0)
    upstream.port = server.sockets[0].getsockname()[1]
    try:
        yield upstream
    finally:
        server.close()
        for task in tuple(playing):
            task.cancel()
        await asyncio.gather(*playing, return_exceptions=True)


def answering(answer: bytes = OK) -> Script:
    """Script: the same answer to every request, on kept connections."""

    async def script(peer: Peer) -> None:
        while True:
            await peer.hear()
            await peer.say(answer)

    return script


def publish(folder: Path, *routes: str) -> Path:
    """Write a snapshot in which routes of `acme/chat` are suspended, as of now."""
    now = SystemClock().now()
    path = folder / "snapshot.json"
    write_snapshot(path, document(facts(suspensions=suspended(*routes, until=now + DAY)), written_at=now))
    return path


@contextlib.asynccontextmanager
async def passing(
    base_url: str,
    folder: Path,
    *,
    settings: Settings | None = None,
    listen: str = "127.0.0.1:0",
    max_edit_bytes: int = 16_777_216,
) -> AsyncIterator[Address]:
    """Run a proxy before a gateway; its snapshot is `snapshot.json` in a folder."""
    options = ProxyOptions(
        listen=parse_address(listen),
        upstream=base_from_url(base_url),
        snapshot_path=str(folder / "snapshot.json"),
        max_edit_bytes=max_edit_bytes,
        settings=settings,
    )
    async with proxied(options, SystemClock()) as address:
        yield address


def a_request(
    method: str = "GET",
    path: str = "/v1/models",
    body: bytes | None = None,
    *,
    last: bool = True,
    **headers: str,
) -> bytes:
    """Write a request; `last`: the connection ends with its answer. `headers` with underscores for dashes."""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if last:
        lines.append("Connection: close")
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b"")


def a_chat(last: bool = True, raw: bytes | None = None, **more: Any) -> bytes:
    """Write a chat request."""
    document: Mapping[str, Any] = {"model": "acme/chat", "messages": [], **more}
    body = json.dumps(document).encode() if raw is None else raw
    return a_request("POST", CHAT, body, last=last, Content_Type="application/json")


async def said(address: Address, data: bytes) -> bytes:
    """Send bytes and read until the proxy closes."""
    reader, writer = await asyncio.open_connection(address.host, address.port)
    try:
        writer.write(data)
        return await reader.read()
    finally:
        writer.close()


def parts(answer: bytes) -> tuple[bytes, bytes]:
    """Split an answer into its head and what follows."""
    head, _, body = answer.partition(b"\r\n\r\n")
    return head, body


async def health(address: Address) -> Any:
    _, body = parts(await said(address, a_request(path="/v1/health")))
    return json.loads(body)
