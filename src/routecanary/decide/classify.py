"""Was a round good or bad for a route, or does it say nothing?"""

from __future__ import annotations

from collections.abc import Mapping

from routecanary.domain.names import ContractName
from routecanary.domain.round import RoundClass
from routecanary.domain.verdict import VerdictKind


def classify(verdicts: Mapping[ContractName, VerdictKind], suspects: frozenset[ContractName]) -> RoundClass:
    """Class one route's round.

    Args:
        verdicts: After the brakes, without the contracts that the route is control for.
        suspects: Contracts that failed in the fail streak or that the route is suspended for.
    Returns:
        `failed` on any fail; `clean` on a pass, when every suspect passed and the whole answer came;
        else `frozen`: a suspect that was not heard clears nobody.
    Source: docs/policy.md, Round class of a route.
    """
    kinds = verdicts.values()
    if VerdictKind.FAIL in kinds:
        return RoundClass.FAILED
    if VerdictKind.PASS not in kinds or VerdictKind.TRANSPORT in kinds or VerdictKind.ACCOUNT in kinds:
        return RoundClass.FROZEN
    if all(verdicts.get(contract) is VerdictKind.PASS for contract in suspects):
        return RoundClass.CLEAN
    return RoundClass.FROZEN
