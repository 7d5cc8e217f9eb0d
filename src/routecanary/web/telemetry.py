"""What happens to telemetry that is sent to the applications' listener?

`POST /v1/telemetry` takes what applications tell, `POST /v1/traces` what the gateway broadcasts. What was
answered with success is in the store, on the disk; told again, it is kept once.

Source: docs/telemetry.md; schemas/telemetry.json.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from routecanary.domain.generation import Generation
from routecanary.domain.token import Role
from routecanary.telemetry.candidates import Lookup
from routecanary.telemetry.inflate import inflated
from routecanary.telemetry.records import MAX_BYTES, read_generations
from routecanary.telemetry.traces import MAX_BYTES as MAX_TRACE_BYTES
from routecanary.telemetry.traces import Traces, read_traces
from routecanary.web.http import Response, error_response, json_response
from routecanary.web.keeping import BusyError, Keeper, Kept
from routecanary.web.router import Call, Route

_TELLERS: Final = frozenset({Role.APP, Role.OPERATOR, Role.ADMIN})
_Reader = Callable[[bytes, datetime], Sequence[Generation]]


class Telemetry:
    """The endpoints that take telemetry in."""

    def __init__(self, keeper: Keeper, lookup: Callable[[], Lookup], *, keep: timedelta) -> None:
        """Take telemetry in.

        Args:
            lookup: Gives what the newest snapshot knows of a model.
            keep: How long generations are kept; one that is older is refused.
        """
        self._keeper = keeper
        self._lookup = lookup
        self._keep = keep

    def routes(self) -> tuple[Route, ...]:
        """List the rows; the gateway's webhook may be set to PUT."""
        return (
            Route(method="POST", path="/v1/telemetry", roles=_TELLERS, answer=self._records),
            Route(method="POST", path="/v1/traces", roles=_TELLERS, answer=self._traces),
            Route(method="PUT", path="/v1/traces", roles=_TELLERS, answer=self._traces),
        )

    async def _records(self, call: Call) -> Response:
        def read(body: bytes, now: datetime) -> Sequence[Generation]:
            return read_generations(body, self._lookup(), now=now, keep=self._keep)

        kept = await self._kept(call, read, limit=MAX_BYTES)
        if isinstance(kept, Response):
            return kept
        return json_response({"kept": kept.new, "known": kept.known}, 202)

    async def _traces(self, call: Call) -> Response:
        if (call.request.headers.get("x-test-connection") or "").lower() == "true":
            return json_response({})
        found = Traces((), 0, None)

        def read(body: bytes, now: datetime) -> Sequence[Generation]:
            nonlocal found
            found = read_traces(body, self._lookup(), now=now, keep=self._keep)
            return found.generations

        kept = await self._kept(call, read, limit=MAX_TRACE_BYTES)
        if isinstance(kept, Response):
            return kept
        if not found.rejected:
            return json_response({})
        partly = {"rejectedSpans": str(found.rejected), "errorMessage": found.problem}  # int64 in JSON
        return json_response({"partialSuccess": partly})

    async def _kept(self, call: Call, read: _Reader, *, limit: int) -> Kept | Response:
        """Read a body and keep what it tells; a bad one and a store in trouble are the router's."""
        body, encoding = call.request.body, call.request.headers.get("content-encoding")
        try:
            return await self._keeper.keep(lambda now: read(inflated(body, encoding, limit=limit), now))
        except BusyError:
            message = "too much telemetry at once; nothing of this body was kept"
            return error_response(503, message, [("retry-after", "1")])
