"""The lab gateway: real HTTP and real server-sent events on a loopback port.

It answers the calls of an OpenRouter-compatible gateway that Routecanary makes, routes as that gateway does,
and misbehaves as its scenario says. Equal seeds give equal answers: what a route says depends on the seed
and on how often this route was asked this kind of question, not on the order in which other routes are.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from random import Random
from types import TracebackType
from typing import Final, Self

from aiohttp import web

from routecanary.domain.names import ModelId
from routecanary.domain.probe import Json
from routecanary.lab import listing
from routecanary.lab.answering import Prepared, Turn, prepare
from routecanary.lab.host import Account, LabModel, LabRoute
from routecanary.lab.ledger import Ledger, Served
from routecanary.lab.plan import EndingMode, Wire, answer_seconds, usage_of, whole_body
from routecanary.lab.reading import Asked, asked_of
from routecanary.lab.refusal import Refusal, RefusedError
from routecanary.lab.request import MAX_BODY, ChatRequest, chat_request
from routecanary.lab.routing import candidates
from routecanary.lab.scenario import Scenario

TICK: Final = (
    0.008  # real s, the shortest sleep: what falls due meanwhile shares a write, late and never early
)
PREFIX: Final = "/api/v1"

_ACCOUNT_REFUSALS: Final = {
    Account.NO_CREDIT: Refusal(
        status=402,
        message="Insufficient credits. Add more to continue.",
        metadata={"limit_source": "openrouter_credits", "reason": "weight_exceeds_budget"},
    ),
    Account.IN_FLIGHT: Refusal(
        status=402,
        message="Too many paid requests in flight.",
        metadata={"limit_source": "openrouter_in_flight_budget", "reason": "in_flight_budget_exhausted"},
        headers={"Retry-After": "2"},
    ),
    Account.KEY_LIMIT: Refusal(
        status=403, message="Key limit exceeded.", metadata={"limit_source": "openrouter_key_limit"}
    ),
    Account.RATE_LIMITED: Refusal(
        status=429,
        message="Rate limit exceeded: free-models-per-day.",
        metadata={"limit_source": "openrouter_free_tier_daily", "error_type": "rate_limit_exceeded"},
        headers={"X-RateLimit-Limit": "50", "X-RateLimit-Remaining": "0", "Retry-After": "60"},
    ),
    Account.KEY_REVOKED: Refusal(status=401, message="User not found."),
}

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class LabGateway:
    """Serves one scenario; `start` and `stop` it, or use it as an asynchronous context manager.

    Args:
        scenario: Models, routes and what goes wrong with them.
        seed: Of every draw.
        time_scale: How many seconds of the scenario pass in one real second.
        now: Policy time, by which faults are scheduled; None = the machine's clock.
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
    ) -> None:
        if not time_scale > 0:
            raise ValueError(f"time_scale must be above 0, not {time_scale!r}")
        self.scenario = scenario
        self.account = scenario.account  # may be set at any time
        self.ledger = Ledger()
        self._seed = seed
        self._scale = time_scale
        self._now = now or (lambda: datetime.now(UTC))
        self._host, self._port = host, port
        self._began = self._now()
        self._spent = 0.0  # USD
        self._turns: Counter[tuple[str, str, str]] = Counter()
        self._routings = 0
        self._models = {name: model for model in scenario.models for name in (model.id, model.dated)}
        self._runner: web.AppRunner | None = None
        self.base_url = ""  # of the API, without a slash at its end; empty before `start`

    async def start(self) -> str:
        """Listen, and return the base URL (`http://127.0.0.1:PORT/api/v1`)."""
        app = web.Application(client_max_size=MAX_BODY, middlewares=[self._refusals])
        app.add_routes(
            [
                web.get("/health", self._health),
                web.get("/lab/state", self._state),
                web.get(f"{PREFIX}/models", self._list_models),
                web.get(f"{PREFIX}/models/{{author}}/{{slug}}/endpoints", self._list_endpoints),
                web.get(f"{PREFIX}/providers", self._list_providers),
                web.get(f"{PREFIX}/key", self._describe_key),
                web.get(f"{PREFIX}/generation", self._describe_generation),
                web.post(f"{PREFIX}/chat/completions", self._chat),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, self._host, self._port, backlog=2048).start()
        address = self._runner.addresses[0]
        self.base_url = f"http://{address[0]}:{address[1]}{PREFIX}"
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
    def elapsed(self) -> timedelta:
        """Policy time since the lab began; never negative."""
        return max(timedelta(0), self._now() - self._began)

    # --- calls that list and describe ---------------------------------------------------------------

    async def _health(self, _: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    async def _state(self, _: web.Request) -> web.Response:
        state = {"scenario": self.scenario.name, "elapsed_seconds": self.elapsed.total_seconds()}
        return web.json_response({**state, "account": self.account, **self.ledger.to_json()})

    async def _list_models(self, request: web.Request) -> web.Response:
        offset, limit = _page(request.query.get("offset"), 0), _page(request.query.get("limit"), 1000)
        models = sorted(self.scenario.models, key=lambda model: model.id)
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
        model = self._model(f"{request.match_info['author']}/{request.match_info['slug']}")
        return _json(listing.endpoints(model, self.elapsed, known_key=known))

    async def _list_providers(self, _: web.Request) -> web.Response:
        return _json(listing.providers(self.scenario.models))

    async def _describe_key(self, request: web.Request) -> web.Response:
        self._check_key(request)
        return _json(listing.key(self.account, self._spent))

    async def _describe_generation(self, request: web.Request) -> web.Response:
        self._check_key(request)
        served = self.ledger.find(request.query.get("id", ""))
        if served is None:
            raise RefusedError(Refusal(status=404, message="Generation not found."))
        return _json(listing.generation(served))

    # --- the chat call ------------------------------------------------------------------------------

    async def _chat(self, http: web.Request) -> web.StreamResponse:
        self._check_key(http)
        request = chat_request(await http.read())
        if self.account in _ACCOUNT_REFUSALS:
            raise RefusedError(_ACCOUNT_REFUSALS[self.account])
        wants_metadata = "enabled" in (
            http.headers.get("X-OpenRouter-Metadata"),
            http.headers.get("X-OpenRouter-Experimental-Metadata"),
        )
        prepared = self._served_by(request, wants_metadata=wants_metadata)
        self._spent += float(usage_of(prepared.planned, prepared.envelope)["cost"])
        if prepared.planned.problem is not None:
            self._note(prepared, request, prepared.planned.problem.status)
            return _refused(prepared.planned.problem, prepared.turn.generation)
        if request.stream:
            wire = prepared.wire()
            self._note(prepared, request, 200)
            return await self._send(http, wire, prepared.turn.generation)
        self._note(prepared, request, 200)
        await asyncio.sleep(answer_seconds(prepared.planned) / self._scale)
        body = whole_body(prepared.planned, prepared.envelope)
        return _json(body, headers={"X-Generation-Id": prepared.turn.generation})

    def _served_by(self, request: ChatRequest, *, wants_metadata: bool) -> Prepared:
        """Route the request; a route that answers with an error is left for the next that may be tried."""
        asked = asked_of(request)
        model, tried = self._route(request)
        failures: list[tuple[LabRoute, int]] = []
        for route in tried:
            metadata = self._metadata(request, model, tried, route, failures) if wants_metadata else None
            prepared = self._prepare(model, route, request, asked, metadata)
            problem = prepared.planned.problem
            if problem is None or route is tried[-1]:
                break
            self._note(prepared, request, problem.status)
            failures.append((route, problem.status))
        return prepared

    def _route(self, request: ChatRequest) -> tuple[LabModel, tuple[LabRoute, ...]]:
        """Try the wanted model, then its fallbacks; the refusal is that of the wanted one."""
        self._routings += 1
        rng = Random(f"{self._seed}|routing|{self._routings}")  # noqa: S311 - a lab
        wanted, *fallbacks = request.models
        try:
            model = self._model(wanted)
            return model, candidates(model, request, self.elapsed, rng)
        except RefusedError:
            for name in fallbacks:
                with contextlib.suppress(RefusedError):
                    model = self._model(name)
                    return model, candidates(model, request, self.elapsed, rng)
            raise

    def _prepare(
        self, model: LabModel, route: LabRoute, request: ChatRequest, asked: Asked, metadata: Json
    ) -> Prepared:
        counted = (model.id, route.tag, asked.kind)
        turn = Turn(
            seed=self._seed, model=model.id, route=route.tag, kind=asked.kind, number=self._turns[counted]
        )
        self._turns[counted] += 1
        return prepare(
            model=model,
            route=route,
            request=request,
            asked=asked,
            turn=turn,
            now=self._now(),
            elapsed=self.elapsed,
            metadata=metadata,
        )

    def _metadata(
        self,
        request: ChatRequest,
        model: LabModel,
        tried: tuple[LabRoute, ...],
        route: LabRoute,
        failures: list[tuple[LabRoute, int]],
    ) -> Json:
        """Say how the request was routed. Source: openrouter-wire.md §3.6."""
        rows = [each for each in tried for _ in range(each.rows)]
        attempts = [*((failed, status) for failed, status in failures), (route, 200)]
        return {
            "requested": request.models[0],
            "strategy": "direct",
            "summary": f"{len(rows)} of {sum(each.rows for each in model.routes)} endpoints available",
            "attempt": len(attempts),
            "is_byok": False,
            "endpoints": {
                "total": sum(each.rows for each in model.routes),
                "available": [
                    {"provider": each.provider, "model": model.dated, "selected": each is route}
                    for each in rows
                ],
            },
            "attempts": [
                {"provider": each.provider, "model": model.dated, "status": status}
                for each, status in attempts
            ],
            "params": sorted(request.parameters),
            "pipeline": [{"type": "plugin", "name": name} for name in request.plugins],
            "generation_time": 0,
        }

    def _note(self, prepared: Prepared, request: ChatRequest, status: int) -> None:
        planned = prepared.planned
        self.ledger.add(
            Served(
                id=prepared.turn.generation,
                at=self._now(),
                model=prepared.turn.model,
                route=prepared.route.tag,
                provider=planned.provider,
                kind=prepared.turn.kind,
                locale=planned.asked.locale,
                number=prepared.turn.number,
                status=status,
                faults=tuple(prepared.hand.struck),
                planted=prepared.planted,
                usage=usage_of(planned, prepared.envelope),
                finish=planned.finish if status == 200 else None,
                body=request.body,
            )
        )

    async def _send(self, http: web.Request, wire: Wire, generation: str) -> web.StreamResponse:
        """Send timed bytes; a client that leaves is counted and forgotten."""
        response = web.StreamResponse(
            headers={
                "Content-Type": "text/event-stream; charset=utf-8",
                "Cache-Control": "no-cache",
                "X-Generation-Id": generation,
            }
        )
        clock = asyncio.get_running_loop().time
        began = clock()
        self.ledger.opened()
        try:
            await response.prepare(http)
            due: list[bytes] = []
            for piece in wire.pieces:
                wait = piece.at / self._scale - (clock() - began)
                if wait > 0:
                    if due:
                        await response.write(b"".join(due))
                        due.clear()
                    await asyncio.sleep(max(wait, TICK))
                due.append(piece.data)
            if due:
                await response.write(b"".join(due))
            if wire.ending is EndingMode.RESET and http.transport is not None:
                http.transport.abort()
            else:
                await response.write_eof()
        except ConnectionError:
            self.ledger.abandoned += 1
        finally:
            self.ledger.closed()
        return response

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
        return _refused(refusal, None)

    def _check_key(self, request: web.Request) -> None:
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not given:
            raise RefusedError(Refusal(status=401, message="No auth credentials found"))
        if given.strip() != self.scenario.key or self.account is Account.KEY_REVOKED:
            raise RefusedError(_ACCOUNT_REFUSALS[Account.KEY_REVOKED])

    def _model(self, name: str) -> LabModel:
        """Look up a model by id or dated slug, whatever routing shorthand stands at its end."""
        base = name
        for shorthand in (":nitro", ":floor", ":exacto"):
            base = base.removesuffix(shorthand)
        model = self._models.get(ModelId(base))
        if model is None:
            raise RefusedError(
                Refusal(
                    status=404,
                    message=f"No endpoints found for {name[:200]}.",
                    metadata={"error_type": "not_found"},
                )
            )
        return model


def _json(body: Json, *, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return web.Response(
        status=status,
        body=text.encode("utf-8", "backslashreplace"),
        content_type="application/json",
        headers=headers,
    )


def _refused(refusal: Refusal, generation: str | None) -> web.Response:
    headers = dict(refusal.headers)
    if generation is not None:
        headers["X-Generation-Id"] = generation
    return _json(refusal.body(), status=refusal.status, headers=headers)


def _page(value: str | None, default: int) -> int:
    """Read an offset or limit; what is not a small whole number counts as not given."""
    number = default
    with contextlib.suppress(ValueError):
        number = int((value or str(default))[:9])
    return max(0, number)
