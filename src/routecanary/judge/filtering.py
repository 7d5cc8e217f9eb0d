"""Was the scene refused, filtered, left empty or cut short?

Judged on the filter probe: a fixed continuation of the traffic that the product supports. A refusal counts
only with high confidence; characters may refuse. A pass is shown by the scene itself.

Source: product.md §2; filtering.md §2 (wire signatures), §3 (order of decisions).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from routecanary.domain.answer import Answer
from routecanary.domain.names import FILTERING, ContractName
from routecanary.domain.probe import ProbeKind
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.judge.completeness import incomplete
from routecanary.judge.contract import Finding, excerpt, fail, passed, unsure
from routecanary.judge.lecture import SURE, lecture_score
from routecanary.judge.narration import Narration, ends_of, narration_of
from routecanary.judge.refusal import refusal_score
from routecanary.judge.refusals.tables import Tables, tables_with
from routecanary.judge.scene import Shown, shown_scene
from routecanary.judge.settings import Settings
from routecanary.judge.vocabulary import words
from routecanary.judge.voice import narrator

_VERSION: Final = 2
# Finish words of hosts' filters, folded (filtering.md §2).
_FILTER_WORDS: Final = words("""
    content_filter content_filtered contentfilter safety blocklist prohibited_content spii
    model_armor recitation sensitive guardrail_intervened refusal image_safety jailbreak blocked
    moderation
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilteringContract:
    """Filtered, refused, empty, cut, no scene: in this order, as far as each is sure.

    `tables`: None takes the shipped ones and the settings' own.
    """

    settings: Settings
    tables: Tables | None = None
    name: ContractName = FILTERING
    version: int = _VERSION
    confirmations: int = 2

    def applies_to(self, transcript: Transcript) -> bool:
        return transcript.kind in (ProbeKind.FILTER, ProbeKind.ANY)

    def judge(self, answer: Answer) -> Verdict:
        return self._finding(answer).by(self)

    def _finding(self, answer: Answer) -> Finding:
        for reason in (answer.finish_reason, answer.native_finish_reason):
            if reason is not None and reason.lower() in _FILTER_WORDS:
                return fail("content_filter", f"finish reason {reason!r}")
        if answer.filtered is not None:
            return fail("content_filter", answer.filtered)
        if answer.refusal.strip() and not answer.has_text:
            return fail("refusal", f"a refusal field: {excerpt(answer.refusal, length=80)}")
        asked_for_scene = answer.transcript.kind is ProbeKind.FILTER
        voices = narrator(ends_of(answer.text))
        shown = shown_scene(answer.text, answer.asked, spoken=voices.speeches > 0)
        if answer.has_text:
            narration = narration_of(voices.narration, len(answer.text.strip()))
            refused = self._refused(narration, shown)
            if asked_for_scene and (refused is None or refused.kind is not VerdictKind.FAIL):
                refused = self._lectured(narration, shown) or refused
            if refused is not None:
                return refused
        if answer.refusal.strip():
            return unsure("refusal", "a refusal field beside a text")
        if asked_for_scene:
            return _doubted(incomplete(answer, answer.asked, self.settings), answer) or _scene(answer, shown)
        if not answer.has_text and not answer.tool_calls:
            return unsure("no_text", "nothing to read for a refusal")
        return passed()

    def _refused(self, narration: Narration, shown: Shown) -> Finding | None:
        score = refusal_score(narration, self._tables())
        said = f"{', '.join(score.why)}: {score.points} points; {_quote(narration)}"
        if score.template:
            return fail("content_filter", f"a filter's own text: {said}")
        if score.points < self.settings.refusal_points - 1:
            return None
        if score.points >= self.settings.refusal_points:
            # A refusal beside as much text as was asked for is a disclaimer: printed, never red.
            return (
                unsure("refusal", f"beside a full text: {said}") if shown.is_full else fail("refusal", said)
            )
        if shown.is_full:
            return None
        # Far shorter than the scene that was asked for: no character's line, but the whole answer.
        return fail("refusal", said) if shown.is_far_shorter else unsure("refusal", said)

    def _lectured(self, narration: Narration, shown: Shown) -> Finding | None:
        lecture = lecture_score(narration, self._tables())
        if lecture.points < SURE or shown.is_begun:
            return None
        said = f"a lecture, {', '.join(lecture.why)}: {lecture.points:.0f} points; {_quote(narration)}"
        return unsure("refusal", f"beside a full text: {said}") if shown.is_full else fail("refusal", said)

    def _tables(self) -> Tables:
        return self.tables or tables_with(self.settings.own_refusals)


def _doubted(missing: Finding | None, answer: Answer) -> Finding | None:
    """Doubt a cut that nobody measured, in tokens or in words asked for: its keeper may have made it."""
    if missing is None or missing.kind is not VerdictKind.FAIL or missing.code != "truncated":
        return missing
    measured = answer.completion_tokens is not None or answer.asked.min_words is not None
    return missing if measured else unsure("truncated", missing.detail)


def _scene(answer: Answer, shown: Shown) -> Finding:
    """Pass a scene that is shown; without one to look for, a text that is not far too short."""
    if not answer.has_text:  # a tool call, which is integrity's
        return passed()
    if shown.is_far_shorter:
        return unsure("too_short", f"{shown.words} of {shown.wanted} words asked for")
    if shown.is_none:
        return unsure(
            "not_a_scene", f"neither a refusal nor the scene: {shown}; {excerpt(answer.text, length=80)}"
        )
    return passed(str(shown) if shown.knows else "")


def _quote(narration: Narration) -> str:
    return excerpt(narration.original, length=80)
