"""How is a stored case judged, and what does its line say?

The reading of case files is in `case_file.py`; both are one door for callers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from routecanary.domain.answer import read_answer
from routecanary.domain.names import FILTERING, INTEGRITY, LANGUAGE, LATENCY, STRUCTURED
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.judge.contract import Finding
from routecanary.judge.examine import judge_answer
from routecanary.judge.registry import CONTRACTS
from routecanary.judge.settings import Settings
from routecanary.judge.triage import triage
from routecanary.replay.case_file import MAX_CASE_BYTES, Case, Expected, read_case

__all__ = ["MAX_CASE_BYTES", "Case", "Expected", "judge_case", "read_case"]

# The most specific account of one fault comes first: damage explains a schema, a language, a refusal.
_ORDER: Final = (INTEGRITY, STRUCTURED, FILTERING, LANGUAGE, LATENCY)
_GRAVITY: Final = (VerdictKind.FAIL, VerdictKind.INCONCLUSIVE, VerdictKind.PASS, VerdictKind.SKIPPED)
_SETTINGS: Final = Settings()


def judge_case(case: Case) -> dict[str, Any]:
    """Judge a case; the line that `routecanary judge --json` prints.

    Returns:
        `{"id", "verdict", "kind", "contracts": {name: {"verdict", "kind", "reason"}}}`. The verdict on top is
        that of the case's contract together with integrity, or of all that apply: triage decides alone, then
        `fail` before `inconclusive` before `pass`.
    """
    answer = read_answer(case.transcript)
    verdicts = judge_answer(answer, _SETTINGS, CONTRACTS)
    decided = triage(answer, _SETTINGS)
    asked = [
        verdicts[name]
        for name in _ORDER
        if name in verdicts and (case.contract in (None, name) or name == INTEGRITY)
    ]
    kind, code = _top(asked, None if decided is None else decided.finding)
    return {
        "id": case.id,
        "verdict": kind.value,
        "kind": code,
        "contracts": {
            name: {"verdict": verdict.kind.value, "kind": verdict.code, "reason": verdict.detail}
            for name, verdict in verdicts.items()
        },
    }


def _top(asked: Sequence[Verdict], decided: Finding | None) -> tuple[VerdictKind, str | None]:
    """Fold the verdicts of the contracts that were asked, the most specific first.

    Triage decides alone, save where it has left a fail to its contract: late text, a filter's decision.
    """
    for gravity in _GRAVITY:
        if decided is not None and gravity is not VerdictKind.FAIL:
            return decided.kind, decided.code
        for verdict in asked:
            if verdict.kind is gravity:
                return verdict.kind, verdict.code
    return VerdictKind.SKIPPED, None
