"""How many of a route's answers failed, of those that could be judged?

Answers that say nothing of quality (transport, account, inconclusive) are counted apart: a host that was
overloaded while it was asked has not failed a contract, and has not passed it either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from routecanary.domain.interval import Interval, exact_interval
from routecanary.domain.names import ContractName
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.study.values import StudyAnswer

ANY: Final = ContractName("any")
"""Stands for all contracts together, where verdicts are counted by contract."""

_STRONGEST_FIRST: Final = (VerdictKind.FAIL, VerdictKind.ACCOUNT, VerdictKind.TRANSPORT, VerdictKind.PASS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """The verdicts of one contract on some answers."""

    failed: int = 0
    judged: int = 0  # passed or failed
    unjudged: Mapping[VerdictKind, int] = field(default_factory=dict)  # by what they were instead
    codes: Mapping[str, int] = field(default_factory=dict)  # of the fails, by reason code

    @property
    def share(self) -> float | None:
        return self.failed / self.judged if self.judged else None

    def interval(self, confidence: float) -> Interval:
        """Give the exact interval of the share that fails."""
        return exact_interval(self.failed, self.judged, confidence)


def counted(answers: Iterable[StudyAnswer], contract: ContractName) -> Count:
    """Count what one contract, or `ANY`, said; answers that it does not apply to are left out."""
    kinds: Counter[VerdictKind] = Counter()
    codes: Counter[str] = Counter()
    for answer in answers:
        kind = kind_of(answer.verdicts, contract)
        if kind is None or kind is VerdictKind.SKIPPED:
            continue
        kinds[kind] += 1
        if kind is VerdictKind.FAIL:
            codes.update(fails_of(answer.verdicts, contract))
    return Count(
        failed=kinds[VerdictKind.FAIL],
        judged=kinds[VerdictKind.FAIL] + kinds[VerdictKind.PASS],
        unjudged={kind: number for kind, number in sorted(kinds.items()) if not kind.conclusive},
        codes=dict(sorted(codes.items())),
    )


def kind_of(verdicts: Mapping[ContractName, Verdict], contract: ContractName) -> VerdictKind | None:
    """Tell what a contract said of an answer; None where it said nothing.

    All contracts together are as a round's class is formed (policy.md §3): a fail stands whatever else was
    said; without one, an answer that did not come whole says nothing; otherwise one pass is a pass.
    """
    if contract != ANY:
        said = verdicts.get(contract)
        return None if said is None else said.kind
    kinds = {said.kind for said in verdicts.values()} - {VerdictKind.SKIPPED}
    for kind in _STRONGEST_FIRST:
        if kind in kinds:
            return kind
    return VerdictKind.INCONCLUSIVE if kinds else None


def fails_of(verdicts: Mapping[ContractName, Verdict], contract: ContractName) -> set[str]:
    """Name what failed on an answer, by reason code."""
    return {
        said.code or str(said.contract)
        for said in verdicts.values()
        if said.kind is VerdictKind.FAIL and contract in (ANY, said.contract)
    }


def together(counts: Iterable[Count]) -> Count:
    """Add up counts."""
    failed = judged = 0
    unjudged: Counter[VerdictKind] = Counter()
    codes: Counter[str] = Counter()
    for each in counts:
        failed += each.failed
        judged += each.judged
        unjudged.update(each.unjudged)
        codes.update(each.codes)
    return Count(
        failed=failed,
        judged=judged,
        unjudged=dict(sorted(unjudged.items())),
        codes=dict(sorted(codes.items())),
    )
