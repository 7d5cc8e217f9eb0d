"""What do a host's probes bring in one simulated round?

First attempts that fail are asked twice more and settled as the real rounds do it (docs/policy.md,
Confirmation); `integrity` judges all three probes and is folded. The attempts are the policy's evidence;
the plain list of requests is what a proxy on the way would have seen.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from routecanary.domain.names import CONTRACT_NAMES, INTEGRITY, ContractName
from routecanary.domain.round import RouteReport
from routecanary.domain.verdict import VerdictKind
from routecanary.simulate.scenario import PROBES

CONFIRMATIONS: Final = 2

Slot = tuple[int, ContractName]
"""One first attempt: the probe's place in `PROBES`, and a contract that judges it."""

SLOTS: Final[tuple[Slot, ...]] = tuple(
    (place, contract) for place, contracts in enumerate(PROBES) for contract in contracts
)


class Signal(IntEnum):
    """What came of one request."""

    WELL = 0
    FAULTY = 1  # some contract that judged it failed
    LOST = 2  # transport


class Asked(NamedTuple):
    """A host's part of a round."""

    report: RouteReport
    requests: tuple[Signal, ...]  # in order
    confirmed: int = 0  # conclusive confirmations of chance failures
    repeated: int = 0  # of them, those that failed again


_ALL_PASS: Final = dict.fromkeys(CONTRACT_NAMES, VerdictKind.PASS)

ALL_WELL: Final = Asked(
    RouteReport(verdicts=_ALL_PASS, attempts={INTEGRITY: (False,) * len(PROBES)}),
    (Signal.WELL,) * len(PROBES),
)
"""Nothing failed: the same object for every such host and round."""

ALL_LOST: Final = Asked(
    RouteReport(verdicts=dict.fromkeys(CONTRACT_NAMES, VerdictKind.TRANSPORT)), (Signal.LOST,) * len(PROBES)
)
"""Nobody answered."""

_FOLD: Final = (VerdictKind.FAIL, VerdictKind.TRANSPORT, VerdictKind.INCONCLUSIVE, VerdictKind.PASS)

Confirm = Callable[[Slot, int], bool]
"""Does the confirmation of that slot with that number, 0 or 1, fail?"""


def asked(
    failed: Collection[Slot],
    lost: Collection[int],
    confirm: Confirm,
    is_lost: Callable[[], bool],
    *,
    by_chance: Collection[Slot] = (),
) -> Asked:
    """Ask a host its probes.

    Args:
        failed: The first attempts that fail.
        lost: Places of the probes whose first asking is lost in transport.
        is_lost: Is the next confirmation lost?
        by_chance: Those of `failed` that nothing is behind: their confirmations are counted.
    """
    kinds: dict[ContractName, list[VerdictKind]] = {}
    attempts: dict[ContractName, list[bool]] = {}
    requests: list[Signal] = []
    confirmed = repeated = 0
    for place, contracts in enumerate(PROBES):
        if place in lost:
            requests.append(Signal.LOST)
            for contract in contracts:
                kinds.setdefault(contract, []).append(VerdictKind.TRANSPORT)
            continue
        failing = [contract for contract in contracts if (place, contract) in failed]
        tries = {contract: [contract in failing] for contract in contracts}
        requests.append(Signal.FAULTY if failing else Signal.WELL)
        for number in range(CONFIRMATIONS if failing else 0):
            if is_lost():
                requests.append(Signal.LOST)
                continue
            for contract in failing:
                tries[contract].append(confirm((place, contract), number))
                if (place, contract) in by_chance:
                    confirmed += 1
                    repeated += tries[contract][-1]
            requests.append(Signal(any(tries[contract][-1] for contract in failing)))
        for contract in contracts:
            kinds.setdefault(contract, []).append(settled(tries[contract]))
            attempts.setdefault(contract, []).extend(tries[contract])
    verdicts = {contract: min(kinds[contract], key=_FOLD.index) for contract in CONTRACT_NAMES}
    stated = {contract: tuple(each) for contract, each in attempts.items() if len(each) > 1}
    return Asked(RouteReport(verdicts=verdicts, attempts=stated), tuple(requests), confirmed, repeated)


def settled(tries: Sequence[bool]) -> VerdictKind:
    """Settle a contract on one probe by its conclusive attempts, true for a fail.

    Returns:
        What a majority of all three attempts bears out; `inconclusive` where a lost one leaves none.
    """
    if not tries[0]:
        return VerdictKind.PASS
    fails, majority = sum(tries), CONFIRMATIONS // 2 + 1
    if fails >= majority:
        return VerdictKind.FAIL
    return VerdictKind.PASS if len(tries) - fails >= majority else VerdictKind.INCONCLUSIVE
