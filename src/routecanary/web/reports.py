"""How does an application, or a support tool, pass a user's complaint on over HTTP?

By the same code as `routecanary report`, save that a time must say its zone: where this machine stands says
nothing of the user.

Source: docs/reports.md, "Over HTTP".
"""

from __future__ import annotations

from typing import Final

from routecanary.clock import zone_named
from routecanary.domain.names import ModelId
from routecanary.domain.probe import Json
from routecanary.domain.token import ACTORS, READERS, SENDERS
from routecanary.errors import InputError
from routecanary.rounds.complaint_document import answer_document, kept_document
from routecanary.rounds.complaints import complaint_of, complaints_of
from routecanary.rounds.receive import received_of, take_complaint
from routecanary.rounds.records import Records
from routecanary.rounds.stated import WITHIN, Stated, known_model, understand
from routecanary.rounds.suspects import answer_to
from routecanary.web.desk import Desk, json_body, required_text, text_of
from routecanary.web.http import Response, error_response, json_response
from routecanary.web.router import Call, Route

MOST_LISTED: Final = 1_000
_UNCACHED: Final = (("cache-control", "no-store"),)
_TEXTS: Final = ("model", "at", "within", "locale", "symptom", "conversation", "generation", "note")


class Reports:
    """Complaints: passed on by applications, read by administrators."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def application_routes(self) -> tuple[Route, ...]:
        """List the rows of `/v1`: an application tells, and is told what it came to."""
        return (Route(method="POST", path="/v1/reports", roles=SENDERS, answer=self.add),)

    def administrator_routes(self) -> tuple[Route, ...]:
        """List the rows of `/api/v1`."""
        return (
            Route(method="POST", path="/api/v1/reports", roles=ACTORS, answer=self.add),
            Route(method="GET", path="/api/v1/reports", roles=READERS, answer=self.list_all),
            Route(method="GET", path="/api/v1/reports/{number}", roles=READERS, answer=self.show),
        )

    async def add(self, call: Call) -> Response:
        """Answer a complaint and keep it, as `report add --json` prints it; 200 where it was known."""
        body = json_body(call.request, frozenset({*_TEXTS, "ask"}))
        ask = body.get("ask")
        if ask is not None and not isinstance(ask, bool):
            raise InputError("not a yes or no", key="ask", allowed="true, false, or null")
        stated = Stated(
            model=required_text(body, "model"),
            at=required_text(body, "at"),
            within=text_of(body, "within") or WITHIN,
            locale=text_of(body, "locale"),
            symptom=text_of(body, "symptom"),
            conversation=text_of(body, "conversation"),
            generation=text_of(body, "generation"),
            note=text_of(body, "note"),
        )

        def take(records: Records) -> tuple[int, dict[str, Json]]:
            understood = understand(
                records, stated, actor=call.asker.actor, zone_named=zone_named, assumed=None
            )
            taken = take_complaint(records, understood, zone_named=zone_named, ask=ask)
            return 200 if taken.known else 201, taken.document()

        status, document = await self._desk.act(take)
        return json_response(document, status, _UNCACHED)

    async def list_all(self, call: Call) -> Response:
        """Tell what `report list --json` prints, the newest thousand at most."""
        model = _only_model(call)

        def found(records: Records) -> list[Json]:
            name: ModelId | None = None if model is None else known_model(records, model)
            return [kept_document(kept) for kept in complaints_of(records.store, name, limit=MOST_LISTED)]

        return json_response(await self._desk.look(found), headers=_UNCACHED)

    async def show(self, call: Call) -> Response:
        """Tell what `report show --json` prints."""
        number = call.names["number"]

        def found(records: Records) -> dict[str, Json] | None:
            kept = (
                complaint_of(records.store, int(number)) if number.isdecimal() and len(number) < 19 else None
            )
            if kept is None:
                return None
            answer = answer_to(records.store, kept.received.complaint)
            now = answer_document(received_of(kept.received.complaint, answer))
            return {**kept_document(kept), "now": now, "warnings": list(answer.warnings)}

        document = await self._desk.look(found)
        if document is None:
            return error_response(404, f"there is no complaint {number[:20]!r}")
        return json_response(document, headers=_UNCACHED)


def _only_model(call: Call) -> str | None:
    """Read a query that may only name a model."""
    try:
        parameters = call.request.parameters()
    except ValueError:
        raise InputError("cannot be read", key="query", allowed="model") from None
    if unknown := sorted(parameters.keys() - {"model"}):
        raise InputError("unknown parameter", key=unknown[0][:80], allowed="model")
    models = parameters.get("model", [])
    if len(models) > 1:
        raise InputError("given more than once", key="model", allowed="one value")
    return models[0] if models else None
