"""The proxy as users have it: a process, real clients, the lab, the store, strangers."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sqlite3
import ssl
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import openai
import pytest

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.domain.generation import Generation, Source
from routecanary.domain.names import ModelId
from routecanary.domain.settings import Settings
from routecanary.domain.token import Role
from routecanary.errors import ConfigError, InputError
from tests.commandline import KEY, MODEL, SPOILED, a_config, a_lab, command, environment
from tests.serving import make_tokens, some_settings
from tests.upstreams import (
    CHAT,
    Peer,
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

TLS = Path(__file__).parent / "tls"
CONVERSATION = "5f1d-conversation"

STREAM = b"".join(
    b"%x\r\n%b\r\n" % (len(event), event)
    for event in (
        b": OPENROUTER PROCESSING\n\n",
        b'data: {"id":"gen-7","provider":"Beta","choices":[{"delta":{"reasoning":"hm"}}]}\n\n',
        b'data: {"id":"gen-7","choices":[{"delta":{"content":"a word of the answer"}}]}\n\n',
        b'data: {"id":"gen-7","choices":[{"delta":{"content":"!"},"finish_reason":"stop"}]}\n\n',
        b'data: {"id":"gen-7","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}\n\n',
        b"data: [DONE]\n\n",
    )
)
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n%b0\r\n\r\n"
    % STREAM
)


FAR = datetime(2100, 1, 1, tzinfo=UTC)


def generations(settings: Settings) -> list[Generation]:
    with SqliteStore(Path(settings.store_path)) as store:
        return [found for _, found in store.generations_after(0, received_before=FAR, limit=100)]


def test_an_application_with_the_openai_package_only_changes_its_address(tmp_path: Path) -> None:
    """Streams and documents come through; the excluded route serves nobody; errors are the gateway's own."""
    environ = environment(tmp_path)
    with a_lab(speed=60.0) as lab:
        config = a_config(tmp_path, lab.base_url, more='\n[proxy]\nlisten = "127.0.0.1:0"\n')
        exclude = command(
            "exclude", "add", MODEL, SPOILED, "--reason", "spoils", "--force", "--config", config
        )
        subprocess.run(exclude, env=environ, check=True, capture_output=True)
        with subprocess.Popen(
            command("proxy", "--config", config, "--json"),
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            base_url = json.loads(process.stdout.readline())["base_url"]
            client = openai.OpenAI(base_url=base_url, api_key=KEY, max_retries=0)
            messages: Any = [{"role": "user", "content": "How do I boil an egg?"}]
            for _ in range(10):
                with client.chat.completions.create(model=MODEL, messages=messages, stream=True) as stream:
                    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
            assert client.chat.completions.create(model=MODEL, messages=messages).choices[0].message.content
            assert [model.id for model in client.models.list()] == [MODEL]
            with pytest.raises(openai.AuthenticationError):
                client.with_options(api_key="wrong").chat.completions.create(model=MODEL, messages=messages)
            client.close()
            served = [entry.route for entry in lab.ledger]
            assert len(served) == 11
            assert SPOILED not in served
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=60) == 0
            assert KEY not in process.stderr.read()


def test_who_served_is_kept_without_a_word_of_what_was_said(tmp_path: Path) -> None:
    """One record for each chat request, with what it carried; nothing for any other."""
    publish(tmp_path, "beta", "gamma")
    settings = some_settings(tmp_path)
    SqliteStore(Path(settings.store_path)).close()

    async def script(peer: Peer) -> None:
        while True:
            heard = await peer.hear()
            await peer.say(
                ANSWER if b"/chat/" in heard.head else b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"
            )

    async def main() -> None:
        async with upstream_of(script) as upstream:
            base = f"http://127.0.0.1:{upstream.port}"
            async with passing(base, tmp_path, settings=settings) as address:
                body = b'{"model":"acme/chat","messages":[{"role":"user","content":"a word of the prompt"}]}'
                await said(
                    address,
                    a_request(
                        "POST",
                        CHAT,
                        body,
                        Authorization="Bearer sk-or-caller",
                        X_Routecanary_Conversation=CONVERSATION,
                        X_Routecanary_Locale="th",
                    ),
                )
                await said(address, a_request(path="/v1/models"))
                await said(address, a_request("POST", "/v1/responses", b"rubbish"))

    asyncio.run(main())
    (kept,) = generations(settings)
    assert (kept.key, kept.id, kept.source, kept.model) == (
        "gen-7",
        "gen-7",
        Source.PROXY,
        ModelId("acme/chat"),
    )
    assert (kept.provider, kept.candidates, kept.carried) == (
        "Beta",
        frozenset({"beta"}),
        frozenset({"beta"}),
    )
    assert (kept.status, kept.finish_reason, kept.empty) == (200, "stop", False)
    assert (kept.prompt_tokens, kept.completion_tokens) == (5, 7)
    assert (kept.conversation, kept.locale, kept.unchanged) == (CONVERSATION, "th", None)
    assert kept.list_written_at is not None
    assert kept.ttft_ms is not None
    assert kept.duration_ms is not None
    assert kept.ttft_ms <= kept.duration_ms
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    for secret in (b"a word of", b"sk-or-caller"):
        assert secret not in stored


def test_a_locked_store_holds_nobody_up(tmp_path: Path) -> None:
    """Requests flow while another process holds the store; the records are kept once it lets go."""
    publish(tmp_path, "beta")
    settings = some_settings(tmp_path)
    SqliteStore(Path(settings.store_path)).close()

    async def main() -> None:
        async with upstream_of(answering(ANSWER)) as upstream:
            base = f"http://127.0.0.1:{upstream.port}"
            async with passing(base, tmp_path, settings=settings) as address:
                with sqlite3.connect(settings.store_path, isolation_level=None) as other:
                    other.execute("BEGIN EXCLUSIVE")
                    for _ in range(5):
                        assert (await said(address, a_chat())).startswith(b"HTTP/1.1 200 OK")
                    assert (await health(address))["proxy"]["records"]["waiting"] == 5
                    other.execute("ROLLBACK")
                other.close()

    asyncio.run(main())
    assert [kept.key for kept in generations(settings)] == ["gen-7"]  # told five times, kept once


