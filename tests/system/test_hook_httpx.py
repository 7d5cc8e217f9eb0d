"""httpx and httpx2 clients against the lab: who serves them, what they read, what is told."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import httpx2
import pytest

import routecanary.hooks.httpx
import routecanary.hooks.httpx2
from routecanary.hooks import scope
from tests.hooked import AUTHORIZATION, LANGUAGE, MODEL, PROMPT, SPOILED, Application, an_application, holds

LIBRARIES = [
    pytest.param((httpx, routecanary.hooks.httpx), id="httpx"),
    pytest.param((httpx2, routecanary.hooks.httpx2), id="httpx2"),
]
Pair = tuple[ModuleType, ModuleType]


@pytest.fixture
def application(tmp_path: Path) -> Iterator[Application]:
    with an_application(tmp_path) as running:
        yield running


def a_client(pair: Pair, app: Application) -> Any:
    library, hook = pair
    transport = hook.CanaryTransport(
        library.HTTPTransport(), app.canary, sender=app.sender, gateway=app.base_url
    )
    return library.Client(transport=transport, headers=AUTHORIZATION)


def an_async_client(pair: Pair, app: Application) -> Any:
    library, hook = pair
    inner = library.AsyncHTTPTransport()
    transport = hook.AsyncCanaryTransport(inner, app.canary, sender=app.sender, gateway=app.base_url)
    return library.AsyncClient(transport=transport, headers=AUTHORIZATION)


def text_of(frames: str) -> str:
    """Join the deltas of a stream."""
    lines = [line[6:] for line in frames.split("\n\n") if line.startswith("data: {")]
    choices = [choice for line in lines for choice in json.loads(line)["choices"]]
    return "".join(choice["delta"].get("content") or "" for choice in choices)


@pytest.mark.parametrize("pair", LIBRARIES)
def test_a_request_is_served_by_another_route(pair: Pair, application: Application) -> None:
    """Its own preferences stay, its answer is what the lab sent, and the record agrees with the ledger."""
    body = application.body()
    with a_client(pair, application) as client:
        answer = client.post(application.chat_url, json=body)
    (served,) = application.served
    assert served.route != SPOILED
    assert served.body == {**body, "provider": {"sort": "price", "ignore": [SPOILED]}}
    assert body == application.body()
    assert answer.json()["id"] == served.id
    assert json.loads(answer.request.content) == body
    (record,) = application.told()
    holds(record, served)
    assert "ttft_ms" not in record


@pytest.mark.parametrize("pair", LIBRARIES)
@pytest.mark.parametrize("how", ["iter_bytes", "iter_lines", "iter_text", "iter_raw"])
def test_a_stream_is_read_as_ever(pair: Pair, how: str, application: Application) -> None:
    """Whatever the way of reading, what comes is what came, and the record has the first text's time."""
    with (
        a_client(pair, application) as client,
        client.stream("POST", application.chat_url, json=application.body(stream=True)) as answer,
    ):
        pieces = list(getattr(answer, how)())
    whole = "\n".join(pieces) if how == "iter_lines" else type(pieces[0])().join(pieces)
    text = text_of(whole if isinstance(whole, str) else whole.decode())
    assert len(text) > 20
    (served,) = application.served
    assert served.route != SPOILED
    (record,) = application.told()
    holds(record, served)
    assert record["ttft_ms"] >= 0


@pytest.mark.parametrize("pair", LIBRARIES)
def test_async_clients_do_the_same(pair: Pair, application: Application) -> None:
    """Many tasks at once, streaming and not; each record is that of its own answer."""

    async def ask(client: Any, stream: bool) -> str:
        body = application.body(stream=stream)
        async with client.stream("POST", application.chat_url, json=body) as answer:
            return b"".join([piece async for piece in answer.aiter_bytes()]).decode()

    async def all_of_them() -> list[str]:
        async with an_async_client(pair, application) as client:
            return await asyncio.gather(*(ask(client, number % 2 == 0) for number in range(8)))

    answers = asyncio.run(all_of_them())
    served = {each.id: each for each in application.served}
    assert len(served) == 8
    for record in application.told(8):
        each = served.pop(record["id"])
        holds(record, each)
        assert ("ttft_ms" in record) == each.streamed
        assert any(each.id in answer for answer in answers)
    assert served == {}
    assert SPOILED not in application.lab.ledger.by_route


