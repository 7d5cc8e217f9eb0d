"""Addresses to listen at: what they may look like, and who can reach them."""

from __future__ import annotations

import pytest

from routecanary.domain.address import parse_address
from routecanary.errors import InputError


@pytest.mark.parametrize(
    ("text", "loopback"),
    [
        ("127.0.0.1:7450", True),
        ("127.9.9.9:1", True),
        ("[::1]:7450", True),
        ("localhost:0", True),
        ("0.0.0.0:80", False),
        ("[::]:80", False),
        ("192.0.2.7:65535", False),
        ("canary.example:7450", False),
    ],
)
def test_an_address_reads_back_as_it_is_written(text: str, *, loopback: bool) -> None:
    """And it is known whether strangers can reach it; in doubt they can."""
    address = parse_address(text)
    assert (str(address), address.is_loopback) == (text, loopback)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7450",
        ":7450",
        "host:",
        "host:65536",
        "host:-1",
        "::1:80",
        "[x]:1",
        "[::1]",
        "a b:1",
        "http://a:1",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    """With the form that is allowed."""
    with pytest.raises(InputError, match="not an address to listen at"):
        parse_address(text)
