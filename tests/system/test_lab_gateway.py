"""The lab gateway over real HTTP, asked by an ordinary client and by the OpenAI package."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

import aiohttp
import openai
import pytest

from routecanary.domain.sse import SseDecoder
from routecanary.lab.gateway import LabGateway
from routecanary.lab.host import Account, LabRoute, PlantedFault, Rules, Window
from routecanary.lab.scenario import Scenario
from tests.lab import CARD, SCENES, START, a_body, a_card_body, a_route, a_scenario

KEY = {"Authorization": "Bearer lab-key"}
FAST = 500.0  # scenario seconds in a real second

SPOILED = a_route("inkspill/fp4", PlantedFault(fault="spoiled_start"))
SOUND = a_route("north-host/fp8", rows=2)


class Client:
    """One session against one lab."""

    def __init__(self, lab: LabGateway, session: aiohttp.ClientSession) -> None:
        self.lab = lab
        self._session = session

    async def get(self, path: str, **headers: str) -> tuple[int, Any]:
        async with self._session.get(self.lab.base_url + path, headers=headers or KEY) as response:
            return response.status, await response.json()

    async def post(
        self, body: Any, *, path: str = "/chat/completions", headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        data = io.BytesIO(body if isinstance(body, bytes) else json.dumps(body).encode())
        given = KEY if headers is None else headers
        async with self._session.post(self.lab.base_url + path, data=data, headers=given) as response:
            return response.status, dict(response.headers), await response.read()

    async def chunks(self, body: dict[str, Any], **headers: str) -> list[dict[str, Any]]:
        status, _, data = await self.post(body, headers={**KEY, **headers})
        assert status == 200, data
        decoder = SseDecoder()
        events = [event.data for event in decoder.feed(data) + decoder.finish()]
        return [json.loads(event) for event in events if event != "[DONE]"]


@contextlib.asynccontextmanager
async def a_client(scenario: Scenario, **options: Any) -> AsyncIterator[Client]:
    async with (
        LabGateway(scenario, **{"seed": 1, "time_scale": FAST, **options}) as lab,
        aiohttp.ClientSession() as session,
    ):
        yield Client(lab, session)


def against(scenario: Scenario, story: Callable[[Client], Awaitable[None]], **options: Any) -> None:
    async def run() -> None:
        async with a_client(scenario, **options) as client:
            await story(client)

    asyncio.run(run())


async def until(holds: Callable[[], bool]) -> None:
    """Wait for what the other side does in its own time."""
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110 - a counter, not an event
            await asyncio.sleep(0.01)


def pinned(tag: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    return {**(body or a_body()), "provider": {"only": [tag], "allow_fallbacks": False}}


def text_of(chunks: list[dict[str, Any]]) -> str:
    return "".join(choice["delta"]["content"] for chunk in chunks for choice in chunk["choices"])


def test_a_pinned_route_streams_its_planted_fault() -> None:
    """The faulty route spoils its start and the sound one begins as asked, each under its own name."""

    async def story(client: Client) -> None:
        spoiled = await client.chunks(pinned("inkspill/fp4"))
        sound = await client.chunks(pinned("north-host/fp8"))
        assert {chunk["provider"] for chunk in spoiled} == {"Inkspill"}
        assert {chunk["provider"] for chunk in sound} == {"North Host"}
        assert {chunk["model"] for chunk in sound} == {"acme/chat-2-20260901"}
        assert not text_of(spoiled).startswith("*")
        assert text_of(sound).startswith("*Silvan ")
        assert [served.faults for served in client.lab.ledger] == [("spoiled_start",), ()]

    against(a_scenario(SPOILED, SOUND), story)


def test_the_headers_and_bytes_are_an_event_stream() -> None:
    """Content type, generation id, a comment first and [DONE] last."""

    async def story(client: Client) -> None:
        status, headers, data = await client.post(a_body())
        assert status == 200
        assert headers["Content-Type"].startswith("text/event-stream")
        assert headers["X-Generation-Id"].startswith("gen-")
        assert data.startswith(b": OPENROUTER PROCESSING\n\ndata: {")
        assert data.endswith(b"data: [DONE]\n\n")
        assert json.loads(data.split(b"\n\n")[1][6:])["id"] == headers["X-Generation-Id"]

    against(a_scenario(SOUND), story)


def test_the_listing_calls_describe_the_scenario() -> None:
    """Endpoints with twin rows, models page by page, providers by display name, key, and a served answer."""

    async def story(client: Client) -> None:
        status, endpoints = await client.get("/models/acme/chat-2/endpoints")
        assert status == 200
        rows = endpoints["data"]["endpoints"]
        assert [row["tag"] for row in rows] == ["inkspill/fp4", "north-host/fp8", "north-host/fp8"]
        assert rows[0]["latency_last_30m"]["p50"] == 400
        _, unknown = await client.get("/models/acme/chat-2/endpoints", Accept="*/*")
        assert unknown["data"]["endpoints"][0]["latency_last_30m"] is None
        assert (await client.get("/models/acme/nothing/endpoints"))[0] == 404
        _, models = await client.get("/models?limit=1&offset=0")
        assert models["total_count"] == 1
        assert models["links"]["next"] is None
        assert (await client.get("/models?limit=x&offset=-5"))[0] == 200
        _, providers = await client.get("/providers")
        assert [(each["name"], each["slug"]) for each in providers["data"]] == [
            ("Inkspill", "inkspill"),
            ("North Host", "north-host"),
        ]
        chunks = await client.chunks(pinned("north-host/fp8"))
        _, generation = await client.get(f"/generation?id={chunks[0]['id']}")
        assert generation["data"]["provider_name"] == "North Host"
        assert generation["data"]["tokens_completion"] == chunks[-1]["usage"]["completion_tokens"]
        assert (await client.get("/generation?id=gen-0"))[0] == 404
        _, key = await client.get("/key")
        assert key["data"]["usage"] == pytest.approx(chunks[-1]["usage"]["cost"], abs=1e-6)

    against(a_scenario(SPOILED, SOUND), story)


def test_health_and_state_need_no_key() -> None:
    """The lab's own pages show that it lives and what it served."""

    async def story(client: Client) -> None:
        await client.chunks(pinned("inkspill/fp4"))
        assert (await client.get("/../../health", Accept="*/*"))[1] == {"status": "ok"}
        _, state = await client.get("/../../lab/state", Accept="*/*")
        assert state["routes"] == {"inkspill/fp4": {"served": 1, "faults": {"spoiled_start": 1}}}
        assert state["open_streams"] == 0

    against(a_scenario(SPOILED, SOUND), story)


