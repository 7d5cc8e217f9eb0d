"""How does LiteLLM carry the list: its async calls, its Router, its proxy, and its sync calls?

```python
litellm.callbacks = [CanaryLogger(canary)]  # acompletion, Router, proxy
litellm.completion(..., client=client(canary))  # a sync call
```

Of LiteLLM's callbacks only `async_pre_call_deployment_hook` may change a request and knows which deployment
it goes to; `async_pre_call_hook` of the proxy comes before that choice, and the others only look. It is run
for async calls alone. A sync call takes an HTTP client instead, which any call may be given.

LiteLLM drops the provider's name from streamed answers, so a callback tells of these by their id alone;
`async_client` sees what came off the wire.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

import httpx
from litellm.integrations.custom_logger import CustomLogger
from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler, HTTPHandler

from routecanary.client import Canary
from routecanary.client.telemetry import Sender
from routecanary.hooks.exchange import GATEWAY, Exchange, Hook
from routecanary.hooks.httpx import AsyncCanaryTransport, CanaryTransport

_CALLS: Final = ("acompletion", "completion")
_OPENROUTER: Final = "openrouter"
_PREFIXES: Final = (f"{_OPENROUTER}/", "openai/")  # which LiteLLM takes off before it sends the name
_ROUTING: Final = ("models", "preset", "provider", "providerOptions")
_REMEMBERED: Final = 10_000  # calls that are under way


class CanaryLogger(CustomLogger):  # type: ignore[misc]  # its types are not ours to check
    """Lay the list into async calls that go to the gateway, and tell what was served."""

    def __init__(
        self,
        canary: Canary,
        *,
        sender: Sender | None = None,
        needs: Iterable[str] | None = None,
        locale: str | None = None,
        gateway: str = GATEWAY,
    ) -> None:
        """Take what holds for every call; put the result into `litellm.callbacks`.

        Args:
            sender: Who is told what was served; None = nobody.
            needs: For a shorter list, as of `Canary.provider_preferences`; `scope` says it for a call.
            locale: Likewise.
            gateway: Calls to models `openrouter/…` go to the gateway, and so do those with this `api_base`.
        """
        super().__init__()
        self._hook = Hook(canary, sender=sender, needs=needs, locale=locale, gateway=gateway)
        self._under_way: OrderedDict[str, Exchange] = OrderedDict()

    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: object
    ) -> dict[str, Any] | None:
        """Return the call with the list laid in; None: it may go as it is."""
        try:
            return self._changed(kwargs, getattr(call_type, "value", call_type))
        except Exception:  # a call that we do not understand goes as it is
            return None

    async def async_log_success_event(
        self, kwargs: Mapping[str, Any], response_obj: object, start_time: datetime, end_time: datetime
    ) -> None:
        """Tell of an answer."""
        exchange = self._under_way.pop(str(kwargs.get("litellm_call_id")), None)
        if exchange is None:
            return
        exchange.answered(200)
        dump = getattr(response_obj, "model_dump", None)
        frame = dump() if dump is not None else None
        if isinstance(frame, dict):
            exchange.take_frame(frame, streamed=False)
        exchange.finish(duration=(end_time - start_time).total_seconds())

    async def async_log_failure_event(
        self,
        kwargs: Mapping[str, Any],
        response_obj: object,  # noqa: ARG002 - LiteLLM names the arguments
        start_time: datetime,
        end_time: datetime,
    ) -> None:
        """Tell of a call that failed."""
        exchange = self._under_way.pop(str(kwargs.get("litellm_call_id")), None)
        if exchange is None:
            return
        status = getattr(kwargs.get("exception"), "status_code", None)
        if isinstance(status, int):
            exchange.answered(status)
        exchange.finish(duration=(end_time - start_time).total_seconds())

    def _changed(self, call: dict[str, Any], call_type: object) -> dict[str, Any] | None:
        model = self._model(call) if call_type in _CALLS else None
        if model is None:
            return None
        extra = call.get("extra_body")
        extra = extra if isinstance(extra, Mapping) else {}
        routing = {name: extra.get(name, call.get(name)) for name in _ROUTING}
        exchange = self._hook.begin_call({"model": model, **_said(routing)})
        if exchange is None:
            return None
        if exchange.listens:
            self._remember(str(call.get("litellm_call_id")), exchange)
        if not exchange.changes:
            return None
        changed = {name: value for name, value in call.items() if name not in exchange.changes}
        return {**changed, "extra_body": {**extra, **exchange.changes}}

    def _model(self, call: Mapping[str, Any]) -> str | None:
        """Name the model as the gateway will read it; None: the call goes elsewhere."""
        model = call.get("model")
        if not isinstance(model, str):
            return None
        address = call.get("api_base") or call.get("base_url")
        is_ours = (
            model.startswith(_PREFIXES[0])
            or call.get("custom_llm_provider") == _OPENROUTER
            or (isinstance(address, str) and self._hook.is_gateway(address))
        )
        if not is_ours:
            return None
        prefix = next((prefix for prefix in _PREFIXES if model.startswith(prefix)), "")
        return model.removeprefix(prefix)

    def _remember(self, call_id: str, exchange: Exchange) -> None:
        earlier = self._under_way.pop(call_id, None)  # an attempt that was made again
        if earlier is not None:
            earlier.finish()
        self._under_way[call_id] = exchange
        while len(self._under_way) > _REMEMBERED:
            self._under_way.popitem(last=False)


def client(
    canary: Canary,
    *,
    sender: Sender | None = None,
    needs: Iterable[str] | None = None,
    locale: str | None = None,
    gateway: str = GATEWAY,
) -> HTTPHandler:
    """Make what sync calls take as `client`; the arguments are those of `CanaryTransport`."""
    transport = CanaryTransport(
        httpx.HTTPTransport(), canary, sender=sender, needs=needs, locale=locale, gateway=gateway
    )
    return HTTPHandler(client=httpx.Client(transport=transport))


def async_client(
    canary: Canary,
    *,
    sender: Sender | None = None,
    needs: Iterable[str] | None = None,
    locale: str | None = None,
    gateway: str = GATEWAY,
) -> AsyncHTTPHandler:
    """Make what async calls take as `client`, one for each event loop."""
    return AsyncHTTPHandler(
        transport=AsyncCanaryTransport(
            httpx.AsyncHTTPTransport(), canary, sender=sender, needs=needs, locale=locale, gateway=gateway
        )
    )


def _said(routing: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in routing.items() if value is not None}
