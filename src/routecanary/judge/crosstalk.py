"""Is this the answer to somebody else's request?

Provable only where the request gave a code that no other request has.
"""

from __future__ import annotations

import re
from typing import Final

from routecanary.domain.asked import Asked
from routecanary.judge.contract import Finding, excerpt, fail, unsure

_CODE_WORD: Final = re.compile(r"\b[A-Z]{2,12}-\d{2,8}\b")
_CODE_ASKED: Final = re.compile(
    r"\b(?:code|marker|token|id|nonce|keyword|reference|kennwort|código|clave|marca|mot de passe|codice)\b"
    r"[^\n]{0,30}?"
    r"(?P<code>\b[A-Z]{2,12}-\d{2,8}\b)"
    r"|\b(?:only|exactly|include|nur|genau|solo|apenas|somente|uniquement|exactement)\b[^\n]{0,40}?"
    r"(?P<same>\b[A-Z]{2,12}-\d{2,8}\b)",
    re.IGNORECASE,
)


def cross_talk(text: str, asked: Asked) -> Finding | None:
    """Look for the code that the request asked to be in the answer, and for a stranger's in its place."""
    match = _CODE_ASKED.search(asked.prompt)
    if match is None:
        return None
    code = match.group("code") or match.group("same")
    if code.upper() in text.upper():
        return None
    others = [other for other in _CODE_WORD.findall(text) if other not in asked.prompt]
    if others:
        return fail("cross_talk", f"asked for {code}, the answer carries {others[0]}")
    return unsure("cross_talk", f"asked for {code}, which the answer lacks: {excerpt(text)}")
