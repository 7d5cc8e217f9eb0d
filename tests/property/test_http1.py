"""The response reader against arbitrary bytes, arbitrary cuts, and the HTTP library's own parser."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from aiohttp.client_proto import ResponseHandler
from hypothesis import given
from hypothesis import strategies as st

from routecanary.adapters.gateway.http1 import ResponseReader

NAMES = st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=12).map(lambda name: f"x-{name}")
VALUES = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=20)
FIELDS = st.lists(st.tuples(NAMES, VALUES), max_size=6)
PIECES = st.lists(st.binary(min_size=1, max_size=300), max_size=8)
STATUSES = st.sampled_from([200, 201, 400, 404, 429, 500, 503, 599])
NOISE = st.lists(
    st.sampled_from(
        [
            b"HTTP/1.1 200 OK",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"HTTP/1.1 200 OK\nContent-Length: 3\n\n",
            b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
            b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n",
            b"HTTP/1.0 204 No Content\r\n\r\n",
            b"3 ;x=y\r\nabc\r\n",
            b"0\r\nX-Trailer: 1\r\n\r\n",
            b"\r\n",
            b"\n",
            b"\r",
            b"Transfer-Encoding: chunked",
            b"Content-Length: 3",
            b"3",
            b"0",
            b"abc",
        ]
    )
    | st.binary(max_size=6),
    max_size=40,
).map(b"".join)


def head(status: int, fields: list[tuple[str, str]], framing: str) -> bytes:
    lines = [f"HTTP/1.1 {status} Some Reason", *(f"{name}: {value}" for name, value in fields), framing]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


@st.composite
def responses(draw: st.DrawFn) -> bytes:
    """Make a well-formed response, counted or chunked."""
    pieces = draw(PIECES)
    status, fields = draw(STATUSES), draw(FIELDS)
    if draw(st.booleans()):
        body = b"".join(pieces)
        return head(status, fields, f"Content-Length: {len(body)}") + body
    chunks = b"".join(f"{len(piece):x}\r\n".encode() + piece + b"\r\n" for piece in pieces)
    return head(status, fields, "Transfer-Encoding: chunked") + chunks + b"0\r\n\r\n"


def cut(data: bytes, cuts: list[int]) -> list[bytes]:
    borders = [0, *sorted({place % (len(data) + 1) for place in cuts}), len(data)]
    return [data[begin:end] for begin, end in pairwise(borders)]


class Nowhere(asyncio.Transport):
    """A transport that leads nowhere."""

    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...
    def close(self) -> None: ...


def by_the_library(response: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
    """Read a response with the HTTP library's parser."""

    async def go() -> tuple[int, list[tuple[str, str]], bytes]:
        handler = ResponseHandler(asyncio.get_running_loop())
        handler.connection_made(Nowhere())
        handler.set_response_params(read_until_eof=True, auto_decompress=False)
        handler.data_received(response)
        message, content = await handler.read()
        headers = [(name.decode().lower(), value.decode()) for name, value in message.raw_headers]
        return message.code, headers, await content.read()

    return asyncio.run(go())


@given(response=responses(), cuts=st.lists(st.integers(0, 3_000), max_size=20))
def test_it_reads_what_the_library_reads_however_it_is_cut(response: bytes, cuts: list[int]) -> None:
    """The same status, headers and body, complete with the last byte and not before."""
    reader = ResponseReader()
    body = b""
    for data in cut(response, cuts):
        assert not reader.complete or not data
        body += reader.feed(data)
    assert (reader.status, list(reader.headers), body) == by_the_library(response)
    assert reader.complete
    assert reader.reusable
    assert reader.problem is None


@given(noise=NOISE, cuts=st.lists(st.integers(0, 300), max_size=10))
def test_noise_is_never_an_exception_and_cuts_change_nothing(noise: bytes, cuts: list[int]) -> None:
    """Whatever comes, in whatever pieces, ends in the same state."""

    def outcome(reads: list[bytes]) -> tuple[object, ...]:
        reader = ResponseReader()
        body = b"".join(reader.feed(data) for data in reads)
        seen = (reader.status, reader.headers, body, reader.complete, reader.reusable, reader.problem)
        reader.finish()
        return (*seen, reader.complete, reader.problem)

    assert outcome(cut(noise, cuts)) == outcome([noise])