@pytest.mark.parametrize("pair", LIBRARIES)
def test_scope_says_what_a_call_needs(pair: Pair, tmp_path: Path) -> None:
    """A route that fails in Thai alone is left to whoever writes English, and the record says the locale."""
    with (
        an_application(tmp_path, contracts=(LANGUAGE,), locales=("th",)) as application,
        a_client(pair, application) as client,
    ):
        with scope(locale="en", conversation="c0ffee"):
            client.post(application.chat_url, json=application.body())
            with scope(locale="th"):
                client.post(application.chat_url, json=application.body())
        client.post(application.chat_url, json=application.body())
        english, thai, unsaid = application.served
        assert (english.route, thai.route == SPOILED, unsaid.route == SPOILED) == (SPOILED, False, False)
        first, second, third = application.told(3)
    holds(first, english, ignore=[], locale="en", conversation="c0ffee")
    holds(second, thai, locale="th", conversation="c0ffee")
    assert {"locale", "conversation"}.isdisjoint(third)


@pytest.mark.parametrize("pair", LIBRARIES)
def test_nothing_but_chat_requests_to_the_gateway_is_touched(pair: Pair, application: Application) -> None:
    """Another path, another method, another gateway: bytes and counters stay, and nobody is told."""
    library, hook = pair
    seen: list[tuple[str, bytes]] = []

    def answer(request: Any) -> Any:
        seen.append((request.headers["content-length"], request.content))
        return library.Response(200, json={})

    transport = hook.CanaryTransport(
        library.MockTransport(answer),
        application.canary,
        sender=application.sender,
        gateway="http://gw/api/v1",
    )
    content = json.dumps(application.body()).encode()
    with library.Client(transport=transport, headers={"Content-Type": "application/json"}) as client:
        client.post("http://gw/api/v1/embeddings", content=content)
        client.put("http://gw/api/v1/chat/completions", content=content)
        client.post("http://gw/api/v1evil/chat/completions", content=content)
        client.post("http://gw/chat/completions", content=content)
        client.post("https://gw/api/v1/chat/completions", content=content)
        client.post("http://gw.evil/api/v1/chat/completions", content=content)
    assert seen == [(str(len(content)), content)] * 6
    assert application.sender.flush()
    assert application.receiver.records == []
    assert not any(application.canary.status()["counters"].values())


def parts(content: bytes) -> Iterator[bytes]:
    yield from (content[:5], content[5:])


@pytest.mark.parametrize("pair", LIBRARIES)
@pytest.mark.parametrize(
    ("content", "headers"),
    [
        (parts, {}),
        (gzip.compress, {"Content-Encoding": "gzip"}),
        (bytes, {"Content-MD5": "x"}),
        (bytes, {"Authorization": "AWS4-HMAC-SHA256 Credential=x"}),
        (bytes, {"Content-Type": "text/plain"}),
        (lambda content: content[:-1], {}),
        (lambda content: b"[" + content + b"]", {}),
        (lambda content: b" " * 9_000_000 + content, {}),
    ],
)
def test_a_body_that_cannot_be_read_or_is_sealed_goes_as_it_is(
    pair: Pair, content: Any, headers: dict[str, str], application: Application
) -> None:
    """An upload, a packed or signed body, no JSON: the same bytes arrive, counted and told as unchanged."""
    library, hook = pair
    seen: list[bytes] = []

    def answer(request: Any) -> Any:
        seen.append(request.read())
        return library.Response(200, json={"id": "gen-1", "model": MODEL, "provider": "Acme"})

    transport = hook.CanaryTransport(
        library.MockTransport(answer), application.canary, sender=application.sender, gateway="http://gw"
    )
    sent = content(json.dumps(application.body()).encode())
    whole = sent if isinstance(sent, bytes) else b"".join(content(json.dumps(application.body()).encode()))
    given = {"Content-Type": "application/json", **headers}
    with library.Client(transport=transport) as client:
        answered = client.post("http://gw/chat/completions", content=sent, headers=given)
    assert answered.json()["id"] == "gen-1"
    assert seen == [whole]
    assert application.canary.status()["counters"]["unread_body"] == 1
    (record,) = application.told()
    assert (record["unchanged"], record["id"]) == ("unread_body", "gen-1")
    assert "ignore" not in record


