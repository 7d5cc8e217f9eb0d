"""What has been counted of one contract of one route, attempt by attempt?

The nouns of the evidence trigger (docs/policy.md, Evidence trigger). Ratios are kept as natural logarithms:
a ratio of 1 is 0.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from routecanary.domain.names import ContractName, Locale


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """The conclusive attempts of one route up to the end of one day, by contract: running totals.

    What a span of whole days brought is the difference of two of them.
    """

    start: datetime  # of its first attempts
    attempts: Mapping[ContractName, int]
    fails: Mapping[ContractName, int] = field(
        default_factory=dict
    )  # a contract that never failed is not named


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The running likelihood ratio of one (route, contract); the rest counts since it last stood at 1."""

    log_m: float = 0.0  # never below 0: M ← max(1, M)
    rounds: int = 0  # with at least one fail
    attempts: int = 0
    fails: int = 0
    locales: frozenset[Locale] = frozenset()  # in which an attempt failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """What one round added to one (route, contract), and where the ratios stand after it."""

    attempts: int  # of this round, conclusive ones
    fails: int  # of them
    after: Evidence
    log_r: float = 0.0  # the reverse ratio, for a contract that earned the suspension in force


@dataclass(frozen=True, slots=True, kw_only=True)
class Earned:
    """The numbers on which evidence asked for a suspension."""

    attempts: int  # since the ratio last stood at 1
    fails: int
    p0: float  # failure rate of the other routes
    p1: float  # failure rate that the ratio looks for
    log_m: float
    log_threshold: float
    exact: bool  # the threshold is the exact chain's; otherwise that of the formula 1/α
