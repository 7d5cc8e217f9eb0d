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
from routecanary.domain.names import INTEGRITY, ContractName
from routecanary.domain.probe import ProbeKind
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.judge.asked import Asked, asked_of
from routecanary.judge.completeness import incomplete
from routecanary.judge.contract import Finding, passed, unsure
from routecanary.judge.provenance import other_model, unknown_host
from routecanary.judge.settings import Settings
from routecanary.judge.start import spoiled_start

_VERSION: Final = 1


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
        asked = asked_of(answer.transcript)
        doubt: Finding | None = None
        for finding in self._findings(answer, asked):
            if finding is None:
                continue
            if finding.kind is VerdictKind.FAIL:
                return finding.by(self)
            doubt = doubt or finding
        return (doubt or passed()).by(self)

    def _findings(self, answer: Answer, asked: Asked) -> Iterator[Finding | None]:
        yield other_model(answer, asked)
        if answer.has_text:
            yield spoiled_start(answer.text, asked)
        if answer.transcript.kind is not ProbeKind.FILTER:
            yield incomplete(answer, asked, self.settings)
        if answer.keepalive_frames:
            yield unsure("bad_frame", "keep-alives came as data: official clients stop at them")
        yield unknown_host(answer, asked)
