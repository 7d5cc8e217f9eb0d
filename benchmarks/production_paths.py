"""One application of `benchmarks/production.py`: it asks by one client library, with the list or without.

    python benchmarks/production_paths.py PATH < JSON

It says `ready` once its library is imported. Then standard input says whom to ask and how often; each answer
is one JSON line on standard output, and the last line says what the canary and the sender counted. Only the
libraries of the path are imported, since LiteLLM has an environment of its own.
"""

# ruff: noqa: PLC0415 - each path imports its own library
from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TextIO

from routecanary.client import Canary
from routecanary.client.telemetry import Sender

LIBRARIES = {
    "openai": "openai",
    "httpx": "httpx",
    "httpx2": "httpx2",
    "aiohttp": "aiohttp",
    "litellm": "litellm",
    "openrouter": "openrouter",
    "pydantic-ai": "pydantic_ai.models.openai",
    "langchain": "langchain_openai",
    "proxy": "httpx2",
}
PATHS = tuple(LIBRARIES)
TIMEOUT = 60.0  # seconds; a request that takes longer has failed


@dataclass(frozen=True, kw_only=True)
class Order:
    """What one application has to do."""

    path: str
    base_url: str  # of the gateway, or of the proxy
    key: str
    model: str
    begin: float  # epoch seconds
    spacing: float  # seconds between the beginnings of two requests
    count: int
    snapshot: str  # the daemon's file; empty: no list
    listener: str  # who takes telemetry
    token: str

    @property
    def carries(self) -> bool:
        return bool(self.snapshot)

    def body(self, number: int) -> dict[str, Any]:
        return {
            "model": self.model,
            "messages": [{"role": "user", "content": f"Tell me of the harbour, please. ({number})"}],
            "stream": True,
            "user": self.user(number),
        }

    def user(self, number: int) -> str:
        """Name a request so that the lab's ledger can tell whose it was."""
        return f"{self.path}/{number}"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    @property
    def chat_url(self) -> str:
        return f"{self.base_url}/chat/completions"


@dataclass(frozen=True, kw_only=True)
class Means:
    """What hooks take."""

    canary: Canary
    sender: Sender


Ask = Callable[[int], None]
AskAsync = Callable[[int], Awaitable[None]]


class CutError(Exception):
    """The stream ended without a finish reason."""


def check(pieces: Iterator[bytes] | Iterator[str]) -> None:
    """Read a raw stream to its end."""
    if not any("[DONE]" in (piece.decode() if isinstance(piece, bytes) else piece) for piece in pieces):
        raise CutError


def check_chunks(chunks: Iterator[Any]) -> None:
    """Read the frames of an OpenAI-like stream to their end."""
    reasons = [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices]
    if not any(reasons):
        raise CutError


@contextmanager
def by_openai(order: Order, means: Means | None) -> Iterator[Ask]:
    from openai import OpenAI

    from routecanary.hooks.openai import with_canary

    client = OpenAI(base_url=order.base_url, api_key=order.key, max_retries=0, timeout=TIMEOUT)
    if means is not None:
        client = with_canary(client, means.canary, sender=means.sender)

    def ask(number: int) -> None:
        body: Any = order.body(number)
        check_chunks(iter(client.chat.completions.create(**body)))

    with client:
        yield ask


@contextmanager
def by_httpx(order: Order, means: Means | None) -> Iterator[Ask]:
    import httpx

    from routecanary.hooks.httpx import CanaryTransport

    transport: httpx.BaseTransport = httpx.HTTPTransport()
    if means is not None:
        transport = CanaryTransport(transport, means.canary, sender=means.sender, gateway=order.base_url)

    def ask(number: int) -> None:
        with client.stream("POST", order.chat_url, json=order.body(number)) as answer:
            answer.raise_for_status()
            check(answer.iter_lines())

    with httpx.Client(transport=transport, headers=order.headers, timeout=TIMEOUT) as client:
        yield ask


@contextmanager
def by_httpx2(order: Order, means: Means | None) -> Iterator[Ask]:
    import httpx2

    from routecanary.hooks.httpx2 import CanaryTransport

    transport: httpx2.BaseTransport = httpx2.HTTPTransport()
    if means is not None:
        transport = CanaryTransport(transport, means.canary, sender=means.sender, gateway=order.base_url)

    def ask(number: int) -> None:
        with client.stream("POST", order.chat_url, json=order.body(number)) as answer:
            answer.raise_for_status()
            check(answer.iter_lines())

    with httpx2.Client(transport=transport, headers=order.headers, timeout=TIMEOUT) as client:
        yield ask


@contextmanager
def by_openrouter(order: Order, means: Means | None) -> Iterator[Ask]:
    from openrouter import OpenRouter

    from routecanary.hooks.openrouter import clients

    more: Any = {}
    if means is not None:
        more = clients(means.canary, sender=means.sender, gateway=order.base_url)
    sdk = OpenRouter(
        api_key=order.key,
        server_url=order.base_url,
        timeout_ms=int(TIMEOUT * 1000),
        retry_config=None,
        **more,
    )

    def ask(number: int) -> None:
        sent: Any = sdk.chat.send(**order.body(number))
        with sent as frames:
            check_chunks(iter(frames))

    yield ask
    if more:
        more["client"].close()


