"""The proxy before upstreams that are slow, rude or broken: what goes through is what was said."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from routecanary.domain.address import Address
from tests.upstreams import (
    CHAT,
    OK,
    Peer,
    Script,
    Upstream,
    a_chat,
    a_request,
    answering,
    health,
    parts,
    passing,
    publish,
    said,
    upstream_of,
)

Client = Callable[[Address, Upstream], Awaitable[None]]


def through(script: Script, folder: Path, client: Client, **options: Any) -> None:
    """Run a client against a proxy before a scripted upstream."""

    async def main() -> None:
        async with upstream_of(script) as upstream:
            base = f"http://127.0.0.1:{upstream.port}/api/v1"
            async with passing(base, folder, **options) as address:
                await client(address, upstream)

    asyncio.run(main())


def test_the_request_goes_on_and_only_what_is_of_one_hop_stays(tmp_path: Path) -> None:
    """Path below the base, headers in order and case; Host is the upstream's, our own headers stay."""

    async def client(address: Address, upstream: Upstream) -> None:
        await said(
            address,
            a_request(
                "GET",
                "/v1/generation?id=gen-1&x=%20",
                last=False,
                Authorization="Bearer sk-or-caller",
                X_Title="A Title",
                Connection="close, X-Hop",
                X_Hop="1",
                Keep_Alive="timeout=5",
                TE="trailers",
                Upgrade="h2c",
                X_Routecanary_Token="rc_secret",
                X_Routecanary_Locale="th",
                Accept_Encoding="gzip",
            ),
        )
        (heard,) = upstream.heard
        assert heard.line == "GET /api/v1/generation?id=gen-1&x=%20 HTTP/1.1"
        assert heard.headers == [
            ("Host", f"127.0.0.1:{upstream.port}"),
            ("Authorization", "Bearer sk-or-caller"),
            ("X-Title", "A Title"),
            ("Accept-Encoding", "gzip"),
        ]

    through(answering(), tmp_path, client)


HEADS = {
    "ok": b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Generation-Id: gen-1\r\nX-Odd: \xe9\r\n",
    "error": b"HTTP/1.1 429 Slow Down Please\r\nRetry-After: 3\r\nX-RateLimit-Reset: 17\r\n",
    "unknown": b"HTTP/1.1 529 \r\nX: y\r\n",
}


@pytest.mark.parametrize("name", HEADS)
@pytest.mark.parametrize("cut", [False, True])
def test_an_answer_comes_back_as_it_was(tmp_path: Path, name: str, *, cut: bool) -> None:
    """Status, reason, headers and body, counted or in chunks, whole or each byte by itself."""
    body = b"data: {}\n\n: comment\n\n\xff\x00" * 3
    framings = {
        "counted": b"Content-Length: %d\r\n\r\n%b" % (len(body), body),
        "chunked": b"Transfer-Encoding: chunked\r\n\r\n5;x=y\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n"
        % (body[:5], len(body) - 5, body[5:]),
    }

    async def script(peer: Peer) -> None:
        for framing in framings.values():
            await peer.hear()
            await peer.say(
                HEADS[name] + b"Connection: keep-alive, X-Gone\r\nX-Gone: 1\r\n" + framing, cut=cut
            )
        await peer.until_closed()

    async def client(address: Address, upstream: Upstream) -> None:
        for framing in framings:
            head, came = parts(await said(address, a_request()))
            lines = HEADS[name].removesuffix(b"\r\n").split(b"\r\n")
            lines.append(
                b"Content-Length: %d" % len(body) if framing == "counted" else b"Transfer-Encoding: chunked"
            )
            assert head.split(b"\r\n") == [*lines, b"Connection: close"]
            assert unchunked(came) == body if framing == "chunked" else came == body
        assert upstream.connections == 1

    through(script, tmp_path, client)


def unchunked(data: bytes) -> bytes:
    """Take a whole chunked body out of its frames."""
    body = b""
    while True:
        size, _, data = data.partition(b"\r\n")
        if not int(size, 16):
            return body
        body += data[: int(size, 16)]
        data = data[int(size, 16) + 2 :]


