"""Is the answer, as a whole, in the language that was asked for?

Names, quotations, loan words, code and addresses are no failure; short or ambiguous answers are
inconclusive. On the chat probe this contract owns the encoding kinds too.

Source: product.md §2; language.md §4, §5; docs/judges.md for the choices.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from routecanary.domain.answer import Answer
from routecanary.domain.asked import Asked
from routecanary.domain.names import LANGUAGE, ContractName, Locale
from routecanary.domain.probe import ProbeKind
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.judge.contract import Finding, excerpt, fail, passed, unsure
from routecanary.judge.encoding import broken_encoding
from routecanary.judge.languages import CYRILLIC, LATIN
from routecanary.judge.languages.names import asks_for
from routecanary.judge.languages.table import Language
from routecanary.judge.mixing import Foreign, Word, find_foreign
from routecanary.judge.prose import without_addresses, without_code
from routecanary.judge.scripts import Run, Script, natives_of, runs_of, script_of, units_by_script
from routecanary.judge.settings import Settings

_VERSION: Final = 1
_MAX_LETTERS: Final = 40_000  # of an answer that are read; a fault of a longer one shows within them
_SHORT_UNITS: Final = 3  # an answer shorter than a sentence has no language to judge
_SWITCH_SHARE: Final = 0.8  # foreign share from which the whole answer is in another language
_OWN_SCRIPT: Final = 0.35  # share of the own script below which the answer is in another language
_ALIEN_UNITS, _ALIEN_SHARE = 10.0, 0.12  # of another script that make a mix
_ALIEN_FRAGMENTS, _FRAGMENT_SHARE = 3, 0.08  # separate pieces of another script that make a mix
_LATIN_RUN: Final = 4  # Latin words in a row that are more than a name
_LATIN_SHARE: Final = 0.18
_KANA_SHARE: Final = 0.06  # of Japanese letters; with less it is no Japanese
_STRONG: Final = 6  # words of strong evidence that a mix needs
_QUOTES: Final = re.compile(
    r"\"[^\"\n]{1,600}\"|“[^”\n]{1,600}”|„[^“”\n]{1,600}[“”]|«[^»\n]{1,600}»|»[^«\n]{1,600}«|「[^」\n]{1,600}」"
    r"|『[^』\n]{1,600}』|‹[^›\n]{1,600}›|(?<!\w)[‘'][^‘'’\n]{1,300}[’'](?!\w)|[(（][^()（）\n]{1,200}[)）]"
)
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?…:;\n“”\"«»„*—–(¿¡-])[\s*_“”\"«»„¿¡(—–-]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageContract:
    """Scripts first, then the word model; both keep quiet below a dozen words."""

    settings: Settings
    name: ContractName = LANGUAGE
    version: int = _VERSION
    confirmations: int = 2

    def applies_to(self, transcript: Transcript) -> bool:
        return transcript.locale is not None and transcript.kind in (ProbeKind.CHAT, ProbeKind.ANY)

    def judge(self, answer: Answer) -> Verdict:
        return self._finding(answer, answer.asked).by(self)

    def _finding(self, answer: Answer, asked: Asked) -> Finding:
        locale = answer.transcript.locale
        if locale is None:
            return Finding(VerdictKind.SKIPPED, "no_locale", "any language will do")
        doubt: Finding | None = None
        if answer.transcript.kind is ProbeKind.CHAT:
            doubt = broken_encoding(answer, asked, locale)
            if doubt is not None and doubt.kind is VerdictKind.FAIL:
                return doubt
        if not answer.has_text:
            if answer.transcript.kind is ProbeKind.ANY:
                return Finding(VerdictKind.SKIPPED, "no_text", "nothing to read")
            return unsure("too_short", "no visible text")
        prose = _prose(answer.text)
        runs = runs_of(prose)
        units = units_by_script(runs)
        total = sum(units.values())
        if total < self.settings.min_units:
            return doubt or self._short(answer, asked, locale, units, total)
        found = self._by_script(prose, runs, units, locale, asked) or self._by_words(
            prose, runs, locale, asked
        )
        return found or doubt or passed()

    def _short(
        self, answer: Answer, asked: Asked, locale: Locale, units: dict[Script, float], total: float
    ) -> Finding:
        """Judge what is too short to fail: it passes only where nothing longer was asked for."""
        detail = f"{total:.0f} words"
        if answer.transcript.kind is ProbeKind.ANY:
            return Finding(VerdictKind.SKIPPED, "too_short", detail)
        own = sum(units.get(script, 0.0) for script in natives_of(locale))
        if asked.min_words is None and own >= _SHORT_UNITS and own >= 0.6 * total:
            return passed(f"{detail}, none of them foreign")
        return unsure("too_short", detail)

    def _by_script(
        self, prose: str, runs: list[Run], units: dict[Script, float], locale: Locale, asked: Asked
    ) -> Finding | None:
        own = natives_of(locale)
        total = sum(units.values())
        own_units = sum(units.get(script, 0.0) for script in own)
        foreign = {script: amount for script, amount in units.items() if script not in own}
        if script_of(locale) is Script.KANA:
            chinese = _chinese_in_japanese(prose, units, total)
            if chinese is not None:
                return chinese
        if not foreign:
            return None
        main = max(foreign, key=lambda script: foreign[script])
        if asks_for(main, asked.prompt):
            return None
        detail = f"{foreign[main] / total:.0%} {main} in an answer asked for in {locale}"
        if own_units < _OWN_SCRIPT * total:
            if main is Script.LATIN and not _latin_sentences(prose, runs):
                return unsure("ambiguous", f"mostly names or marks in Latin letters: {detail}")
            if foreign[main] >= _ALIEN_UNITS:
                return fail("wrong_language", f"{detail}: {excerpt(prose.lstrip())}")
            return unsure("ambiguous", detail)
        if main is Script.LATIN and Script.LATIN not in own:
            return self._latin_inside(prose, runs, total, locale)
        return self._alien_script(prose, runs, total, main, detail)

    def _alien_script(
        self, prose: str, runs: list[Run], total: float, main: Script, detail: str
    ) -> Finding | None:
        aliens = [run for run in runs if run.script is main]
        amount = sum(run.units for run in aliens)
        if amount >= _ALIEN_UNITS and amount >= _ALIEN_SHARE * total:
            first, last = aliens[0].start, aliens[-1].start + len(aliens[-1].text)
            between = sum(run.units for run in runs if run.script is not main and first < run.start < last)
            at_end = sum(run.units for run in runs if run.start >= last) < 2
            at_start = sum(run.units for run in runs if run.start < first) < 2
            one_block = between < 0.15 * amount and (at_end or at_start)
            kind = "language_switch" if one_block else "language_mixing"
            return fail(kind, f"{detail}: {excerpt(prose, first)}")
        if main in (Script.GREEK, Script.OTHER):
            return None
        quoted = [match.span() for match in _QUOTES.finditer(prose)]
        loose = [
            run
            for run in aliens
            if len(run.text) >= 2
            and not run.text[0].isupper()
            and not any(start <= run.start < stop for start, stop in quoted)
        ]
        fragments = sum(
            1
            for before, run in zip([None, *loose], loose, strict=False)
            if before is None or prose[before.start + len(before.text) : run.start].strip()
        )
        share = sum(run.units for run in loose) / total
        if fragments >= _ALIEN_FRAGMENTS and share >= _FRAGMENT_SHARE:
            return fail(
                "language_mixing", f"{fragments} pieces of {main}, {detail}: {excerpt(prose, loose[0].start)}"
            )
        if amount >= 4 and amount >= 0.06 * total and loose:
            return unsure("ambiguous", detail)
        return None

    def _latin_inside(self, prose: str, runs: list[Run], total: float, locale: Locale) -> Finding | None:
        """Look for running Latin text, not names, in an answer of another script."""
        stretches = _latin_stretches(prose, runs)
        words = sum(len(stretch) for stretch in stretches)
        if words < 8 or words < 0.12 * total:
            return None
        shown = " ".join(run.text for run in stretches[0][:8])
        detail = (
            f"{words} words of running Latin text, {words / total:.0%} of an answer in {locale}: {shown!r}"
        )
        if words >= self.settings.mix_units and words >= _LATIN_SHARE * total:
            last = runs[-1].start if runs else 0
            ends = len(stretches) == 1 and stretches[0][-1].start >= last
            return fail("language_switch" if ends else "language_mixing", detail)
        return unsure("ambiguous", detail)

    def _by_words(self, prose: str, runs: list[Run], locale: Locale, asked: Asked) -> Finding | None:
        script = script_of(locale)
        family = LATIN if script is Script.LATIN else CYRILLIC if script is Script.CYRILLIC else ()
        expected = next((table for table in family if table.code == locale.split("-", 1)[0]), None)
        if not family:
            return None
        if expected is None:
            return unsure("no_table", f"no words known of {locale}")
        words = _words(prose, [run for run in runs if run.script is script])
        foreign = find_foreign(words, expected, family)
        if foreign is not None and not asks_for(foreign.language.code, asked.prompt):
            found = self._foreign_words(words, foreign, locale)
            if found is not None:
                return found
        return _salad(words, expected, family, runs, script) or _unknown(words, expected)

    def _foreign_words(self, words: list[Word], foreign: Foreign, locale: Locale) -> Finding | None:
        total = sum(word.tally for word in words)
        share = foreign.words / total
        first, last = foreign.spans[0][0], foreign.spans[-1][1]
        shown = " ".join(word.text for word in words[first : first + 8])
        detail = (
            f"{foreign.words} of {total} words are {foreign.language.code}, asked for {locale}: {shown!r}"
        )
        enough = foreign.words >= self.settings.mix_units and foreign.strong >= _STRONG
        if share >= _SWITCH_SHARE and foreign.words >= self.settings.min_units and foreign.strong >= 4:
            return (
                fail("wrong_language", detail)
                if foreign.strong >= 3 * foreign.own
                else unsure("ambiguous", detail)
            )
        # A speech in another tongue is no fault; it counts only beside foreign words that nobody says.
        if enough and share >= self.settings.mix_share and foreign.unquoted >= self.settings.mix_units // 2:
            one_block = len(foreign.spans) == 1 and (last >= len(words) - 1 or first <= 1)
            return fail("language_switch" if one_block else "language_mixing", detail)
        if foreign.words >= 8 and share >= 0.12 and foreign.strong >= 4:
            return unsure("ambiguous", detail)
        return None


def _prose(text: str) -> str:
    """Reduce an answer to running text, in composed form."""
    text = text[:_MAX_LETTERS]
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return without_addresses(without_code(text))


def _words(prose: str, runs: list[Run]) -> list[Word]:
    """Fold runs of letters to words; the parts of an elision (`l'eau`, `I'm`) count as one."""
    quoted = [match.span() for match in _QUOTES.finditer(prose)]
    words: list[Word] = []
    place = 0
    for _, start, text in runs:
        while place < len(quoted) and quoted[place][1] <= start:
            place += 1
        inside = place < len(quoted) and quoted[place][0] <= start
        folded = text.lower()
        name = (
            folded != text and len(text) > 1 and not _SENTENCE_START.search(prose[max(0, start - 6) : start])
        )
        if "'" not in folded and "’" not in folded:
            words.append(Word(folded, inside, name, 1))
            continue
        parts = [part for part in folded.replace("’", "'").split("'") if part]
        words.extend(Word(part, inside, name, int(first)) for part, first in zip(parts, _FIRST, strict=False))
    return words


def _latin_stretches(prose: str, runs: list[Run]) -> list[list[Run]]:
    """Find runs of at least four Latin words with only spaces between, half of them in small letters."""
    stretches: list[list[Run]] = []
    current: list[Run] = []
    for run in [*runs, Run(Script.OTHER, len(prose) + 99, "")]:
        near = current and re.fullmatch(
            r"[\s,;:'’\"-]{1,4}", prose[current[-1].start + len(current[-1].text) : run.start]
        )
        if run.script is Script.LATIN and (near or not current):
            current.append(run)
            continue
        if len(current) >= _LATIN_RUN and sum(word.text[0].islower() for word in current) * 2 >= len(current):
            stretches.append(current)
        current = [run] if run.script is Script.LATIN else []
    return stretches


def _latin_sentences(prose: str, runs: list[Run]) -> bool:
    return sum(len(stretch) for stretch in _latin_stretches(prose, runs)) >= 6


def _chinese_in_japanese(prose: str, units: dict[Script, float], total: float) -> Finding | None:
    kana, han = units.get(Script.KANA, 0.0), units.get(Script.HAN, 0.0)
    if kana + han < 12 or kana + han < _OWN_SCRIPT * total:
        return None
    if kana < _KANA_SHARE * (kana + han):
        return fail("wrong_language", f"Han letters almost without kana: {excerpt(prose.lstrip())}")
    segments = [match.group() for match in _HAN_SEGMENT.finditer(prose)]
    letters = "".join(segments)
    amount = len(letters) / 1.7
    if amount < 8 or amount < _ALIEN_SHARE * total:
        return None
    chinese = sum(character in _CHINESE_ONLY or not _in_japanese_sets(character) for character in letters)
    if chinese >= 3:
        return fail("language_mixing", f"{amount:.0f} words of Chinese: {segments[0][:20]!r}")
    return None


_FIRST: Final = (True, False, False, False, False, False)
_HAN_SEGMENT: Final = re.compile(r"[\u3400-\u9fff][\u3400-\u9fff，、：；\d]{3,}[\u3400-\u9fff]")
_CHINESE_ONLY: Final = frozenset("这们说没吗呢哪她你很么吧让给着过还")


def _in_japanese_sets(character: str) -> bool:
    try:
        character.encode("cp932")
    except UnicodeEncodeError:
        try:
            character.encode("gb2312")
        except UnicodeEncodeError:
            return True  # in neither set: rare, and no evidence
        return False
    return True


def _salad(
    words: list[Word], expected: Language, family: tuple[Language, ...], runs: list[Run], script: Script
) -> Finding | None:
    """Find fragments of several languages at once, none of which is the asked one."""
    strange = [
        word.text
        for word in words
        if not word.name
        and not word.quoted
        and any(c > "\x7f" and c not in expected.letters for c in word.text)
    ]
    alien = [run for run in runs if run.script is not script and len(run.text) >= 3 and run.text[0].islower()]
    if len(strange) + len(alien) < 3:
        return None
    tongues: dict[str, list[str]] = {}
    for word in {w.text for w in words if not w.name and not w.quoted and len(w.text) >= 3}:
        for other in family:
            if other is not expected and word not in expected.words and word in other.words:
                tongues.setdefault(other.code, []).append(word)
                break
    known = sum(len(found) for found in tongues.values())
    total = known + len(strange) + len(alien)
    if len(tongues) >= 3 and known >= 4 and total >= 7 and total >= 0.15 * len(words):
        return fail(
            "language_mixing", f"pieces of {', '.join(sorted(tongues))} and others: {' '.join(strange[:6])!r}"
        )
    return None


def _unknown(words: list[Word], expected: Language) -> Finding | None:
    """Doubt an answer that holds next to no common word of its language."""
    if len(words) < 30:
        return None
    known = sum(word.text in expected.words for word in words)
    if known < 0.08 * len(words):
        return unsure("ambiguous", f"{known} of {len(words)} words are common in {expected.code}")
    return None
