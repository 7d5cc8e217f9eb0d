"""Did a text that was asked for to the letter come without its beginning, or with debris before it?

Source: product.md §2 (start spoiled); docs/judges.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from routecanary.domain.asked import Asked
from routecanary.judge.contract import Finding, excerpt, fail

_CODE: Final = "corrupt_start"
_MIN_CAME: Final = 4  # characters of the answer; fewer tell nothing
_MAX_DEBRIS: Final = 4  # characters before a text that was to come alone
_MAX_WANTED: Final = 300  # characters of a sentence that is asked for
_WORDS: Final = (
    r"\b(?:exactly|verbatim|word for word|nothing else|repeat|genau|wörtlich|exactamente|exatamente"
    r"|exactement|esattamente|precies|dokładnie|точно|дословно|ровно|aynen|persis|chính xác)\b"
    r"|逐字|原样|原封不动|そのまま|正確に|と書いて|그대로|정확히|ตรงตัว|คำต่อคำ"
)
_ASKED: Final = re.compile(_WORDS, re.IGNORECASE)
_QUOTED: Final = re.compile(
    r"\"([^\"\n]{8,300})\"|“([^”\n]{4,300})”|„([^“”\n]{8,300})[“”]|«([^»\n]{8,300})»|「([^」\n]{4,300})」"
    r"|『([^』\n]{4,300})』|‘([^’\n]{8,300})’|(?<!\w)'([^\n]{8,300}?)'(?!\w)|`([^`\n]{8,300})`"
)
_UNQUOTED: Final = re.compile(
    rf"(?:{_WORDS})[^\n:：\"“„«「'`]{{0,40}}[:：][ \t]*\n?([^\n]{{12,300}})", re.IGNORECASE
)
_QUOTES: Final = "\"“”„«»「」『』‘’'`"


def lost_beginning(text: str, asked: Asked) -> Finding | None:
    """Find a required sentence that came without its beginning, or behind a few stray characters."""
    if not _ASKED.search(asked.prompt):
        return None
    came = " ".join(text.split()).strip(_QUOTES)
    if len(came) < _MIN_CAME:
        return None
    for wanted in _wanted(asked.prompt):
        missing = len(wanted) - len(came)
        if 0 < missing <= len(wanted) // 2 and wanted.endswith(came):
            return fail(
                _CODE, f"the required text came without its first {missing} characters: {excerpt(came)}"
            )
        before = came[: -len(wanted)] if came.endswith(wanted) else ""
        if 0 < len(before) <= _MAX_DEBRIS and not any(c in _QUOTES + "*_>#-–—" for c in before):
            a_word = any(c.isalnum() for c in before) and before[-1].isspace()  # `Ok: …`
            if not a_word:
                return fail(_CODE, f"{before!r} before the required text: {excerpt(came)}")
    return None


def _wanted(prompt: str) -> Iterator[str]:
    """Give the sentences that the request holds in quotation marks, or behind the colon of its wish."""
    for match in _QUOTED.finditer(prompt):
        yield " ".join(next(group for group in match.groups() if group).split())
    unquoted = _UNQUOTED.search(prompt)
    if unquoted is not None:
        yield " ".join(unquoted.group(1).split())