def test_router_metadata_comes_when_asked_for() -> None:
    """On the last chunk: one attempt, one available endpoint for each row, no pipeline."""

    async def story(client: Client) -> None:
        chunks = await client.chunks(pinned("north-host/fp8"), **{"X-OpenRouter-Metadata": "enabled"})
        metadata = chunks[-1]["openrouter_metadata"]
        assert metadata["attempt"] == 1
        assert len(metadata["endpoints"]["available"]) == 2
        assert metadata["pipeline"] == []
        assert all("openrouter_metadata" not in chunk for chunk in chunks[:-1])
        plain = await client.chunks(pinned("north-host/fp8"))
        assert "openrouter_metadata" not in plain[-1]

    against(a_scenario(SPOILED, SOUND), story)


def test_plugins_and_a_cache_of_the_account_show_themselves() -> None:
    """Whatever the request switches off, the metadata names them, also that of a refusal."""
    rules = Rules(plugins=("web", "response-healing"), response_cache=True)
    asking = {**KEY, "X-OpenRouter-Metadata": "enabled"}
    expected = [
        {"type": "plugin", "name": "web"},
        {"type": "response_healing", "name": "response-healing"},
    ]

    async def story(client: Client) -> None:
        _, headers, data = await client.post(pinned("north-host/fp8"), headers=asking)
        assert headers["X-OpenRouter-Cache-Status"] == "MISS"
        assert b'"type":"response_healing"' in data
        absent = {**a_body(), "provider": {"order": ["nobody"], "allow_fallbacks": False}}
        status, _, data = await client.post(absent, headers=asking)
        assert status == 404
        assert json.loads(data)["openrouter_metadata"]["pipeline"] == expected
        assert "openrouter_metadata" not in json.loads((await client.post(absent))[2])

    against(a_scenario(SOUND, rules=rules), story)


