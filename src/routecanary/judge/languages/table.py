"""What gives a language away, word by word?

Own tables of the commonest words and endings, written for this purpose. A word that is common in two
languages stands in both tables, and so speaks for neither.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from routecanary.judge.vocabulary import words


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Language:
    """One language written in a script that it shares with others; each is a thing of its own.

    Args:
        code: Its locale without region.
        words: Its commonest words, lower case.
        letters: The letters beyond A–Z that its words may hold; all of them where they are Cyrillic.
        signs: Endings and letter groups that are common in it and rare in its neighbours.
        home: It may be asked for; False for languages that only answers slide into.
    """

    code: str
    words: frozenset[str]
    letters: frozenset[str]
    signs: re.Pattern[str]
    home: bool = True


def language(code: str, *, letters: str, signs: str, common: str, home: bool = True) -> Language:
    """Build a language; `common` is a block of words, `signs` a regular expression over one word."""
    return Language(
        code=code,
        words=words(common),
        letters=frozenset(letters),
        signs=re.compile(signs),
        home=home,
    )
