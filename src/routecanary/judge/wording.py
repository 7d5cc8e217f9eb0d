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
from routecanary.judge.languages import CYRILLIC, KIN, LATIN, MEASURED
from routecanary.judge.languages.lexicon import UNKNOWN, Lexicon, fold, lexicon_of, telltales
from routecanary.judge.languages.names import asks_for
from routecanary.judge.mixing import Foreign, Word, find_foreign
from routecanary.judge.prose import SPEECH, quotations
from routecanary.judge.scripts import Run, Script, foreign_letters, script_of, words_in
from routecanary.judge.settings import Settings

_SWITCH_SHARE: Final = 0.8  # foreign share from which the whole answer is in another language
_FOUND_SHARE: Final = 0.8  # of the foreign words that the model finds at least: it loses some at the edges
_SHARE_OF_MIXERS: Final = 0.25  # where everyday speech is part English
_MIXERS: Final = frozenset({"tl"})
_STRONG: Final = 5  # words of strong evidence that a mix needs
_WEIGHT, _WEIGHT_OF_LEAST = (
    8.0,
    20.0,
)  # and evidence in all, in decimal orders of frequency; of the fewest words
_SHORT_WORD: Final = 4  # letters of a word that titles write small
_DOUBTFUL_WORDS, _DOUBTFUL_SHARE = 8, 0.12  # from here on a text is not passed
_SUSPICIOUS: Final = 3  # different telltale words of one language from which it is looked into
_COMMON: Final = -4.5  # level of a word that is common in a language
_PIECES: Final = 3  # words with foreign letters that a salad of languages has at least
_KNOWN_SHARE: Final = 0.5  # of words in the table, which any text of a language holds
_JUDGED_BY_SHARE: Final = 30  # words from which that share means anything
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?…:;\n“”\"«»„*—–(¿¡-])[\s*_“”\"«»„¿¡(—–-]*$")


def is_at_home(prose: str, locale: Locale, settings: Settings) -> bool:
    """Acquit a text cheaply: one script, known words, and hardly a word that gives another language away."""
    script = script_of(locale)
    family = _family(script)
    expected = lexicon_of(_code(locale)) if family else None
    if expected is None or foreign_letters(script).search(prose) is not None:
        return False
    words = words_in(fold(prose), script)
    if len(words) < settings.min_units or _share_known(words, expected) < _KNOWN_SHARE:
        return False
    distinct = set(words)
    if _suspects(distinct, expected, family):
        return False
    return len([word for word in distinct if _is_strange(word, expected)]) < _PIECES


def foreign_words(
    prose: str, runs: Sequence[Run], locale: Locale, asked: Asked, settings: Settings
) -> Finding | None:
    """Judge the words of a text in a script that several languages share."""
    script = script_of(locale)
    family = _family(script)
    if not family:
        return None
    expected = lexicon_of(_code(locale))
    if expected is None:
        return unsure("no_table", f"no words known of {locale}")
    words = words_of(prose, [run for run in runs if run.script is script], asked.prompt)
    distinct = {word.text for word in words}
    others = [
        lexicon
        for code in _suspects(distinct, expected, family)
        if code != expected.code and (lexicon := lexicon_of(code)) is not None
    ]
    foreign = find_foreign(words, expected, others)
    if foreign is not None and asks_for(foreign.code, asked.prompt):
        return None
    if foreign is not None:
        judged = _mixed if expected.code in MEASURED else _unmeasured
        found = judged(words, foreign, locale, settings)
        if found is not None:
            return found
    return _salad(words, expected, family, runs, script) or _unknown(words, expected)


def words_of(prose: str, runs: Sequence[Run], prompt: str = "") -> list[Word]:
    """Fold runs of letters to words, and say of each whether it is quoted or a name."""
    quoted = quotations(prose)
    shouted = sum(run.text.isupper() for run in runs) > 0.5 * len(runs)
    given = frozenset(fold(name) for name in re.findall(r"\b[^\W\d_a-z]\w+", prompt) if not name.islower())
    capitals = [len(run.text) > 1 and run.text[0].isupper() and not shouted for run in runs]
    words: list[Word] = []
    place = 0
    for at, (_, start, text) in enumerate(runs):
        while place < len(quoted) and quoted[place][1] <= start:
            place += 1
        inside = place < len(quoted) and quoted[place][0] <= start
        folded = fold(text)
        capital = capitals[at]
        name = capital and _SENTENCE_START.search(prose[max(0, start - 6) : start]) is None
        small = len(text) <= _SHORT_WORD and any(capitals[max(0, at - 2) : at])
        title = small and not capital and any(capitals[at + 1 : at + 3])
        words.append(Word(folded, inside, name, title, capital and folded in given))
    return words


def _code(locale: Locale) -> str:
    code = locale.split("-", 1)[0].lower()
    return KIN.get(code, code)


