"""Which words does a language refuse with, all its tables together?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from routecanary.judge.refusals.entry import CLASSES, Entry, is_spaced
from routecanary.judge.refusals.phrase import Need, matcher, needs_of

_VERB_LAST: Final = frozenset({"ja", "ko"})  # right before the inability, not merely in its sentence


class Lexicon:
    """The phrases of one language by class; each class is compiled when it is first asked for."""

    __slots__ = ("_compiled", "_needs", "_phrases", "language", "spaced", "verb_last")

    def __init__(self, language: str, entries: Iterable[Entry]) -> None:
        self.language: Final = language
        self.spaced: Final = is_spaced(language)
        self.verb_last: Final = language in _VERB_LAST
        self._compiled: dict[str, re.Pattern[str]] = {}
        self._needs: dict[str, tuple[tuple[Need, ...], ...]] = {}
        self._phrases: dict[str, dict[str, None]] = {name: {} for name in CLASSES}
        for entry in entries:
            for name, phrases in entry.phrases:
                self._phrases[name].update(dict.fromkeys(phrases))

    def __getitem__(self, name: str) -> re.Pattern[str]:
        """Look up a class, as one pattern over a text in this language's form."""
        found = self._compiled.get(name)
        if found is None:
            found = self._compiled[name] = matcher(tuple(self._phrases[name]), spaced=self.spaced)
        return found

    def has(self, name: str) -> bool:
        """Say whether the language has any phrase of a class."""
        return bool(self._phrases[name])

    def may_hold(self, name: str, text: str, words: frozenset[str]) -> bool:
        """Say cheaply whether a phrase of a class can stand in a text; a sure no, or perhaps.

        Args:
            text: Folded; without spaces for a language whose words are not parted.
            words: Of the folded text, each once.
        """
        for phrase in self.needs(name):
            for need in phrase:
                if need.words.isdisjoint(words) and not any(piece in text for piece in need.pieces):
                    break
            else:
                return True
        return False

    def needs(self, name: str) -> tuple[tuple[Need, ...], ...]:
        """List what the phrases of a class need of a text, one tuple a phrase, the rarest need first."""
        needs = self._needs.get(name)
        if needs is None:
            found = (needs_of(phrase, spaced=self.spaced) for phrase in self._phrases[name])
            needs = self._needs[name] = tuple(dict.fromkeys(found))
        return needs
