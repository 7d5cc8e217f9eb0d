"""How common is a word in a language?

The tables are those of the distribution `wordfreq`, whose data have their own licence and never enter this
package; its own loader reads them, each language when it is first asked for. A level is the decimal
logarithm of a word's share in all text: -2 is one word in a hundred.

Source: language.md §4.4, §6.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from routecanary.judge.languages.letters import LETTERS

UNKNOWN: Final = -7.0  # level of a word that no table holds; their rarest is at -6
_LISTS: Final = {
    "tl": ("fil",),
    "id": ("id", "ms"),
    "ms": ("id", "ms"),
    "da": ("da", "nb"),
    "nb": ("nb", "da"),
}
_LEADING: Final = 4_000  # commonest words of a language that give it away
_AHEAD: Final = 1.0  # by so much they are commoner than in the language that was asked for
_JOINTS: Final = re.compile("['-]")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lexicon:
    """The words of one language, folded, with their levels; and its letters beyond ASCII."""

    code: str
    levels: Mapping[str, float]
    letters: frozenset[str] | None

    def level(self, word: str) -> float:
        """Look up a folded word; one of several parts (`l'eau`) is as common as its rarest part."""
        level = self.levels.get(word)
        if level is not None:
            return level
        if "'" in word or "-" in word:
            return min(
                (self.levels.get(part, UNKNOWN) for part in _JOINTS.split(word) if part), default=UNKNOWN
            )
        return UNKNOWN

    def is_strange(self, word: str) -> bool:
        """Say whether a word holds a letter that the language, if its letters are known, does not have."""
        if self.letters is None or word.isascii():
            return False
        return any(c > "\x7f" and c.isalpha() and c not in self.letters for c in word)


def fold(text: str) -> str:
    """Fold text as the tables are folded."""
    folded = text.casefold()
    if folded.isascii():
        return folded
    return folded.replace("’", "'").replace("i\u0307", "i")


@lru_cache(maxsize=64)
def lexicon_of(code: str) -> Lexicon | None:
    """Load a language; None where there is no table of it."""
    levels: dict[str, float] = {}
    for name in _LISTS.get(code, (code,)):
        for word, level in _entries(name):
            if levels.setdefault(word, level) < level:
                levels[word] = level
    if not levels:
        return None
    return Lexicon(code=code, levels=levels, letters=LETTERS.get(code))


@lru_cache(maxsize=64)
def telltales(code: str, others: tuple[str, ...]) -> Mapping[str, int]:
    """Find the common words that speak for another language than the one that was asked for.

    Returns:
        By word the languages it speaks for, as bits in the order of `others`.
    """
    own = lexicon_of(code)
    found: dict[str, int] = {}
    for place, other in enumerate(others):
        if own is None or other == code:
            continue
        for name in _LISTS.get(other, (other,)):
            for word, level in _leading(name):
                if level - own.level(word) >= _AHEAD:
                    found[word] = found.get(word, 0) | 1 << place
    return found


@lru_cache(maxsize=64)
def _leading(name: str) -> tuple[tuple[str, float], ...]:
    return tuple(islice(_entries(name), _LEADING))


def _entries(name: str) -> Iterator[tuple[str, float]]:
    """Read a table of words with their levels, the commonest first."""
    from wordfreq import available_languages, read_cBpack  # noqa: PLC0415 - 0.1 s, for judging alone

    path = available_languages("small").get(name)
    for centibels, words in enumerate(read_cBpack(path) if path else ()):
        level = -centibels / 100
        for word in words:
            if word[0].isalpha():
                yield word, level
