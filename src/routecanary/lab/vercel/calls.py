"""Which calls of the Vercel AI Gateway describe it, and how are they answered?"""

from __future__ import annotations

from aiohttp import web

from routecanary.domain.probe import Json
from routecanary.lab.desk import Desk
from routecanary.lab.face import Face
from routecanary.lab.refusal import Refusal, RefusedError
from routecanary.lab.vercel import listing
from routecanary.lab.wire import JSON, json_bytes


class Calls:
    """The calls that list and describe; the listings want no key, as at the real gateway."""

    def __init__(self, desk: Desk, face: Face) -> None:
        self._desk = desk
        self._face = face

    def routes(self) -> list[web.RouteDef]:
        prefix = self._face.prefix
        return [
            web.get(f"{prefix}/models", self._models),
            web.get(f"{prefix}/models/{{creator}}/{{model}}/endpoints", self._endpoints),
            web.get(f"{prefix}/credits", self._credits),
            web.get(f"{prefix}/generation", self._generation),
        ]

    async def _models(self, _: web.Request) -> web.Response:
        return _json(listing.models(self._desk.scenario.models))

    async def _endpoints(self, request: web.Request) -> web.Response:
        model = self._desk.model(f"{request.match_info['creator']}/{request.match_info['model']}")
        return _json(listing.endpoints(model, self._desk.elapsed))

    async def _credits(self, request: web.Request) -> web.Response:
        self._desk.check_key(request.headers.get("Authorization", ""))
        return _json(listing.credits_of(self._desk.account, self._desk.spent))

    async def _generation(self, request: web.Request) -> web.Response:
        self._desk.check_key(request.headers.get("Authorization", ""))
        served = self._desk.ledger.find(request.query.get("id", ""))
        if served is None:
            raise RefusedError(Refusal(status=404, message="Generation not found"))
        return _json(listing.generation(served, self._face.slug(served.provider)))


def _json(body: Json) -> web.Response:
    return web.Response(body=json_bytes(body), content_type=JSON)
