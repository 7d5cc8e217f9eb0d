"""What do the contracts say of one transcript?"""

from __future__ import annotations

import logging
from typing import Final

from routecanary.domain.answer import Answer, read_answer
from routecanary.domain.names import ContractName
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.judge.contract import Contract, unsure
from routecanary.judge.registry import CONTRACTS, contracts_with
from routecanary.judge.settings import Settings
from routecanary.judge.triage import Triage, triage

_LOG = logging.getLogger(__name__)
_DEFAULTS: Final = Settings()


def judge_transcript(
    transcript: Transcript,
    settings: Settings = _DEFAULTS,
    *,
    only: frozenset[ContractName] | None = None,
) -> dict[ContractName, Verdict]:
    """Judge one transcript: triage first, then every contract that applies.

    Args:
        settings: The limits of the contracts.
        only: Judge by these contracts alone, as a confirmation does; None for all.
    Returns:
        One verdict per contract that applies, in the order of the registry.
    """
    contracts = CONTRACTS if settings is _DEFAULTS else contracts_with(settings)
    return judge_answer(read_answer(transcript), settings, contracts, only=only)


def judge_answer(
    answer: Answer,
    settings: Settings,
    contracts: tuple[Contract, ...],
    *,
    only: frozenset[ContractName] | None = None,
    blind: frozenset[ContractName] = frozenset(),
) -> dict[ContractName, Verdict]:
    """Judge an answer that has been read already.

    Args:
        blind: Contracts whose judges do not see what they must (`self_check`): they accuse and acquit nobody.
    """
    decided = triage(answer, settings)
    return {
        contract.name: _verdict(contract, answer, decided, blind=contract.name in blind)
        for contract in contracts
        if (only is None or contract.name in only) and contract.applies_to(answer.transcript)
    }


def _verdict(contract: Contract, answer: Answer, decided: Triage | None, *, blind: bool) -> Verdict:
    if decided is not None and contract.name not in decided.spared:
        finding = decided.instead.get(contract.name, decided.finding)
        if not blind or finding.kind is not VerdictKind.FAIL:
            return finding.by(contract)
    if blind:
        return unsure("judge_blind", "this judge did not see its own planted faults").by(contract)
    try:
        return contract.judge(answer)
    except Exception as error:  # our own bug, whatever it is: an alert, never a fail
        _LOG.exception("judge crashed", extra={"contract": contract.name})
        return unsure("judge_crashed", f"{type(error).__name__}: our own bug, not the host's").by(contract)
