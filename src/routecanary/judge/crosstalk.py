"""Is this the answer to somebody else's request?

Provable only where the request gave a code that no other request has.
"""

from __future__ import annotations

import re
from typing import Final

from routecanary.domain.asked import Asked
from routecanary.judge.contract import Finding, excerpt, fail, unsure

_CODE: Final = r"(?=[A-Za-z-]{0,24}\d)[A-Za-z0-9]{1,12}(?:-[A-Za-z0-9]{1,12}){1,3}"  # KITE-4821, a91f-33c0
_CODE_WORD: Final = re.compile(rf"(?<![\w-]){_CODE}(?![\w-])")
_NUMBER: Final = re.compile(r"(?<![\w.,-])\d{6,16}(?![\w.,-]\w)")
_NAMED: Final = (
    r"code|marker|token|id|nonce|keyword|reference|string|tag|key|kennwort|kennung|código|clave|marca|jeton"
    r"|mot de passe|codice|parola|kod|hasło|код|метк[аиу]|маркер|слово|kodu|mã|kode"
)
_ONLY: Final = (
    r"only|exactly|include|begin|start|repeat|nur|genau|solo|sólo|apenas|somente|uniquement|exactement"
    r"|esattamente|alleen|tylko|dokładnie|только|ровно|точно|sadece|yalnızca|hanya|chỉ"
)
_CODE_ASKED: Final = re.compile(
    rf"\b(?:{_NAMED})\b[^\n]{{0,30}}?(?<![\w-])(?P<code>{_CODE})(?![\w-])"
    rf"|\b(?P<only>{_ONLY})\b[^\n]{{0,40}}?(?<![\w-])(?P<same>{_CODE})(?![\w-])"
    rf"|(?:代码|代號|编号|口令|标记|暗号|コード|合言葉|코드|암호)[^\n]{{0,12}}?(?<![A-Za-z0-9-])(?P<dense>{_CODE})(?![\w-])",
    re.IGNORECASE,
)
# A bare number is a code only where it is pointed at, with nothing to reckon.
_NUMBER_ASKED: Final = re.compile(
    r"\b(?:this|the following|diese|este|cette|questo)\s+"
    rf"(?:{_NAMED}|number|zahl|nummer|número|nombre|numero)\b"
    r"[^\n\d+*/=]{0,30}?(?P<number>\d{6,16})(?![\w.,-]*[\d+*/=])",
    re.IGNORECASE,
)


def cross_talk(text: str, asked: Asked) -> Finding | None:
    """Look for the code that the request asked to be in the answer, and for a stranger's in its place.

    A code of the same build is a stranger's; one of another build (`UTF-16`) may be a word of the answer,
    unless the code alone was to come.
    """
    if not any(c.isdigit() for c in asked.prompt):
        return None
    match = _CODE_ASKED.search(asked.prompt)
    if match is None:
        return _other_number(text, asked)
    code = next(found for name in ("code", "same", "dense") if (found := match.group(name)))
    if code.upper() in text.upper():
        return None
    others = [other for other in _CODE_WORD.findall(text) if other not in asked.prompt]
    alike = [other for other in others if _build(other) == _build(code)]
    if alike or (others and len(text.split()) == 1):
        return fail("cross_talk", f"asked for {code}, the answer carries {(alike or others)[0]}")
    return unsure("cross_talk", f"asked for {code}, which the answer lacks: {excerpt(text)}")


def _other_number(text: str, asked: Asked) -> Finding | None:
    match = _NUMBER_ASKED.search(asked.prompt)
    if match is None or match.group("number") in text:
        return None
    number = match.group("number")
    for other in _NUMBER.findall(text):
        if len(other) == len(number) and other not in asked.prompt:
            return fail("cross_talk", f"asked for {number}, the answer carries {other}")
    return None


def _build(code: str) -> tuple[tuple[int, bool], ...]:
    """Describe how a code is built: of each part its length, and whether it is all letters."""
    return tuple((len(part), part.isalpha()) for part in code.split("-"))