def _family(script: Script) -> tuple[str, ...]:
    return LATIN if script is Script.LATIN else CYRILLIC if script is Script.CYRILLIC else ()


def _share_known(words: Sequence[str], expected: Lexicon) -> float:
    levels = expected.levels
    known = len([word for word in words if word in levels or expected.level(word) > UNKNOWN])
    return known / len(words)


def _suspects(words: set[str], expected: Lexicon, family: tuple[str, ...]) -> list[str]:
    """Name the other languages of which a text holds enough telltale words."""
    speaking = telltales(expected.code, family)
    found = [speaking[word] for word in words & speaking.keys()]
    if len(found) < _SUSPICIOUS:
        return []
    return [
        code for place, code in enumerate(family) if sum(bits >> place & 1 for bits in found) >= _SUSPICIOUS
    ]


def _is_strange(word: str, expected: Lexicon) -> bool:
    return not word.isascii() and word not in expected.levels and expected.is_strange(word)


def _unmeasured(words: Sequence[Word], foreign: Foreign, locale: Locale, _: Settings) -> Finding | None:
    """Judge a language on which nothing was measured: only by words of another one that leave no doubt."""
    if foreign.words < _SWITCH_SHARE * len(words):
        return None
    detail = f"{foreign.words} of {len(words)} words are {foreign.code}, asked for {locale}"
    if foreign.strong >= 2 * _STRONG and foreign.strong >= 5 * foreign.own:
        return fail("wrong_language", detail)
    return unsure("ambiguous", detail)


def _mixed(words: Sequence[Word], foreign: Foreign, locale: Locale, settings: Settings) -> Finding | None:
    total = len(words)
    share = foreign.words / total
    first, last = foreign.spans[0][0], foreign.spans[-1][1]
    shown = " ".join(word.text for word in words[first : first + 8])
    detail = f"{foreign.words} of {total} words are {foreign.code}, asked for {locale}: {shown!r}"
    least = _WEIGHT if foreign.words > settings.mix_units else _WEIGHT_OF_LEAST
    enough = foreign.words >= settings.mix_units and foreign.strong >= _STRONG and foreign.weight >= least
    alone = foreign.strong >= 3 * foreign.own
    if share >= _SWITCH_SHARE and foreign.words >= settings.min_units and foreign.strong >= _STRONG - 1:
        if alone:
            return fail("wrong_language", detail)
        return fail("language_mixing", detail) if enough else unsure("ambiguous", detail)
    # A speech in another tongue is no fault; it counts only beside foreign words that nobody says.
    said = foreign.words - min(foreign.quoted, SPEECH)
    everyday = foreign.code == "en" and _code(locale) in _MIXERS
    part = _SHARE_OF_MIXERS if everyday else _FOUND_SHARE * settings.mix_share
    if enough and share >= part and said >= settings.mix_units // 2:
        one_block = len(foreign.spans) == 1 and (last >= len(words) - 1 or first <= 1)
        return fail("language_switch" if one_block else "language_mixing", detail)
    doubtful = foreign.words >= _DOUBTFUL_WORDS and share >= _DOUBTFUL_SHARE and foreign.strong >= _STRONG
    if doubtful and said >= _DOUBTFUL_WORDS // 2:
        return unsure("ambiguous", detail)
    return None


def _salad(
    words: Sequence[Word], expected: Lexicon, family: tuple[str, ...], runs: Sequence[Run], script: Script
) -> Finding | None:
    """Find fragments of several languages at once, none of which is the asked one."""
    told = {word.text for word in words if not word.name and not word.quoted and len(word.text) >= 3}
    strange = sorted(word for word in told if _is_strange(word, expected))
    alien = [run for run in runs if run.script is not script and len(run.text) >= 3 and run.text[0].islower()]
    if len(strange) + len(alien) < _PIECES:
        return None
    tongues: dict[str, int] = {}
    others = [other for code in family if code != expected.code if (other := lexicon_of(code)) is not None]
    for word in told:
        if expected.level(word) == UNKNOWN:
            nearest = max(others, key=lambda other: other.level(word))
            if nearest.level(word) >= _COMMON:
                tongues[nearest.code] = tongues.get(nearest.code, 0) + 1
    known = sum(tongues.values())
    total = known + len(strange) + len(alien)
    if len(tongues) >= 3 and known >= 4 and total >= 7 and total >= 0.15 * len(words):
        detail = f"pieces of {', '.join(sorted(tongues))} and others: {' '.join(strange[:6])!r}"
        return fail("language_mixing", detail)
    return None


def _unknown(words: Sequence[Word], expected: Lexicon) -> Finding | None:
    """Doubt an answer of which hardly half the words are known in its language."""
    if len(words) < _JUDGED_BY_SHARE:
        return None
    share = _share_known([word.text for word in words], expected)
    if share < _KNOWN_SHARE:
        return unsure("ambiguous", f"{share:.0%} of {len(words)} words are known in {expected.code}")
    return None
