"""Which languages may a text refuse in?

All of them at once, since models fall back to another language than they were asked in. An index of the words
that their phrases need says of most texts, cheaply and surely, that no language has anything to find in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from routecanary.judge.narration import Narration
from routecanary.judge.refusals.entry import Entry
from routecanary.judge.refusals.lexicon import Lexicon
from routecanary.judge.refusals.shipped import shipped_entries


class _Index:
    """For some classes: a word, or a piece of text, without which a phrase of theirs cannot stand there."""

    __slots__ = ("pieces", "words")

    def __init__(self, lexicons: Iterable[Lexicon], names: Iterable[str]) -> None:
        self.words: dict[str, list[Lexicon]] = {}
        self.pieces: dict[str, list[Lexicon]] = {}
        for lexicon in lexicons:
            for need in {needs[0] for name in names for needs in lexicon.needs(name)}:
                for word in need.words:
                    self.words.setdefault(word, []).append(lexicon)
                for piece in need.pieces:
                    self.pieces.setdefault(piece, []).append(lexicon)

    def candidates(self, narration: Narration) -> Iterator[Lexicon]:
        for word in self.words.keys() & narration.words:
            yield from self.words[word]
        for piece, lexicons in self.pieces.items():
            if piece in narration.tight or piece in narration.text:
                yield from lexicons


class Tables:
    """The lexicons of all languages, in order of their names."""

    __slots__ = ("_indices", "lexicons")

    def __init__(self, entries: Iterable[Entry]) -> None:
        by_language: dict[str, list[Entry]] = {}
        for entry in entries:
            by_language.setdefault(entry.language, []).append(entry)
        self.lexicons = tuple(Lexicon(language, found) for language, found in sorted(by_language.items()))
        self._indices: dict[tuple[str, ...], _Index] = {}

    def holding(self, narration: Narration, *names: str) -> list[Lexicon]:
        """List the lexicons of which a phrase of these classes may stand in a narration, in order.

        A language that is not listed has none, for sure.
        """
        index = self._indices.get(names)
        if index is None:
            index = self._indices[names] = _Index(self.lexicons, names)
        likely = set(index.candidates(narration))
        if not likely:
            return []
        return [
            lexicon
            for lexicon in self.lexicons
            if lexicon in likely and any(narration.may_hold(name, lexicon) for name in names)
        ]


@cache
def shipped_tables() -> Tables:
    """Make the tables of the package."""
    return Tables(shipped_entries())


@cache
def tables_with(own: tuple[Entry, ...]) -> Tables:
    """Make the tables of the package and an administrator's own entries together."""
    return Tables(shipped_entries() + own) if own else shipped_tables()
