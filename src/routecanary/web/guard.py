"""Who asks, and may they?

Answered from memory: the tokens are read beside the requests, never for one. What a request shows is hashed
and looked up by its hash, so that a wrong token costs as much as a right one and its timing tells nothing.

Source: docs/serving.md, "Tokens and roles".
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Final, Protocol

from routecanary.domain.token import Role, Token, TokenState

OWN_HEADER: Final = "X-Routecanary-Token"
"""Where a token stands if `Authorization` is the caller's own."""

CHALLENGE: Final = 'Bearer realm="routecanary"'

_LONGEST: Final = 256  # characters that are looked at; a token has 46
_NOBODY: Final = "0" * 64


class Headers(Protocol):
    """The headers of a request, looked up without regard to case."""

    def get(self, name: str, /) -> str | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """A request that may go on; `token` is whose, None where nobody had to say."""

    token: Token | None

    @property
    def actor(self) -> str:
        """How the log names who acts."""
        return "nobody" if self.token is None else f"token {self.token.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """A request that may not."""

    status: int  # 401: who are you? 403: not you. 503: nobody can be known yet
    message: str

    @property
    def headers(self) -> Mapping[str, str]:
        """What the answer has to carry besides."""
        return {"WWW-Authenticate": CHALLENGE} if self.status == 401 else {}


class Guard:
    """The tokens as they were last read, and what has been shown that is none of them."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        """Know nobody until `replace` is called, from whatever thread.

        Args:
            now: Wall time: a token ends by the clock, read anew or not.
        """
        self._now = now
        self._by_digest: Mapping[str, Token] | None = None
        self.wrong = 0
        """Requests that showed what opens nothing."""

    def replace(self, tokens: Iterable[Token]) -> None:
        """Go by these tokens from now on."""
        self._by_digest = {token.digest: token for token in tokens if token.revoked_at is None}

    def living(self) -> bool:
        """Say whether any token opens anything now."""
        now = self._now()
        known = () if self._by_digest is None else self._by_digest.values()
        return any(token.state(now) is TokenState.LIVING for token in known)

    def admit(
        self, headers: Headers, roles: frozenset[Role], *, anonymous: bool = False, own_only: bool = False
    ) -> Admitted | Denied:
        """Say whether a request may do what these roles may.

        Args:
            anonymous: It needs no token, and a wrong one does no harm.
            own_only: `Authorization` is not ours to read: only our own header counts.
        """
        shown = headers.get(OWN_HEADER)
        if not shown and not own_only:
            shown = _bearer(headers.get("Authorization"))
        token = self._find(shown) if shown else None
        if shown and token is None:
            self.wrong += 1
        if token is not None and token.role in roles:
            return Admitted(token=token)
        if anonymous:
            return Admitted(token=None)
        if self._by_digest is None:
            return Denied(status=503, message="the tokens could not be read yet; try again")
        if token is not None:
            allowed = ", ".join(role.value for role in Role if role in roles)
            return Denied(status=403, message=f"role {token.role.value} may not do this; allowed: {allowed}")
        if shown:
            return Denied(status=401, message="the token opens nothing: unknown, expired or revoked")
        return Denied(status=401, message=f"a token is needed: {_where(own_only=own_only)}")

    def _find(self, shown: str) -> Token | None:
        digest = sha256(shown[:_LONGEST].encode("utf-8", "surrogatepass")).hexdigest()
        token = None if self._by_digest is None else self._by_digest.get(digest)
        same = hmac.compare_digest(digest, _NOBODY if token is None else token.digest)
        if token is None or not same or token.state(self._now()) is not TokenState.LIVING:
            return None
        return token


def _bearer(authorization: str | None) -> str | None:
    if authorization is None:
        return None
    scheme, _, shown = authorization.partition(" ")
    return shown.strip() if scheme.lower() == "bearer" else authorization


def _where(*, own_only: bool) -> str:
    return f"{OWN_HEADER}: rc_…" if own_only else "Authorization: Bearer rc_…"