@contextmanager
def by_langchain(order: Order, means: Means | None) -> Iterator[Ask]:
    import httpx2
    from langchain_openai import ChatOpenAI

    from routecanary.hooks.httpx2 import with_canary

    http = httpx2.Client(timeout=TIMEOUT)
    if means is not None:
        http = with_canary(http, means.canary, sender=means.sender, gateway=order.base_url)
    key: Any = order.key
    chat = ChatOpenAI(
        model=order.model, base_url=order.base_url, api_key=key, http_client=http, max_retries=0
    )

    def ask(number: int) -> None:
        messages = order.body(number)["messages"]
        reasons = [
            piece.response_metadata.get("finish_reason")
            for piece in chat.stream(messages, user=order.user(number))
        ]
        if not any(reasons):
            raise CutError

    with http:
        yield ask


@contextmanager
def by_proxy(order: Order, _: Means | None) -> Iterator[Ask]:
    """Ask as any program does: by HTTP, with the base address changed and nothing else."""
    import httpx2

    def ask(number: int) -> None:
        with client.stream("POST", order.chat_url, json=order.body(number)) as answer:
            answer.raise_for_status()
            check(answer.iter_lines())

    with httpx2.Client(headers=order.headers, timeout=TIMEOUT) as client:
        yield ask


async def by_aiohttp(order: Order, means: Means | None) -> AsyncIterator[AskAsync]:
    import aiohttp

    from routecanary.hooks.aiohttp import CanaryMiddleware

    middlewares = ()
    if means is not None:
        middlewares = (CanaryMiddleware(means.canary, sender=means.sender, gateway=order.base_url),)

    async def ask(number: int) -> None:
        async with session.post(order.chat_url, json=order.body(number)) as answer:
            answer.raise_for_status()
            check(iter([line async for line in answer.content]))

    timeout = aiohttp.ClientTimeout(total=TIMEOUT)
    async with aiohttp.ClientSession(
        middlewares=middlewares, headers=order.headers, timeout=timeout
    ) as session:
        yield ask


async def by_litellm(order: Order, means: Means | None) -> AsyncIterator[AskAsync]:
    import litellm

    from routecanary.hooks.litellm import CanaryLogger

    if means is not None:
        litellm.callbacks = [CanaryLogger(means.canary, sender=means.sender, gateway=order.base_url)]

    async def ask(number: int) -> None:
        body = {**order.body(number), "model": f"openrouter/{order.model}"}
        user = body.pop("user")  # which it would not pass on
        stream = await litellm.acompletion(
            **body,
            extra_body={"user": user},
            api_base=order.base_url,
            api_key=order.key,
            timeout=TIMEOUT,
            num_retries=0,
        )
        check_chunks(iter([chunk async for chunk in stream]))

    yield ask
    await asyncio.sleep(1.0)  # its callbacks run after the answers


async def by_pydantic_ai(order: Order, means: Means | None) -> AsyncIterator[AskAsync]:
    from openai import AsyncOpenAI
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings
    from pydantic_ai.providers.openai import OpenAIProvider

    from routecanary.hooks.openai import with_canary

    client = AsyncOpenAI(base_url=order.base_url, api_key=order.key, max_retries=0, timeout=TIMEOUT)
    if means is not None:
        client = with_canary(client, means.canary, sender=means.sender)
    agent = Agent(OpenAIChatModel(order.model, provider=OpenAIProvider(openai_client=client)))

    async def ask(number: int) -> None:
        settings = OpenAIChatModelSettings(openai_user=order.user(number))
        prompt = order.body(number)["messages"][0]["content"]
        async with agent.run_stream(prompt, model_settings=settings) as result:
            await result.get_output()

    async with client:
        yield ask


SYNC = {
    "openai": by_openai,
    "httpx": by_httpx,
    "httpx2": by_httpx2,
    "openrouter": by_openrouter,
    "langchain": by_langchain,
    "proxy": by_proxy,
}
ASYNC = {"aiohttp": by_aiohttp, "litellm": by_litellm, "pydantic-ai": by_pydantic_ai}


def tell(out: TextIO, number: int, began: float, error: BaseException | None) -> None:
    problem = None if error is None else f"{type(error).__name__}: {error}"[:300]
    out.write(json.dumps({"number": number, "began": began, "error": problem}) + "\n")
    out.flush()


def until(order: Order, number: int) -> float:
    """Say how long to wait for the beginning of a request."""
    return max(0.0, order.begin + number * order.spacing - time.time())


def run_sync(order: Order, means: Means | None, out: TextIO) -> None:
    with SYNC[order.path](order, means) as ask:
        for number in range(order.count):
            time.sleep(until(order, number))
            began = time.time()
            try:
                ask(number)
            except Exception as error:  # counted by whoever reads the line
                tell(out, number, began, error)
            else:
                tell(out, number, began, None)


async def run_async(order: Order, means: Means | None, out: TextIO) -> None:
    async for ask in ASYNC[order.path](order, means):
        for number in range(order.count):
            await asyncio.sleep(until(order, number))
            began = time.time()
            try:
                await ask(number)
            except Exception as error:  # as above
                tell(out, number, began, error)
            else:
                tell(out, number, began, None)


def main() -> None:
    path = sys.argv[1]
    import_module(LIBRARIES[path])
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    order = Order(**json.load(sys.stdin))
    with ExitStack() as stack:
        means = None
        if order.carries:
            canary = stack.enter_context(Canary(order.snapshot))
            means = Means(canary=canary, sender=Sender(order.listener, order.token, interval=0.5))
        out = sys.stdout
        if order.path in SYNC:
            run_sync(order, means, out)
        else:
            asyncio.run(run_async(order, means, out))
        if means is not None:
            means.sender.flush(30.0)
            counters = means.canary.status()["counters"]
            told = means.sender.status()
            out.write(json.dumps({"canary": counters, "sender": told}) + "\n")


if __name__ == "__main__":
    main()