def test_an_unpinned_request_falls_back_before_the_first_byte() -> None:
    """A route that answers with an error gives way to the next, as the metadata says; a pin does not."""
    full = a_route("rush-hour", PlantedFault(fault="rate_limit_shared_pool"))

    async def story(client: Client) -> None:
        ordered = {**a_body(), "provider": {"order": ["rush-hour"]}}
        chunks = await client.chunks(ordered, **{"X-OpenRouter-Metadata": "enabled"})
        assert chunks[0]["provider"] == "North Host"
        assert [each["status"] for each in chunks[-1]["openrouter_metadata"]["attempts"]] == [429, 200]
        asking = {**KEY, "X-OpenRouter-Metadata": "enabled"}
        status, headers, data = await client.post(pinned("rush-hour"), headers=asking)
        error = json.loads(data)["error"]
        assert [each["status"] for each in json.loads(data)["openrouter_metadata"]["attempts"]] == [429]
        assert status == 429
        assert headers["Retry-After"] == "20"
        assert error["metadata"]["limit_source"] == "upstream_provider_shared_pool"
        assert error["metadata"]["provider_name"] == "Rush Hour"

    against(a_scenario(full, SOUND), story)


def test_fallback_models_are_tried_in_turn() -> None:
    """An unknown model gives way to the next of `models`; alone it is refused."""

    async def story(client: Client) -> None:
        chunks = await client.chunks({**a_body(), "model": "acme/unknown", "models": ["acme/chat-2"]})
        assert chunks[0]["provider"] == "North Host"
        status, _, data = await client.post({**a_body(), "model": "acme/unknown"})
        assert status == 404
        assert "acme/unknown" in json.loads(data)["error"]["message"]
        for name in ("acme/chat-2:nitro", "acme/chat-2-20260901"):
            assert await client.chunks({**a_body(), "model": name})

    against(a_scenario(SOUND), story)


@pytest.mark.parametrize(
    ("account", "status", "source"),
    [
        (Account.NO_CREDIT, 402, "openrouter_credits"),
        (Account.IN_FLIGHT, 402, "openrouter_in_flight_budget"),
        (Account.KEY_LIMIT, 403, "openrouter_key_limit"),
        (Account.RATE_LIMITED, 429, "openrouter_free_tier_daily"),
        (Account.KEY_REVOKED, 401, None),
    ],
)
def test_the_account_can_be_at_fault(account: Account, status: int, source: str | None) -> None:
    """Each state of the account refuses every route alike, until it is set back."""

    async def story(client: Client) -> None:
        client.lab.account = account
        got, _, data = await client.post(a_body())
        assert got == status
        assert json.loads(data)["error"].get("metadata", {}).get("limit_source") == source
        client.lab.account = Account.OK
        assert await client.chunks(a_body())
        assert client.lab.ledger.refused == {status: 1}

    against(a_scenario(SOUND), story)


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic lab-key"}]
)
def test_a_wrong_key_is_refused(headers: dict[str, str]) -> None:
    """No key, another key and another scheme give 401 for chat, key and a signed listing."""

    async def story(client: Client) -> None:
        assert (await client.post(a_body(), headers=headers))[0] == 401
        assert (await client.get("/key", **(headers or {"Accept": "*/*"})))[0] == 401
        if headers:
            assert (await client.get("/models/acme/chat-2/endpoints", **headers))[0] == 401

    against(a_scenario(SOUND), story)


