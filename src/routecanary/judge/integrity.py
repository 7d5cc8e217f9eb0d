"""Is the text mechanically damaged, or provably not this request's?

Judged on the answers of all three probes. Outside the filter probe this contract also owns `empty`,
`reasoning_only` and `truncated`; outside the chat probe, the encoding kinds.

Source: product.md §2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from routecanary.domain.answer import Answer
from routecanary.domain.asked import Asked
from routecanary.domain.names import INTEGRITY, ContractName
from routecanary.domain.probe import ProbeKind
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.judge.completeness import incomplete, was_cut
from routecanary.judge.contract import Finding, passed, unsure
from routecanary.judge.crosstalk import cross_talk
from routecanary.judge.doubled import doubled
from routecanary.judge.encoding import broken_encoding
from routecanary.judge.limits import limit_ignored, stop_ignored
from routecanary.judge.provenance import other_model, unknown_host
from routecanary.judge.repetition import looped
from routecanary.judge.settings import Settings
from routecanary.judge.spacing import lost_spaces
from routecanary.judge.start import spoiled_start
from routecanary.judge.tokens import leaked_tokens

_VERSION: Final = 2
_MAX_LETTERS: Final = 100_000  # of an answer that are read: twenty times what any probe allows


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrityContract:
    """The first damage found, in a fixed order from the surest to the vaguest."""

    settings: Settings
    name: ContractName = INTEGRITY
    version: int = _VERSION
    confirmations: int = 2

    def applies_to(self, transcript: Transcript) -> bool:  # noqa: ARG002 - every answer is judged
        return True

    def judge(self, answer: Answer) -> Verdict:
        asked = answer.asked
        doubt: Finding | None = None
        for finding in self._findings(answer, asked):
            if finding is None:
                continue
            if finding.kind is VerdictKind.FAIL:
                return finding.by(self)
            doubt = doubt or finding
        return (doubt or passed()).by(self)

    def _findings(self, answer: Answer, asked: Asked) -> Iterator[Finding | None]:
        """Look for damage, most specific first: what explains the rest goes before it."""
        transcript, text = answer.transcript, answer.text[:_MAX_LETTERS]
        yield other_model(answer, asked)
        if answer.has_text:
            yield cross_talk(text, asked)
            yield limit_ignored(answer, asked)
            yield stop_ignored(answer, asked)
            yield leaked_tokens(text, asked)
            yield spoiled_start(text, asked, transcript.locale)
            if transcript.kind is not ProbeKind.CHAT:
                yield broken_encoding(answer, transcript.locale)
            yield looped(text, asked, cut=was_cut(answer))
            yield doubled(text, asked, transcript.locale, cut=was_cut(answer))
            if asked.schema is None:  # a document needs no spaces
                yield lost_spaces(text, asked, transcript.locale)
        elif text:
            yield looped(text, asked, cut=was_cut(answer))  # white space up to the limit
        # The filtering contract owns what is missing of a scene, the structured one a cut document.
        owned = transcript.kind is ProbeKind.FILTER or (
            transcript.kind is ProbeKind.STRUCTURED and answer.has_text
        )
        if not owned:
            yield incomplete(answer, asked, self.settings)
        if answer.keepalive_frames:
            yield unsure("bad_frame", "keep-alives came as data: official clients stop at them")
        yield unknown_host(answer, asked)
