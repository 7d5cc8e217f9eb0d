"""How do we get onto the line to the gateway, and what goes before a probe's body?

The library's connector resolves, connects, does TLS, tunnels through a proxy and keeps idle connections; it
is asked for a connection as its own session would ask it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from ssl import SSLContext
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from aiohttp.connector import Connection
from yarl import URL

from routecanary.errors import ConfigError


class Line:
    """One address that probes are posted to. Made inside the event loop that uses it."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        url: str,
        *,
        headers: Mapping[str, str],
        ssl_context: SSLContext | None,
        proxy: str | None,
    ) -> None:
        """Prepare the head that all requests share.

        Args:
            session: Its connector is used; the caller closes it.
            headers: Beside the host, the length, and what the library sends with each request.
            proxy: Used for an https address.
        """
        self._session = session
        self._timeout = aiohttp.ClientTimeout(total=None, connect=None, sock_connect=None, sock_read=None)
        self._template = aiohttp.ClientRequest(
            "POST",
            URL(url),
            headers=headers,
            loop=asyncio.get_running_loop(),
            session=session,
            ssl=ssl_context or True,
            proxy=None if proxy is None else URL(proxy),
        )
        fields = [(name, value) for name, value in self._template.headers.items() if name != "Content-Length"]
        self._head = "".join(
            [
                f"POST {self._template.url.raw_path_qs} HTTP/1.1\r\n",
                *(f"{name}: {value}\r\n" for name, value in fields),
                "Content-Length: ",
            ]
        ).encode("ascii")

    def request(self, body: bytes) -> bytes:
        """Put the head before a body."""
        return b"".join((self._head, str(len(body)).encode(), b"\r\n\r\n", body))

    async def connect(self) -> Connection:
        """Take an idle connection or make a new one; the caller releases or closes it.

        Raises:
            aiohttp.ClientError: There is none to be had.
        """
        connector = self._session.connector
        if connector is None:
            raise RuntimeError("the session is closed")
        while True:
            connection = await connector.connect(self._template, [], self._timeout)
            protocol = connection.protocol
            if protocol is not None and not protocol.should_close:
                return connection
            connection.close()  # something came over it while it was idle, and might be taken for an answer


def checked_url(base_url: str) -> str:
    """Return the address without a slash at its end.

    Raises:
        ConfigError: It cannot be used. It is not shown: it may hold credentials.
    """
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        URL(base_url)
    except ValueError:
        usable = False
    else:
        usable = usable and not (parts.query or parts.fragment or parts.username or parts.password)
    if not usable:
        raise ConfigError(
            "not a usable address",
            key="gateway.base_url",
            allowed="http(s)://host[:port][/path] without credentials, query or fragment",
        )
    return base_url.rstrip("/")


def proxy_of_environment(base_url: str) -> str | None:
    """Find the proxy that the environment names for an https address; none is used for plain http."""
    parts = urlsplit(base_url)
    if parts.scheme != "https" or proxy_bypass(parts.hostname or ""):
        return None
    return getproxies().get("https")
