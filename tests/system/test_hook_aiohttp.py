"""aiohttp sessions against the lab: who serves them, what they read, what is told."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from routecanary.hooks import scope
from routecanary.hooks.aiohttp import CanaryMiddleware
from tests.hooked import AUTHORIZATION, MODEL, SPOILED, Application, an_application, holds
from tests.system.wire import CHUNKED, Line, chunk, serving


@pytest.fixture
def application(tmp_path: Path) -> Iterator[Application]:
    with an_application(tmp_path) as running:
        yield running


def a_session(app: Application, gateway: str | None = None, **more: Any) -> aiohttp.ClientSession:
    middleware = CanaryMiddleware(app.canary, sender=app.sender, gateway=gateway or app.base_url)
    return aiohttp.ClientSession(middlewares=(middleware,), headers=AUTHORIZATION, **more)


def test_a_request_is_served_by_another_route(application: Application) -> None:
    """Its own preferences stay, its answer is what the lab sent, and the record agrees with the ledger."""
    body = application.body()

    async def ask() -> dict[str, Any]:
        async with (
            a_session(application) as session,
            session.post(application.chat_url, json=body) as answer,
        ):
            return await answer.json()  # type: ignore[no-any-return]

    answer = asyncio.run(ask())
    (served,) = application.served
    assert served.route != SPOILED
    assert served.body == {**body, "provider": {"sort": "price", "ignore": [SPOILED]}}
    assert body == application.body()
    assert answer["id"] == served.id
    (record,) = application.told()
    holds(record, served)
    assert "ttft_ms" not in record


async def by_any(content: aiohttp.StreamReader) -> bytes:
    return b"".join([piece async for piece in content.iter_any()])


async def by_chunked(content: aiohttp.StreamReader) -> bytes:
    return b"".join([piece async for piece in content.iter_chunked(7)])


async def by_chunks(content: aiohttp.StreamReader) -> bytes:
    return b"".join([piece async for piece, _ in content.iter_chunks()])


async def by_lines(content: aiohttp.StreamReader) -> bytes:
    return b"".join([line async for line in content])


async def by_until(content: aiohttp.StreamReader) -> bytes:
    pieces = []
    while piece := await content.readuntil(b"\n\n"):
        pieces.append(piece)
    return b"".join(pieces)


async def by_read(content: aiohttp.StreamReader) -> bytes:
    return await content.readexactly(3) + await content.read()


@pytest.mark.parametrize("read", [by_any, by_chunked, by_chunks, by_lines, by_until, by_read])
def test_a_stream_is_read_as_ever(
    read: Callable[[aiohttp.StreamReader], Awaitable[bytes]], application: Application
) -> None:
    """Whatever the way of reading, what comes is what came, and the record has the first text's time."""

    async def ask() -> bytes:
        async with (
            a_session(application) as session,
            session.post(application.chat_url, json=application.body(stream=True)) as answer,
        ):
            assert isinstance(answer.content, aiohttp.StreamReader)
            return await read(answer.content)

    whole = asyncio.run(ask())
    (served,) = application.served
    assert served.id.encode() in whole
    assert whole.endswith(b"data: [DONE]\n\n")
    (record,) = application.told()
    holds(record, served)
    assert record["ttft_ms"] >= 0


def test_tasks_have_scopes_of_their_own(application: Application) -> None:
    """What one task says of its conversation is not told of another."""

    async def ask(session: aiohttp.ClientSession, number: int) -> str:
        with scope(conversation=f"talk-{number}", locale="en"):
            await asyncio.sleep(0)
            async with session.post(application.chat_url, json=application.body()) as answer:
                return str((await answer.json())["id"])

    async def all_of_them() -> list[str]:
        async with a_session(application) as session:
            return await asyncio.gather(*(ask(session, number) for number in range(6)))

    ids = asyncio.run(all_of_them())
    told = {record["id"]: record["conversation"] for record in application.told(6)}
    assert told == {generation: f"talk-{number}" for number, generation in enumerate(ids)}


async def an_upload(content: bytes) -> AsyncIterator[bytes]:
    yield content


