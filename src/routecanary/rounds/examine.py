"""What is settled about one route? The judging half of a round, with its confirmations.

A first fail is asked again in the same round, and the attempts decide together (policy.md §1).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from routecanary.domain.names import INTEGRITY, ContractName
from routecanary.domain.probe import Probe, ProbeKind
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.judge.confirm import NEEDS_MORE, fold_integrity, settle
from routecanary.judge.contract import unsure
from routecanary.judge.registry import CONTRACTS
from routecanary.probe.plan import CONTRACTS_FED
from routecanary.rounds.capture import Captured

WOULD_FAIL: Final = "would_fail"
"""The reason code of a fail that accuses nobody, because its contract is not enforced."""

JUDGE_CRASHED: Final = "judge_crashed"
"""The reason code of a judge that raised: our own bug, and never a fail."""

Judge = Callable[[Transcript, frozenset[ContractName]], Mapping[ContractName, Verdict]]
"""A transcript and the contracts that are asked → the verdict of each that applies to it."""

AskAgain = Callable[[Probe], Awaitable[Captured | None]]
"""A probe that failed → the next attempt's answer; None: it cannot be asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One asking and what the contracts said of it."""

    probe: Probe
    transcript: Transcript
    verdicts: Mapping[ContractName, Verdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """One route in one round: its settled verdicts and every attempt that they rest on."""

    verdicts: Mapping[ContractName, Verdict]
    attempts: tuple[Attempt, ...]

    def conclusive(self, name: ContractName) -> tuple[bool, ...]:
        """List a contract's attempts that passed or failed, in order, true for a fail."""
        said = _said(self.attempts, name)
        return tuple(verdict.kind is VerdictKind.FAIL for verdict in said if verdict.kind.conclusive)


def examined(captured: Captured, judge: Judge, contracts: frozenset[ContractName]) -> Attempt:
    """Judge one asking by some contracts, those of them that apply."""
    verdicts = judge(captured.transcript, contracts)
    return Attempt(probe=captured.probe, transcript=captured.transcript, verdicts=verdicts)


def unjudged(
    error: Exception, kind: ProbeKind, contracts: frozenset[ContractName]
) -> Mapping[ContractName, Verdict]:
    """Say of an answer that broke our own reading of it what a judge that crashed would."""
    finding = unsure(JUDGE_CRASHED, f"{type(error).__name__}: our own bug, not the host's")
    named = contracts & CONTRACTS_FED.get(kind, contracts)
    return {contract.name: finding.by(contract) for contract in CONTRACTS if contract.name in named}


async def confirm(
    first: Attempt,
    judge: Judge,
    ask_again: AskAgain,
    confirmations: Mapping[ContractName, int],
    *,
    to_the_end: bool = False,
) -> tuple[Attempt, ...]:
    """Ask a probe again until each contract that failed it is settled; one asking at a time.

    Args:
        first: The first asking.
        confirmations: How many further attempts each contract asks for, an even number; 0 settles at once.
        to_the_end: Ask all of them, also when the majority is certain: every attempt is evidence.
    Returns:
        All attempts, the first one first. A confirmation is judged only by the contracts that failed.
    """
    attempts = [first]
    failed = frozenset(name for name, verdict in first.verdicts.items() if verdict.kind is VerdictKind.FAIL)
    for _ in range(max((confirmations[name] for name in failed), default=0)):
        if not to_the_end and NEEDS_MORE not in {
            settle(_said(attempts, name), confirmations[name]) for name in failed
        }:
            break
        answer = await ask_again(attempts[-1].probe)
        if answer is None:
            break
        attempts.append(examined(answer, judge, failed))
    return tuple(attempts)


def conclude(
    probes: Sequence[tuple[Attempt, ...]],
    *,
    enabled: frozenset[ContractName],
    enforced: frozenset[ContractName],
    confirmations: Mapping[ContractName, int],
) -> Examination:
    """Settle a route's verdicts from the attempts of all its probes.

    Args:
        probes: The attempts of each probe that was asked.
        enabled: A contract that is enabled but was not asked is `skipped`, as is one that is not enabled.
        enforced: A fail of any other contract is recorded as `would_fail` and counts as `inconclusive`.
    """
    said: dict[ContractName, list[Verdict]] = {}
    for attempts in probes:
        for name in attempts[0].verdicts:
            verdict = settle(_said(attempts, name), confirmations[name])
            if verdict is NEEDS_MORE:
                verdict = _unconfirmed(attempts[0].verdicts[name])
            said.setdefault(name, []).append(verdict)
    verdicts: dict[ContractName, Verdict] = {}
    for name in sorted(enabled):
        settled = said.get(name)
        if settled is None:
            continue
        verdict = fold_integrity(settled) if name == INTEGRITY else settled[0]
        if verdict.kind is VerdictKind.FAIL and name not in enforced:
            verdict = replace(
                verdict,
                kind=VerdictKind.INCONCLUSIVE,
                code=WOULD_FAIL,
                detail=f"{verdict}: {verdict.detail}",
            )
        verdicts[name] = verdict
    return Examination(
        verdicts=verdicts, attempts=tuple(attempt for attempts in probes for attempt in attempts)
    )


def _said(attempts: Sequence[Attempt], name: ContractName) -> tuple[Verdict, ...]:
    return tuple(attempt.verdicts[name] for attempt in attempts if name in attempt.verdicts)


def _unconfirmed(first: Verdict) -> Verdict:
    """A fail that could not be asked again as often as it must be proves nothing."""
    return replace(
        first,
        kind=VerdictKind.INCONCLUSIVE,
        code="unconfirmed",
        detail=f"{first}, not confirmed: {first.detail}",
    )
