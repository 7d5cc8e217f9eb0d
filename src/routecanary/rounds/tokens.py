"""Who may ask our listeners, and who said so?

A token is made and ended by an act, kept in the log like every other: decided on the newest state, durable on
return. Every process that listens reads the log anew every second or so.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Final

from routecanary.domain.codec import from_json
from routecanary.domain.log import Head
from routecanary.domain.operating import OperatingState, evolve_operating
from routecanary.domain.operation import (
    OPERATION_NAMES,
    TokenCreated,
    TokenRevoked,
    operation_from_json,
)
from routecanary.domain.probe import Json
from routecanary.domain.redaction import TOKEN_PREFIX
from routecanary.domain.secret import Secret
from routecanary.domain.times import format_instant
from routecanary.domain.token import Role, Token, TokenState, digest_of
from routecanary.errors import InputError
from routecanary.rounds.fold import REMEMBERED, Remembered
from routecanary.rounds.ports import PrunedLog
from routecanary.rounds.records import Records

_BYTES: Final = 32
_TOKEN_KINDS: Final = frozenset({OPERATION_NAMES[TokenCreated], OPERATION_NAMES[TokenRevoked]})


def mint() -> Secret:
    """Make a token of 256 random bits."""
    return Secret(TOKEN_PREFIX + secrets.token_urlsafe(_BYTES))


def create_token(
    records: Records,
    name: str,
    role: Role,
    *,
    secret: Secret,
    length: timedelta | None,
    actor: str,
    reason: str | None,
) -> Token:
    """Let whoever shows a secret in, for as long as it lives.

    Args:
        secret: What `mint` made; only its digest is kept.
        length: For how long; None = until it is revoked.
    Raises:
        InputError: A living token has that name.
        StoreError: It could not be kept, so it opens nothing.
    """

    digest = digest_of(secret.reveal())

    def decide(operating: OperatingState) -> list[TokenCreated]:
        now = records.clock.now()
        if any(token.name == name and token.state(now) is TokenState.LIVING for token in operating.tokens):
            raise InputError("a living token has that name", key="name", value=name, allowed="another name")
        return [
            TokenCreated(
                at=now,
                name=name,
                role=role,
                digest=digest,
                actor=actor,
                expires_at=None if length is None else now + length,
                reason=reason,
            )
        ]

    records.ledger.operate(decide)
    tokens = records.ledger.operating().tokens  # others may have been made meanwhile
    return next(token for token in tokens if token.digest == digest)


def revoke_token(records: Records, name: str, *, actor: str, reason: str | None) -> Token | None:
    """End the living token of a name.

    Returns:
        The token; None where no living one has that name.
    Raises:
        StoreError: It could not be kept, so the token still opens what it opened.
    """
    found: Token | None = None

    def decide(operating: OperatingState) -> list[TokenRevoked]:
        nonlocal found
        now = records.clock.now()
        living = (token for token in operating.tokens if token.state(now) is TokenState.LIVING)
        found = next((token for token in living if token.name == name), None)
        if found is None:
            return []
        return [TokenRevoked(at=now, name=name, digest=found.digest, actor=actor, reason=reason)]

    records.ledger.operate(decide)
    return found


def token_document(token: Token, now: datetime) -> dict[str, Json]:
    """Describe a token for people and programs: never what opens anything, nor its digest."""
    return {
        "name": token.name,
        "role": token.role.value,
        "state": token.state(now).value,
        "created_at": format_instant(token.created_at),
        "expires_at": None if token.expires_at is None else format_instant(token.expires_at),
        "revoked_at": None if token.revoked_at is None else format_instant(token.revoked_at),
        "actor": token.actor,
    }


class StoredTokens:
    """The tokens that a log knows, read again and again, without a fold of all the rest."""

    def __init__(self, log: PrunedLog) -> None:
        self._log = log
        self._head: Head | None = None
        self._tokens: tuple[Token, ...] = ()

    def read(self) -> tuple[Token, ...]:
        """Return the tokens as of now, in the order of their making.

        Raises:
            StoreError: The log cannot be read.
        """
        head = self._log.head()
        if head != self._head:
            self._tokens = self._folded()
            self._head = head
        return self._tokens

    def _folded(self) -> tuple[Token, ...]:
        state, begin = OperatingState(), 0
        for remembered in self._log.newest(1, kinds={REMEMBERED}):
            state = from_json(Remembered, remembered.body).operating
            begin = remembered.seq
        for stored in self._log.read(begin, kinds=_TOKEN_KINDS):
            state = evolve_operating(state, operation_from_json(stored.body))
        return state.tokens