def test_without_a_store_records_are_dropped_and_requests_are_not(tmp_path: Path) -> None:
    """A store that was never made costs nobody an answer."""

    async def main() -> None:
        async with upstream_of(answering(ANSWER)) as upstream:
            base = f"http://127.0.0.1:{upstream.port}"
            async with passing(base, tmp_path, settings=some_settings(tmp_path)) as address:
                assert (await said(address, a_chat())).startswith(b"HTTP/1.1 200 OK")

    asyncio.run(main())
    assert not (tmp_path / "events.sqlite3").exists()


def test_beyond_this_machine_only_whoever_shows_a_token_passes(tmp_path: Path) -> None:
    """Strangers get 401 and reach nobody; the caller's own key is passed on, the token is not."""
    settings = some_settings(tmp_path, "127.0.0.1:0")
    tokens = make_tokens(settings)

    async def main() -> None:
        async with upstream_of(answering()) as upstream:
            base = f"http://127.0.0.1:{upstream.port}"
            async with passing(base, tmp_path, settings=settings, listen="0.0.0.0:0") as anywhere:
                address = type(anywhere)(host="127.0.0.1", port=anywhere.port)
                for headers in (
                    {},
                    {"Authorization": f"Bearer {tokens[Role.APP]}"},
                    {"X_Routecanary_Token": "rc_wrong"},
                ):
                    refused = await said(address, a_request(**headers))
                    assert refused.startswith(b"HTTP/1.1 401 ")
                    assert b"\r\nWWW-Authenticate: " in refused
                told = {"X_Routecanary_Token": tokens[Role.READ]}
                assert (await said(address, a_request(**told))).startswith(b"HTTP/1.1 403 ")
                assert upstream.connections == 0
                told = {"X_Routecanary_Token": tokens[Role.APP], "Authorization": "Bearer sk-or-caller"}
                assert (await said(address, a_request(**told))).startswith(b"HTTP/1.1 200 ")
                assert ("Authorization", "Bearer sk-or-caller") in upstream.heard[0].headers
                assert tokens[Role.APP].encode() not in upstream.heard[0].head

    asyncio.run(main())


@pytest.mark.parametrize("configured", [False, True])
def test_it_does_not_become_an_open_relay(tmp_path: Path, *, configured: bool) -> None:
    """Beyond this machine it does not start without a token, nor without a store that could hold one."""

    async def main() -> None:
        settings = some_settings(tmp_path) if configured else None
        async with passing("http://127.0.0.1:9", tmp_path, settings=settings, listen="0.0.0.0:0"):
            raise AssertionError("it listens")

    with pytest.raises(ConfigError if configured else InputError):
        asyncio.run(main())


def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    """The system's store decides; the request is not sent."""
    heard = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(100))
        writer.close()

    async def main() -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(TLS / "localhost.crt", TLS / "localhost.key")
        server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
        port = server.sockets[0].getsockname()[1]
        async with passing(f"https://localhost:{port}", tmp_path) as address:
            head, body = parts(await said(address, a_chat()))
            assert head.startswith(b"HTTP/1.1 502 ")
            assert json.loads(body)["error"]["metadata"]["reason"] == "tls"
        server.close()

    asyncio.run(main())
    assert not any(b"POST" in data for data in heard)


async def is_served(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionError:
        return False
    writer.close()
    return True


def test_the_end_waits_for_answers_under_way(tmp_path: Path) -> None:
    """After SIGTERM nobody new is let in, a stream comes to its end, and the process ends with 0."""
    go_on = asyncio.Event()

    async def script(peer: Peer) -> None:
        await peer.hear()
        await peer.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
        await go_on.wait()
        await peer.say(b"4\r\nlast\r\n0\r\n\r\n")

    async def main() -> None:
        async with upstream_of(script) as upstream:
            process = await asyncio.create_subprocess_exec(
                *command(
                    "proxy",
                    "--upstream",
                    f"http://127.0.0.1:{upstream.port}",
                    "--listen",
                    "127.0.0.1:0",
                    "--json",
                ),
                env=environment(tmp_path),
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=tmp_path,
            )
            assert process.stdout is not None
            assert process.stderr is not None
            told = json.loads(await process.stdout.readline())
            port = int(re.findall(r":(\d+)/v1$", told["base_url"])[0])
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(a_chat(stream=True, last=False))
            await reader.readuntil(b"first")
            process.terminate()
            await process.stderr.readuntil(b"stopping")
            while await is_served(port):  # noqa: ASYNC110 - another process tells of no event
                await asyncio.sleep(0.02)
            go_on.set()
            assert (await reader.read()).endswith(b"0\r\n\r\n")
            writer.close()
            assert await asyncio.wait_for(process.wait(), 60) == 0

    asyncio.run(main())


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (("--upstream", "http://gateway.example"), "--upstream"),
        (("--listen", "nowhere"), "--listen"),
        (("--listen", "0.0.0.0:0"), "--listen"),
        (("--config", "/nowhere/routecanary.toml"), "/nowhere/routecanary.toml"),
    ],
)
def test_bad_words_end_it_with_2(tmp_path: Path, arguments: tuple[str, ...], key: str) -> None:
    """And name what is wrong."""
    finished = subprocess.run(
        command("proxy", *arguments),
        env=environment(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert finished.returncode == 2
    assert key in finished.stderr
