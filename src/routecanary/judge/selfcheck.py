"""Does every judge still see what it must, and leave alone what it must?

Each is shown its own planted faults and their look-alikes, under the limits that are configured. One that
misses a fault is blind; one that fails a look-alike is worse than blind. Neither may judge anybody.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from routecanary.domain.answer import read_answer
from routecanary.domain.names import ContractName, Locale
from routecanary.domain.verdict import VerdictKind
from routecanary.judge.examine import judge_answer
from routecanary.judge.planted import Planted, planted_answers
from routecanary.judge.registry import contracts_with
from routecanary.judge.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Eyesight:
    """How well one judge sees."""

    contract: ContractName
    version: int
    faults: int  # that were planted
    missed: tuple[str, ...]  # of them, by name, in the order of planting
    lookalikes: int  # likewise
    wronged: tuple[str, ...]  # of them, those that it failed

    @property
    def blind(self) -> bool:
        """Say whether it must not judge: it misses what it must see, or sees what is not there."""
        return bool(self.missed or self.wronged)


def self_check(settings: Settings, locales: Iterable[Locale]) -> tuple[Eyesight, ...]:
    """Show every judge what is planted for it; one of each, in the order of the registry.

    Args:
        settings: The limits that the judges are configured with.
        locales: In which language and filtering are shown theirs.
    """
    contracts = contracts_with(settings)
    planted = tuple(planted_answers(settings, locales))
    failed: dict[ContractName, list[tuple[Planted, bool]]] = {contract.name: [] for contract in contracts}
    for one in planted:
        only = frozenset({one.contract})
        said = judge_answer(read_answer(one.transcript), settings, contracts, only=only).get(one.contract)
        failed[one.contract].append((one, said is not None and said.kind is VerdictKind.FAIL))
    return tuple(
        Eyesight(
            contract=contract.name,
            version=contract.version,
            faults=sum(one.fault for one, _ in failed[contract.name]),
            missed=tuple(one.name for one, failed in failed[contract.name] if one.fault and not failed),
            lookalikes=sum(not one.fault for one, _ in failed[contract.name]),
            wronged=tuple(one.name for one, failed in failed[contract.name] if failed and not one.fault),
        )
        for contract in contracts
    )
