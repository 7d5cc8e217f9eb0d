"""Where requests go: which addresses are taken, and for how long a connection is kept."""

from __future__ import annotations

from math import inf

import pytest

from routecanary.errors import InputError
from routecanary.proxy.upstream import base_from_url, kept_for


@pytest.mark.parametrize(
    ("url", "host", "port", "path", "authority"),
    [
        ("https://openrouter.ai/api/v1", "openrouter.ai", 443, "/api/v1", b"openrouter.ai"),
        ("https://gw.example:8443/", "gw.example", 8443, "", b"gw.example:8443"),
        ("http://127.0.0.1:80", "127.0.0.1", 80, "", b"127.0.0.1"),
        ("http://[::1]:8080/v1/", "::1", 8080, "/v1", b"[::1]:8080"),
    ],
)
def test_an_address_is_read(url: str, host: str, port: int, path: str, authority: bytes) -> None:
    """Host, port, path without its last slash, and what stands in the Host header."""
    base = base_from_url(url)
    assert (base.host, base.port, base.path, base.authority) == (host, port, path, authority)


@pytest.mark.parametrize(
    "url",
    [
        "http://gateway.example/v1",
        "ftp://127.0.0.1",
        "//127.0.0.1",
        "https://user:secret@h/",
        "https://h/?key=1",
        "https://h/#x",
        "https://h:99999/",
        "https://",
        "https://h/\r\nX: y",
        "https://[::1/",
        "",
    ],
)
def test_anything_else_is_refused(url: str) -> None:
    """Keys in the clear, credentials, queries, and what is no address."""
    with pytest.raises(InputError):
        base_from_url(url)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [(b"timeout=5", 4.0), (b"max=100, Timeout=60", 59.0), (b"timeout=0", 0.0), (b"max=5", inf), (b"x", inf)],
)
def test_the_upstreams_own_patience_counts(value: bytes, seconds: float) -> None:
    """A connection is given up a second before its other end would do it."""
    assert kept_for([(b"Date", b"today"), (b"keep-alive", value)]) == seconds
