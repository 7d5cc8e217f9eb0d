"""Does a prompt ask for words of a language or script by name?

The names are those of `named.py`. They are looked for as words, never within one: where a script parts no
words, only with the sign that makes a language of a country.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from routecanary.judge.languages import CYRILLIC, LATIN
from routecanary.judge.languages.named import ARABIC_NAMES, SIGNS, TRANSLATION, WORDS

_TRANSLATION: Final = re.compile(TRANSLATION, re.IGNORECASE)
_MEMBERS: Final = {"Latin": LATIN, "Cyrillic": CYRILLIC}


def asks_for(name: str, prompt: str) -> bool:
    """Say whether a prompt names a language (by code) or a script, or asks for a translation.

    A nationality counts, too: a character who is called a Spaniard may speak Spanish. A script is named by
    each language that is written in it.
    """
    return _TRANSLATION.search(prompt) is not None or any(
        _pattern(each).search(prompt) is not None for each in (name, *_MEMBERS.get(name, ()))
    )


@lru_cache(maxsize=64)
def _pattern(name: str) -> re.Pattern[str]:
    words = "|".join(
        re.escape(word.rstrip("-")) + (r"\w*" if word.endswith("-") else "")
        for word in WORDS.get(name, "").split()
    )
    parts = [rf"(?<!\w)(?:{words})(?!\w)"] if words else []
    arabic = "|".join(ARABIC_NAMES.get(name, "").split())
    if arabic:
        parts.append(rf"(?<!\w)[وبلف]?(?:ال|لل)?(?:{arabic})(?:ة|ا|ون|ين)?(?!\w)")
    if name in SIGNS:
        parts.append(SIGNS[name])
    return re.compile("|".join(parts) or r"(?!)", re.IGNORECASE)
