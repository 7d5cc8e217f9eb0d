"""OpenAI and OpenRouter clients, and what is built on them, against the lab."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from openai import AsyncOpenAI, NotFoundError, OpenAI
from openrouter import OpenRouter
from pydantic import BaseModel

import routecanary.hooks.httpx
import routecanary.hooks.httpx2
import routecanary.hooks.openrouter
from routecanary.hooks import scope
from routecanary.hooks.openai import with_canary
from tests.hooked import KEY, LANGUAGE, MODEL, PROMPT, SPOILED, Application, an_application, holds

MESSAGES: Any = [{"role": "user", "content": PROMPT}]
CHEAPEST: Any = {"provider": {"sort": "price"}}


@pytest.fixture
def application(tmp_path: Path) -> Iterator[Application]:
    with an_application(tmp_path) as running:
        yield running


@pytest.fixture
def client(application: Application) -> Iterator[OpenAI]:
    given = OpenAI(base_url=application.base_url, api_key=KEY, max_retries=0)
    with with_canary(given, application.canary, sender=application.sender) as hooked:
        yield hooked


def checked(application: Application, **more: Any) -> dict[str, Any]:
    """Check who served the one request, and what was told of it."""
    (served,) = application.served
    assert served.route != SPOILED
    assert served.body["provider"] == {"sort": "price", "ignore": [SPOILED]}
    (record,) = application.told()
    holds(record, served, **more)
    return record


def test_an_answer_comes_from_another_route(application: Application, client: OpenAI) -> None:
    """Who calls sees nothing but the answer."""
    answer = client.chat.completions.create(model=MODEL, messages=MESSAGES, extra_body=CHEAPEST)
    assert answer.id == application.served[0].id
    checked(application)


def test_a_stream_comes_from_another_route(application: Application, client: OpenAI) -> None:
    """Its frames are what the lab sent; the first text is timed."""
    with client.chat.completions.create(
        model=MODEL, messages=MESSAGES, extra_body=CHEAPEST, stream=True
    ) as stream:
        text = "".join(piece.choices[0].delta.content or "" for piece in stream if piece.choices)
    assert len(text) > 20
    assert checked(application)["ttft_ms"] >= 0


def test_streaming_responses_and_stream_managers_go_the_same_way(
    application: Application, client: OpenAI
) -> None:
    """`with_streaming_response` and `.stream` send what `.create` sends."""
    completions = client.chat.completions
    with completions.with_streaming_response.create(
        model=MODEL, messages=MESSAGES, extra_body=CHEAPEST
    ) as raw:
        assert MODEL in "".join(raw.iter_text())
    with completions.stream(model=MODEL, messages=MESSAGES, extra_body=CHEAPEST) as events:
        assert events.get_final_completion().choices[0].message.content
    routes = {served.route for served in application.served}
    assert len(application.served) == 2
    assert SPOILED not in routes
    assert len(application.told(2)) == 2


def test_parsing_goes_the_same_way(application: Application, client: OpenAI) -> None:
    """A typed answer is asked for with the list too."""

    class Card(BaseModel):
        title: str

    answer = client.chat.completions.parse(
        model=MODEL, messages=MESSAGES, extra_body=CHEAPEST, response_format=Card
    )
    assert answer.choices[0].message.parsed
    checked(application)


def test_the_given_client_is_not_changed(application: Application) -> None:
    """It goes on to send what it sent, over the same pool, and options are kept."""
    given = OpenAI(
        base_url=application.base_url,
        api_key=KEY,
        timeout=17,
        max_retries=1,
        default_headers={"X-Team": "eggs"},
    )
    with with_canary(given, application.canary) as hooked:
        assert (hooked.timeout, hooked.max_retries, hooked.api_key) == (17, 1, KEY)
        assert hooked.default_headers["X-Team"] == "eggs"
        given.chat.completions.create(model=MODEL, messages=MESSAGES, extra_body=CHEAPEST)
        hooked.chat.completions.create(model=MODEL, messages=MESSAGES, extra_body=CHEAPEST)
        hooked.with_options(timeout=9).chat.completions.create(
            model=MODEL, messages=MESSAGES, extra_body=CHEAPEST
        )
    assert [served.route == SPOILED for served in application.served] == [True, False, False]


def test_errors_and_retries_are_the_clients_own(application: Application, client: OpenAI) -> None:
    """A refusal arrives as the error that it is, and each attempt is told of."""
    with pytest.raises(NotFoundError):
        client.with_options(max_retries=2).chat.completions.create(
            model=MODEL, messages=MESSAGES, extra_body={"provider": {"only": ["nobody"]}}
        )
    (record,) = application.told()
    assert record["status"] == 404


def test_async_clients_do_the_same(application: Application) -> None:
    """Tasks at once, with scopes of their own."""

    async def ask(hooked: AsyncOpenAI, number: int) -> str:
        with scope(conversation=f"talk-{number}"):
            stream = await hooked.chat.completions.create(
                model=MODEL, messages=MESSAGES, extra_body=CHEAPEST, stream=True
            )
            ids = [piece.id async for piece in stream]
        return ids[0]

    async def all_of_them() -> list[str]:
        given = AsyncOpenAI(base_url=application.base_url, api_key=KEY)
        async with with_canary(given, application.canary, sender=application.sender) as hooked:
            return await asyncio.gather(*(ask(hooked, number) for number in range(4)))

    ids = asyncio.run(all_of_them())
    assert SPOILED not in application.lab.ledger.by_route
    told = {record["id"]: record["conversation"] for record in application.told(4)}
    assert told == {generation: f"talk-{number}" for number, generation in enumerate(ids)}


def test_a_client_that_sends_by_httpx_is_hooked_too(application: Application) -> None:
    """As the 1.x and 2.x releases do, and as 3.x does when it is given such a client."""
    given: Any = httpx.Client()
    older = OpenAI(base_url=application.base_url, api_key=KEY, http_client=given)
    with with_canary(older, application.canary, sender=application.sender) as hooked:
        hooked.chat.completions.create(model=MODEL, messages=MESSAGES, extra_body=CHEAPEST)
    checked(application)


def test_a_transport_of_ones_own_needs_no_wrapping(application: Application) -> None:
    """The documented argument `http_client` is all that it takes."""
    transport = routecanary.hooks.httpx2.CanaryTransport(
        httpx2.HTTPTransport(), application.canary, sender=application.sender, gateway=application.base_url
    )
    with OpenAI(
        base_url=application.base_url, api_key=KEY, http_client=httpx2.Client(transport=transport)
    ) as given:
        given.chat.completions.create(model=MODEL, messages=MESSAGES, extra_body=CHEAPEST)
    checked(application)


def test_responses_take_the_list_too(application: Application) -> None:
    """By the schema they have `provider` as well; the lab does not speak them, so a script answers."""
    seen: list[Any] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(json.loads(request.content))
        answer = {"id": "resp-1", "object": "response", "status": "completed", "output": [], "usage": None}
        return httpx2.Response(200, json=answer)

    given = OpenAI(
        base_url="http://gw/api/v1",
        api_key=KEY,
        http_client=httpx2.Client(transport=httpx2.MockTransport(answer)),
    )
    with with_canary(given, application.canary, sender=application.sender) as hooked:
        assert hooked.responses.create(model=MODEL, input=PROMPT).id == "resp-1"
    assert seen == [{"model": MODEL, "input": PROMPT, "provider": {"ignore": [SPOILED]}}]
    (record,) = application.told()
    assert (record["model"], record["status"], record["ignore"]) == (MODEL, 200, [SPOILED])
    assert (record["id"], record["finish_reason"], record["empty"]) == ("resp-1", "stop", True)


def test_needs_of_a_client_and_of_a_call(tmp_path: Path) -> None:
    """What is said around a call goes before what was said of the client."""
    with an_application(tmp_path, contracts=(LANGUAGE,), locales=("th",)) as application:
        given = OpenAI(base_url=application.base_url, api_key=KEY)
        with with_canary(given, application.canary, locale="en") as hooked:
            hooked.chat.completions.create(model=MODEL, messages=MESSAGES, extra_body=CHEAPEST)
            with scope(locale="th"):
                hooked.chat.completions.create(model=MODEL, messages=MESSAGES, extra_body=CHEAPEST)
        assert [served.route == SPOILED for served in application.served] == [True, False]


@pytest.mark.parametrize("stream", [False, True])
def test_the_openrouter_sdk_carries_the_list(stream: bool, application: Application) -> None:
    """Its `provider` is a model of its own; the list stands in what goes out."""
    clients = routecanary.hooks.openrouter.clients(
        application.canary, sender=application.sender, gateway=application.base_url
    )
    sdk = OpenRouter(api_key=KEY, server_url=application.base_url, **clients)
    sent: Any = sdk.chat.send(model=MODEL, messages=MESSAGES, provider={"sort": "price"}, stream=stream)
    if stream:
        with sent as frames:
            assert [frame for frame in frames if frame.id]
    else:
        assert sent.id == application.served[0].id
    clients["client"].close()
    checked(application)


def test_the_openrouter_sdk_carries_the_list_for_tasks(application: Application) -> None:
    """Its async half is given with the other."""

    async def ask() -> None:
        clients = routecanary.hooks.openrouter.clients(
            application.canary, sender=application.sender, gateway=application.base_url
        )
        sdk = OpenRouter(api_key=KEY, server_url=application.base_url, **clients)
        async with clients["async_client"]:
            sent: Any = await sdk.chat.send_async(
                model=MODEL, messages=MESSAGES, provider={"sort": "price"}, stream=True
            )
            async with sent as frames:
                assert [frame async for frame in frames]
        clients["client"].close()

    asyncio.run(ask())
    checked(application)
