"""Is the answer, as a whole, in the language that was asked for?

Names, quotations, loan words, code and addresses are no failure; short or ambiguous answers are
inconclusive. On the chat probe this contract owns the encoding kinds too.

Source: product.md §2; language.md §4, §5; docs/judges.md for the choices.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final

from routecanary.domain.answer import Answer
from routecanary.domain.names import LANGUAGE, ContractName, Locale
from routecanary.domain.probe import ProbeKind
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.judge.alien import alien_scripts
from routecanary.judge.chinese import other_variant
from routecanary.judge.contract import Finding, passed, unsure
from routecanary.judge.encoding import broken_encoding
from routecanary.judge.prose import without_addresses, without_code
from routecanary.judge.scripts import Script, natives_of, runs_of, units_by_script
from routecanary.judge.settings import Settings
from routecanary.judge.wording import foreign_words, is_at_home

_VERSION: Final = 2
_MAX_LETTERS: Final = 40_000  # of an answer that are read; a fault of a longer one shows within them
_SHORT_UNITS: Final = 3  # an answer shorter than a sentence has no language to judge
_SHORT_OWN: Final = 0.6  # of a short answer that must be in its own script


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageContract:
    """Scripts first, then the word model; both keep quiet below a dozen words.

    Args:
        thorough: Acquit nothing cheaply: the same verdicts, at a higher cost, to be compared with.
    """

    settings: Settings
    thorough: bool = False
    name: ContractName = LANGUAGE
    version: int = _VERSION
    confirmations: int = 2

    def applies_to(self, transcript: Transcript) -> bool:
        return transcript.locale is not None and transcript.kind in (ProbeKind.CHAT, ProbeKind.ANY)

    def judge(self, answer: Answer) -> Verdict:
        locale = answer.transcript.locale
        if locale is None:
            return Finding(VerdictKind.SKIPPED, "no_locale", "any language will do").by(self)
        doubt: Finding | None = None
        if answer.transcript.kind is ProbeKind.CHAT:
            doubt = broken_encoding(answer, locale)
            if doubt is not None and doubt.kind is VerdictKind.FAIL:
                return doubt.by(self)
        return (self._language(answer, locale) or doubt or passed()).by(self)

    def _language(self, answer: Answer, locale: Locale) -> Finding | None:
        prose = _prose(answer.text)
        if not self.thorough and is_at_home(prose, locale, self.settings):
            return None
        runs = runs_of(prose)
        units = units_by_script(runs)
        if sum(units.values()) < self.settings.min_units:
            return _short(answer, locale, units)
        asked, settings = answer.asked, self.settings
        found = alien_scripts(prose, runs, units, locale, asked=asked, settings=settings)
        found = found or other_variant(prose, locale)
        return found or foreign_words(prose, runs, locale, asked, settings)


def _short(answer: Answer, locale: Locale, units: dict[Script, float]) -> Finding | None:
    """Judge what is too short to fail: it passes only where nothing longer was asked for."""
    total = sum(units.values())
    detail = f"{total:.0f} words"
    if answer.transcript.kind is ProbeKind.ANY:
        return Finding(VerdictKind.SKIPPED, "too_short", detail)
    own = sum(units.get(script, 0.0) for script in natives_of(locale))
    if answer.asked.min_words is None and own >= _SHORT_UNITS and own >= _SHORT_OWN * total:
        return None
    return unsure("too_short", detail)


def _prose(text: str) -> str:
    """Reduce an answer to running text, in composed form."""
    text = text[:_MAX_LETTERS]
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return without_addresses(without_code(text))
