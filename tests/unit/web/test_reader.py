"""What is taken for a request, and what is refused because two readers could disagree about it."""

from __future__ import annotations

import pytest

from routecanary.web.head import MAX_HEAD, MAX_HEADERS, Head, RefusedError
from routecanary.web.reader import RequestReader


def read(data: bytes) -> list[tuple[Head, bytes]]:
    """Read all whole requests."""
    reader, found = RequestReader(), []
    reader.feed(data)
    while (head := reader.head()) is not None:
        body = b""
        while not reader.complete:
            piece = reader.body()
            if not piece and not reader.complete:
                return found
            body += piece
        found.append((head, body))
    return found


def the_one(data: bytes) -> tuple[Head, bytes]:
    (request,) = read(data)
    return request


def test_a_plain_request_is_read() -> None:
    """Method, path, query, headers and the wish to keep the connection."""
    head, body = the_one(b"GET /v1/x?a=1&b=%20 HTTP/1.1\r\nHost: h\r\nX-Some: \t va lue \t\r\n\r\n")
    assert (head.method, head.path, head.query, body) == ("GET", "/v1/x", "a=1&b=%20", b"")
    assert head.block == b"Host: h\r\nX-Some: \t va lue \t\r\n"
    assert head.fields == {b"host": b"h", b"x-some": b"va lue"}
    assert head.keep_alive


def test_bodies_by_length_and_in_chunks() -> None:
    """Both ways of framing give the body, and the next request begins behind it."""
    requests = read(
        b"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"
        b"\r\nPOST /b HTTP/1.1\r\nHost: h\r\ntransfer-encoding: Chunked\r\n\r\n"
        b"3\r\nabc\r\n0A;name=value\r\n0123456789\r\n0\r\nTrailer: dropped\r\n\r\n"
        b"GET /c HTTP/1.1\r\nHost: h\r\n\r\n"
    )
    assert [(head.path, body) for head, body in requests] == [
        ("/a", b"hello"),
        ("/b", b"abc0123456789"),
        ("/c", b""),
    ]


@pytest.mark.parametrize(
    ("line", "headers", "keeps"),
    [
        (b"HTTP/1.1", b"Connection: close\r\n", False),
        (b"HTTP/1.1", b"Connection: foo, Close\r\n", False),
        (b"HTTP/1.1", b"Connection: keep-alive\r\n", True),
        (b"HTTP/1.1", b"Connection: x\r\nConnection: close\r\n", False),
        (b"HTTP/1.0", b"", False),
    ],
)
def test_keeping_the_connection(line: bytes, headers: bytes, keeps: bool) -> None:
    """HTTP/1.1 keeps it unless told otherwise; HTTP/1.0 never does."""
    head, _ = the_one(b"GET / " + line + b"\r\nHost: h\r\n" + headers + b"\r\n")
    assert head.keep_alive is keeps


def test_an_absolute_target_means_its_path() -> None:
    """A client that takes the listener for a proxy of the network is served by the path alone."""
    head, _ = the_one(b"GET http://elsewhere.example/v1/x?y HTTP/1.1\r\nHost: h\r\n\r\n")
    assert (head.path, head.query) == ("/v1/x", "y")


POST = b"POST / HTTP/1.1\r\nHost: h\r\n"