@pytest.mark.parametrize("pair", LIBRARIES)
def test_the_callers_own_bytes_stay(pair: Pair, application: Application) -> None:
    """A request without preferences gets them in front; all other bytes are as they were."""
    library, hook = pair
    seen: list[bytes] = []

    def answer(request: Any) -> Any:
        seen.append(request.content)
        return library.Response(200, json={})

    transport = hook.CanaryTransport(library.MockTransport(answer), application.canary, gateway="http://gw")
    content = ' \n{ "messages":[ "\\u00e9é" ],"model" : "MODEL", "temperature":1.10 }'.replace("MODEL", MODEL)
    with library.Client(transport=transport) as client:
        client.post("http://gw/chat/completions", content=content.encode())
    ignore = json.dumps([SPOILED])
    expected = content.replace("{", '{"provider":{"ignore":' + ignore + "},", 1)
    assert seen == [expected.encode()]


@pytest.mark.parametrize("pair", LIBRARIES)
def test_redirects_and_auth_flows_go_on(pair: Pair, application: Application) -> None:
    """A challenge and a redirect are answered with the application's own request, edited each time."""
    library, hook = pair
    seen: list[tuple[str, Any]] = []

    def answer(request: Any) -> Any:
        seen.append((request.url.path, json.loads(request.content)["provider"]))
        if "authorization" not in request.headers:
            challenge = 'Digest realm="x", nonce="n", qop="auth", algorithm=MD5'
            return library.Response(401, headers={"WWW-Authenticate": challenge})
        if request.url.path.startswith("/old"):
            return library.Response(307, headers={"Location": "http://gw/new/chat/completions"})
        return library.Response(200, json={"id": "gen-1", "provider": "Acme"})

    transport = hook.CanaryTransport(
        library.MockTransport(answer), application.canary, sender=application.sender, gateway="http://gw/old"
    )
    with library.Client(
        transport=transport, auth=library.DigestAuth("u", "p"), follow_redirects=True
    ) as client:
        last = client.post("http://gw/old/chat/completions", json=application.body())
    assert last.json()["id"] == "gen-1"
    merged = {"sort": "price", "ignore": [SPOILED]}
    assert seen == [
        ("/old/chat/completions", merged),
        ("/old/chat/completions", merged),
        ("/new/chat/completions", {"sort": "price"}),  # no address of the gateway
    ]
    assert [record["status"] for record in application.told(2)] == [401, 307]


@pytest.mark.parametrize("pair", LIBRARIES)
def test_a_packed_answer_is_read_beside_the_application(pair: Pair, application: Application) -> None:
    """The application decodes what it asked for; the record is read from the same bytes."""
    library, hook = pair
    frame = {
        "id": "gen-1",
        "provider": "Acme",
        "choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}],
    }
    body = b"data: " + json.dumps(frame).encode() + b"\n\n"

    class Body(library.SyncByteStream):  # type: ignore[name-defined,misc]
        def __iter__(self) -> Iterator[bytes]:
            packed = gzip.compress(body)
            yield from (packed[:7], packed[7:])

    def answer(_: Any) -> Any:
        return library.Response(200, headers={"Content-Encoding": "gzip"}, stream=Body())

    transport = hook.CanaryTransport(
        library.MockTransport(answer), application.canary, sender=application.sender, gateway="http://gw"
    )
    with library.Client(transport=transport) as client:
        assert client.post("http://gw/chat/completions", json=application.body()).content == body
    (record,) = application.told()
    assert (record["id"], record["provider"], record["finish_reason"]) == ("gen-1", "Acme", "stop")
    assert "ttft_ms" in record


