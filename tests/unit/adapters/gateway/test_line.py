"""What the line to the gateway stands on in the HTTP library, beyond what that promises to keep."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection

REQUEST = dict.fromkeys(("headers", "loop", "session", "ssl", "proxy"))
WAY_OUT = "aiohttp changed below adapters/gateway: read line.py and exchange.py before its bound is raised"


@pytest.mark.parametrize(
    ("function", "args", "kwargs"),
    [
        (aiohttp.ClientRequest, ("POST", "url"), REQUEST),
        (aiohttp.TCPConnector.connect, ("self", "request", [], "timeout"), {}),
        (aiohttp.ClientTimeout, (), dict.fromkeys(("total", "connect", "sock_connect", "sock_read"))),
    ],
)
def test_the_library_is_called_as_it_wants(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """The request's constructor and the connector's method are open to everybody, but stable to nobody."""
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError as error:
        pytest.fail(f"{WAY_OUT} ({function.__qualname__}: {error})")


@pytest.mark.parametrize(
    ("cls", "name"),
    [
        (Connection, "transport"),
        (Connection, "protocol"),
        (Connection, "release"),
        (Connection, "close"),
        (ResponseHandler, "should_close"),
        (ResponseHandler, "connection_lost"),
        (ResponseHandler, "pause_writing"),
        (ResponseHandler, "resume_writing"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_a_connection_of_the_library_has_what_the_exchange_uses(cls: type, name: str) -> None:
    """Its transport is borrowed, and goes back to the library's own protocol."""
    assert hasattr(cls, name), WAY_OUT
