"""Did the gateway or our own account, and not the routes, give a round's answers?"""

from __future__ import annotations

from collections import Counter

from routecanary.domain.event import GatewayOutage
from routecanary.domain.verdict import VerdictKind
from routecanary.rounds.preflight import OF_ONE_REQUEST
from routecanary.rounds.run import RoundResult


def trouble_of(result: RoundResult) -> str | None:
    """Say in one line what an administrator must look after; None when the routes spoke for themselves."""
    said = [
        verdict for examination in result.examinations.values() for verdict in examination.verdicts.values()
    ]
    heard = any(verdict.kind.conclusive for verdict in said)
    account = Counter(
        str(verdict)
        for verdict in said
        if verdict.kind is VerdictKind.ACCOUNT and not (heard and verdict.code in OF_ONE_REQUEST)
    )
    if account:
        return f"{result.model}: the account cannot be used: {account.most_common(1)[0][0]}"
    if any(isinstance(event, GatewayOutage) for event in result.events):
        most = Counter(str(verdict) for verdict in said).most_common(1)[0][0]
        return f"{result.model}: no route could be asked: {most}"
    return None
