"""Which words of a text belong to another language of the same script?

A two-state model over the words: the expected language against one other. Each word speaks for one of
them, for neither or for both; changing over costs something, so that a name or a loan word is not a
change. The other language with the most foreign words wins.

Source: language.md §4.4, with own tables in place of word frequencies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from routecanary.judge.languages.contrasts import contrast_of
from routecanary.judge.languages.table import Language

_COMMON_WORD: Final = 1.5  # a word of one table and not of the other
_FOREIGN_LETTER: Final = 1.3  # a letter that the other alphabet has and this one lacks
_SHAPE: Final = 0.9  # an ending or letter group that tells this pair apart
_SIGN: Final = 0.4  # one that is common in one of them, where nothing is known of the pair
_NAME: Final = 0.2  # weight of a capitalised word inside a sentence
_CHANGE: Final = 2.0  # cost of going over, either way
_STRONG: Final = 1.2  # evidence from which a word counts as strong
_MIN_HITS: Final = 3  # words or letters of its own without which a language is not looked into


class Word(NamedTuple):
    """One word of the answer, folded; `quoted` inside quotation marks, `name` capitalised in a sentence.

    `tally` is 1 for the first part of an elision and 0 for the parts after it.
    """

    text: str
    quoted: bool
    name: bool
    tally: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """The foreign part of a text: spans of word positions, half-open, in order."""

    language: Language
    spans: tuple[tuple[int, int], ...]
    words: int  # in the spans
    quoted: int  # of them inside quotation marks
    strong: int  # of them strong evidence
    weight: float  # evidence in the spans, added up
    own: int  # strong evidence for the expected language, anywhere

    @property
    def unquoted(self) -> int:
        return self.words - self.quoted


def find_foreign(words: Sequence[Word], expected: Language, others: Sequence[Language]) -> Foreign | None:
    """Find the other language that explains most words better; None when none does."""
    distinct = {word.text for word in words}
    marked = [frozenset(word) for word in distinct if not word.isascii()]
    best: Foreign | None = None
    for other in others:
        if other is expected:
            continue
        rivals = _rivals(expected, other)
        lettered = sum(1 for letters in marked if not rivals.letters.isdisjoint(letters)) if marked else 0
        if len(distinct & rivals.words) + lettered < _MIN_HITS:
            continue
        found = _spans(words, expected, other)
        if found is not None and (best is None or found.strong > best.strong):
            best = found
    return best


class _Rivals(NamedTuple):
    """What one language has and the other lacks."""

    words: frozenset[str]
    letters: frozenset[str]


@lru_cache(maxsize=512)
def _rivals(expected: Language, other: Language) -> _Rivals:
    return _Rivals(other.words - expected.words, other.letters - expected.letters)


def evidence(word: str, expected: Language, other: Language) -> float:
    """Weigh one word: above zero for the other language, below for the expected one."""
    here, there = word in expected.words, word in other.words
    if here or there:
        return _COMMON_WORD * (there - here)
    if not word.isascii():
        strange = [c for c in word if c > "\x7f"]
        unlike_here = any(c not in expected.letters for c in strange)
        unlike_there = any(c not in other.letters for c in strange)
        if unlike_here != unlike_there:
            return _FOREIGN_LETTER if unlike_here else -_FOREIGN_LETTER
    contrast = contrast_of(expected.code, other.code)
    if contrast is not None:
        first, second = contrast
        return _SHAPE * ((second.search(word) is not None) - (first.search(word) is not None))
    return _SIGN * ((other.signs.search(word) is not None) - (expected.signs.search(word) is not None))


def _spans(words: Sequence[Word], expected: Language, other: Language) -> Foreign | None:
    memory: dict[str, float] = {}
    weights = []
    for word in words:
        weight = memory.get(word.text)
        if weight is None:
            weight = memory[word.text] = evidence(word.text, expected, other)
        weights.append(weight * _NAME if word.name else weight)
    # Viterbi over two states; `at_home` and `abroad` are the best sums that end in each.
    at_home, abroad = 0.0, -_CHANGE
    back: list[tuple[bool, bool]] = []  # for each word: was the state before it abroad, per state
    for weight in weights:
        home_from_abroad = abroad - _CHANGE > at_home
        abroad_from_abroad = abroad >= at_home - _CHANGE
        at_home, abroad = (
            max(at_home, abroad - _CHANGE),
            max(abroad, at_home - _CHANGE) + weight,
        )
        back.append((home_from_abroad, abroad_from_abroad))
    state = abroad > at_home
    spans: list[tuple[int, int]] = []
    end = len(words) if state else 0
    for place in range(len(words) - 1, -1, -1):
        before = back[place][1] if state else back[place][0]
        if state and not before:
            spans.append((place, end))
        if before and not state:
            end = place
        state = before
    if state and end and (not spans or spans[-1][0] != 0):
        spans.append((0, end))
    if not spans:
        return None
    spans.reverse()
    inside = [place for start, stop in spans for place in range(start, stop)]
    return Foreign(
        language=other,
        spans=tuple(spans),
        words=sum(words[place].tally for place in inside),
        quoted=sum(words[place].tally for place in inside if words[place].quoted),
        strong=sum(weights[place] >= _STRONG for place in inside),
        weight=sum(weights[place] for place in inside),
        own=sum(weight <= -_STRONG for weight in weights),
    )
