"""Receivers of messages: real sockets that take, hang, redirect, refuse and close."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from queue import Queue
from threading import Thread
from typing import Final

SECRET: Final = "correct-horse-battery-staple"


@dataclass
class Received:
    """One request as it came."""

    line: str
    headers: dict[str, str]  # names in lower case
    body: bytes


Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Receiver:
    """A server on the own machine; `answer` may be replaced between requests."""

    answer: Answer
    url: str = ""
    received: list[Received] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {
                name.lower(): value.strip()
                for name, value in (line.split(":", 1) for line in head[1:] if line)
            }
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            self.received.append(Received(line=head[0], headers=headers, body=body))
            await self.answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # whoever asked has gone
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


def status(code: int, reason: str = "Whatever", **headers: str) -> Answer:
    """Answer with a status and nothing else."""

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {code} {reason}", "Content-Length: 0"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        await writer.drain()

    return answer


async def hang(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    """Say nothing, as long as the other side waits."""
    await reader.read()


async def close(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Close without a word."""


async def babble(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer with what is no HTTP."""
    writer.write(b"SSH-2.0-OpenSSH_9.9\r\n" * 10)
    await writer.drain()


async def endless(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Take the message, and then answer with a body that has no end."""
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not writer.is_closing():
        writer.write(b"1000\r\n" + b"x" * 0x1000 + b"\r\n")
        await writer.drain()


async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send a header a byte at a time, for ever."""
    writer.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not writer.is_closing():
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.01)


@asynccontextmanager
async def receiver(answer: Answer, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    """Serve on a free port of the own machine."""
    made = Receiver(answer)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=tls)
    host, port = server.sockets[0].getsockname()[:2]
    made.url = f"{'http' if tls is None else 'https'}://{host}:{port}/hook/T0K3N?key=Qu3ryT0K3N"
    try:
        yield made
    finally:
        server.close()
        await server.wait_closed()


@contextmanager
def receiver_beside(answer: Answer) -> Iterator[Receiver]:
    """Serve from a thread of its own, for commands that bring their own loop."""
    started: Queue[Receiver] = Queue()
    loop = asyncio.new_event_loop()
    ended = asyncio.Event()

    async def serve() -> None:
        async with receiver(answer) as made:
            started.put(made)
            await ended.wait()

    thread = Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        yield started.get(timeout=20)
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(20)
        loop.close()


def expected_signature(secret: str, timestamp: str, body: bytes) -> str:
    """Compute HMAC-SHA256 by its definition (RFC 2104), without the library that the sender uses."""
    key = secret.encode()
    key = (sha256(key).digest() if len(key) > 64 else key).ljust(64, b"\0")
    inner = sha256(bytes(byte ^ 0x36 for byte in key) + timestamp.encode() + b"." + body).digest()
    return "v1=" + sha256(bytes(byte ^ 0x5C for byte in key) + inner).hexdigest()
