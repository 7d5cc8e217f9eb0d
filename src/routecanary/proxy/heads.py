"""Which headers go on, and what does a head look like on the other side?

What speaks of one connection only stays on it (RFC 9110 §7.6.1), and so do the proxy's own headers;
everything else goes on byte for byte, in its order. Nothing is added that says that a proxy stood between.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from routecanary.web.head import Head, Pair, tokens_of

CHUNKED: Final = -1
"""A body whose length is not known: it goes in chunks."""

_OF_ONE_HOP: Final = frozenset(
    (b"connection", b"keep-alive", b"proxy-connection", b"te", b"transfer-encoding", b"upgrade")
)
_NEVER_SENT: Final = re.compile(
    rb"\n(?i:(?:c(?:onnection|ontent-length)|keep-alive|proxy-connection|te|transfer-encoding|upgrade|host|expect"
    rb"|x-routecanary-[^:]*):[^\n]*)(?=\n)"
)
"""Lines of a request's head that stay here: of one hop, written anew, or our own."""

_LAST_CHUNK: Final = b"0\r\n\r\n"


def request_head(head: Head, *, target: bytes, host: bytes, length: int | None) -> bytes:
    """Write the head of a request as the upstream gets it.

    Args:
        head: As the client sent it.
        target: Path and query at the upstream.
        host: Of the upstream, with its port if it is not the scheme's own.
        length: Of the body, or `CHUNKED`; None = the request has no body and says none.
    """
    kept = _NEVER_SENT.sub(b"", b"\n" + head.block)
    nominated = head.fields.get(b"connection")
    if nominated is not None and nominated != b"keep-alive":
        dropped = tokens_of(nominated)
        lines = kept.splitlines(keepends=True)
        kept = b"".join(line for line in lines if line.partition(b":")[0].lower() not in dropped)
    if length is None:
        framing = b""
    else:
        framing = b"Transfer-Encoding: chunked\r\n" if length < 0 else b"Content-Length: %d\r\n" % length
    return b"%b %b HTTP/1.1\r\nHost: %b\r%b%b\r\n" % (head.method.encode(), target, host, kept, framing)


def response_head(
    status: int, reason: bytes, pairs: Iterable[Pair], *, chunked: bool, closing: bool
) -> bytes:
    """Write the head of a response as the client gets it.

    Args:
        status: Of the upstream.
        reason: Likewise.
        pairs: Its headers.
        chunked: The body goes in chunks.
        closing: The connection to the client ends with this response.
    """
    lines = [b"HTTP/1.1 %d %b\r\n" % (status, reason)]
    dropped = _OF_ONE_HOP
    for pair in pairs:
        lower = pair[0].lower()
        if lower not in dropped:
            lines.append(b"%b: %b\r\n" % pair)
        elif lower == b"connection" and pair[1].lower() not in (b"keep-alive", b"close"):
            dropped = dropped.union(tokens_of(pair[1]))
            lines = [
                lines[0],
                *(line for line in lines[1:] if line[: line.index(b":")].lower() not in dropped),
            ]
    if chunked:
        lines.append(b"Transfer-Encoding: chunked\r\n")
    if closing:
        lines.append(b"Connection: close\r\n")
    lines.append(b"\r\n")
    return b"".join(lines)


def chunk(data: bytes) -> bytes:
    """Frame a piece of a body; not for an empty one, which would end it."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def last_chunk(trailers: Iterable[Pair] = ()) -> bytes:
    """Frame the end of a body, with its trailers."""
    lines = [b"%b: %b\r\n" % pair for pair in trailers]
    return b"0\r\n%b\r\n" % b"".join(lines) if lines else _LAST_CHUNK
