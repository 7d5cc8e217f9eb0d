"""One HTTP/1.1 response: where its body ends, and what is no response at all."""

from __future__ import annotations

import gc

import pytest

from routecanary.adapters.gateway.http1 import (
    MAX_BARE,
    MAX_HEADERS,
    MAX_INTERIM,
    ResponseReader,
)

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


def read(*reads: bytes, closed: bool = False) -> tuple[ResponseReader, bytes]:
    reader = ResponseReader()
    body = b"".join(reader.feed(data) for data in reads)
    if closed:
        reader.finish()
    return reader, body


@pytest.mark.parametrize(
    ("response", "body", "reusable"),
    [
        (OK + b"Content-Length: 4\r\n\r\nrain", b"rain", True),
        (OK + b"Content-Length: 0\r\n\r\n", b"", True),
        (OK + b"Content-Length: 4\r\nConnection: keep-alive, Close\r\n\r\nrain", b"rain", False),
        (OK + b"Upgrade: h2c\r\nConnection: upgrade\r\nContent-Length: 4\r\n\r\nrain", b"rain", True),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nrain", b"rain", False),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 4\r\n\r\nrain", b"rain", True),
        (b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nrain\r\n0\r\n\r\n", b"rain", False),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b"", True),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", b"", True),
        (b"HTTP/1.1 200\r\ncontent-length:4\r\n\r\nrain", b"rain", True),
        (CHUNKED + b"4\r\nrain\r\n0\r\n\r\n", b"rain", True),
        (CHUNKED + b"2\r\nra\r\n2;x=y\r\nin\r\n000\r\nX-Trailer: 1\r\n\r\n", b"rain", True),
        (CHUNKED + b'4;a="b;c"\r\nrain\r\n0\r\nX-Trailer:\r\n\r\n', b"rain", True),
        (CHUNKED + b"4 \r\nrain\r\n0\r\n\r\n", b"rain", True),
        (CHUNKED + b"a\r\n\r\n\r\n\r\n\r\n\r\n\r\n0\r\n\r\n", b"\r\n" * 5, True),
        (OK + b"Transfer-Encoding: gzip, Chunked\r\n\r\n4\r\nrain\r\n0\r\n\r\n", b"rain", True),
        (
            OK + b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nrain\r\n0\r\n\r\n",
            b"rain",
            True,
        ),
        (
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: </x>\r\n\r\n" + CHUNKED + b"0\r\n\r\n",
            b"",
            True,
        ),
        (b"HTTP/1.1 200 OK\nContent-Length: 4\n\nrain", b"rain", True),
        (b"\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nrain\r\n", b"rain", True),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 10_000])
def test_a_whole_response_is_read_in_pieces_of_any_size(
    response: bytes, body: bytes, reusable: bool, size: int
) -> None:
    """Its end is known without the end of the connection."""
    reader, got = read(*(response[at : at + size] for at in range(0, len(response), size)))
    assert (got, reader.complete, reader.problem) == (body, True, None)
    assert reader.reusable is reusable
    assert reader.status is not None


def test_headers_keep_their_order_and_lose_their_case() -> None:
    """Names in lower case, values without the white space around them, bytes over 127 as they are."""
    reader, _ = read(OK + b"X-B:  two words \t\r\nX-a: caf\xc3\xa9\r\nx-B:\r\n\r\n")
    assert reader.headers == (("x-b", "two words"), ("x-a", "cafÃ©"), ("x-b", ""))


def test_the_type_of_a_read_does_not_matter() -> None:
    """Whatever buffer a transport hands over; what comes out is bytes of its own."""
    buffer = bytearray(OK + b"Content-Length: 8\r\n\r\nrain")
    reader = ResponseReader()
    bodies = [reader.feed(memoryview(buffer)), reader.feed(bytearray(b"rain"))]
    buffer[-4:] = b"snow"
    assert bodies == [b"rain", b"rain"]
    assert [type(body) for body in bodies] == [bytes, bytes]
    assert reader.complete


@pytest.mark.parametrize(
    "head",
    [
        OK + b"\r\n",
        OK + b"Connection: keep-alive\r\n\r\n",
        OK + b"Transfer-Encoding: gzip\r\n\r\n",
        OK + b"Transfer-Encoding: Chunked, gzip\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: x-chunked\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\nContent-Length: 4\r\n\r\nHTTP/1.1 500 Oh\r\n\r\n",
    ],
)
def test_without_a_length_the_body_lasts_until_the_connection_ends(head: bytes) -> None:
    """Then it is whole, and nothing more can come."""
    reader, body = read(head, b"ra", b"in", closed=True)
    assert (body, reader.complete, reader.reusable) == (b"rain", True, False)


