"""Where do requests go, and which connections are kept for the next one?"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections import deque
from dataclasses import dataclass
from time import monotonic
from typing import Final
from urllib.parse import urlsplit

from routecanary.domain.address import Address
from routecanary.errors import InputError
from routecanary.proxy.line import Line
from routecanary.web.head import Pair

CONNECT_SECONDS: Final = 10.0  # to a connection, TLS included
ATTEMPT_SECONDS: Final = 4.0  # to one of its addresses: another may be reached where this one is not
IDLE_SECONDS: Final = 30.0  # for which an idle connection is kept
SILENCE_SECONDS: Final = 900.0  # without a byte either way, after which a request is given up
MAX_IDLE: Final = 256  # connections
_MARGIN_SECONDS: Final = 1.0  # before the upstream would end an idle connection itself
_SWEEP_SECONDS: Final = 1.0
_ALLOWED: Final = "https://host[:port][/path], or http:// for the own machine"
_TIMEOUT: Final = re.compile(rb"(?i)\btimeout=([0-9]{1,6})\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The base address of a gateway."""

    host: str
    port: int
    is_secure: bool
    path: str  # without a slash at its end
    authority: bytes  # as the Host header says it

    def __str__(self) -> str:
        return f"{'https' if self.is_secure else 'http'}://{self.authority.decode()}{self.path}"


def base_from_url(url: str) -> Base:
    """Read the base address of a gateway.

    Raises:
        InputError: It is no plain http or https address.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    bare = not (parts.username or parts.password or parts.query or parts.fragment)
    if (
        parts.scheme not in ("http", "https")
        or not host
        or not bare
        or not url.isascii()
        or not url.isprintable()
    ):
        raise InputError("not an address to forward to", value=url, allowed=_ALLOWED)
    is_secure = parts.scheme == "https"
    if not is_secure and not Address(host=host, port=port or 80).is_loopback:
        raise InputError("the callers' keys would travel in the clear", value=url, allowed=_ALLOWED)
    own = 443 if is_secure else 80
    shown = f"[{host}]" if ":" in host else host
    return Base(
        host=host,
        port=port or own,
        is_secure=is_secure,
        path=parts.path.rstrip("/"),
        authority=(shown if port in (None, own) else f"{shown}:{port}").encode(),
    )


class Upstream:
    """The connections to one gateway: used ones first, the last used before the others."""

    def __init__(self, base: Base, *, trust: ssl.SSLContext | None = None) -> None:
        """Prepare; nothing is connected yet.

        Args:
            trust: How a secure upstream is verified; None = by the system's store.
        """
        self.base = base
        self.opened = 0
        self.lines: set[Line] = set()
        self._idle: deque[Line] = deque()
        self._worked: str | None = None  # the address that was reached last
        self._tls: ssl.SSLContext | None = None
        if base.is_secure:
            self._tls = trust or ssl.create_default_context()
            self._tls.set_alpn_protocols(["http/1.1"])
        self._sweeper = asyncio.get_running_loop().create_task(self._sweep())

    def take(self) -> Line | None:
        """Return a kept connection; None where a new one is needed."""
        while self._idle:
            line = self._idle.pop()
            if line.is_alive:
                return line
            line.close()
        return None

    async def connect(self) -> Line:
        """Open a connection.

        Raises:
            OSError: There is none to be had; TimeoutError and ssl.SSLError are such.
        """
        async with asyncio.timeout(CONNECT_SECONDS):
            addresses = await self._addresses()
            for address in addresses:
                try:
                    async with asyncio.timeout(ATTEMPT_SECONDS):
                        line = await self._connect(address)
                except ssl.SSLError:
                    raise
                except OSError:
                    if address == addresses[-1]:
                        raise
                else:
                    self._worked = address
                    self.opened += 1
                    self.lines.add(line)
                    return line
        raise OSError("no address")

    async def _addresses(self) -> list[str]:
        """List the gateway's addresses, the one that worked last before the others."""
        found = await asyncio.get_running_loop().getaddrinfo(
            self.base.host, self.base.port, type=socket.SOCK_STREAM
        )
        addresses = dict.fromkeys(str(address[4][0]) for address in found)
        return sorted(addresses, key=lambda address: address != self._worked)

    async def _connect(self, address: str) -> Line:
        _, line = await asyncio.get_running_loop().create_connection(
            lambda: Line(self),
            address,
            self.base.port,
            ssl=self._tls,
            server_hostname=self.base.host if self._tls is not None else None,
        )
        return line

    def keep(self, line: Line) -> None:
        """Take back a connection whose answer came whole."""
        line.listener = None
        if not line.reusable or len(self._idle) >= MAX_IDLE:
            line.close()
            return
        line.idle_for = min(IDLE_SECONDS, kept_for(line.headers))
        self._idle.append(line)

    def forget(self, line: Line) -> None:
        self.lines.discard(line)
        if line in self._idle:
            self._idle.remove(line)

    @property
    def idle(self) -> int:
        return len(self._idle)

    async def close(self) -> None:
        """End all connections."""
        self._sweeper.cancel()
        for line in tuple(self.lines):
            line.abort()
        self._idle.clear()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            now = monotonic()
            for line in tuple(self._idle):
                if now - line.heard_at >= line.idle_for or not line.is_alive:
                    self._idle.remove(line)
                    line.close()
            for line in tuple(self.lines):
                if line.listener is not None and now - line.heard_at >= SILENCE_SECONDS:
                    line.give_up("the gateway was silent for too long")


def kept_for(headers: list[Pair]) -> float:
    """Say for how many seconds the upstream keeps an idle connection, less a margin; else for ever."""
    for name, value in headers:
        if name.lower() == b"keep-alive" and (found := _TIMEOUT.search(value)) is not None:
            return max(0.0, float(found[1]) - _MARGIN_SECONDS)
    return float("inf")