@pytest.mark.parametrize("how", ["upload", "compressed", "other"])
def test_what_cannot_be_read_or_is_none_of_ours_goes_as_it_is(how: str, application: Application) -> None:
    """An upload and a packed body are counted; another address is not even that."""
    content = json.dumps(application.body()).encode()

    async def answered(line: Line) -> None:
        await line.say(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")
        line.close()

    async def ask() -> list[bytes]:
        async with serving(answered) as wire:
            address = f"http://127.0.0.1:{wire.port}"
            gateway = "http://gw" if how == "other" else address
            async with a_session(application, gateway) as session:
                headers = {"Content-Type": "application/json"}
                more: dict[str, Any] = {"compress": "deflate"} if how == "compressed" else {}
                if how == "upload":
                    headers["Content-Length"] = str(len(content))
                data = an_upload(content) if how == "upload" else content
                url = f"{address}/chat/completions"
                async with session.post(url, data=data, headers=headers, **more) as answer:
                    assert await answer.read() == b"{}"
            return [request.body for request in wire.requests]

    (sent,) = asyncio.run(ask())
    if how != "compressed":
        assert sent == content
    counters = application.canary.status()["counters"]
    assert counters["unread_body"] == (0 if how == "other" else 1)
    assert all(record["unchanged"] == "unread_body" for record in application.told(int(how != "other")))


def test_a_redirect_goes_on_with_the_edited_body(application: Application) -> None:
    """The length is right on each hop, and the list stands in it once."""
    seen: list[tuple[str, Any]] = []

    async def answered(line: Line) -> None:
        if len(seen) == 0:
            seen.append(("", None))
            await line.say(b"HTTP/1.1 307 Moved\r\nLocation: /chat/completions\r\nContent-Length: 0\r\n\r\n")
        else:
            await line.say(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    async def ask() -> list[bytes]:
        async with serving(answered) as wire:
            address = f"http://127.0.0.1:{wire.port}"
            async with a_session(application, address) as session:
                url = f"{address}/chat/completions?x=1"
                async with session.post(url, json=application.body()) as answer:
                    assert await answer.read() == b"{}"
            return [request.body for request in wire.requests]

    bodies = asyncio.run(ask())
    expected = {**application.body(), "provider": {"sort": "price", "ignore": [SPOILED]}}
    assert [json.loads(body) for body in bodies] == [expected, expected]


def test_a_stream_that_is_left_or_breaks_is_told_of(application: Application) -> None:
    """The application reads one frame and goes, or the host does; both have a status and no finish reason."""
    names = {"id": "gen-1", "model": MODEL, "provider": "Acme"}
    frame = b"data: " + json.dumps({**names, "choices": [{"delta": {"content": "x"}}]}).encode() + b"\n\n"

    async def breaks(line: Line) -> None:
        await line.say(CHUNKED + chunk(frame))
        line.close()

    async def ask() -> None:
        async with (
            a_session(application) as session,
            session.post(application.chat_url, json=application.body(stream=True)) as answer,
        ):
            assert await answer.content.readany()
        async with (
            serving(breaks) as wire,
            a_session(application, f"http://127.0.0.1:{wire.port}") as session,
        ):
            url = f"http://127.0.0.1:{wire.port}/chat/completions"
            async with session.post(url, json=application.body(stream=True)) as answer:
                assert await answer.content.readany() == frame
                with pytest.raises(aiohttp.ClientPayloadError):
                    await answer.read()

    asyncio.run(ask())
    gc.collect()
    left, broken = application.told(2)
    for record in (left, broken):
        assert record["status"] == 200
        assert "finish_reason" not in record
        assert record["model"] == MODEL
    assert (broken["id"], broken["provider"]) == ("gen-1", "Acme")


def test_nobody_is_told_where_nobody_asked(application: Application) -> None:
    """Without a sender the answer is not even looked at."""

    async def ask() -> type:
        middleware = CanaryMiddleware(application.canary, gateway=application.base_url)
        async with (
            aiohttp.ClientSession(middlewares=(middleware,), headers=AUTHORIZATION) as session,
            session.post(application.chat_url, json=application.body()) as answer,
        ):
            await answer.read()
            return type(answer.content)

    assert asyncio.run(ask()) is aiohttp.StreamReader
    assert application.served[0].route != SPOILED
