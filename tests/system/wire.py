"""A server that says exactly what a test tells it to, byte by byte."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
UNTIL_CLOSED = HEAD + b"Connection: close\r\n\r\n"


def chunk(data: bytes) -> bytes:
    """Frame data in the chunked coding; empty data ends the body."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


@dataclass(kw_only=True)
class Request:
    """What one request looked like."""

    line: str
    headers: dict[str, str]
    body: bytes
    connection: int  # number of the connection that it came on


@dataclass(kw_only=True)
class Line:
    """One connection, in the hands of a script."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def say(self, *pieces: bytes, pause: float = 0.0) -> None:
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()
            await asyncio.sleep(pause)

    async def hang(self) -> None:
        """Say nothing more until the other side goes."""
        await self.reader.read()

    def reset(self) -> None:
        """Break the connection hard: the other side gets a reset, not an end."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    def close(self) -> None:
        self.writer.close()


Script = Callable[[Line], Awaitable[None]]


@dataclass(kw_only=True)
class Wire:
    """The running server."""

    port: int = 0
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    open_now: int = 0
    open_most: int = 0


async def _read_request(reader: asyncio.StreamReader, connection: int) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    line, *fields = head.decode("latin-1").rstrip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(line=line, headers=headers, body=body, connection=connection)


@asynccontextmanager
async def serving(script: Script, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[Wire]:
    """Serve on a free port of 127.0.0.1; every request is answered by the script."""
    wire = Wire()
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        wire.connections += 1
        number = wire.connections
        try:
            while (request := await _read_request(reader, number)) is not None:
                wire.requests.append(request)
                wire.open_now += 1
                wire.open_most = max(wire.open_most, wire.open_now)
                try:
                    await script(Line(reader=reader, writer=writer))
                finally:
                    wire.open_now -= 1
                if writer.transport.is_closing():
                    break
        except (ConnectionError, asyncio.CancelledError):
            pass  # the client went, or the test is over
        finally:
            writer.close()
            tasks.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    wire.port = server.sockets[0].getsockname()[1]
    try:
        yield wire
    finally:
        server.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def closed_port() -> int:
    """Find a port on which nobody listens."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
