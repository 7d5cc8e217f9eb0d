"""The lab gateway: real HTTP and real server-sent events on a loopback port.

It answers the calls of OpenRouter, or of the Vercel AI Gateway, that Routecanary makes, routes as that
gateway does, and misbehaves as its scenario says. Equal seeds give equal answers: what a route says depends
on the seed and on how often this route was asked this kind of question, not on the order in which other
routes are.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Final, Self, assert_never

from aiohttp import web

from routecanary.domain.gateway import GatewayKind
from routecanary.domain.probe import Json
from routecanary.lab import listing
from routecanary.lab.desk import Desk
from routecanary.lab.face import face_of
from routecanary.lab.guardrails import Guardrails
from routecanary.lab.host import Account
from routecanary.lab.keyring import LabKey
from routecanary.lab.ledger import Ledger
from routecanary.lab.management import Management
from routecanary.lab.refusal import Refusal, RefusedError
from routecanary.lab.request import MAX_BODY
from routecanary.lab.scenario import Scenario
from routecanary.lab.sending import send
from routecanary.lab.vercel.calls import Calls
from routecanary.lab.wire import json_bytes

PREFIX: Final = "/api/v1"

_METADATA_HEADERS: Final = ("X-OpenRouter-Metadata", "X-OpenRouter-Experimental-Metadata")
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class LabGateway:
    """Serves one scenario; `start` and `stop` it, or use it as an asynchronous context manager.

    Args:
        scenario: Models, routes and what goes wrong with them.
        seed: Of every draw.
        time_scale: How many seconds of the scenario pass in one real second.
        now: Policy time, by which faults are scheduled; None = the machine's clock.
        wire: Whose calls and shapes are spoken; the hosts and their faults are the same.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        seed: int = 0,
        time_scale: float = 1.0,
        now: Callable[[], datetime] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        wire: GatewayKind | str = GatewayKind.OPENROUTER,
    ) -> None:
        if not time_scale > 0:
            raise ValueError(f"time_scale must be above 0, not {time_scale!r}")
        self._face = face_of(GatewayKind(wire), scenario)
        clock = now or (lambda: datetime.now(UTC))
        self._desk = Desk(scenario, seed=seed, now=clock, route=self._face.candidates)
        self.management = Management(self._desk)
        self._scale = time_scale
        self._host, self._port = host, port
        self._runner: web.AppRunner | None = None
        self.base_url = ""  # of the API, without a slash at its end; empty before `start`

    async def start(self) -> str:
        """Listen, and return the base URL (`http://127.0.0.1:PORT/api/v1`; of Vercel's wire, `…/v1`)."""
        app = web.Application(client_max_size=MAX_BODY, middlewares=[self._refusals])
        prefix = self._face.prefix
        app.add_routes(
            [
                web.get("/health", self._health),
                web.get("/lab/state", self._state),
                web.post(f"{prefix}/chat/completions", self._chat),
                *self._describing(),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, self._host, self._port, backlog=2048).start()
        address = self._runner.addresses[0]
        self.base_url = f"http://{address[0]}:{address[1]}{prefix}"
        return self.base_url

    async def stop(self) -> None:
        """Close every connection and stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def ledger(self) -> Ledger:
        """What has been served so far."""
        return self._desk.ledger

    @property
    def guardrails(self) -> Guardrails:
        """The account's guardrails; may be changed at any time."""
        return self._desk.guardrails

    @property
    def account(self) -> Account:
        """How the gateway stands to the key; may be set at any time."""
        return self._desk.account

    @account.setter
    def account(self, account: Account) -> None:
        self._desk.account = account

    # --- calls that list and describe ---------------------------------------------------------------

    def _describing(self) -> list[web.RouteDef]:
        match self._face.kind:
            case GatewayKind.OPENROUTER:
                return [
                    web.get(f"{PREFIX}/models", self._list_models),
                    web.get(f"{PREFIX}/models/{{author}}/{{slug}}/endpoints", self._list_endpoints),
                    web.get(f"{PREFIX}/providers", self._list_providers),
                    web.get(f"{PREFIX}/key", self._describe_key),
                    web.get(f"{PREFIX}/generation", self._describe_generation),
                    *self.management.routes(PREFIX),
                ]
            case GatewayKind.VERCEL:
                return Calls(self._desk, self._face).routes()
            case _:
                assert_never(self._face.kind)

    async def _health(self, _: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    async def _state(self, _: web.Request) -> web.Response:
        desk = self._desk
        state = {"scenario": desk.scenario.name, "elapsed_seconds": desk.elapsed.total_seconds()}
        return web.json_response({**state, "account": desk.account, **desk.ledger.to_json()})

    async def _list_models(self, request: web.Request) -> web.Response:
        offset, limit = _page(request.query.get("offset"), 0), _page(request.query.get("limit"), 1000)
        models = sorted(self._desk.scenario.models, key=lambda model: model.id)
        shown = models[offset : offset + min(limit, 1000)]
        more = offset + len(shown) < len(models) and shown
        following = f"{PREFIX}/models?offset={offset + len(shown)}&limit={limit}" if more else None
        return _json(
            {
                "data": [listing.model_entry(model) for model in shown],
                "total_count": len(models),
                "links": {"next": following},
            }
        )

    async def _list_endpoints(self, request: web.Request) -> web.Response:
        known = "Authorization" in request.headers
        if known:
            self._check_key(request)
        model = self._desk.model(f"{request.match_info['author']}/{request.match_info['slug']}")
        return _json(listing.endpoints(model, self._desk.elapsed, known_key=known))

    async def _list_providers(self, _: web.Request) -> web.Response:
        return _json(listing.providers(self._desk.scenario.models))

    async def _describe_key(self, request: web.Request) -> web.Response:
        key = self._check_key(request)
        return _json(listing.key(key, self._desk.account, self._desk.spent))

    async def _describe_generation(self, request: web.Request) -> web.Response:
        self._check_key(request)
        served = self.ledger.find(request.query.get("id", ""))
        if served is None:
            raise RefusedError(Refusal(status=404, message="Generation not found."))
        return _json(listing.generation(served))

    # --- the chat call ------------------------------------------------------------------------------

    async def _chat(self, http: web.Request) -> web.StreamResponse:
        key = self._check_key(http)
        face = self._face
        usually = face.kind is GatewayKind.OPENROUTER
        request = face.read(await http.read())
        asked = any(http.headers.get(name) == "enabled" for name in _METADATA_HEADERS)
        prepared = self._desk.answer(request, key=key, wants_metadata=asked or not usually)
        wire = prepared.wire(streamed=request.stream, dress=face.dress)
        self._desk.enter(prepared, request, key)
        usual = {"X-Generation-Id": prepared.turn.generation} if usually else {}
        if self._desk.scenario.rules.response_cache and usually:
            usual["X-OpenRouter-Cache-Status"] = "MISS"
        return await send(http, wire, usual=usual, scale=self._scale, ledger=self.ledger)

    # --- refusals -----------------------------------------------------------------------------------

    @web.middleware
    async def _refusals(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """Turn refusals, and the framework's own errors, into the gateway's error envelope."""
        try:
            return await handler(request)
        except RefusedError as error:
            refusal = error.refusal
        except web.HTTPException as error:
            refusal = Refusal(status=error.status, message=error.reason)
        self.ledger.refused[refusal.status] += 1
        return _json(self._face.refusal(refusal), status=refusal.status, headers=refusal.headers)

    def _check_key(self, request: web.Request) -> LabKey:
        return self._desk.check_key(request.headers.get("Authorization", ""))


def _json(body: Json, *, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(
        status=status, body=json_bytes(body), content_type="application/json", headers=headers
    )


def _page(value: str | None, default: int) -> int:
    """Read an offset or limit; what is not a small whole number counts as not given."""
    number = default
    with contextlib.suppress(ValueError):
        number = int((value or str(default))[:9])
    return max(0, number)
