"""Did visible text come in time?

Source: product.md §2: 10.0 s from the request's last byte, inclusive; connecting is counted apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from routecanary.domain.answer import Answer
from routecanary.domain.names import LATENCY, ContractName
from routecanary.domain.probe import ProbeKind
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.judge.contract import Finding, fail, passed, unsure
from routecanary.judge.settings import Settings

_VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyContract:
    """The stream was opened with HTTP 200 (triage has seen to that); when did text come?"""

    settings: Settings
    name: ContractName = LATENCY
    version: int = _VERSION
    confirmations: int = 2

    def applies_to(self, transcript: Transcript) -> bool:
        return transcript.kind in (ProbeKind.CHAT, ProbeKind.ANY)

    def judge(self, answer: Answer) -> Verdict:
        return self._finding(answer).by(self)

    def _finding(self, answer: Answer) -> Finding:
        limit = self.settings.latency_limit_ms
        transcript = answer.transcript
        if transcript.lag_ms > self.settings.lag_limit_ms:
            return unsure("own_lag", f"our own event loop lagged {transcript.lag_ms:.0f} ms in the window")
        first = answer.first_text_ms
        if first is not None:
            seconds = f"first text at {first / 1000:.2f} s, limit {limit / 1000:.1f} s"
            return passed(seconds) if first <= limit else fail("latency", seconds)
        waited = transcript.ending.at_ms
        if answer.tool_calls:
            return Finding(
                VerdictKind.SKIPPED, "tool_calls", "a structured call was the answer: no text was due"
            )
        if waited > limit:
            return fail("latency", f"no visible text in {waited / 1000:.1f} s, limit {limit / 1000:.1f} s")
        return unsure("no_text", f"ended at {waited / 1000:.2f} s without visible text")
