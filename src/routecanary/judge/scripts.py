"""Which scripts does a text use, and how much of each?

Amounts are in units that stand for words: a word of an alphabet, 1.7 letters of Han or kana, 4 of Thai,
2.5 of Hangul.

Source: language.md §4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from routecanary.domain.names import Locale


class Script(StrEnum):
    LATIN = "Latin"
    CYRILLIC = "Cyrillic"
    GREEK = "Greek"
    ARABIC = "Arabic"
    HEBREW = "Hebrew"
    DEVANAGARI = "Devanagari"
    THAI = "Thai"
    HANGUL = "Hangul"
    KANA = "kana"
    HAN = "Han"
    OTHER = "other"


_RANGES: Final = {
    Script.LATIN: "A-Za-zªºÀ-ÖØ-öø-ɏʼḀ-ỿ\uff21-\uff3a\uff41-\uff5a",
    Script.CYRILLIC: "\u0400-\u052f\u1c80-\u1c8f\u2de0-\u2dff\ua640-\ua69f",
    Script.GREEK: "\u0370-\u03ff\u1f00-\u1fff",
    Script.ARABIC: (
        "\u0600-\u0605\u0610-\u061a\u0620-\u065f\u066e-\u06dc\u06df-\u06ef\u06fa-"
        "\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc"
    ),
    Script.HEBREW: "\u0590-\u05ff",
    Script.DEVANAGARI: "\u0900-\u0963\u0970-\u097f",
    Script.THAI: "\u0e01-\u0e3a\u0e40-\u0e4e",
    Script.HANGUL: "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3",
    Script.KANA: "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9d",
    Script.HAN: "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f",
    Script.OTHER: (
        "\u0530-\u058f\u0980-\u0dff\u0e81-\u0edf\u0f00-\u109f\u10a0-\u10ff\u1200-\u13ff"
        "\u1780-\u17ff\u1800-\u18af"
    ),
}
_LETTERS_PER_UNIT: Final = {Script.HAN: 1.7, Script.KANA: 1.7, Script.THAI: 4.0, Script.HANGUL: 2.5}
_RUNS: Final = {script: re.compile(f"[{ranges}]+(?:['’-][{ranges}]+)*") for script, ranges in _RANGES.items()}
_FOREIGN_LETTERS: Final = {
    script: re.compile(
        "[" + "".join(ranges for other, ranges in _RANGES.items() if other is not script) + "]"
    )
    for script in Script
}

_SCRIPTS_OF: Final = {
    "ru": Script.CYRILLIC,
    "uk": Script.CYRILLIC,
    "bg": Script.CYRILLIC,
    "sr": Script.CYRILLIC,
    "be": Script.CYRILLIC,
    "kk": Script.CYRILLIC,
    "el": Script.GREEK,
    "ar": Script.ARABIC,
    "fa": Script.ARABIC,
    "ur": Script.ARABIC,
    "he": Script.HEBREW,
    "hi": Script.DEVANAGARI,
    "mr": Script.DEVANAGARI,
    "ne": Script.DEVANAGARI,
    "th": Script.THAI,
    "ko": Script.HANGUL,
    "ja": Script.KANA,
    "zh": Script.HAN,
    "bn": Script.OTHER,
    "ta": Script.OTHER,
    "te": Script.OTHER,
    "ka": Script.OTHER,
    "hy": Script.OTHER,
    "km": Script.OTHER,
    "lo": Script.OTHER,
    "my": Script.OTHER,
}


class Run(NamedTuple):
    """A stretch of letters of one script: a word where words are parted by spaces."""

    script: Script
    start: int
    text: str

    @property
    def units(self) -> float:
        per_unit = _LETTERS_PER_UNIT.get(self.script)
        return 1.0 if per_unit is None else len(self.text) / per_unit


def script_of(locale: Locale) -> Script:
    """Name the script that a locale is written in; Japanese by its kana."""
    return _SCRIPTS_OF.get(locale.split("-", 1)[0], Script.LATIN)


def natives_of(locale: Locale) -> frozenset[Script]:
    """Name the scripts that belong to a locale's own text."""
    script = script_of(locale)
    if script is Script.KANA:
        return frozenset({Script.KANA, Script.HAN})
    return frozenset({script})


def foreign_letters(script: Script) -> re.Pattern[str]:
    """Give the pattern of a letter that stands in any other script."""
    return _FOREIGN_LETTERS[script]


def words_in(text: str, script: Script) -> list[str]:
    """Find the words of one script, in order of the text."""
    return _RUNS[script].findall(text)


def runs_of(text: str) -> list[Run]:
    """Find all runs of letters, in order of the text."""
    if _FOREIGN_LETTERS[Script.LATIN].search(text) is None:
        latin = Script.LATIN
        return [Run(latin, match.start(), match.group()) for match in _RUNS[latin].finditer(text)]
    found = [run for script in Script for run in _runs(text, script)]
    found.sort(key=lambda run: run.start)
    return found


def units_by_script(runs: list[Run]) -> dict[Script, float]:
    """Add up the units of each script."""
    if all(run.script is Script.LATIN for run in runs):
        return {Script.LATIN: float(len(runs))} if runs else {}
    totals: dict[Script, float] = {}
    for run in runs:
        totals[run.script] = totals.get(run.script, 0.0) + run.units
    return totals


def in_one_block(runs: Sequence[Run], inside: Sequence[Run]) -> bool:
    """Say whether some runs of one script stand in one piece at the start or the end of all."""
    first, last, script = inside[0].start, inside[-1].start, inside[0].script
    amount = sum(run.units for run in inside)
    others = [run for run in runs if run.script is not script]
    between = sum(run.units for run in others if first < run.start < last)
    after = sum(run.units for run in others if run.start > last)
    before = sum(run.units for run in others if run.start < first)
    return between < 0.15 * amount and (after < 2 or before < 2)


def word_count(text: str) -> int:
    """Count words, or what stands for them in scripts that part none."""
    return int(sum(units_by_script(runs_of(text)).values()))


def _runs(text: str, script: Script) -> Iterator[Run]:
    for match in _RUNS[script].finditer(text):
        yield Run(script, match.start(), match.group())
