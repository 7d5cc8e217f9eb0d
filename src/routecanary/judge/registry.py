"""Which contracts are there? An explicit tuple: a new contract is one new file and one new line."""

from __future__ import annotations

from typing import Final

from routecanary.judge.contract import Contract
from routecanary.judge.filtering import FilteringContract
from routecanary.judge.integrity import IntegrityContract
from routecanary.judge.language import LanguageContract
from routecanary.judge.latency import LatencyContract
from routecanary.judge.settings import Settings
from routecanary.judge.structured import StructuredContract


def contracts_with(settings: Settings) -> tuple[Contract, ...]:
    """Build the contracts for other limits than the shipped ones."""
    return (
        LatencyContract(settings=settings),
        FilteringContract(settings=settings),
        StructuredContract(settings=settings),
        LanguageContract(settings=settings),
        IntegrityContract(settings=settings),
    )


CONTRACTS: Final[tuple[Contract, ...]] = contracts_with(Settings())
