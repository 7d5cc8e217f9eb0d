"""What has been counted of one contract of one route, attempt by attempt?

The nouns of the evidence trigger (docs/policy.md, Evidence trigger). Ratios are kept as natural logarithms:
a ratio of 1 is 0.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from routecanary.domain.names import Locale


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """The conclusive attempts of one stretch of time."""

    start: datetime
    attempts: int
    fails: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The running likelihood ratio of one (route, contract), and the attempts of the trailing window.

    `rounds`, `attempts`, `fails` and `locales` count since the ratio last stood at 1.
    """

    log_m: float = 0.0  # never below 0: M ← max(1, M)
    rounds: int = 0  # with at least one fail
    attempts: int = 0
    fails: int = 0
    locales: frozenset[Locale] = frozenset()  # in which an attempt failed
    buckets: tuple[Bucket, ...] = ()  # oldest first


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """What one round added to one (route, contract), and where the ratios stand after it."""

    attempts: int  # of this round, conclusive ones
    fails: int  # of them
    after: Evidence  # without its buckets
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
