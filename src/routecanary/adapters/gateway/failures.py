"""How does a connection's failure read as the ending of a transcript?

One table maps the library's exceptions. A failure of the network or of the other side is data; an exception
that only our own mistake can raise is not in the table and travels on.
"""

from __future__ import annotations

import errno
from typing import Final, NamedTuple

import aiohttp

from routecanary.domain.transcript import EndingKind


class Failure(NamedTuple):
    kind: EndingKind
    detail: str  # safe to print: no address, no header, no message of the peer


# The first class that fits decides, so the special ones stand before the general ones.
TABLE: Final[tuple[tuple[type[BaseException], EndingKind, str], ...]] = (
    (aiohttp.ClientConnectorCertificateError, EndingKind.TLS_FAILED, "certificate refused"),
    (aiohttp.ServerFingerprintMismatch, EndingKind.TLS_FAILED, "certificate is not the pinned one"),
    (aiohttp.ClientSSLError, EndingKind.TLS_FAILED, "TLS handshake failed"),
    (aiohttp.ClientConnectorDNSError, EndingKind.CONNECT_FAILED, "name not resolved"),
    (aiohttp.ClientProxyConnectionError, EndingKind.CONNECT_FAILED, "proxy not reached"),
    (aiohttp.ClientConnectorError, EndingKind.CONNECT_FAILED, "not connected"),
    (aiohttp.ConnectionTimeoutError, EndingKind.CONNECT_FAILED, "not connected in time"),
    (aiohttp.ClientHttpProxyError, EndingKind.CONNECT_FAILED, "proxy refused"),
    (aiohttp.ServerTimeoutError, EndingKind.RESET, "read timed out"),
    (aiohttp.ServerDisconnectedError, EndingKind.RESET, "closed before an answer"),
    (aiohttp.ClientPayloadError, EndingKind.RESET, "cut before the body was complete"),
    (aiohttp.ClientResponseError, EndingKind.RESET, "not HTTP"),
    (aiohttp.ClientConnectionResetError, EndingKind.RESET, "reset"),
    (aiohttp.ClientOSError, EndingKind.RESET, "connection broke"),
    (aiohttp.ClientConnectionError, EndingKind.RESET, "connection lost"),
    (ConnectionError, EndingKind.RESET, "reset"),
    (OSError, EndingKind.RESET, "connection broke"),
)

# What a correct request to a checked address never raises.
OURS: Final[tuple[type[BaseException], ...]] = (
    aiohttp.InvalidURL,
    aiohttp.NonHttpUrlClientError,
    aiohttp.RedirectClientError,
    aiohttp.TooManyRedirects,
    aiohttp.ContentTypeError,
    aiohttp.WSServerHandshakeError,
    aiohttp.WSMessageTypeError,
)


def failure_from(error: BaseException) -> Failure | None:
    """Read a failure of the connection; None when the exception is a mistake of our own."""
    if isinstance(error, OURS):
        return None
    for cls, kind, phrase in TABLE:
        if isinstance(error, cls):
            symbol = None if kind is EndingKind.TLS_FAILED else _symbol(error)
            return Failure(kind, phrase if symbol is None else f"{phrase} ({symbol})")
    return None


def _symbol(error: BaseException) -> str | None:
    """Name the system's error number; those of the TLS library are others and mean nothing here."""
    number = getattr(error, "errno", None)
    return errno.errorcode.get(number) if isinstance(number, int) else None
