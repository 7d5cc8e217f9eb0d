"""How does an aiohttp session carry the list? By a client middleware.

```python
session = aiohttp.ClientSession(middlewares=(CanaryMiddleware(canary),))
```

Middlewares are aiohttp's own way to change a request (3.12 and newer). The answer is seen by a reader that
stands before the session's own and hands everything on: aiohttp tells no tracer of the reads of a stream.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from aiohttp import BytesPayload, ClientHandlerType, ClientRequest, ClientResponse, StreamReader

from routecanary.client import Canary
from routecanary.client.telemetry import Sender
from routecanary.hooks.exchange import GATEWAY, Exchange, Hook


class CanaryMiddleware:
    """Lay the list into chat requests to the gateway; everything else passes."""

    def __init__(
        self,
        canary: Canary,
        *,
        sender: Sender | None = None,
        needs: Iterable[str] | None = None,
        locale: str | None = None,
        gateway: str = GATEWAY,
    ) -> None:
        """Take what holds for every request of a session.

        Args:
            sender: Who is told what was served; None = nobody.
            needs: For a shorter list, as of `Canary.provider_preferences`; `scope` says it for a call.
            locale: Likewise.
            gateway: The base address of the gateway. Requests to any other are left alone.
        """
        self._hook = Hook(canary, sender=sender, needs=needs, locale=locale, gateway=gateway)

    async def __call__(self, request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        exchange = await self._begin(request)
        if exchange is None:
            return await handler(request)
        try:
            if exchange.body is not None:
                await request.update_body(exchange.body)
            response = await handler(request)
        except BaseException:
            exchange.finish()
            raise
        exchange.answered(response.status)
        if exchange.listens:
            response.content = _TappedReader(response.content, exchange)
        return response

    async def _begin(self, request: ClientRequest) -> Exchange | None:
        payload = request.body
        content = await payload.as_bytes() if isinstance(payload, BytesPayload) else None  # in memory already
        return self._hook.begin(request.method, str(request.url), request.headers, lambda: content)


_OWN: Final = frozenset(
    (
        *("read", "readany", "readchunk", "readexactly", "readline", "readuntil", "read_nowait"),
        *("iter_any", "iter_chunked", "iter_chunks", "_inner", "_exchange", "_seen", "__class__"),
    )
)


class _TappedReader(StreamReader):
    """A reader that shows each read to an exchange; all that is not reading is the inner reader's."""

    __slots__ = ("_exchange", "_inner")

    def __init__(self, inner: StreamReader, exchange: Exchange) -> None:
        self._inner = inner
        self._exchange = exchange

    def __getattribute__(self, name: str) -> Any:  # noqa: ANN401 - whatever the inner reader has
        if name in _OWN:
            return object.__getattribute__(self, name)
        return getattr(object.__getattribute__(self, "_inner"), name)

    def __del__(self) -> None:
        object.__getattribute__(self, "_exchange").finish()

    async def read(self, n: int = -1) -> bytes:
        return self._seen(await self._inner.read(n))

    async def readany(self) -> bytes:
        return self._seen(await self._inner.readany())

    async def readline(self, **options: int | None) -> bytes:  # which differ from release to release
        return self._seen(await self._inner.readline(**options))

    async def readuntil(self, separator: bytes = b"\n", **options: int | None) -> bytes:
        return self._seen(await self._inner.readuntil(separator, **options))

    async def readexactly(self, n: int) -> bytes:
        return self._seen(await self._inner.readexactly(n))

    async def readchunk(self) -> tuple[bytes, bool]:
        data, is_end = await self._inner.readchunk()
        return self._seen(data), is_end

    def read_nowait(self, n: int = -1) -> bytes:
        return self._seen(self._inner.read_nowait(n))

    def _seen(self, data: bytes) -> bytes:
        self._exchange.feed(data)
        if self._inner.at_eof():
            self._exchange.finish()
        return data
