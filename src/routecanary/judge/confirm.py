"""When is a contract's verdict settled within a round?

A first `fail` asks for confirmations; only a majority of all attempts makes it stand.

Source: policy.md §1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from typing import Final, Literal

from routecanary.domain.verdict import Verdict, VerdictKind


class _Need(Enum):
    MORE = "more"


NEEDS_MORE: Final = _Need.MORE
"""Another attempt is needed before the verdict is settled."""

# policy.md §1: how integrity's verdicts on the three probes become one.
_FOLD: Final = (
    VerdictKind.FAIL,
    VerdictKind.ACCOUNT,
    VerdictKind.TRANSPORT,
    VerdictKind.INCONCLUSIVE,
    VerdictKind.PASS,
    VerdictKind.SKIPPED,
)


def settle(attempts: Sequence[Verdict], confirmations: int = 2) -> Verdict | Literal[_Need.MORE]:
    """Settle one contract over the attempts so far.

    Args:
        attempts: Verdicts of one contract on one probe, the first asking first; not empty.
        confirmations: Attempts after a first fail; even.
    Returns:
        The first verdict when it is no fail; the fail that a majority of all `1 + confirmations` attempts
        bears out; `pass` when passes outvote it; `inconclusive` when nobody has a majority; or `NEEDS_MORE`
        while attempts are missing that could still decide.
    Example: with 2 confirmations, fail, fail is a fail after two; fail, pass, fail after three;
        fail, pass, pass is `pass`; fail, pass, transport is `inconclusive`.
    """
    if not attempts:
        raise ValueError("no attempts to settle")
    if confirmations < 0 or confirmations % 2:
        raise ValueError(f"confirmations must be an even number, not {confirmations}")
    first = attempts[0]
    total = 1 + confirmations
    taken = attempts[:total]
    if first.kind is not VerdictKind.FAIL:
        return first
    majority = total // 2 + 1
    fails = [verdict for verdict in taken if verdict.kind is VerdictKind.FAIL]
    passes = [verdict for verdict in taken if verdict.kind is VerdictKind.PASS]
    if len(fails) >= majority:
        return replace(first, detail=f"{len(fails)} of {len(taken)} attempts failed; {first.detail}")
    if len(passes) >= majority:
        return replace(passes[0], detail=f"a first fail ({first.code}) was outvoted by {len(passes)} passes")
    if len(taken) < total:
        return NEEDS_MORE
    return replace(
        first,
        kind=VerdictKind.INCONCLUSIVE,
        code="unconfirmed",
        detail=f"{len(fails)} fail, {len(passes)} pass of {total} attempts; first: {first.code}",
    )


def fold_integrity(verdicts: Sequence[Verdict]) -> Verdict:
    """Fold integrity's settled verdicts on the probes of one route into one.

    Returns:
        The first verdict of the gravest kind: `fail`, `account`, `transport`, `inconclusive`, `pass`.
    """
    if not verdicts:
        raise ValueError("no verdicts to fold")
    return min(verdicts, key=lambda verdict: _FOLD.index(verdict.kind))
