"""What does the head of one HTTP/1.1 request say, and where does its body end?

A whitelist, not a tolerant reader: whatever another reader could take for two requests is refused. A head is
matched as a whole by the grammar, so a folded line, a bare LF, a space before a colon and a control character
have no place in it, and a body has exactly one way to say its length.

Source: RFC 9112 §2.2, §3, §5, §6.3, §11.2; RFC 9110 §5.5, §7.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

MAX_HEAD: Final = 65_536  # bytes of a request line and its headers
MAX_HEADERS: Final = 100

_TOKEN: Final = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]"
_LINE: Final = re.compile(rb"(%b{1,32}) ([!-\"$-~]+) HTTP/1\.([01])\r\n" % _TOKEN)
_FIELD: Final = re.compile(rb"(?m)^(%b++):[ \t]*+([^\x00-\x08\x0a-\x1f\x7f]*+)\r\n" % _TOKEN)
_LENGTH: Final = re.compile(rb"[0-9]{1,18}")
_BARE_LF: Final = re.compile(rb"(?<!\r)\n")
_ABSOLUTE: Final = re.compile(rb"(?i:https?)://([^/?]+)(/[^?]*)?(?:\?(.*))?")
_ONCE: Final = (
    b"content-length",
    b"transfer-encoding",
    b"host",
    b"authorization",
    b"content-type",
    b"expect",
)
_CHUNKED: Final = -1

Pair = tuple[bytes, bytes]


class RefusedError(Exception):
    """A request that is answered with an error and the end of its connection."""

    def __init__(self, status: int, message: str, headers: Iterable[tuple[str, str]] = ()) -> None:
        self.status = status
        self.headers = headers  # of the answer, besides
        super().__init__(message)


class Head(NamedTuple):
    """One request head."""

    method: str
    path: str  # as it was sent: nothing is decoded
    query: str  # likewise, without the question mark; empty where there is none
    block: bytes  # the headers as they came, each line with its CRLF
    fields: dict[bytes, bytes]  # by lower-case name; one that came several times has its values joined
    length: int  # of the body, in bytes; -1 = it comes in chunks
    keep_alive: bool
    minor: int  # of the version: 0 or 1

    @property
    def is_chunked(self) -> bool:
        return self.length == _CHUNKED


def read_head(data: bytes, end: int) -> Head:
    """Read a head.

    Args:
        data: Begins with the head.
        end: Where the empty line that ends it begins, behind the last header's CRLF.
    Raises:
        RefusedError: It is none.
    """
    line = _LINE.match(data, 0, end)
    if line is None:
        raise RefusedError(400, "not an HTTP/1.1 request")
    start = line.end()
    pairs: list[Pair] = _FIELD.findall(data, start, end)
    if len(pairs) != data.count(b"\n", start, end):  # each match is a line, so some line is none
        raise RefusedError(400, "a malformed header")
    if len(pairs) > MAX_HEADERS:
        raise RefusedError(431, f"too many headers; allowed: {MAX_HEADERS}")
    fields = {name.lower(): value for name, value in pairs}
    if data.find(b" \r\n", start, end) >= 0 or data.find(b"\t\r\n", start, end) >= 0:
        pairs = [(name, value.rstrip(b" \t")) for name, value in pairs]
        fields = {name.lower(): value for name, value in pairs}
    if len(fields) != len(pairs):
        fields = _joined(pairs)
    method, target, version = line.groups()
    minor = 1 if version == b"1" else 0
    if minor and b"host" not in fields:
        raise RefusedError(400, "no Host header")
    path, query = _target(method, target)
    length, closes = 0, not minor
    if b"content-length" in fields or b"transfer-encoding" in fields:
        length = _length(fields, minor)
    connection = fields.get(b"connection")
    if connection is not None and connection != b"keep-alive":
        closes = closes or b"close" in tokens_of(connection)
    return Head(method.decode(), path, query, data[start:end], fields, length, not closes, minor)


def tokens_of(value: bytes) -> list[bytes]:
    """List the members of a comma-separated header, in lower case."""
    return [token for token in (part.strip(b" \t") for part in value.lower().split(b",")) if token]


def is_hopeless(data: bytes) -> bool:
    """Say whether what has come of a head can no longer become one, so that nobody need wait for its end."""
    return _BARE_LF.search(data) is not None


def _joined(pairs: list[Pair]) -> dict[bytes, bytes]:
    fields: dict[bytes, bytes] = {}
    for name, value in pairs:
        lower = name.lower()
        if lower not in fields:
            fields[lower] = value
        elif lower in _ONCE:
            raise RefusedError(400, f"more than one {lower.decode()} header")
        else:
            fields[lower] = b"%b, %b" % (fields[lower], value)
    return fields


def _target(method: bytes, target: bytes) -> tuple[str, str]:
    if target[0] == 0x2F:
        path, _, query = target.decode("ascii").partition("?")
        return path, query
    if method == b"CONNECT":
        raise RefusedError(501, "CONNECT is not served")
    absolute = _ABSOLUTE.fullmatch(target)
    if absolute is None:
        raise RefusedError(400, "a request target that is no path")
    return (absolute[2] or b"/").decode("ascii"), (absolute[3] or b"").decode("ascii")


def _length(fields: dict[bytes, bytes], minor: int) -> int:
    """Find the one way in which a body says its length."""
    length, coding = fields.get(b"content-length"), fields.get(b"transfer-encoding")
    if coding is not None:
        if length is not None or not minor:
            raise RefusedError(400, "Transfer-Encoding beside Content-Length, or in HTTP/1.0")
        if coding.lower() != b"chunked":
            raise RefusedError(501, "a transfer coding that is not known; allowed: chunked")
        return _CHUNKED
    if length is None or _LENGTH.fullmatch(length) is None:
        raise RefusedError(400, "a malformed Content-Length")
    return int(length)
