"""How does an httpx client carry the list? By the transport under it, sync or async.

```python
client = httpx.Client(transport=CanaryTransport(httpx.HTTPTransport(), canary))
```

`hooks/httpx2.py` is the same for httpx2. Of both libraries only the public interface is used: a transport
that wraps another, requests made anew, a response's stream put behind another.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import overload

import httpx

from routecanary.client import Canary
from routecanary.client.telemetry import Sender
from routecanary.hooks.exchange import GATEWAY, Exchange, Hook
from routecanary.hooks.tapped import TappedStream


@overload
def with_canary(
    client: httpx.Client,
    canary: Canary,
    *,
    sender: Sender | None = None,
    needs: Iterable[str] | None = None,
    locale: str | None = None,
    gateway: str = GATEWAY,
) -> httpx.Client: ...


@overload
def with_canary(
    client: httpx.AsyncClient,
    canary: Canary,
    *,
    sender: Sender | None = None,
    needs: Iterable[str] | None = None,
    locale: str | None = None,
    gateway: str = GATEWAY,
) -> httpx.AsyncClient: ...


def with_canary(
    client: httpx.Client | httpx.AsyncClient,
    canary: Canary,
    *,
    sender: Sender | None = None,
    needs: Iterable[str] | None = None,
    locale: str | None = None,
    gateway: str = GATEWAY,
) -> httpx.Client | httpx.AsyncClient:
    """Make a client that sends by a given one: its pool, proxies, certificates, hooks and headers.

    The given client is not changed, and is closed with the new one. The arguments are those of
    `CanaryTransport`.
    """
    if isinstance(client, httpx.Client):
        return httpx.Client(
            transport=CanaryTransport(
                _Through(client), canary, sender=sender, needs=needs, locale=locale, gateway=gateway
            ),
            auth=client.auth,
            base_url=client.base_url,
            cookies=client.cookies,
            follow_redirects=client.follow_redirects,
            headers=client.headers,
            max_redirects=client.max_redirects,
            params=client.params,
            timeout=client.timeout,
            trust_env=client.trust_env,
        )
    return httpx.AsyncClient(
        transport=AsyncCanaryTransport(
            _AsyncThrough(client), canary, sender=sender, needs=needs, locale=locale, gateway=gateway
        ),
        auth=client.auth,
        base_url=client.base_url,
        cookies=client.cookies,
        follow_redirects=client.follow_redirects,
        headers=client.headers,
        max_redirects=client.max_redirects,
        params=client.params,
        timeout=client.timeout,
        trust_env=client.trust_env,
    )


class CanaryTransport(httpx.BaseTransport):
    """Lay the list into chat requests to the gateway; everything else passes."""

    def __init__(
        self,
        inner: httpx.BaseTransport,
        canary: Canary,
        *,
        sender: Sender | None = None,
        needs: Iterable[str] | None = None,
        locale: str | None = None,
        gateway: str = GATEWAY,
    ) -> None:
        """Wrap a transport, which is closed with this one.

        Args:
            inner: Whoever sends, such as `httpx.HTTPTransport()`.
            sender: Who is told what was served; None = nobody.
            needs: For a shorter list, as of `Canary.provider_preferences`; `scope` says it for a call.
            locale: Likewise.
            gateway: The base address of the gateway. Requests to any other are left alone.
        """
        self._inner = inner
        self._hook = Hook(canary, sender=sender, needs=needs, locale=locale, gateway=gateway)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        exchange = _begin(self._hook, request)
        if exchange is None:
            return self._inner.handle_request(request)
        try:
            response = self._inner.handle_request(_sent(request, exchange))
        except BaseException:
            exchange.finish()
            raise
        return _tapped(response, exchange)

    def close(self) -> None:
        self._inner.close()


class AsyncCanaryTransport(httpx.AsyncBaseTransport):
    """`CanaryTransport` for an `httpx.AsyncClient`."""

    def __init__(
        self,
        inner: httpx.AsyncBaseTransport,
        canary: Canary,
        *,
        sender: Sender | None = None,
        needs: Iterable[str] | None = None,
        locale: str | None = None,
        gateway: str = GATEWAY,
    ) -> None:
        """Wrap a transport; the arguments are those of `CanaryTransport`."""
        self._inner = inner
        self._hook = Hook(canary, sender=sender, needs=needs, locale=locale, gateway=gateway)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        exchange = _begin(self._hook, request)
        if exchange is None:
            return await self._inner.handle_async_request(request)
        try:
            response = await self._inner.handle_async_request(_sent(request, exchange))
        except BaseException:
            exchange.finish()
            raise
        return _tapped(response, exchange)

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Through(httpx.BaseTransport):
    """Send by a client that is there already, with all that it was made with."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._client.send(request, stream=True, auth=None, follow_redirects=False)

    def close(self) -> None:
        self._client.close()


class _AsyncThrough(httpx.AsyncBaseTransport):
    """The same for an `httpx.AsyncClient`."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await self._client.send(request, stream=True, auth=None, follow_redirects=False)

    async def aclose(self) -> None:
        await self._client.aclose()


class _Tapped(TappedStream, httpx.SyncByteStream, httpx.AsyncByteStream):
    """A stream that both kinds of client take for one of theirs."""


def _begin(hook: Hook, request: httpx.Request) -> Exchange | None:
    def read() -> bytes | None:
        stream = request.stream
        return b"".join(stream) if isinstance(stream, httpx.ByteStream) else None  # others can be read once

    return hook.begin(request.method, str(request.url), request.headers, read)


def _sent(request: httpx.Request, exchange: Exchange) -> httpx.Request:
    """Make the request that is sent in place of the caller's, which stays as it is."""
    if exchange.body is None:
        return request
    headers = request.headers.copy()
    headers["Content-Length"] = str(len(exchange.body))
    return httpx.Request(
        request.method, request.url, headers=headers, content=exchange.body, extensions=request.extensions
    )


def _tapped(response: httpx.Response, exchange: Exchange) -> httpx.Response:
    exchange.answered(response.status_code)
    if not exchange.listens:
        return response
    try:
        exchange.feed(response.content)  # a transport that answers from memory
        exchange.finish()
    except httpx.ResponseNotRead:
        response.stream = _Tapped(response.stream, exchange)
    return response
