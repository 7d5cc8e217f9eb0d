"""Every exception of the HTTP library is either an ending or a mistake of ours."""

from __future__ import annotations

import errno
import ssl
from types import SimpleNamespace

import aiohttp
import pytest
from aiohttp import client_exceptions
from aiohttp.client_reqrep import ConnectionKey

from routecanary.adapters.gateway.failures import OURS, TABLE, failure_from
from routecanary.domain.transcript import EndingKind

KEY = ConnectionKey("gateway.invalid", 443, True, True, None, None, None)
REFUSED = ConnectionRefusedError(errno.ECONNREFUSED, "refused by 10.0.0.7")
INFO = SimpleNamespace(real_url="https://gateway.invalid/secret")

# the bare base of all, and what only an upload that is followed raises
NEVER_MET = {"ClientError", "UploadAbortedError"}
EXCEPTIONS = sorted(
    (
        value
        for value in vars(client_exceptions).values()
        if isinstance(value, type)
        and issubclass(value, Exception)
        and value.__module__ == client_exceptions.__name__
        and value.__name__ not in NEVER_MET
    ),
    key=lambda cls: cls.__name__,
)


@pytest.mark.parametrize("cls", EXCEPTIONS, ids=lambda cls: cls.__name__)
def test_every_exception_of_the_client_is_placed(cls: type[Exception]) -> None:
    """A class that the library grows makes this fail, unless its base says how it ends."""
    assert issubclass(cls, OURS) or any(issubclass(cls, entry) for entry, _, _ in TABLE)


@pytest.mark.parametrize(
    ("error", "kind", "detail"),
    [
        (
            aiohttp.ClientConnectorError(KEY, REFUSED),
            EndingKind.CONNECT_FAILED,
            "not connected (ECONNREFUSED)",
        ),
        (
            aiohttp.ClientConnectorDNSError(KEY, OSError(-2, "unknown")),
            EndingKind.CONNECT_FAILED,
            "name not resolved",
        ),
        (
            aiohttp.ClientConnectorCertificateError(KEY, ssl.CertificateError("for 10.0.0.7")),
            EndingKind.TLS_FAILED,
            "certificate refused",
        ),
        (
            aiohttp.ClientConnectorSSLError(KEY, ssl.SSLError(1, "x")),
            EndingKind.TLS_FAILED,
            "TLS handshake failed",
        ),
        (aiohttp.ServerDisconnectedError(), EndingKind.RESET, "closed before an answer"),
        (aiohttp.ClientPayloadError("at https://x"), EndingKind.RESET, "cut before the body was complete"),
        (aiohttp.ClientResponseError(INFO, ()), EndingKind.RESET, "not HTTP"),
        (
            aiohttp.ClientOSError(errno.ECONNRESET, "by peer"),
            EndingKind.RESET,
            "connection broke (ECONNRESET)",
        ),
        (ConnectionResetError(errno.ECONNRESET, "by peer"), EndingKind.RESET, "reset (ECONNRESET)"),
        (BrokenPipeError(), EndingKind.RESET, "reset"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_failure_says_how_and_shows_nothing_of_the_peer(
    error: Exception, kind: EndingKind, detail: str
) -> None:
    """Neither an address nor a message from outside reaches the detail."""
    assert failure_from(error) == (kind, detail)


@pytest.mark.parametrize(
    "error",
    [aiohttp.InvalidURL("x"), aiohttp.NonHttpUrlClientError("x"), ValueError("x"), aiohttp.ClientError()],
    ids=lambda error: type(error).__name__,
)
def test_our_own_mistakes_are_no_failures(error: Exception) -> None:
    """They travel on as exceptions."""
    assert failure_from(error) is None