def test_every_chunk_is_passed_on_as_soon_as_it_is_there(tmp_path: Path) -> None:
    """The upstream says the next piece only when the client has the one before."""
    has_it = asyncio.Event()

    async def script(peer: Peer) -> None:
        await peer.hear()
        await peer.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for number in range(5):
            await peer.say(b"6\r\npiece%d\r\n" % number)
            await has_it.wait()
            has_it.clear()
        await peer.say(b"0\r\n\r\n")

    async def client(address: Address, upstream: Upstream) -> None:
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(a_chat(stream=True))
        for number in range(5):
            await reader.readuntil(b"piece%d" % number)
            has_it.set()
        assert (await reader.read()).endswith(b"0\r\n\r\n")
        writer.close()

    through(script, tmp_path, client)


def test_answers_without_a_body_are_no_riddle(tmp_path: Path) -> None:
    """HEAD, 204 and 304 end with their head, whatever length they tell of; the next answer is not eaten."""

    async def script(peer: Peer) -> None:
        answers = {
            "HEAD": b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
            "DELETE": b"HTTP/1.1 204 No Content\r\n\r\n",
            "GET": b"HTTP/1.1 304 Not Modified\r\nETag: x\r\nContent-Length: 77\r\n\r\n",
            "OPTIONS": OK,
        }
        while True:
            heard = await peer.hear()
            await peer.say(answers[heard.line.split()[0]])

    async def client(address: Address, upstream: Upstream) -> None:
        answer = await said(
            address,
            b"".join(
                a_request(method, last=method == "OPTIONS") for method in ("HEAD", "DELETE", "GET", "OPTIONS")
            ),
        )
        assert answer == (
            b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
            b"HTTP/1.1 204 No Content\r\n\r\n"
            b"HTTP/1.1 304 Not Modified\r\nETag: x\r\nContent-Length: 77\r\n\r\n"
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
            b"Connection: close\r\n\r\n{}"
        )

    through(script, tmp_path, client)


def test_hints_go_through_and_leave_does_not(tmp_path: Path) -> None:
    """103 is the client's to read; 100 answers the proxy, which gave the client leave itself."""

    async def script(peer: Peer) -> None:
        while True:
            await peer.hear()
            await peer.say(
                b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + OK
            )

    async def client(address: Address, upstream: Upstream) -> None:
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(a_request("POST", CHAT, b"", Expect="100-continue").replace(b"Length: 0", b"Length: 2"))
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"{}")
        answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\n")
        assert "expect" not in {name.lower() for name, _ in upstream.heard[0].headers}
        writer.close()

    through(script, tmp_path, client)


def test_trailers_go_through(tmp_path: Path) -> None:
    """What stands behind the last chunk reaches the client."""
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = head + b"2\r\n{}\r\n0\r\nX-Checksum: abc\r\nX-More: d\r\n\r\n"

    async def client(address: Address, upstream: Upstream) -> None:
        for _ in range(2):
            came = await said(address, a_request())
            assert came.endswith(b"2\r\n{}\r\n0\r\nX-Checksum: abc\r\nX-More: d\r\n\r\n")

    through(answering(answer), tmp_path, client)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: %b\r\n" % (n, b"a" * 2000) for n in range(200)),
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 400 + b"\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\n\r\n" * 40,
        b"<html>not HTTP at all</html>",
        b"\x16\x03\x01\x02\x00",
    ],
)
def test_what_is_no_answer_becomes_an_error_of_ours(tmp_path: Path, answer: bytes) -> None:
    """502 in the gateway's envelope, marked as ours, whatever rubbish came; nobody is kept waiting."""

    async def script(peer: Peer) -> None:
        await peer.hear()
        await peer.say(answer)
        await peer.until_closed()

    async def client(address: Address, upstream: Upstream) -> None:
        answer = await said(address, a_request())
        head, body = parts(answer[answer.rindex(b"HTTP/1.1 502") :])
        assert b"x-routecanary-error: bad_answer" in head
        error = json.loads(body)["error"]
        assert error["code"] == 502
        assert error["metadata"]["source"] == "routecanary-proxy"

    through(script, tmp_path, client)


def test_a_cut_answer_is_seen_as_cut(tmp_path: Path) -> None:
    """Everything that came arrives, and then the end of the connection: nothing is made whole."""
    cuts = [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n7\r\nwor",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello",
    ]

    async def script(peer: Peer) -> None:
        await peer.hear()
        await peer.say(cuts[peer.number - 1])

    async def client(address: Address, upstream: Upstream) -> None:
        came = await said(address, a_chat(last=False))
        assert came.endswith((b"5\r\nhello\r\n3\r\nwor\r\n", b"8\r\nhellowor\r\n"))
        assert (await said(address, a_chat(last=False))).endswith(b"Content-Length: 50\r\n\r\nhello")
        assert (await health(address))["proxy"]["counters"]["cut"] == 2

    through(script, tmp_path, client)


