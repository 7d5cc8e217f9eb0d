"""Which scripts stand in an answer that do not belong to its language?

Source: language.md §4.3; docs/judges.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from routecanary.domain.asked import Asked
from routecanary.domain.names import Locale
from routecanary.judge.contract import Finding, excerpt, fail, unsure
from routecanary.judge.languages.names import asks_for
from routecanary.judge.prose import quotations
from routecanary.judge.scripts import Run, Script, natives_of, script_of
from routecanary.judge.settings import Settings

_OWN_SCRIPT: Final = 0.35  # share of the own script below which the answer is in another language
_ALIEN_UNITS, _ALIEN_SHARE = 10.0, 0.12  # of another script that make a mix
_ALIEN_FRAGMENTS, _FRAGMENT_SHARE = 3, 0.08  # separate pieces of another script that make a mix
_DOUBTFUL_UNITS, _DOUBTFUL_SHARE = 4.0, 0.06
_LATIN_RUN: Final = 4  # Latin words in a row that are more than a name
_LATIN_SHARE, _LATIN_DOUBTFUL = 0.18, 0.12
_KANA_SHARE: Final = 0.06  # of Japanese letters; with less it is no Japanese
_CHINESE_UNITS: Final = 8.0  # in stretches without kana
_HAN_STRETCH: Final = re.compile(r"[\u3400-\u9fff][\u3400-\u9fff，、：；\d]{3,}[\u3400-\u9fff]")
_CHINESE_ONLY: Final = frozenset("这们说没吗呢哪她你很么吧让给着过还")
_BETWEEN_WORDS: Final = re.compile(r"[\s,;:'’\"-]{1,4}")


def alien_scripts(
    prose: str,
    runs: Sequence[Run],
    units: dict[Script, float],
    locale: Locale,
    *,
    asked: Asked,
    settings: Settings,
) -> Finding | None:
    """Judge a text by the scripts that it is written in."""
    own = natives_of(locale)
    total = sum(units.values())
    if script_of(locale) is Script.KANA:
        chinese = _chinese_in_japanese(prose, units, total)
        if chinese is not None:
            return chinese
    foreign = {script: amount for script, amount in units.items() if script not in own}
    if not foreign:
        return None
    main = max(foreign, key=lambda script: foreign[script])
    if asks_for(main, asked.prompt):
        return None
    detail = f"{foreign[main] / total:.0%} {main} in an answer asked for in {locale}"
    if sum(units.get(script, 0.0) for script in own) < _OWN_SCRIPT * total:
        if main is Script.LATIN and sum(map(len, _latin_stretches(prose, runs))) < 6:
            return unsure("ambiguous", f"mostly names or marks in Latin letters: {detail}")
        if foreign[main] < _ALIEN_UNITS:
            return unsure("ambiguous", detail)
        return fail("wrong_language", f"{detail}: {excerpt(prose.lstrip())}")
    if main is Script.LATIN:
        return _latin_inside(prose, runs, total, locale, settings)
    return _alien_inside(prose, runs, total, main, detail)


def _alien_inside(prose: str, runs: Sequence[Run], total: float, main: Script, detail: str) -> Finding | None:
    aliens = [run for run in runs if run.script is main]
    amount = sum(run.units for run in aliens)
    if amount >= _ALIEN_UNITS and amount >= _ALIEN_SHARE * total:
        first = aliens[0].start
        kind = "language_switch" if _one_block(runs, aliens, amount) else "language_mixing"
        return fail(kind, f"{detail}: {excerpt(prose, first)}")
    if main in (Script.GREEK, Script.OTHER):
        return None  # single letters stand for quantities
    quoted = quotations(prose)
    loose = [
        run
        for run in aliens
        if len(run.text) >= 2
        and not run.text[0].isupper()
        and not any(start <= run.start < stop for start, stop in quoted)
    ]
    fragments = _pieces(prose, loose)
    if fragments >= _ALIEN_FRAGMENTS and sum(run.units for run in loose) >= _FRAGMENT_SHARE * total:
        where = excerpt(prose, loose[0].start)
        return fail("language_mixing", f"{fragments} pieces of {main}, {detail}: {where}")
    if amount >= _DOUBTFUL_UNITS and amount >= _DOUBTFUL_SHARE * total and loose:
        return unsure("ambiguous", detail)
    return None


def _one_block(runs: Sequence[Run], aliens: Sequence[Run], amount: float) -> bool:
    """Say whether the foreign script stands in one piece at the start or the end."""
    first, last = aliens[0].start, aliens[-1].start
    script = aliens[0].script
    between = sum(run.units for run in runs if run.script is not script and first < run.start < last)
    after = sum(run.units for run in runs if run.start > last)
    before = sum(run.units for run in runs if run.start < first)
    return between < 0.15 * amount and (after < 2 or before < 2)


def _pieces(prose: str, loose: Sequence[Run]) -> int:
    """Count the runs that something other than white space parts from the one before."""
    count = 0
    end = -1
    for run in loose:
        if end < 0 or prose[end : run.start].strip():
            count += 1
        end = run.start + len(run.text)
    return count


def _latin_inside(
    prose: str, runs: Sequence[Run], total: float, locale: Locale, settings: Settings
) -> Finding | None:
    """Look for running Latin text, not names, in an answer of another script."""
    stretches = _latin_stretches(prose, runs)
    words = sum(len(stretch) for stretch in stretches)
    if words < 8 or words < _LATIN_DOUBTFUL * total:
        return None
    shown = " ".join(run.text for run in stretches[0][:8])
    detail = f"{words} words of Latin text, {words / total:.0%} of an answer in {locale}: {shown!r}"
    if words < settings.mix_units or words < _LATIN_SHARE * total:
        return unsure("ambiguous", detail)
    inside = [run for stretch in stretches for run in stretch]
    return fail("language_switch" if _one_block(runs, inside, words) else "language_mixing", detail)


def _latin_stretches(prose: str, runs: Sequence[Run]) -> list[list[Run]]:
    """Find runs of at least four Latin words with only spaces between, half of them in small letters."""
    stretches: list[list[Run]] = []
    current: list[Run] = []
    for run in [*runs, Run(Script.OTHER, len(prose) + 99, "")]:
        gap = prose[current[-1].start + len(current[-1].text) : run.start] if current else ""
        if run.script is Script.LATIN and (not current or _BETWEEN_WORDS.fullmatch(gap)):
            current.append(run)
            continue
        if len(current) >= _LATIN_RUN and sum(word.text[0].islower() for word in current) * 2 >= len(current):
            stretches.append(current)
        current = [run] if run.script is Script.LATIN else []
    return stretches


def _chinese_in_japanese(prose: str, units: dict[Script, float], total: float) -> Finding | None:
    kana, han = units.get(Script.KANA, 0.0), units.get(Script.HAN, 0.0)
    if kana + han < 12 or kana + han < _OWN_SCRIPT * total:
        return None
    if kana < _KANA_SHARE * (kana + han):
        return fail("wrong_language", f"Han letters almost without kana: {excerpt(prose.lstrip())}")
    stretches = [match.group() for match in _HAN_STRETCH.finditer(prose)]
    letters = "".join(stretches)
    amount = len(letters) / 1.7
    if amount < _CHINESE_UNITS or amount < _ALIEN_SHARE * total:
        return None
    if sum(letter in _CHINESE_ONLY or _only_chinese(letter) for letter in letters) >= 3:
        return fail("language_mixing", f"{amount:.0f} words of Chinese: {stretches[0][:20]!r}")
    return None


def _only_chinese(letter: str) -> bool:
    """Say whether a Han letter is in the Chinese national set and not in the Japanese one."""
    return _encodes(letter, "gb2312") and not _encodes(letter, "cp932")


def _encodes(letter: str, codec: str) -> bool:
    try:
        letter.encode(codec)
    except UnicodeEncodeError:
        return False
    return True