@pytest.mark.parametrize("pair", LIBRARIES)
def test_an_application_that_goes_away_or_is_refused_is_told_of_too(
    pair: Pair, application: Application
) -> None:
    """A stream left half read has no finish reason, an error has its status, a dead gateway has none."""
    library, hook = pair
    with a_client(pair, application) as client:
        with client.stream("POST", application.chat_url, json=application.body(stream=True)) as answer:
            next(iter(answer.iter_raw()))
        nobody = application.body(provider={"only": ["nobody"]})
        assert client.post(application.chat_url, json=nobody).status_code == 404
    dead = hook.CanaryTransport(
        library.HTTPTransport(), application.canary, sender=application.sender, gateway="http://127.0.0.1:9"
    )
    with library.Client(transport=dead) as client, pytest.raises(library.ConnectError):
        client.post("http://127.0.0.1:9/chat/completions", json=application.body())
    left, refused, unanswered = application.told(3)
    assert (left["status"], left.get("finish_reason")) == (200, None)
    assert refused["status"] == 404
    assert "status" not in unanswered
    assert left["ignore"] == unanswered["ignore"] == [SPOILED]
    assert (refused["ignore"], refused["unchanged"]) == ([], "merge_would_empty")


@pytest.mark.parametrize("pair", LIBRARIES)
def test_with_canary_keeps_what_a_client_was_made_with(pair: Pair, application: Application) -> None:
    """Headers and hooks of the given client are used, and that client itself carries no list."""
    library, hook = pair
    seen: list[Any] = []
    given = library.Client(
        base_url=application.base_url,
        headers={"X-Team": "eggs", **AUTHORIZATION},
        event_hooks={"request": [seen.append]},
    )
    with hook.with_canary(given, application.canary, gateway=application.base_url) as client:
        assert client.post("/chat/completions", json=application.body()).status_code == 200
        assert given.post("/chat/completions", json=application.body()).status_code == 200
    assert [request.headers["x-team"] for request in seen] == ["eggs", "eggs"]
    assert [served.route == SPOILED for served in application.served] == [False, True]
    assert given.is_closed


@pytest.mark.parametrize("pair", LIBRARIES)
def test_with_canary_takes_async_clients(pair: Pair, application: Application) -> None:
    """The same for tasks."""
    library, hook = pair

    async def ask() -> Any:
        given = library.AsyncClient(base_url=application.base_url, headers=AUTHORIZATION)
        async with hook.with_canary(
            given, application.canary, sender=application.sender, gateway=application.base_url
        ) as client:
            return await client.post("/chat/completions", json=application.body())

    assert asyncio.run(ask()).status_code == 200
    (record,) = application.told()
    holds(record, application.served[0])


def test_no_word_of_prompt_or_answer_is_told(application: Application) -> None:
    """What is sent are names, times and counts; the token goes in a header alone."""
    pair: Pair = (httpx2, routecanary.hooks.httpx2)
    with a_client(pair, application) as client, scope(conversation="c0ffee", locale="en"):
        with client.stream("POST", application.chat_url, json=application.body(stream=True)) as answer:
            streamed = text_of("".join(answer.iter_text()))
        whole = client.post(application.chat_url, json=application.body())
    said = whole.json()["choices"][0]["message"]["content"]
    application.told(2)
    sent = b"".join(application.receiver.bodies).decode()
    words = {word for text in (PROMPT, streamed, said) for word in text.split() if len(word) > 5}
    assert len(words) > 10
    assert [word for word in words if word in sent] == []
    assert "rc_" not in sent
    assert {key for record in application.receiver.records for key in record} <= {
        *(
            "id",
            "key",
            "model",
            "provider",
            "started_at",
            "ttft_ms",
            "duration_ms",
            "status",
            "finish_reason",
        ),
        *("empty", "prompt_tokens", "completion_tokens", "conversation", "locale", "ignore", "unchanged"),
        "list_written_at",
    }


def test_both_libraries_are_hooked_by_the_same_words() -> None:
    """httpx2 continues httpx: what is mended in one file is mended in the other."""
    one, other = (
        Path(module.__file__ or "").read_text("utf-8").split('"""', 2)[2]
        for module in (routecanary.hooks.httpx, routecanary.hooks.httpx2)
    )
    assert one.replace("httpx", "httpx2") == other