def test_the_end_of_the_connection_may_be_the_end_of_the_answer(tmp_path: Path) -> None:
    """An answer without a length goes on in the same way."""

    async def script(peer: Peer) -> None:
        await peer.hear()
        await peer.say(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nall ")
        await peer.say(b"of it")

    async def client(address: Address, upstream: Upstream) -> None:
        answer = await said(address, a_request(last=False))
        assert answer == b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nall of it"

    through(script, tmp_path, client)


def closes_kept_connections(*, by_reset: bool = False) -> Script:
    """Script: the first connection takes one more request than it answers, and ends or breaks."""

    async def script(peer: Peer) -> None:
        for _ in range(1 if peer.number == 1 else 100):
            await peer.hear()
            await peer.say(OK)
        await peer.hear()
        if by_reset:
            link = peer.writer.get_extra_info("socket")
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return script


@pytest.mark.parametrize("by_reset", [False, True])
def test_a_get_is_sent_again_when_a_kept_connection_ends(tmp_path: Path, *, by_reset: bool) -> None:
    """Once, on a fresh connection: asking twice changes nothing."""

    async def client(address: Address, upstream: Upstream) -> None:
        for _ in range(2):
            assert parts(await said(address, a_request()))[1] == b"{}"
        assert (len(upstream.heard), upstream.connections) == (3, 2)

    through(closes_kept_connections(by_reset=by_reset), tmp_path, client)


@pytest.mark.parametrize("by_reset", [False, True])
def test_a_chat_request_is_never_sent_twice(tmp_path: Path, *, by_reset: bool) -> None:
    """It may have been served and billed: the client learns that no answer came."""

    async def client(address: Address, upstream: Upstream) -> None:
        assert parts(await said(address, a_chat()))[1] == b"{}"
        head, body = parts(await said(address, a_chat()))
        assert head.startswith(b"HTTP/1.1 502 ")
        assert json.loads(body)["error"]["metadata"]["reason"] == "closed"
        assert (len(upstream.heard), upstream.connections) == (2, 1)
        assert parts(await said(address, a_chat()))[1] == b"{}"

    through(closes_kept_connections(by_reset=by_reset), tmp_path, client)


def test_a_connection_that_has_ended_is_not_used(tmp_path: Path) -> None:
    """An upstream that closes between two requests costs no request, of any method."""
    closed = asyncio.Event()

    async def script(peer: Peer) -> None:
        await peer.hear()
        await peer.say(OK)
        peer.writer.close()
        closed.set()

    async def client(address: Address, upstream: Upstream) -> None:
        for _ in range(3):
            assert parts(await said(address, a_chat()))[1] == b"{}"
            await closed.wait()
            closed.clear()
        assert upstream.connections == 3

    through(script, tmp_path, client)


def test_bytes_that_nobody_asked_for_are_nobodys_answer(tmp_path: Path) -> None:
    """What an upstream says behind an answer, at once or later, is not passed to the next client."""

    async def script(peer: Peer) -> None:
        await peer.hear()
        await peer.say(OK + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
        await peer.until_closed()

    async def client(address: Address, upstream: Upstream) -> None:
        for _ in range(2):
            assert (await said(address, a_request())).endswith(b"\r\n\r\n{}")
        assert upstream.connections == 2

    through(script, tmp_path, client)


def test_a_client_that_leaves_ends_the_work_upstream(tmp_path: Path) -> None:
    """The connection to the gateway ends at once, before an answer and within one."""
    ended = asyncio.Queue[int]()

    async def script(peer: Peer) -> None:
        await peer.hear()
        if peer.number == 2:
            await peer.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        await peer.until_closed()
        ended.put_nowait(peer.number)

    async def client(address: Address, upstream: Upstream) -> None:
        for number in (1, 2):
            reader, writer = await asyncio.open_connection(address.host, address.port)
            writer.write(a_chat(stream=True))
            if number == 2:
                await reader.readuntil(b"hello")
            while len(upstream.heard) < number:  # noqa: ASYNC110 - the script tells nobody
                await asyncio.sleep(0.005)
            writer.close()
            assert await ended.get() == number

    through(script, tmp_path, client)


def test_a_slow_client_holds_an_endless_stream(tmp_path: Path) -> None:
    """What the upstream could say without anybody reading lies in a few buffers, and no more comes."""
    size = 0
    piece = b"10000\r\n" + b"x" * 65_536 + b"\r\n"

    async def script(peer: Peer) -> None:
        nonlocal size
        await peer.hear()
        await peer.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            await peer.say(piece)
            size += len(piece)

    async def client(address: Address, upstream: Upstream) -> None:
        with socket.socket() as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
            slow.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(slow, (address.host, address.port))
            await loop.sock_sendall(slow, a_chat(stream=True))
            before = -1
            while size != before or not size:
                before = size
                await asyncio.sleep(0.2)
            assert size < 32 * 1_048_576
            held = size
            got = 0
            while got < held + 1_048_576:  # and once it reads, everything comes
                got += len(await loop.sock_recv(slow, 1_048_576))

    through(script, tmp_path, client)


def test_a_slow_upstream_holds_an_endless_upload(tmp_path: Path) -> None:
    """What a client could send without the gateway reading lies in a few buffers, whatever its length."""
    go_on = asyncio.Event()

    async def script(peer: Peer) -> None:
        await peer.reader.readuntil(b"\r\n\r\n")
        await go_on.wait()
        got = 0
        while got < 64 * 1_048_576:
            got += len(await peer.reader.read(1_048_576))
        await peer.say(OK)

    async def client(address: Address, upstream: Upstream) -> None:
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(
            a_request("POST", "/v1/files").replace(b"\r\n\r\n", b"\r\nContent-Length: 67108864\r\n\r\n")
        )
        sent = 0

        async def upload() -> None:
            nonlocal sent
            while sent < 64 * 1_048_576:
                writer.write(b"x" * 65_536)
                sent += 65_536
                await writer.drain()

        uploading = asyncio.create_task(upload())
        before = -1
        while sent != before or not sent:
            before = sent
            await asyncio.sleep(0.2)
        assert sent < 32 * 1_048_576
        go_on.set()
        await uploading
        assert (await reader.read()).endswith(b"{}")
        writer.close()

    through(script, tmp_path, client)


def test_an_answer_before_the_end_of_the_upload_is_passed_on(tmp_path: Path) -> None:
    """A gateway that refuses a body before it has read it is heard, and its connection is not used again."""
    refusal = b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno\n"

    async def script(peer: Peer) -> None:
        await peer.reader.readuntil(b"\r\n\r\n")
        await peer.say(refusal)
        await peer.until_closed()

    async def client(address: Address, upstream: Upstream) -> None:
        for _ in range(2):
            data = a_request("POST", "/v1/files").replace(
                b"\r\n\r\n", b"\r\nContent-Length: 9000000\r\n\r\nbegin"
            )
            reader, writer = await asyncio.open_connection(address.host, address.port)
            writer.write(data)
            assert b"413 Too Large" in await reader.read()
            writer.close()
        assert upstream.connections == 2

    through(script, tmp_path, client)


def test_the_list_is_merged_into_chat_requests_only(tmp_path: Path) -> None:
    """The body is the caller's, byte for byte, with the list behind it; other paths are left alone."""
    publish(tmp_path, "beta")
    body = b'{ "model":"acme/chat", "messages":[{"role":"user","content":"\xc3\xa9\\u00e9 provider"}] }\n'

    async def client(address: Address, upstream: Upstream) -> None:
        chats = (CHAT, CHAT + "/", "/v1/responses", "/v1/messages")
        for path in (*chats, "/v1/embeddings", "/v1/completions", CHAT + "/x"):
            await said(address, a_request("POST", path, body))
        edited = body.replace(b"] }", b'],"provider":{"ignore":["beta"]} }')
        assert [heard.body for heard in upstream.heard] == [edited] * 4 + [body] * 3

    through(answering(), tmp_path, client)


def test_a_request_says_what_it_needs_in_our_own_headers(tmp_path: Path) -> None:
    """A suspension that does not touch the request is left out; what cannot be read means the whole list."""
    publish(tmp_path, "beta")

    async def client(address: Address, upstream: Upstream) -> None:
        body = b'{"model":"acme/chat","provider":{"order":["x"]}}'
        for headers in ({}, {"X_Routecanary_Needs": "latency, structured"}, {"X_Routecanary_Needs": "magic"}):
            await said(address, a_request("POST", CHAT, body, **headers))
        assert [heard.json["provider"] for heard in upstream.heard] == [
            {"order": ["x"], "ignore": ["beta"]}
        ] * 3
        assert (await health(address))["proxy"]["list"]["bad_scope"] == 1

    through(answering(), tmp_path, client)


UNREADABLE = {
    "bad_body": b'{"model":"acme/chat"',
    "no object": b'["acme/chat"]',
    "byte order mark": b'\xef\xbb\xbf{"model":"acme/chat"}',
    "trailing": b'{"model":"acme/chat"}{}',
    "invalid UTF-8": b'{"model":"acme/chat","x":"\xff"}',
    "a key twice": b'{"model":"acme/chat","model":"acme/chat"}',
    "a key with escapes": b'{"m\\u006fdel":"acme/chat"}',
    "deep": b'{"model":"acme/chat","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "NaN": b'{"model":"acme/chat","x":NaN}',
    "empty": b"",
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_edited_safely_goes_out_as_it_came(tmp_path: Path, name: str) -> None:
    """Byte for byte, and the counter says so."""
    publish(tmp_path, "beta")

    async def client(address: Address, upstream: Upstream) -> None:
        await said(address, a_chat(raw=UNREADABLE[name]))
        assert upstream.heard[0].body == UNREADABLE[name]
        assert (await health(address))["proxy"]["list"]["unread_body"] == 1

    through(answering(), tmp_path, client)


def test_bodies_that_are_long_or_encoded_go_out_as_they_came(tmp_path: Path) -> None:
    """Beyond `max_edit_bytes` in a known length or in chunks, and with a content coding."""
    publish(tmp_path, "beta")
    long = b'{"model":"acme/chat","x":"' + b"y" * 5000 + b'"}'
    pieces = b"".join(
        b"%x\r\n%b\r\n" % (len(long[at : at + 300]), long[at : at + 300]) for at in range(0, len(long), 300)
    )

    async def client(address: Address, upstream: Upstream) -> None:
        await said(address, a_chat(raw=long))
        chunked = a_request("POST", CHAT, Transfer_Encoding="chunked") + pieces + b"0\r\n\r\n"
        await said(address, chunked)
        await said(address, a_request("POST", CHAT, b'{"model":"acme/chat"}', Content_Encoding="gzip"))
        assert [heard.body for heard in upstream.heard] == [long, long, b'{"model":"acme/chat"}']
        told = (await health(address))["proxy"]
        assert (told["counters"]["too_large"], told["counters"]["encoded"]) == (2, 1)
        assert told["list"]["unread_body"] == 3

    through(answering(), tmp_path, client, max_edit_bytes=1024)


def test_a_short_chunked_body_is_edited_and_gets_a_length(tmp_path: Path) -> None:
    """A client that sends chunks is served as any other."""
    publish(tmp_path, "beta")

    async def client(address: Address, upstream: Upstream) -> None:
        body = b'{"model":"acme/chat"}'
        await said(
            address,
            a_request("POST", CHAT, Transfer_Encoding="chunked")
            + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body),
        )
        assert upstream.heard[0].json["provider"] == {"ignore": ["beta"]}

    through(answering(), tmp_path, client)


@pytest.mark.parametrize(
    "snapshot", [None, b"", b"rubbish", b'{"format":"routecanary-snapshot","version":99}']
)
def test_without_a_list_requests_flow_unchanged(tmp_path: Path, snapshot: bytes | None) -> None:
    """No snapshot, an empty one, rubbish, a later version: nobody is refused for it."""
    if snapshot is not None:
        (tmp_path / "snapshot.json").write_bytes(snapshot)

    async def client(address: Address, upstream: Upstream) -> None:
        answer = await said(address, a_chat())
        assert answer.startswith(b"HTTP/1.1 200 OK")
        assert upstream.heard[0].json == {"model": "acme/chat", "messages": []}
        assert (await health(address))["proxy"]["list"]["no_snapshot"] == 1

    through(answering(), tmp_path, client)


def test_the_last_good_list_outlives_its_file(tmp_path: Path) -> None:
    """A snapshot that is spoiled or gone leaves the list in force that was read before."""
    path = publish(tmp_path, "beta")

    async def client(address: Address, upstream: Upstream) -> None:
        for spoil in (lambda: None, lambda: path.write_bytes(b"{"), path.unlink):
            spoil()
            await asyncio.sleep(0.5)
            await said(address, a_chat())
            assert upstream.heard[-1].json["provider"] == {"ignore": ["beta"]}

    through(answering(), tmp_path, client)


def test_nobody_there_is_told_in_the_gateways_words(tmp_path: Path) -> None:
    """A refused connection and a name that does not resolve: 502, with a mark of our own and the reason."""

    async def main() -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
            async with passing(f"http://127.0.0.1:{port}", tmp_path) as address:
                head, body = parts(await said(address, a_chat()))
                assert b"x-routecanary-error: connect" in head
                assert json.loads(body)["error"]["metadata"]["reason"] == "connect"
        async with passing("https://gateway.invalid", tmp_path) as address:
            head, _ = parts(await said(address, a_chat()))
            assert head.startswith(b"HTTP/1.1 502 ")

    asyncio.run(main())


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n",
        a_request(Upgrade="websocket", last=False, Connection="Upgrade"),
    ],
)
def test_tunnels_are_refused(tmp_path: Path, request_bytes: bytes) -> None:
    """No tunnel, and nothing is contacted."""

    async def client(address: Address, upstream: Upstream) -> None:
        assert (await said(address, request_bytes)).startswith(b"HTTP/1.1 501 ")
        assert upstream.connections == 0

    through(answering(), tmp_path, client)


