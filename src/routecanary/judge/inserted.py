"""Does running Latin text stand in an answer that is written in another script?

Names, brands and short phrases in Latin letters are at home in every script; running text is told by small
letters and by words that some language knows. Text that is romanised, or in a language without a table, is
doubtful only.

Source: language.md §4.3; docs/judges.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from routecanary.domain.names import Locale
from routecanary.judge.contract import Finding, excerpt, fail, unsure
from routecanary.judge.languages import LATIN, MEASURED
from routecanary.judge.languages.lexicon import fold, lexicon_of
from routecanary.judge.prose import SPEECH, quotations
from routecanary.judge.scripts import Run, Script, in_one_block
from routecanary.judge.settings import Settings

_RUN: Final = 3  # Latin words in a row that are more than a name
_GAP: Final = 25  # characters without a letter of another script that may stand between two of them
_SHARE: Final = 0.15
_SHARE_OF_MIXERS: Final = 0.25  # where everyday speech is part English
_MIXERS: Final = frozenset({"hi"})
_LOST: Final = 1  # word that a stretch may lose to a capital at its edge
_DOUBTFUL_WORDS, _DOUBTFUL_SHARE = 8, 0.12
_FAMILIAR: Final = -5.0  # level of a word that readers of a language know
_FAMILIAR_SHARE: Final = 0.5  # of such words in running text


def latin_inside(
    prose: str, runs: Sequence[Run], total: float, locale: Locale, settings: Settings
) -> Finding | None:
    """Judge the running Latin text within an answer of another script; a short speech is excused."""
    quoted = quotations(prose)
    inside = [run for stretch in _stretches(prose, runs) for run in stretch]
    words = len(inside)
    spoken = sum(any(start <= run.start < stop for start, stop in quoted) for run in inside)
    said = words - min(spoken, SPEECH)
    share = words / total
    if words < _DOUBTFUL_WORDS or share < _DOUBTFUL_SHARE or said < _DOUBTFUL_WORDS // 2:
        return None
    tongue = _tongue_of(inside)
    shown = " ".join(run.text for run in inside[:8])
    detail = f"{words} words of Latin text, {share:.0%} of an answer in {locale}: {shown!r}"
    everyday = tongue == "en" and locale.split("-", 1)[0] in _MIXERS
    least = _SHARE_OF_MIXERS if everyday else _SHARE
    few = words < settings.mix_units - _LOST or said < settings.mix_units // 2
    if tongue is None or few or share < least:
        return unsure("ambiguous", detail)
    return fail("language_switch" if in_one_block(runs, inside) else "language_mixing", detail)


def latin_instead(prose: str, runs: Sequence[Run], detail: str, settings: Settings) -> Finding:
    """Judge an answer that is hardly in its own script, and most of it in Latin letters."""
    latin = [run for run in runs if run.script is Script.LATIN]
    if sum(map(len, _stretches(prose, runs))) < settings.min_units // 2:
        return unsure("ambiguous", f"mostly names or marks in Latin letters: {detail}")
    if _tongue_of(latin) is None:
        return unsure("ambiguous", f"Latin letters, but no language that is known: {detail}")
    return fail("wrong_language", f"{detail}: {excerpt(prose.lstrip())}")


def _stretches(prose: str, runs: Sequence[Run]) -> list[list[Run]]:
    """Find Latin words in a row with no other letter between, half of them at least in small letters."""
    stretches: list[list[Run]] = []
    current: list[Run] = []
    for run in [*runs, Run(Script.OTHER, len(prose) + 99, "")]:
        if run.script is Script.LATIN and (
            not current or run.start - current[-1].start - len(current[-1].text) <= _GAP
        ):
            current.append(run)
            continue
        if len(current) >= _RUN and sum(word.text[0].islower() for word in current) * 2 >= len(current):
            stretches.append(current)
        current = [run] if run.script is Script.LATIN else []
    return stretches


def _tongue_of(inside: Sequence[Run]) -> str | None:
    """Name a language in which half of the words are familiar, English first; None if there is none."""
    words = [fold(run.text) for run in inside]
    for code in LATIN:
        lexicon = lexicon_of(code) if code in MEASURED else None
        if lexicon is not None:
            familiar = sum(lexicon.level(word) > _FAMILIAR for word in words)
            if familiar >= _FAMILIAR_SHARE * len(words):
                return code
    return None
