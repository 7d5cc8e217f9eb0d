"""How is a language written: with spaces, with capitals, and how many letters to a word?

A word of a script that marks none, or marks them otherwise than the judges count, is an amount of letters:
4 of Thai, 2.5 of Hangul, 1.7 of Han and kana.

Source: language.md §4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_KANA: Final = "\u3041-\u3096\u30a1-\u30fa\u30fc"
_HAN: Final = "\u3005\u3400-\u4dbf\u4e00-\u9fff"
_KANA_SHARE: Final = 0.1  # of the letters of a text in Han and kana, from which it is Japanese
_OWN_SHARE: Final = 0.25  # of all letters, from which a text is not in Latin script


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One way of writing."""

    name: str
    letters: re.Pattern[str]
    capitals: bool = False  # names begin with one
    joiner: str = " "  # between two sentences
    letters_per_word: float | None = None  # None = words are parted by spaces, and counted so

    def count_words(self, text: str) -> float:
        """Count words, or what stands for them."""
        if self.letters_per_word is None:
            return sum(any(letter.isalnum() for letter in word) for word in text.split())
        return len(self.letters.findall(text)) / self.letters_per_word


SCRIPTS: Final[Mapping[str, Script]] = {
    script.name: script
    for script in (
        Script(name="latin", letters=re.compile("[A-Za-zªºÀ-ÖØ-öø-ɏḀ-ỿ]"), capitals=True),
        Script(name="cyrillic", letters=re.compile("[\u0400-\u052f]"), capitals=True),
        Script(name="arabic", letters=re.compile("[\u0620-\u064a\u066e-\u06d3]")),
        Script(name="devanagari", letters=re.compile("[\u0900-\u0963]")),
        Script(name="thai", letters=re.compile("[\u0e01-\u0e4e]"), letters_per_word=4),
        Script(name="hangul", letters=re.compile("[\uac00-\ud7a3]"), letters_per_word=2.5),
        Script(name="kana", letters=re.compile(f"[{_KANA}{_HAN}]"), joiner="", letters_per_word=1.7),
        Script(name="han", letters=re.compile(f"[{_HAN}]"), joiner="", letters_per_word=1.7),
    )
}
"""Script → how it is written; Japanese is `kana`, though most of its letters may be Han."""


def script_of(text: str) -> Script:
    """Tell which script a text is written in; Latin words in it, such as keys, do not change that."""
    counts = {name: len(script.letters.findall(text)) for name, script in SCRIPTS.items()}
    japanese = counts["kana"] - counts["han"] > _KANA_SHARE * counts["kana"]
    counts.pop("han" if japanese else "kana")
    latin = counts.pop("latin")
    most = max(counts, key=lambda name: counts[name])
    return SCRIPTS[most if counts[most] > _OWN_SHARE * (latin + sum(counts.values())) else "latin"]