HOSTILE: list[Any] = [
    b"",
    b"\x00\xff",
    b"[" * 200_000,
    b'{"model": NaN}',
    b"7",
    {**a_body(), "provider": {"only": ["x"], "onyl": []}},
    {**a_body(), "provider": 7},
    {**a_body(), "max_tokens": -1},
    {**a_body(), "messages": [{"role": "user", "content": "\ud800"}]},
]
ODD_BUT_SOUND: list[Any] = [
    a_body("{a}{b}{object}%s\x00\u202e"),
    a_body("x" * 500_000),
    a_body(stop=["", "e"]),
    a_body(max_tokens=1),
    a_card_body(schema={"$ref": "#"}),
    a_card_body(schema={"type": "array", "minItems": 10**9}),
    a_card_body(schema={"enum": [1e308, "\u2028"]}),
    a_body(response_format={"type": "json_object"}),
    a_body(temperature="hot", unknown={"a": [1]}),
]


def test_hostile_bodies_are_refused_and_odd_ones_served_but_nothing_crashes() -> None:
    """400 for what is no request, 200 for what is one, and never a 500."""

    async def story(client: Client) -> None:
        for body in HOSTILE:
            status, _, data = await client.post(body)
            assert status == 400, body
            assert json.loads(data)["error"]["code"] == 400
        for body in ODD_BUT_SOUND:
            assert await client.chunks(body)
        assert (await client.post(b"x" * (4 * 1024 * 1024 + 1)))[0] == 413
        assert (await client.post(a_body(), path="/nowhere"))[0] == 404
        assert (await client.get("/chat/completions"))[0] == 405
        assert 500 not in client.lab.ledger.refused

    against(a_scenario(SOUND), story)


@pytest.mark.parametrize("how", ["clean", "reset"])
def test_a_cut_stream_ends_as_planned(how: str) -> None:
    """Clean: the body ends without [DONE]; reset: the connection breaks under the reader."""
    cut = a_route("cutter", PlantedFault(fault="cut_stream", parameters={"how": how}))

    async def story(client: Client) -> None:
        if how == "clean":
            _, _, data = await client.post(pinned("cutter"))
            assert b'"content":"' in data
            assert b"[DONE]" not in data
        else:
            with pytest.raises(aiohttp.ClientError):
                await client.post(pinned("cutter"))
        assert client.lab.ledger.open_streams == 0
        assert next(iter(client.lab.ledger)).faults == ("cut_stream",)

    against(a_scenario(cut), story)


def test_a_client_that_leaves_is_counted_and_forgotten() -> None:
    """A stream that nobody reads any more ends without an error."""
    slow = a_route("slow", PlantedFault(fault="slow_first_text", parameters={"delay_seconds": 60.0}))

    async def story(client: Client) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await client.post(pinned("slow"))
        await until(lambda: client.lab.ledger.abandoned == 1)
        assert client.lab.ledger.open_streams == 0

    against(a_scenario(slow), story, time_scale=100.0)


def test_stopping_does_not_wait_for_open_streams() -> None:
    """A lab that is stopped in the middle of an answer is gone at once."""
    endless = a_route("slow", PlantedFault(fault="slow_first_text", parameters={"delay_seconds": 600.0}))

    async def run() -> None:
        async with a_client(a_scenario(endless), time_scale=1.0) as client:
            asking = asyncio.ensure_future(client.post(pinned("slow")))
            await until(lambda: client.lab.ledger.open_streams == 1)
            await client.lab.stop()
            with pytest.raises(aiohttp.ClientError):
                await asking

    asyncio.run(asyncio.wait_for(run(), 30))


def test_policy_time_opens_and_closes_faults() -> None:
    """The lab asks the clock it was given, and a clock that steps back changes nothing before the start."""
    healing = a_route("mender", PlantedFault(fault="spoiled_start", window=Window(end=timedelta(hours=1))))
    at = {"now": START}

    def now() -> datetime:
        return at["now"]

    async def story(client: Client) -> None:
        for offset, spoiled in ((0, True), (59, True), (60, False), (-5, True)):
            at["now"] = START + timedelta(minutes=offset)
            text = text_of(await client.chunks(pinned("mender")))
            assert text.startswith("*") is not spoiled

    against(a_scenario(healing), story, now=now)