@pytest.mark.parametrize(
    ("response", "problem"),
    [
        (b"", "closed before an answer"),
        (b"HTTP/1.1 200 OK\r\nContent-", "closed before an answer"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", "closed before an answer"),
        (OK + b"Content-Length: 9\r\n\r\nrain", "cut before the body was complete"),
        (CHUNKED + b"9\r\nrain", "cut before the body was complete"),
        (CHUNKED + b"4\r\nrain\r\n", "cut before the body was complete"),
        (CHUNKED + b"4\r\nrain\r\n0\r\n", "cut before the body was complete"),
        (CHUNKED + b"f" * 16 + b"\r\nrain", "cut before the body was complete"),
        (OK + b"Content-Length: 1844674407370955161\r\n\r\nrain", "cut before the body was complete"),
    ],
)
def test_a_connection_that_ends_too_early_cuts_the_response(response: bytes, problem: str) -> None:
    """What had come stays."""
    reader, body = read(response, closed=True)
    assert (reader.problem, reader.complete, reader.reusable) == (problem, False, False)
    assert body in (b"", b"rain")


@pytest.mark.parametrize(
    "response",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 99 Low\r\n\r\n",
        b"HTTP/1.1 099 Low\r\n\r\n",
        b"HTTP/1.1 2000 High\r\n\r\n",
        b"HTTP/1.1  200 OK\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nrain",
        b"HTTP/1.0 100 Continue\r\n\r\n" + OK + b"\r\n",
        OK + b"No colon\r\n\r\n",
        OK + b"Bad name: 1\r\n\r\n",
        OK + b"X : 1\r\n\r\n",
        OK + b"X: a\x00b\r\n\r\n",
        OK + b"X: a\rb\r\n\r\n",
        OK + b"X: 1\r\n folded\r\n\r\n",
        OK + b": 1\r\n\r\n",
        OK + b"X: a\x1bb\r\n\r\n",
        OK + b"X\xe9: 1\r\n\r\n",
        OK + b"Content-Length: 4\r\nContent-Length: 4\r\n\r\nrain",
        OK + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nrain",
        OK + b"Content-Length: 4, 4\r\n\r\nrain",
        OK + b"Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nrain\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n4\r\nrain\r\n0\r\n\r\n",
        OK + b"Content-Length: -4\r\n\r\n",
        OK + b"Content-Length: +4\r\n\r\n",
        OK + b"Content-Length: 4_0\r\n\r\n",
        OK + b"Content-Length: \r\n\r\n",
        OK + b"Content-Length: " + b"9" * 40 + b"\r\n\r\n",
        CHUNKED + b"zz\r\n",
        CHUNKED + b"0x4\r\nrain\r\n",
        CHUNKED + b"-4\r\nrain\r\n",
        CHUNKED + b"\r\n",
        CHUNKED + b"4\r\nrainy\r\n",
        CHUNKED + b"4\nrain\n0\n\n",
        CHUNKED + b"4;x=\x01\r\nrain\r\n",
        CHUNKED + b"f" * 17 + b"\r\n",
        CHUNKED + b"1;" + b"x" * MAX_BARE + b"\r\n",
        CHUNKED + b"1" * (MAX_BARE + 1),
        CHUNKED + b"0\r\n" + b"X: 1\r\n" * (MAX_HEADERS + 1) + b"\r\n",
        CHUNKED + b"0\r\nContent-Length: 9\r\n\r\n",
        CHUNKED + b"0\r\nX: " + b"x" * MAX_BARE,
        OK + b"X: " + b" " * MAX_BARE + b"x\r\n\r\n",
        b"HTTP/1.1 200 " + b"O" * MAX_BARE,
        OK + b"X: " + b"x" * MAX_BARE,
        OK + b"X: 1\r\n" * (MAX_HEADERS + 1) + b"\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" * (MAX_INTERIM + 1),
    ],
    ids=lambda response: repr(response[:40]),
)
@pytest.mark.parametrize("size", [1, 100_000_000])
def test_what_is_not_http_is_refused_and_bounded(response: bytes, size: int) -> None:
    """Nothing that decides where a body ends is guessed."""
    reader, body = read(*(response[at : at + size] for at in range(0, len(response), size)))
    assert reader.problem is not None
    assert reader.problem.startswith("not HTTP")
    assert (reader.complete, reader.reusable) == (False, False)
    assert body in (b"", b"rain")
    assert reader.feed(b"more") == b""


@pytest.mark.parametrize(
    "response",
    [
        OK + b"Content-Length: 4\r\n\r\nrain",
        CHUNKED + b"4\r\nrain\r\n0\r\n\r\n",
        OK + b"Content-Length: 0\r\n\r\n",
    ],
)
def test_more_than_the_response_spoils_the_connection(response: bytes) -> None:
    """Bytes that nobody asked for must not become the next answer."""
    for reads in ([response + b"HTTP/1.1"], [response, b"x"]):
        reader, body = read(*reads)
        assert reader.complete
        assert not reader.reusable
        assert body in (b"rain", b"")


def test_what_came_before_broken_framing_is_kept() -> None:
    """Also when both come in one read."""
    reader, body = read(CHUNKED + b"4\r\nrain\r\nzz\r\n")
    assert body == b"rain"
    assert reader.problem == "not HTTP: Invalid character in chunk size"


def test_many_small_chunks_are_no_flood() -> None:
    """Only what brings nothing of the body for long is too much."""
    reader, body = read(CHUNKED + b"1\r\nx\r\n" * MAX_BARE, b"1\r\nx\r\n" * MAX_BARE, b"0\r\n\r\n")
    assert (len(body), reader.complete, reader.problem) == (2 * MAX_BARE, True, None)


def test_a_closed_reader_is_no_garbage() -> None:
    """The collector looks seldom while streams are open; by then there would be thousands."""
    gc.collect()
    gc.disable()
    try:
        reader, body = read(OK + b"Content-Length: 4\r\n\r\nrain")
        reader.close()
        del reader
        assert gc.collect() == 0
    finally:
        gc.enable()
    assert body == b"rain"


def test_a_mistake_of_ours_while_parsing_is_raised() -> None:
    """The parser wraps it; it must not pass for a peer that speaks no HTTP."""

    class Broken(ResponseReader):
        def on_headers_complete(self) -> None:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Broken().feed(OK + b"\r\n")
