"""How are the bytes of an answer seen on their way to the application, which reads them as ever?

For httpx and httpx2, whose byte streams have the same shape; each of them makes its own class of this one.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any

from routecanary.hooks.exchange import Exchange


class TappedStream:
    """A body as it comes off the wire, sync or async as the one within: each read passes through at once."""

    def __init__(self, inner: object, exchange: Exchange) -> None:
        self._inner: Any = inner  # of either library
        self._exchange = exchange

    def __iter__(self) -> Iterator[bytes]:
        inner: Iterable[bytes] = self._inner
        for data in inner:
            self._exchange.feed(data)
            yield data
        self._exchange.finish()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        inner: AsyncIterable[bytes] = self._inner
        async for data in inner:
            self._exchange.feed(data)
            yield data
        self._exchange.finish()

    def close(self) -> None:
        self._exchange.finish()
        self._inner.close()

    async def aclose(self) -> None:
        self._exchange.finish()
        await self._inner.aclose()
