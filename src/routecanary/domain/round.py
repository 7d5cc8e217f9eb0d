"""What is one pass over a model, and what is an administrator's act?

These are the lines of a trace: the decision core takes one of them at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from routecanary.domain.names import ContractName, Locale, ModelId, RouteId
from routecanary.domain.verdict import VerdictKind


class RoundClass(StrEnum):
    FAILED = "failed"
    CLEAN = "clean"
    FROZEN = "frozen"


class Mode(StrEnum):
    OBSERVE = "observe"
    ENFORCE = "enforce"


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteReport:
    """What one round says of one route; verdicts are settled (policy.md §1).

    `swallows` None means: this round does not state it, and then the route swallows nothing from now on.
    """

    verdicts: Mapping[ContractName, VerdictKind] = field(default_factory=dict)
    attempts: Mapping[ContractName, tuple[bool, ...]] = field(
        default_factory=dict
    )  # conclusive ones in order, true for a fail; a contract that is not named has one, its verdict
    swallows: frozenset[RouteId] | None = None
    control_for: frozenset[ContractName] = frozenset()
    admitted: bool = True
    locale: Locale | None = None  # in which this route was asked, where it is not the round's


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One pass over one model; a route that is not in `routes` was absent from discovery."""

    at: datetime  # UTC, the time of deciding
    model: ModelId
    routes: Mapping[RouteId, RouteReport]
    locale: Locale | None = None
    builtin: frozenset[str] = frozenset()
    runtime: frozenset[str] = frozenset()
    swallows: Mapping[str, frozenset[RouteId]] = field(default_factory=dict)  # of entries that are no routes
    acted: frozenset[RouteId] = frozenset()
    out_of_turn: bool = False  # its locale was asked for, and is not the rotation's


@dataclass(frozen=True, slots=True, kw_only=True)
class Lift:
    at: datetime
    model: ModelId
    route: RouteId
    false_positive: bool = False
    hold_until: datetime | None = None
    actor: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchMode:
    at: datetime
    model: ModelId
    mode: Mode
    actor: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    at: datetime
    model: ModelId
    until: datetime | None = None
    actor: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    at: datetime
    model: ModelId
    actor: str | None = None
    reason: str | None = None
    scheduled: bool = False  # by the clock: resumes nothing before the pause's own end


@dataclass(frozen=True, slots=True, kw_only=True)
class Requalify:
    """What judges these contracts is new: what the old one saw accuses nobody any more."""

    at: datetime
    model: ModelId
    contracts: frozenset[ContractName]
    actor: str | None = None
    reason: str | None = None


Act = Lift | SwitchMode | Pause | Resume | Requalify
Line = Round | Act
