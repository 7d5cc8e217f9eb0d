"""What words does a text hold, and what do they say of its language?

Source: language.md §4; docs/judges.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from routecanary.domain.asked import Asked
from routecanary.domain.names import Locale
from routecanary.judge.contract import Finding, fail, unsure
from routecanary.judge.languages import CYRILLIC, LATIN
from routecanary.judge.languages.names import asks_for
from routecanary.judge.languages.table import Language
from routecanary.judge.mixing import Foreign, Word, find_foreign
from routecanary.judge.prose import quotations
from routecanary.judge.scripts import Run, Script, script_of
from routecanary.judge.settings import Settings

_SWITCH_SHARE: Final = 0.8  # foreign share from which the whole answer is in another language
_STRONG: Final = 4  # words of strong evidence that a mix needs
_WEIGHT: Final = 8.0  # and evidence in all: about six common words, or four and as many foreign shapes
_DOUBTFUL_WORDS, _DOUBTFUL_SHARE = 8, 0.12  # from here on a text is not passed
_KNOWN_SHARE: Final = 0.08  # of common words, which any text of a language holds
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?…:;\n“”\"«»„*—–(¿¡-])[\s*_“”\"«»„¿¡(—–-]*$")
_FIRST: Final = (1, 0, 0, 0, 0, 0)  # the parts of an elision count as one word


def foreign_words(
    prose: str, runs: Sequence[Run], locale: Locale, asked: Asked, settings: Settings
) -> Finding | None:
    """Judge the words of a text in a script that several languages share."""
    script = script_of(locale)
    family = LATIN if script is Script.LATIN else CYRILLIC if script is Script.CYRILLIC else ()
    if not family:
        return None
    code = locale.split("-", 1)[0]
    expected = next((table for table in family if table.code == code), None)
    if expected is None:
        return unsure("no_table", f"no words known of {locale}")
    words = words_of(prose, [run for run in runs if run.script is script])
    if not expected.home:
        return _in_a_small_table(words, expected, family, locale)
    foreign = find_foreign(words, expected, family)
    if foreign is not None and not asks_for(foreign.language.code, asked.prompt):
        found = _mixed(words, foreign, locale, settings)
        if found is not None:
            return found
    return _salad(words, expected, family, runs, script) or _strange(words, expected)


def words_of(prose: str, runs: Sequence[Run]) -> list[Word]:
    """Fold runs of letters to words; the parts of an elision (`l'eau`, `I'm`) count as one."""
    quoted = quotations(prose)
    words: list[Word] = []
    place = 0
    for _, start, text in runs:
        while place < len(quoted) and quoted[place][1] <= start:
            place += 1
        inside = place < len(quoted) and quoted[place][0] <= start
        folded = text.lower()
        name = (
            folded != text
            and len(text) > 1
            and _SENTENCE_START.search(prose[max(0, start - 6) : start]) is None
        )
        if "'" not in folded and "’" not in folded:
            words.append(Word(folded, inside, name, 1))
            continue
        parts = [part for part in folded.replace("’", "'").split("'") if part]
        words.extend(Word(part, inside, name, tally) for part, tally in zip(parts, _FIRST, strict=False))
    return words


def _in_a_small_table(
    words: Sequence[Word], expected: Language, family: tuple[Language, ...], locale: Locale
) -> Finding | None:
    """Judge a language of which little is known: only by words of another one that leave no doubt."""
    foreign = find_foreign(words, expected, [other for other in family if other.home])
    if foreign is None or foreign.words < _SWITCH_SHARE * len(words):
        return None
    detail = f"{foreign.words} of {len(words)} words are {foreign.language.code}, asked for {locale}"
    if foreign.strong >= 2 * _STRONG and foreign.strong >= 5 * foreign.own:
        return fail("wrong_language", detail)
    return unsure("ambiguous", detail)


def _mixed(words: Sequence[Word], foreign: Foreign, locale: Locale, settings: Settings) -> Finding | None:
    total = sum(word.tally for word in words)
    share = foreign.words / total
    first, last = foreign.spans[0][0], foreign.spans[-1][1]
    shown = " ".join(word.text for word in words[first : first + 8])
    detail = f"{foreign.words} of {total} words are {foreign.language.code}, asked for {locale}: {shown!r}"
    sure = foreign.strong >= _STRONG and foreign.weight >= _WEIGHT
    enough = foreign.words >= settings.mix_units and sure
    alone = foreign.strong >= 3 * foreign.own
    if share >= _SWITCH_SHARE and foreign.words >= settings.min_units and foreign.strong >= 4:
        if alone:
            return fail("wrong_language", detail)
        return fail("language_mixing", detail) if enough else unsure("ambiguous", detail)
    # A speech in another tongue is no fault; it counts only beside foreign words that nobody says.
    if enough and share >= settings.mix_share and foreign.unquoted >= settings.mix_units // 2:
        one_block = len(foreign.spans) == 1 and (last >= len(words) - 1 or first <= 1)
        return fail("language_switch" if one_block else "language_mixing", detail)
    doubtful = foreign.words >= _DOUBTFUL_WORDS and share >= _DOUBTFUL_SHARE and foreign.strong >= _STRONG
    if doubtful and foreign.unquoted >= _DOUBTFUL_WORDS // 2:
        return unsure("ambiguous", detail)
    return None


def _salad(
    words: Sequence[Word],
    expected: Language,
    family: tuple[Language, ...],
    runs: Sequence[Run],
    script: Script,
) -> Finding | None:
    """Find fragments of several languages at once, none of which is the asked one."""
    strange = [
        word.text
        for word in words
        if not word.text.isascii()
        and not word.name
        and not word.quoted
        and any(letter > "\x7f" and letter not in expected.letters for letter in word.text)
    ]
    alien = [run for run in runs if run.script is not script and len(run.text) >= 3 and run.text[0].islower()]
    if len(strange) + len(alien) < 3:
        return None
    tongues: dict[str, list[str]] = {}
    for word in sorted({w.text for w in words if not w.name and not w.quoted and len(w.text) >= 3}):
        for other in family:
            if other is not expected and word not in expected.words and word in other.words:
                tongues.setdefault(other.code, []).append(word)
                break
    known = sum(len(found) for found in tongues.values())
    total = known + len(strange) + len(alien)
    if len(tongues) >= 3 and known >= 4 and total >= 7 and total >= 0.15 * len(words):
        detail = f"pieces of {', '.join(sorted(tongues))} and others: {' '.join(strange[:6])!r}"
        return fail("language_mixing", detail)
    return None


def _strange(words: Sequence[Word], expected: Language) -> Finding | None:
    """Doubt an answer that holds next to no common word of its language."""
    if len(words) < 30:
        return None
    common = expected.words
    known = len([word for word in words if word.text in common])
    if known < _KNOWN_SHARE * len(words):
        return unsure("ambiguous", f"{known} of {len(words)} words are common in {expected.code}")
    return None