def test_only_the_upstream_is_ever_asked(tmp_path: Path) -> None:
    """An address of somebody else in the request line or the Host header changes nothing of where it goes."""

    async def client(address: Address, upstream: Upstream) -> None:
        await said(
            address,
            b"GET http://evil.example/v1/models HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
        )
        assert upstream.heard[0].line == "GET /api/v1/models HTTP/1.1"
        assert upstream.heard[0].headers[0] == ("Host", f"127.0.0.1:{upstream.port}")
        for path in ("/", "/api/v1/status", "/v2/models", "/v1"):
            assert (await said(address, a_request(path=path))).startswith(b"HTTP/1.1 404 ")
        assert (await said(address, a_request("POST", "/v1/telemetry", b"{}"))).startswith(b"HTTP/1.1 404 ")
        assert len(upstream.heard) == 1

    through(answering(), tmp_path, client)


def test_pipelined_requests_come_back_in_order(tmp_path: Path) -> None:
    """Each answer belongs to its request."""

    async def script(peer: Peer) -> None:
        while True:
            heard = await peer.hear()
            body = heard.line.split()[1].encode()
            await peer.say(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    async def client(address: Address, upstream: Upstream) -> None:
        numbers = range(50)
        answer = await said(
            address, b"".join(a_request(path=f"/v1/models/{n}", last=n == 49) for n in numbers)
        )
        places = [answer.index(b"/api/v1/models/%d" % n) for n in numbers]
        assert places == sorted(places)

    through(script, tmp_path, client)


def test_clients_that_leave_leave_nothing_behind(tmp_path: Path) -> None:
    """Three hundred leave at moments drawn at random: every line is idle or gone, and all is served on."""
    chance = Random(7)

    async def script(peer: Peer) -> None:
        while True:
            await peer.hear()
            await asyncio.sleep(chance.random() * 0.01)
            await peer.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in range(chance.randrange(4)):
                await peer.say(b"5\r\nhello\r\n")
                await asyncio.sleep(chance.random() * 0.005)
            await peer.say(b"0\r\n\r\n")

    async def leave(address: Address) -> None:
        reader, writer = await asyncio.open_connection(address.host, address.port)
        data = (
            a_chat(stream=True) if chance.random() < 0.7 else a_request("POST", "/v1/files", b"x" * 200_000)
        )
        writer.write(data[: chance.randrange(len(data)) if chance.random() < 0.3 else None])
        with contextlib.suppress(TimeoutError, ConnectionError):
            await asyncio.wait_for(reader.read(), chance.random() * 0.03)
        if chance.random() < 0.5:
            writer.transport.abort()
        writer.close()

    async def client(address: Address, upstream: Upstream) -> None:
        for _ in range(30):
            await asyncio.gather(*(leave(address) for _ in range(10)))
        while True:
            told = (await health(address))["proxy"]["connections"]
            if told["open"] == told["idle"]:
                break
            await asyncio.sleep(0.05)
        assert (await said(address, a_chat())).startswith(b"HTTP/1.1 200 OK")

    through(script, tmp_path, client)