def routes_for_determinism() -> tuple[LabRoute, ...]:
    flaky = PlantedFault(fault="flaky", probability=0.5, parameters={"of": ("spoiled_start", "fenced_json")})
    return tuple(a_route(f"host-{number}", flaky) for number in range(4))


def test_answers_do_not_depend_on_the_order_of_other_routes() -> None:
    """Asked one after another or all at once, forwards or backwards, each route gives the same answers."""
    bodies = (a_body(SCENES["pt-BR"]), a_card_body())
    tags = [route.tag for route in routes_for_determinism()]

    async def answers(order: list[str], *, together: bool, seed: int) -> dict[tuple[str, int, int], str]:
        found: dict[tuple[str, int, int], str] = {}
        async with a_client(a_scenario(*routes_for_determinism()), seed=seed) as client:
            for turn in range(2):

                async def one(tag: str, index: int, turn: int = turn) -> None:
                    found[tag, index, turn] = text_of(await client.chunks(pinned(tag, bodies[index])))

                questions = [one(tag, index) for tag in order for index in range(len(bodies))]
                if together:
                    await asyncio.gather(*questions)
                else:
                    for question in questions:
                        await question
        return found

    async def run() -> None:
        forwards = await answers(tags, together=False, seed=5)
        assert await answers(tags[::-1], together=True, seed=5) == forwards
        assert await answers(tags, together=False, seed=6) != forwards
        assert len(set(forwards.values())) == len(forwards)

    asyncio.run(run())


def test_many_streams_at_once() -> None:
    """Two hundred concurrent streams are all served whole."""
    routes = tuple(a_route(f"host-{number}") for number in range(20))

    async def story(client: Client) -> None:
        asked = [client.chunks(pinned(f"host-{number % 20}")) for number in range(200)]
        for chunks in await asyncio.gather(*asked):
            assert chunks[-1]["usage"]
        assert client.lab.ledger.most_open_streams > 1

    against(a_scenario(*routes), story, time_scale=20.0)


def test_the_openai_package_can_be_used_against_the_lab() -> None:
    """Streams, whole answers, strict schemas and errors arrive through the client that applications use."""

    async def run() -> None:
        lab = LabGateway(a_scenario(SPOILED, SOUND), seed=1, time_scale=FAST)
        base_url = await lab.start()
        try:
            async with openai.AsyncOpenAI(base_url=base_url, api_key="lab-key", max_retries=0) as client:
                pin = {"provider": {"only": ["north-host/fp8"], "allow_fallbacks": False}}
                messages: Any = [{"role": "user", "content": SCENES["th"]}]
                stream = await client.chat.completions.create(
                    model="acme/chat-2", messages=messages, stream=True, extra_body=pin
                )
                text, finishes, providers = "", set(), set()
                async for chunk in stream:
                    providers.add((chunk.model_extra or {}).get("provider"))
                    for choice in chunk.choices:
                        text += choice.delta.content or ""
                        finishes.add(choice.finish_reason)
                assert text.startswith("*มาลี")
                assert finishes == {None, "stop"}
                assert providers == {"North Host"}

                whole = await client.chat.completions.create(
                    model="acme/chat-2",
                    messages=messages,
                    max_tokens=20,
                    extra_body={"provider": {"ignore": ["north-host"]}},
                )
                assert whole.choices[0].finish_reason == "length"
                assert (whole.model_extra or {})["provider"] == "Inkspill"

                schema: Any = a_card_body()["response_format"]
                card = await client.chat.completions.create(
                    model="acme/chat-2", messages=messages, response_format=schema, extra_body=pin
                )
                assert set(json.loads(card.choices[0].message.content or "")) == set(CARD["properties"])

                with pytest.raises(openai.NotFoundError, match="No allowed providers"):
                    await client.chat.completions.create(
                        model="acme/chat-2", messages=messages, extra_body={"provider": {"only": ["nobody"]}}
                    )
        finally:
            await lab.stop()

    asyncio.run(run())
