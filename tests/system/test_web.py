"""The listener with real sockets: order, bounds, slow and vanished clients, a closing server."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from routecanary.web.http import Handler, Limits, Request, Response, Server, json_response, listen

GET = b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n"


def run(
    handler: Handler,
    client: Callable[[Server], Awaitable[None]],
    limits: Limits | None = None,
) -> None:
    async def main() -> None:
        server = await listen(handler, "127.0.0.1", 0, limits=limits)
        try:
            await client(server)
        finally:
            await server.close(0)

    asyncio.run(main())


async def said(server: Server, data: bytes) -> bytes:
    """Send bytes and read until the server closes."""
    reader, writer = await asyncio.open_connection(*server.address)
    writer.write(data)
    answer = await reader.read()
    writer.close()
    return answer


def echo(request: Request) -> Response:
    return json_response({"path": request.path, "query": request.query, "size": len(request.body)})


def bodies(answers: bytes) -> list[dict[str, object]]:
    found = []
    while answers:
        head, _, rest = answers.partition(b"\r\n\r\n")
        (length,) = (
            int(line[16:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length: ")
        )
        found.append(json.loads(rest[:length]))
        answers = rest[length:]
    return found


def test_pipelined_requests_are_answered_in_order() -> None:
    """A slow first answer holds the second back, though the second would be quicker."""

    async def later(request: Request) -> Response:
        if request.path == "/slow":
            for _ in range(20):
                await asyncio.sleep(0)
        return echo(request)

    async def client(server: Server) -> None:
        answers = await said(
            server,
            b"GET /slow HTTP/1.1\r\nHost: h\r\n\r\n"
            b"POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody"
            b"GET /c?d HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        )
        assert [(body["path"], body["size"]) for body in bodies(answers)] == [
            ("/slow", 0),
            ("/b", 4),
            ("/c", 0),
        ]

    run(later, client)


def test_head_is_answered_without_a_body() -> None:
    """The headers are those of GET, the body stays away, and the next answer is not mistaken for it."""

    async def client(server: Server) -> None:
        answer = await said(
            server,
            b"HEAD / HTTP/1.1\r\nHost: h\r\n\r\nHEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        )
        assert answer.count(b"HTTP/1.1 200 OK") == 2
        assert b"content-length: " in answer
        assert b"{" not in answer

    run(echo, client)


@pytest.mark.parametrize(
    "length",
    [
        b"Content-Length: 11\r\n\r\n01234567890",
        b"Transfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n0\r\n\r\n",
    ],
)
def test_too_large_a_body_is_refused(length: bytes) -> None:
    """The client learns why before the connection ends, whether it said the length or not."""

    async def client(server: Server) -> None:
        answer = await said(server, b"POST / HTTP/1.1\r\nHost: h\r\n" + length)
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == 413

    run(echo, client, Limits(body=10))


def test_a_client_that_waits_for_leave_gets_it() -> None:
    """`Expect: 100-continue` is answered before the body, and not when the body would be refused."""

    async def client(server: Server) -> None:
        reader, writer = await asyncio.open_connection(*server.address)
        head = b"POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n"
        writer.write(head % 3)
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"abc")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        await reader.readuntil(b"}")
        writer.write(head % 1000)
        assert (await reader.read()).startswith(b"HTTP/1.1 413 ")
        writer.close()

    run(echo, client, Limits(body=100))


def test_a_handler_that_fails_is_our_mistake(caplog: pytest.LogCaptureFixture) -> None:
    """500 without a word of the exception, one line in the log, and the connection lives on."""

    def broken(request: Request) -> Response:
        if request.path == "/x":
            raise ValueError("a secret")
        return echo(request)

    async def client(server: Server) -> None:
        answers = await said(server, GET + b"GET /y HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        assert answers.startswith(b"HTTP/1.1 500 ")
        assert b"secret" not in answers
        assert bodies(answers)[1]["path"] == "/y"

    with caplog.at_level(logging.ERROR, logger="routecanary.web"):
        run(broken, client)
    (record,) = caplog.records
    assert "path=/x error=ValueError" in record.getMessage()
    assert "secret" not in record.getMessage()


def test_a_client_that_leaves_cancels_its_handler() -> None:
    """Nobody works for a client that is gone."""
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def endless(_: Request) -> Response:
        begun.set()
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        raise AssertionError("never")

    async def client(server: Server) -> None:
        _, writer = await asyncio.open_connection(*server.address)
        writer.write(GET)
        await begun.wait()
        writer.close()
        await cancelled.wait()

    run(endless, client)


def test_a_stream_waits_for_a_slow_reader() -> None:
    """What a reader does not take is not made: the iterator stands still until there is room."""
    made = 0

    async def pieces() -> AsyncIterator[bytes]:
        nonlocal made
        while made < 2000:
            made += 1
            yield b"x" * 65_536

    async def client(server: Server) -> None:
        reader, writer = await asyncio.open_connection(*server.address, limit=65_536)
        writer.write(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        before = -1
        while made != before:
            before = made
            await asyncio.sleep(0.1)
        assert made < 500  # the rest waits for the reader: what was made lies in the buffers of two sockets
        size = 0
        while data := await reader.read(1_048_576):
            size += len(data)
        assert size > 2000 * 65_536
        writer.close()

    run(lambda _: Response(200, pieces()), client)


def test_a_reader_that_never_reads_is_cut() -> None:
    """It holds its connection for the bound and no longer, and the iterator is closed."""
    closed = asyncio.Event()

    async def pieces() -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"x" * 65_536
        finally:
            closed.set()

    async def client(server: Server) -> None:
        _, writer = await asyncio.open_connection(*server.address, limit=1)
        writer.write(GET)
        await closed.wait()
        writer.close()

    run(lambda _: Response(200, pieces()), client, Limits(stall=0.1))


def test_a_client_that_dribbles_a_head_is_refused() -> None:
    """Bytes now and then do not prolong the time for a head."""

    async def client(server: Server) -> None:
        reader, writer = await asyncio.open_connection(*server.address)

        async def dribble() -> None:
            writer.write(b"GET / HTTP/1.1\r\nHost: h\r\n")
            while True:
                writer.write(b"X: y\r\n")
                await asyncio.sleep(0.05)

        dribbling = asyncio.create_task(dribble())
        assert (await reader.read()).startswith(b"HTTP/1.1 408 ")
        dribbling.cancel()
        writer.close()

    run(echo, client, Limits(head=0.2))


def test_an_idle_connection_is_closed() -> None:
    """A connection without a request ends without an answer."""

    async def client(server: Server) -> None:
        reader, writer = await asyncio.open_connection(*server.address)
        writer.write(GET)
        await reader.readuntil(b"}")
        assert await reader.read() == b""
        writer.close()

    run(echo, client, Limits(idle=0.1))


def test_one_connection_too_many_is_told_so() -> None:
    """The bound of connections is answered, not hung."""

    async def client(server: Server) -> None:
        reader, writer = await asyncio.open_connection(*server.address)
        writer.write(GET)
        await reader.readuntil(b"}")
        assert (await said(server, b"")).startswith(b"HTTP/1.1 503 ")
        writer.close()

    run(echo, client, Limits(connections=1))


def test_closing_lets_what_is_under_way_finish() -> None:
    """New connections are refused, idle ones end, the answer at hand comes whole and says it is the last."""
    go = asyncio.Event()

    async def slow(request: Request) -> Response:
        await go.wait()
        return echo(request)

    async def main() -> None:
        server = await listen(slow, "127.0.0.1", 0)
        address = server.address
        idle, idle_writer = await asyncio.open_connection(*address)
        reader, writer = await asyncio.open_connection(*address)
        writer.write(GET)
        await asyncio.sleep(0.05)
        closing = asyncio.create_task(server.close(30))
        assert await idle.read() == b""
        with pytest.raises(OSError):
            await asyncio.open_connection(*address)
        go.set()
        answer = await reader.read()
        assert b"connection: close" in answer
        assert bodies(answer)[0]["path"] == "/x"
        await closing
        for each in (writer, idle_writer):
            each.close()

    asyncio.run(main())


def test_closing_cuts_what_never_ends() -> None:
    """A handler that outlives the grace is cancelled."""
    cancelled = asyncio.Event()

    async def endless(_: Request) -> Response:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            cancelled.set()
        raise AssertionError("never")

    async def main() -> None:
        server = await listen(endless, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.address)
        writer.write(GET)
        await asyncio.sleep(0.05)
        await server.close(0.05)
        assert cancelled.is_set()
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
        writer.close()

    asyncio.run(main())


def test_a_header_with_a_line_break_is_not_sent() -> None:
    """A value that would end its header, and begin another answer, becomes an error of ours."""

    async def client(server: Server) -> None:
        answer = await said(server, b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 500 ")
        assert b"evil" not in answer

    run(lambda _: Response(200, b"", [("x-a", "b\r\nevil: yes")]), client)


def test_old_clients_get_a_stream_without_chunks() -> None:
    """HTTP/1.0 knows none: the end of the connection ends the body."""

    async def pieces() -> AsyncIterator[bytes]:
        yield b"one"
        yield b"two"

    async def client(server: Server) -> None:
        answer = await said(server, b"GET / HTTP/1.0\r\n\r\n")
        assert answer.endswith(b"\r\n\r\nonetwo")
        assert b"chunked" not in answer

    run(lambda _: Response(200, pieces()), client)
