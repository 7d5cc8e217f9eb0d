"""How does the official OpenRouter SDK carry the list? By the httpx clients that it takes.

```python
sdk = OpenRouter(api_key=…, **clients(canary))
```

Its requests are made of pydantic models, `provider` too, and its own hooks are generated code that a release
may replace; under both stands an httpx client, a documented argument.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

import httpx

from routecanary.client import Canary
from routecanary.client.telemetry import Sender
from routecanary.hooks.exchange import GATEWAY
from routecanary.hooks.httpx import AsyncCanaryTransport, CanaryTransport


class Clients(TypedDict):
    """Arguments of `OpenRouter`; whoever makes them closes them."""

    client: httpx.Client
    async_client: httpx.AsyncClient


def clients(
    canary: Canary,
    *,
    sender: Sender | None = None,
    needs: Iterable[str] | None = None,
    locale: str | None = None,
    gateway: str = GATEWAY,
) -> Clients:
    """Make the clients that the SDK would make, with the list laid into chat requests.

    For clients of your own: `with_canary` of `hooks/httpx.py`. The arguments are those of `CanaryTransport`.
    """
    transport = CanaryTransport(
        httpx.HTTPTransport(), canary, sender=sender, needs=needs, locale=locale, gateway=gateway
    )
    async_transport = AsyncCanaryTransport(
        httpx.AsyncHTTPTransport(), canary, sender=sender, needs=needs, locale=locale, gateway=gateway
    )
    return {
        "client": httpx.Client(follow_redirects=True, transport=transport),
        "async_client": httpx.AsyncClient(follow_redirects=True, transport=async_transport),
    }
