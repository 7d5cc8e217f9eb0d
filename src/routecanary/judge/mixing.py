"""Which words of a text belong to another language of the same script?

A two-state model over the words: the expected language against one other. Each word weighs by how much
commoner it is in one of the two; changing over costs something, so that a name or a loan word is no change.
The other language with the most evidence wins.

Source: language.md §4.4; the weights below were chosen with sight of the development data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from routecanary.judge.languages.lexicon import UNKNOWN, Lexicon

_MOST: Final = 2.5  # of a single word, in decimal orders of frequency
_STRANGE: Final = 1.3  # weight of an unknown word with a letter that only one of the two has
_NAME: Final = 0.25  # weight of a capitalised word inside a sentence
_CAPITALS: Final = frozenset({"de"})  # whose every noun has one, so that small words between say nothing
_CHANGE: Final = 2.0  # cost of going over, either way
_STRONG: Final = 1.2  # evidence from which a word counts as strong


class Word(NamedTuple):
    """One word of the answer, folded; `quoted` inside quotation marks, `name` capitalised in a sentence.

    `title` is a small word between capitals, as in the title of a book. `given` is a name that stands in the
    prompt, too, and so says nothing.
    """

    text: str
    quoted: bool
    name: bool
    title: bool = False
    given: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """The foreign part of a text: spans of word positions, half-open, in order."""

    code: str
    spans: tuple[tuple[int, int], ...]
    words: int  # in the spans
    quoted: int  # of them inside quotation marks
    strong: int  # of them strong evidence
    weight: float  # evidence in the spans, added up
    own: int  # strong evidence for the expected language, anywhere


def find_foreign(words: Sequence[Word], expected: Lexicon, others: Iterable[Lexicon]) -> Foreign | None:
    """Find the other language that explains most words better; None when none does."""
    best: Foreign | None = None
    for other in others:
        found = _foreign(words, expected, other)
        if found is not None and (best is None or found.weight > best.weight):
            best = found
    return best


def evidence(word: str, expected: Lexicon, other: Lexicon) -> float:
    """Weigh one folded word: above zero for the other language, below for the expected one."""
    here, there = expected.level(word), other.level(word)
    if here == UNKNOWN == there:
        return _STRANGE * (expected.is_strange(word) - other.is_strange(word))
    return max(-_MOST, min(_MOST, there - here))


def _foreign(words: Sequence[Word], expected: Lexicon, other: Lexicon) -> Foreign | None:
    memory: dict[str, float] = {}
    weights = []
    for word in words:
        weight = memory.get(word.text)
        if weight is None:
            weight = memory[word.text] = evidence(word.text, expected, other)
        named = word.name or (word.title and weight > 0 and other.code not in _CAPITALS)
        weights.append(0.0 if word.given else weight * _NAME if named else weight)
    spans = _spans(weights)
    if not spans:
        return None
    inside = [place for start, stop in spans for place in range(start, stop)]
    return Foreign(
        code=other.code,
        spans=tuple(spans),
        words=len(inside),
        quoted=sum(words[place].quoted for place in inside),
        strong=sum(weights[place] >= _STRONG for place in inside),
        weight=sum(weights[place] for place in inside),
        own=sum(weight <= -_STRONG for weight in weights),
    )


def _spans(weights: Sequence[float]) -> list[tuple[int, int]]:
    """Find the stretches abroad on the best way through both states (Viterbi), in order."""
    at_home, abroad = 0.0, -_CHANGE  # the best sums that end in each state
    back: list[tuple[bool, bool]] = []  # for each word: was the state before it abroad, per state
    for weight in weights:
        back.append((abroad - _CHANGE > at_home, abroad >= at_home - _CHANGE))
        at_home, abroad = max(at_home, abroad - _CHANGE), max(abroad, at_home - _CHANGE) + weight
    spans: list[tuple[int, int]] = []
    is_abroad, end = abroad > at_home, len(weights)
    for place in range(len(weights) - 1, -1, -1):
        was_abroad = back[place][is_abroad]
        if is_abroad and (not was_abroad or place == 0):
            spans.append((place, end))
        if was_abroad and not is_abroad:
            end = place
        is_abroad = was_abroad
    spans.reverse()
    return spans
