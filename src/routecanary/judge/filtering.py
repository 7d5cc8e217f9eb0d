"""Was the scene refused, filtered, left empty or cut short?

Judged on the filter probe: a fixed continuation of the traffic that the product supports. A refusal counts
only with high confidence; characters may refuse.

Source: product.md §2; filtering.md §2 (wire signatures), §3 (order of decisions).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from routecanary.domain.answer import Answer
from routecanary.domain.asked import Asked
from routecanary.domain.names import FILTERING, ContractName
from routecanary.domain.probe import ProbeKind
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict
from routecanary.judge.completeness import incomplete
from routecanary.judge.contract import Finding, excerpt, fail, passed, unsure
from routecanary.judge.refusal import refusal_score
from routecanary.judge.scripts import word_count
from routecanary.judge.settings import Settings
from routecanary.judge.vocabulary import words

_VERSION: Final = 1
_FAR_SHORTER: Final = 3  # times: an answer of a third of what was asked for is no scene
_LETTERS_ENOUGH: Final = 4  # per word asked for: so long a text is long enough in any script
# Finish words of hosts' filters, folded (filtering.md §2).
_FILTER_WORDS: Final = words("""
    content_filter content_filtered contentfilter safety blocklist prohibited_content spii
    model_armor recitation sensitive guardrail_intervened refusal image_safety jailbreak blocked
    moderation
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilteringContract:
    """Filtered, refused, empty, cut: in this order, as far as each is sure."""

    settings: Settings
    name: ContractName = FILTERING
    version: int = _VERSION
    confirmations: int = 2

    def applies_to(self, transcript: Transcript) -> bool:
        return transcript.kind in (ProbeKind.FILTER, ProbeKind.ANY)

    def judge(self, answer: Answer) -> Verdict:
        return self._finding(answer, answer.asked).by(self)

    def _finding(self, answer: Answer, asked: Asked) -> Finding:
        for reason in (answer.finish_reason, answer.native_finish_reason):
            if reason is not None and reason.lower() in _FILTER_WORDS:
                return fail("content_filter", f"finish reason {reason!r}")
        if answer.filtered is not None:
            return fail("content_filter", answer.filtered)
        if answer.refusal.strip() and not answer.has_text:
            return fail("refusal", f"a refusal field: {excerpt(answer.refusal, length=80)}")
        if answer.has_text:
            refused = self._refused(answer.text, asked)
            if refused is not None:
                return refused
        if answer.refusal.strip():
            return unsure("refusal", "a refusal field beside a text")
        if answer.transcript.kind is ProbeKind.FILTER:
            missing = incomplete(answer, asked, self.settings)
            if missing is not None:
                return missing
        elif not answer.has_text and not answer.tool_calls:
            return unsure("no_text", "nothing to read for a refusal")
        return self._too_short(answer, asked) or passed()

    def _refused(self, text: str, asked: Asked) -> Finding | None:
        score = refusal_score(text)
        shown = f"{', '.join(score.why)}: {score.points} points; {excerpt(text.lstrip(), length=80)}"
        if score.template:
            return fail("content_filter", f"a filter's own text: {shown}")
        if score.points < self.settings.refusal_points - 1:
            return None
        came, wanted = word_count(text), asked.min_words or 0
        full = 0 < wanted <= came
        if score.points >= self.settings.refusal_points:
            # A refusal beside as much text as was asked for is a disclaimer: printed, never red.
            return unsure("refusal", f"beside a full text: {shown}") if full else fail("refusal", shown)
        if full:
            return None
        # Far shorter than the scene that was asked for: no character's line, but the whole answer.
        alone = came * _FAR_SHORTER < wanted
        return fail("refusal", shown) if alone else unsure("refusal", shown)

    def _too_short(self, answer: Answer, asked: Asked) -> Finding | None:
        if asked.min_words is None or len(answer.text) > _LETTERS_ENOUGH * asked.min_words:
            return None
        came = word_count(answer.text)
        if came * _FAR_SHORTER < asked.min_words:
            return unsure("too_short", f"{came} of {asked.min_words} words asked for")
        return None
