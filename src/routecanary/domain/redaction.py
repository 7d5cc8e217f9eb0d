"""What must be taken out of a text before it is kept or sent?

A last net below the rule that nothing secret is put into a text at all: an error of a library may quote what
it was given, and a gateway's error names the account that it refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from routecanary.domain.secret import Secret

HIDDEN: Final = "[secret]"
SHORTEST_PIECE: Final = 8
"""Characters of a part of an address from which on it is taken for a token."""

SHORTEST: Final = 6
"""Characters of a secret from which on it is looked for: a shorter one would blot out ordinary words."""


_OF_SOMEBODY: Final = re.compile(
    r"\bsk-[\w-]{16,}"  # keys
    r"|\b(?:user|org|acct|account|team|cus|key)_[A-Za-z0-9]{8,}"  # ids of accounts, as gateways write them
    r"|[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{1,190}",  # addresses of mail
    re.ASCII,
)
"""What by its form is somebody's, whoever they are."""

TOKEN_PREFIX: Final = "rc_"  # noqa: S105 - the form of all of them, and none
"""How a token of our own begins, so that it is known wherever it turns up."""

_TOKEN: Final = re.compile(rf"\b{TOKEN_PREFIX}[\w-]{{43}}", re.ASCII)  # 256 bits in base64url


def without_identities(text: str) -> str:
    """Take out what looks like a key, an account's id or an address of mail.

    Example: `{"user_id":"user_2x7KqLm0"}` becomes `{"user_id":"[secret]"}`.
    """
    return _OF_SOMEBODY.sub(HIDDEN, text)


def looks_like_token(text: str) -> bool:
    """Say whether a text holds what may be a token of our own."""
    return _TOKEN.search(text) is not None


def without_tokens(text: str) -> str:
    """Take out what may be a token of our own: only its digest is known, so its form has to do."""
    return _TOKEN.sub(HIDDEN, text) if TOKEN_PREFIX in text else text


def secret_parts(address: Secret) -> list[Secret]:
    """List what may be secret of an address: itself, the parts of its path, and the values of its query."""
    parts = urlsplit(address.reveal())
    values = [value for _, value in parse_qsl(parts.query, keep_blank_values=True)]
    pieces = [parts.query, *parts.path.split("/"), *values]
    return [address, *(Secret(piece) for piece in pieces if len(piece) >= SHORTEST_PIECE)]


class Redactor:
    """Takes known secrets, and tokens of our own, out of texts, as they are and as JSON writes them."""

    __slots__ = ("_forms",)

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        forms: set[str] = set()
        for secret in secrets:
            value = secret.reveal()
            if len(value) >= SHORTEST:
                forms |= {value, json.dumps(value)[1:-1], repr(value)[1:-1]}
        self._forms = tuple(sorted(forms, key=lambda form: (-len(form), form)))  # a whole before its part

    def __call__(self, text: str) -> str:
        for form in self._forms:
            text = text.replace(form, HIDDEN)
        return without_tokens(text)

    def __repr__(self) -> str:
        return f"Redactor({len(self._forms)} forms)"
