"""Which scripts stand in an answer that do not belong to its language?

Source: language.md §4.3; docs/judges.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from routecanary.domain.asked import Asked
from routecanary.domain.names import Locale
from routecanary.domain.verdict import VerdictKind
from routecanary.judge.chinese import chinese_in_japanese
from routecanary.judge.contract import Finding, excerpt, fail, unsure
from routecanary.judge.inserted import latin_inside, latin_instead
from routecanary.judge.languages.names import asks_for
from routecanary.judge.prose import SPEECH, quotations
from routecanary.judge.scripts import Run, Script, in_one_block, natives_of, script_of
from routecanary.judge.settings import Settings

_OWN_SCRIPT: Final = 0.35  # share of the own script below which the answer is in another language
_ALIEN_UNITS: Final = 10.0  # of another script in its place
_ALIEN: Final = (10.0, 0.12)  # units of another script and their share that make a mix
_KANA: Final = (6.0, 0.08)  # of kana, beside which Japanese has as many Han letters
_FRAGMENTS, _FRAGMENT_SHARE = 3, 0.10  # separate pieces of another script that make a mix
_DOUBTFUL_UNITS, _DOUBTFUL_SHARE = 4.0, 0.06


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
        chinese = chinese_in_japanese(prose, units, total)
        if chinese is not None:
            return chinese
    foreign = {
        script: amount
        for script, amount in units.items()
        if script not in own and not asks_for(script, asked.prompt)
    }
    if not foreign:
        return None
    main = max(foreign, key=lambda script: foreign[script])
    if sum(units.get(script, 0.0) for script in own) < _OWN_SCRIPT * total:
        detail = _detail(main, foreign[main], total, locale)
        if foreign[main] < _ALIEN_UNITS:
            return unsure("ambiguous", detail)
        if main is Script.LATIN:
            return latin_instead(prose, runs, detail, settings)
        return fail("wrong_language", f"{detail}: {excerpt(prose.lstrip())}")
    doubt: Finding | None = None
    for script in sorted(foreign, key=lambda script: -foreign[script]):
        if script is Script.LATIN:
            found = latin_inside(prose, runs, total, locale, settings)
        else:
            found = _alien_inside(prose, runs, total, script, _detail(script, foreign[script], total, locale))
        if found is not None and found.kind is VerdictKind.FAIL:
            return found
        doubt = doubt or found
    return doubt


def _detail(script: Script, amount: float, total: float, locale: Locale) -> str:
    return f"{amount / total:.0%} {script} in an answer asked for in {locale}"


def _alien_inside(
    prose: str, runs: Sequence[Run], total: float, script: Script, detail: str
) -> Finding | None:
    aliens = [run for run in runs if run.script is script]
    quoted = quotations(prose)
    free = [run for run in aliens if not any(start <= run.start < stop for start, stop in quoted)]
    amount, said = sum(run.units for run in aliens), sum(run.units for run in free)
    units, share = _KANA if script is Script.KANA else _ALIEN
    if amount >= units and amount >= share * total and amount - min(amount - said, SPEECH) >= units / 2:
        kind = "language_switch" if in_one_block(runs, aliens) else "language_mixing"
        return fail(kind, f"{detail}: {excerpt(prose, aliens[0].start)}")
    if script in (Script.GREEK, Script.OTHER):
        return None  # single letters stand for quantities
    loose = [run for run in free if len(run.text) >= 2 and not run.text[0].isupper()]
    fragments = _pieces(prose, loose)
    if fragments >= _FRAGMENTS and sum(run.units for run in loose) >= _FRAGMENT_SHARE * total:
        where = excerpt(prose, loose[0].start)
        return fail("language_mixing", f"{fragments} pieces of {script}, {detail}: {where}")
    if amount >= _DOUBTFUL_UNITS and amount >= _DOUBTFUL_SHARE * total and loose:
        return unsure("ambiguous", detail)
    return None


def _pieces(prose: str, loose: Sequence[Run]) -> int:
    """Count the runs that something other than white space parts from the one before."""
    count = 0
    end = -1
    for run in loose:
        if end < 0 or prose[end : run.start].strip():
            count += 1
        end = run.start + len(run.text)
    return count
