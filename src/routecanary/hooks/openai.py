"""How does an OpenAI client carry the list?

```python
client = with_canary(OpenAI(base_url="https://openrouter.ai/api/v1", api_key=…), canary)
```

The client is copied with another `http_client`, which sends by the one that it had: chat completions,
`.parse`, `.stream`, `with_streaming_response`, responses and retries all go that way, and it is the one place
that the 1.x, 2.x and 3.x releases share (1.x and 2.x send by httpx, 3.x by httpx2). Of the library's own this
leans on `with_options(http_client=…)`, which is documented, and on the attribute `_client`, where every
release keeps the client that it was given or made. Whoever makes that client anyhow needs not even that:
`OpenAI(http_client=httpx2.Client(transport=CanaryTransport(…)))`.

Methods are not replaced: each release has more ways to make a request than the last.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TypeVar

from openai import AsyncOpenAI, OpenAI

from routecanary.client import Canary
from routecanary.client.telemetry import Sender

_Client = TypeVar("_Client", OpenAI, AsyncOpenAI)


def with_canary(
    client: _Client,
    canary: Canary,
    *,
    sender: Sender | None = None,
    needs: Iterable[str] | None = None,
    locale: str | None = None,
    gateway: str | None = None,
) -> _Client:
    """Make a client whose chat requests carry the list; the given one is not changed.

    Args:
        client: Any `OpenAI` or `AsyncOpenAI`, or a client made of one; it is closed with the new one.
        sender: Who is told what was served; None = nobody.
        needs: For a shorter list, as of `Canary.provider_preferences`; `scope` says it for a call.
        locale: Likewise.
        gateway: The gateway's base address; None = the client's own `base_url`.
    """
    inner = client._client
    made_by = {kind.__module__.partition(".")[0] for kind in type(inner).__mro__}
    library = import_module(f"routecanary.hooks.{'httpx2' if 'httpx2' in made_by else 'httpx'}")
    through = library.with_canary(
        inner,
        canary,
        sender=sender,
        needs=needs,
        locale=locale,
        gateway=str(client.base_url) if gateway is None else gateway,
    )
    return client.with_options(http_client=through)