SMUGGLING = {
    "both lengths": (400, POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    "two lengths": (400, POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"),
    "two equal lengths": (400, POST + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"),
    "list of lengths": (400, POST + b"Content-Length: 5, 5\r\n\r\nhello"),
    "signed length": (400, POST + b"Content-Length: +5\r\n\r\nhello"),
    "hexadecimal length": (400, POST + b"Content-Length: 0x5\r\n\r\nhello"),
    "empty length": (400, POST + b"Content-Length: \r\n\r\nhello"),
    "space in length": (400, POST + b"Content-Length: 1 0\r\n\r\n0123456789"),
    "enormous length": (400, POST + b"Content-Length: 99999999999999999999\r\n\r\n"),
    "two codings": (400, POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    "unknown coding": (501, POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    "identity": (501, POST + b"Transfer-Encoding: identity\r\n\r\n"),
    "disguised coding": (501, POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
    "chunks in 1.0": (400, b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    "space before colon": (400, POST + b"Content-Length : 5\r\n\r\nhello"),
    "folded header": (400, POST + b"X-A: b\r\n c\r\n\r\n"),
    "folded first header": (400, b"GET / HTTP/1.1\r\n Host: h\r\n\r\n"),
    "bare LF after header": (400, POST + b"X-A: b\nContent-Length: 5\r\n\r\nhello"),
    "bare LF line": (400, b"GET / HTTP/1.1\nHost: h\n\n"),
    "bare CR in value": (400, POST + b"X-A: b\rContent-Length: 5\r\n\r\n"),
    "NUL in value": (400, POST + b"X-A: b\0c\r\n\r\n"),
    "control in name": (400, POST + b"X\x01A: b\r\n\r\n"),
    "no name": (400, POST + b": b\r\n\r\n"),
    "no colon": (400, POST + b"X-A\r\n\r\n"),
    "no host": (400, b"GET / HTTP/1.1\r\n\r\n"),
    "two hosts": (400, b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
    "two spaces": (400, b"GET  / HTTP/1.1\r\nHost: h\r\n\r\n"),
    "tab in line": (400, b"GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n"),
    "no version": (400, b"GET /\r\nHost: h\r\n\r\n"),
    "HTTP/2": (400, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "HTTP/1.11": (400, b"GET / HTTP/1.11\r\nHost: h\r\n\r\n"),
    "target with controls": (400, b"GET /\x00 HTTP/1.1\r\nHost: h\r\n\r\n"),
    "target with fragment": (400, b"GET /#x HTTP/1.1\r\nHost: h\r\n\r\n"),
    "target is no path": (400, b"GET x HTTP/1.1\r\nHost: h\r\n\r\n"),
    "tunnel": (501, b"CONNECT a:443 HTTP/1.1\r\nHost: h\r\n\r\n"),
    "chunk size with sign": (400, POST + b"Transfer-Encoding: chunked\r\n\r\n+3\r\nabc\r\n0\r\n\r\n"),
    "chunk size with prefix": (400, POST + b"Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n"),
    "chunk size with space": (400, POST + b"Transfer-Encoding: chunked\r\n\r\n3 \r\nabc\r\n0\r\n\r\n"),
    "no chunk size": (400, POST + b"Transfer-Encoding: chunked\r\n\r\n\r\nabc\r\n0\r\n\r\n"),
    "chunk too long": (400, POST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n"),
    "bare LF in chunks": (400, POST + b"Transfer-Encoding: chunked\r\n\r\n3\nabc\n0\n\n"),
    "bare LF in extension": (400, POST + b"Transfer-Encoding: chunked\r\n\r\n3;a\nb\r\nabc\r\n0\r\n\r\n"),
    "folded trailer": (400, POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: a\r\n b\r\n\r\n"),
    "long chunk line": (
        400,
        POST + b"Transfer-Encoding: chunked\r\n\r\n3;" + b"a" * 300 + b"\r\nabc\r\n0\r\n\r\n",
    ),
}


@pytest.mark.parametrize("case", SMUGGLING)
def test_what_two_readers_could_read_differently_is_refused(case: str) -> None:
    """No second request can hide in the first, and nothing is guessed."""
    status, data = SMUGGLING[case]
    with pytest.raises(RefusedError) as raised:
        read(data)
    assert raised.value.status == status


def test_bounds_of_a_head() -> None:
    """A head of the greatest size is read; one byte or one header more is refused, however it comes."""
    fixed = b"GET / HTTP/1.1\r\nHost: h\r\nX: "
    fill = b"a" * (MAX_HEAD - len(fixed))
    assert read(fixed + fill + b"\r\n\r\n")
    for data in (fixed + fill + b"a\r\n\r\n", fixed + fill * 2):
        with pytest.raises(RefusedError) as raised:
            read(data)
        assert raised.value.status == 431
    most = b"GET / HTTP/1.1\r\nHost: h\r\n" + b"X: y\r\n" * (MAX_HEADERS - 1)
    assert read(most + b"\r\n")
    with pytest.raises(RefusedError) as raised:
        read(most + b"X: y\r\n\r\n")
    assert raised.value.status == 431
