"""Which headers go on, and which stay on their side."""

from __future__ import annotations

from routecanary.proxy.heads import chunk, last_chunk, request_head, response_head
from routecanary.web.head import Head, read_head


def a_head(*lines: bytes) -> Head:
    data = b"POST /v1/x HTTP/1.1\r\nHost: here\r\n" + b"".join(line + b"\r\n" for line in lines)
    return read_head(data + b"\r\n", len(data))


def test_a_request_keeps_its_headers_in_order_and_spelling() -> None:
    """Save those of one hop, those that it nominates, and our own; the length is that of what is sent."""
    head = a_head(
        b"X-B: 2",
        b"content-length: 5",
        b"AUTHORIZATION: Bearer sk",
        b"X-RouteCanary-Needs: latency",
        b"Connection: keep-alive, X-Private",
        b"x-private: p",
        b"Proxy-Connection: x",
        b"X-B: 3",
    )
    written = request_head(head, target=b"/api/x", host=b"there:81", length=9)
    assert written == (
        b"POST /api/x HTTP/1.1\r\nHost: there:81\r\nX-B: 2\r\nAUTHORIZATION: Bearer sk\r\nX-B: 3\r\n"
        b"Content-Length: 9\r\n\r\n"
    )
    assert b"ength" not in request_head(head, target=b"/", host=b"h", length=None)
    assert request_head(head, target=b"/", host=b"h", length=-1).endswith(
        b"Transfer-Encoding: chunked\r\n\r\n"
    )


def test_a_response_loses_what_its_connection_header_names_wherever_it_stands() -> None:
    """Before it or behind it."""
    pairs = [(b"X-Gone", b"1"), (b"Connection", b"close, x-gone"), (b"X-Gone", b"2"), (b"Server", b"s")]
    assert response_head(200, b"Fine", pairs, chunked=False, closing=False) == (
        b"HTTP/1.1 200 Fine\r\nServer: s\r\n\r\n"
    )


def test_chunks_say_their_length() -> None:
    """And the last one carries what stands behind the body."""
    assert chunk(b"x" * 26) == b"1a\r\n" + b"x" * 26 + b"\r\n"
    assert last_chunk() == b"0\r\n\r\n"
    assert last_chunk([(b"A", b"b")]) == b"0\r\nA: b\r\n\r\n"
