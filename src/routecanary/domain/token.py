"""Who may ask a listener for what?

A token is 256 random bits that a program shows. What is kept of it is a digest: the log says who made it and
for whom, and cannot be used to come in.

Source: docs/serving.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Final

from routecanary.domain.redaction import looks_like_token
from routecanary.errors import InputError


class Role(StrEnum):
    """What a token is for."""

    READ = "read"  # looks at everything
    APP = "app"  # an application: asks for exclusions, and tells what it was served
    OPERATOR = "operator"  # acts
    ADMIN = "admin"  # makes tokens, too


class TokenState(StrEnum):
    """Whether a token still opens anything."""

    LIVING = "living"
    EXPIRED = "expired"
    REVOKED = "revoked"


EVERYBODY: Final = frozenset(Role)
"""Every token: what `GET /v1/*` asks for."""

SENDERS: Final = frozenset({Role.APP, Role.OPERATOR, Role.ADMIN})
"""Those that may tell of what users were served."""

READERS: Final = frozenset({Role.READ, Role.OPERATOR, Role.ADMIN})
"""Those that may look at everything but tokens."""

ACTORS: Final = frozenset({Role.OPERATOR, Role.ADMIN})
"""Those that may act."""

ADMINS: Final = frozenset({Role.ADMIN})
"""Those that may see and make tokens."""

ENDED_KEPT: Final = 100
"""Tokens that opened something once and are still listed, the newest ones."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token as it is remembered: never the token itself."""

    name: str
    role: Role
    digest: str  # SHA-256 of the token, in hexadecimal digits
    created_at: datetime
    actor: str  # who made it
    expires_at: datetime | None = None  # None = until it is revoked
    revoked_at: datetime | None = None

    def state(self, now: datetime) -> TokenState:
        """Say whether it opens anything; at the instant of its end it no longer does."""
        if self.revoked_at is not None:
            return TokenState.REVOKED
        if self.expires_at is not None and now >= self.expires_at:
            return TokenState.EXPIRED
        return TokenState.LIVING


def digest_of(token: str) -> str:
    """Write what is kept of a token; any text has one."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def parse_role(text: str) -> Role:
    """Read a role.

    Raises:
        InputError: It is none.
    """
    try:
        return Role(text)
    except ValueError:
        raise InputError("no such role", key="role", value=text, allowed=", ".join(Role)) from None


def parse_token_name(text: str) -> str:
    """Read a token's name.

    Raises:
        InputError: It is none; what looks like a token is not shown.
    """
    if looks_like_token(text):
        raise InputError("that is a token, not the name of one", key="name")
    if not _NAME.fullmatch(text):
        raise InputError(
            "not a name for a token",
            key="name",
            value=text,
            allowed="1 to 64 letters, digits, dots, dashes or underscores, the first a letter or a digit",
        )
    return text
