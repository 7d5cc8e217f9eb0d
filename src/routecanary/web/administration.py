"""What may an administrator's program look at and do over HTTP?

The same listings and acts as on the command line, by the same code. Who acts is the token.

Source: docs/serving.md, "The listeners".
"""

from __future__ import annotations

from typing import Final

from routecanary.domain.probe import Json
from routecanary.domain.token import ADMINS, READERS, parse_role, parse_token_name
from routecanary.errors import InputError
from routecanary.rounds.records import Records
from routecanary.rounds.tokens import create_token, mint, revoke_token, token_document
from routecanary.web.desk import Desk, json_body, length_of, required_text, text_of
from routecanary.web.http import Response, error_response, json_response
from routecanary.web.router import Call, Route

MAX_REASON: Final = 2_000  # characters
_UNCACHED: Final = (("cache-control", "no-store"),)


class Administration:
    """Status and tokens."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def routes(self) -> tuple[Route, ...]:
        """List what is served, and for whom."""
        return (
            Route(method="GET", path="/api/v1/health", roles=READERS, answer=self.health, anonymous=True),
            Route(method="GET", path="/api/v1/status", roles=READERS, answer=self.status),
            Route(method="GET", path="/api/v1/tokens", roles=ADMINS, answer=self.list_tokens),
            Route(method="POST", path="/api/v1/tokens", roles=ADMINS, answer=self.create_token),
            Route(method="DELETE", path="/api/v1/tokens/{name}", roles=ADMINS, answer=self.revoke_token),
        )

    def health(self, call: Call) -> Response:
        """Say that we live."""
        del call
        return json_response({"alive": True}, headers=_UNCACHED)

    async def status(self, call: Call) -> Response:
        """Tell what `status --json` prints."""
        del call
        return json_response(await self._desk.look(self._desk.describe), headers=_UNCACHED)

    async def list_tokens(self, call: Call) -> Response:
        """Tell what `token list --json` prints."""
        del call
        now = self._desk.clock.now()
        tokens = await self._desk.look(lambda records: records.ledger.operating().tokens)
        return json_response([token_document(token, now) for token in tokens], headers=_UNCACHED)

    async def create_token(self, call: Call) -> Response:
        """Make a token, and show it this once."""
        body = json_body(call.request, frozenset({"name", "role", "expires", "reason"}))
        name, role = parse_token_name(required_text(body, "name")), parse_role(required_text(body, "role"))
        length, reason, secret = length_of(body, "expires"), _reason(text_of(body, "reason")), mint()

        def make(records: Records) -> dict[str, Json]:
            made = create_token(
                records, name, role, secret=secret, length=length, actor=call.asker.actor, reason=reason
            )
            return token_document(made, records.clock.now())

        document = await self._desk.act(make)
        return json_response({"token": secret.reveal(), **document}, 201, _UNCACHED)

    async def revoke_token(self, call: Call) -> Response:
        """End a token."""
        name, actor = parse_token_name(call.names["name"]), call.asker.actor
        revoked = await self._desk.act(lambda records: revoke_token(records, name, actor=actor, reason=None))
        if revoked is None:
            return error_response(404, f"no living token is called {name}")
        return json_response({"name": name, "revoked": True}, headers=_UNCACHED)


def _reason(given: str | None) -> str | None:
    if given is not None and not 0 < len(given.strip()) <= MAX_REASON:
        raise InputError("empty or too long", key="reason", allowed=f"1 to {MAX_REASON} characters")
    return given
