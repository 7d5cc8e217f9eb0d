"""Did a text lose letters to question marks?

A text of another script that became nothing but marks; or single letters, where a word of the language
appears once one of its own letters is put in the place of a mark.

Source: language.md §5.
"""

from __future__ import annotations

import re
from itertools import product
from typing import Final

from routecanary.domain.names import Locale
from routecanary.judge.contract import Finding, excerpt, fail
from routecanary.judge.languages import LATIN
from routecanary.judge.languages.lexicon import Lexicon, fold, lexicon_of

_MANY, _SHARE = 20, 0.4  # marks in place of letters, and their share of all characters
_WORD: Final = re.compile(r"(?<![^\W\d_])[^\W\d_]{0,40}\?{1,2}[^\W\d_]{0,40}")
_INNER: Final = re.compile(r"(?<=[a-zà-ÿ])\?(?=[a-zà-ÿ])")
_INNER_MARKS: Final = 3  # that show a loss where there are no words to look up
_REPAIRED: Final = 2  # different words that a lost letter makes whole
_KNOWN: Final = -5.5  # level of the word that appears
_COMMON: Final = -4.5  # level of a word that may stand beside a mark without a space
_TRIED: Final = 60  # words that are tried, at most
_TRIES: Final = 400  # letters that are tried in one of them


def lost_letters(prose: str, locale: Locale | None) -> Finding | None:
    """Find text that became question marks."""
    marks = prose.count("?")
    if marks >= _MANY and marks > _SHARE * len("".join(prose.split())):
        return fail("encoding", f"{marks} '?' in place of letters: {excerpt(prose)}")
    code = None if locale is None else locale.split("-", 1)[0]
    if marks < _REPAIRED or code is None or code == "en":
        return None
    lexicon = lexicon_of(code) if code in LATIN else None
    if lexicon is None:
        lost = _INNER.findall(prose)
        return fail("encoding", f"{len(lost)} '?' within words") if len(lost) >= _INNER_MARKS else None
    repaired = [word for word in _candidates(prose) if _is_repaired(word, lexicon)]
    if len(repaired) < _REPAIRED:
        return None
    return fail("encoding", f"{len(repaired)} words lost a letter to '?', such as {repaired[0]!r}")


def _candidates(prose: str) -> list[str]:
    marked = [piece for piece in prose.split() if "?" in piece]
    found = dict.fromkeys(fold(word) for piece in marked for word in _WORD.findall(piece))
    return list(found)[:_TRIED]


def _is_repaired(word: str, lexicon: Lexicon) -> bool:
    """Say whether a letter in place of each mark makes a word, and the parts beside it are none."""
    letters = sorted(lexicon.letters or ())
    gap = word.count("?")
    if len(letters) ** gap > _TRIES or all(_is_word(part, lexicon) for part in word.split("?") if part):
        return False
    return any(
        lexicon.levels.get(word.replace("?" * gap, "".join(tried), 1), _KNOWN - 1) >= _KNOWN
        for tried in product(letters, repeat=gap)
    )


def _is_word(part: str, lexicon: Lexicon) -> bool:
    return len(part) > 1 and lexicon.levels.get(part, _COMMON - 1) >= _COMMON
