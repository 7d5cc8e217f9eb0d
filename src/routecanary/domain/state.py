"""What does the decision core remember of one model?

The state is the fold of the event log (`decide.evolve`): nothing here is set in any other way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from routecanary.domain.evidence import Day, Earned, Evidence
from routecanary.domain.names import ContractName, Locale, ModelId, RouteId
from routecanary.domain.round import Mode, RoundClass


@dataclass(frozen=True, slots=True, kw_only=True)
class Streak:
    """What the counted rounds of one route add up to (docs/policy.md, Streaks)."""

    failed: int = 0  # counted failed rounds in a row
    clean: int = 0  # counted clean rounds in a row
    suspicion: frozenset[ContractName] = frozenset()  # contracts that failed in the fail streak
    last_at: datetime | None = None  # the last counted round, failed or clean
    last_class: RoundClass | None = None  # its class
    was_clean: bool = False  # some counted round was clean since the route was first seen
    retry_locale: Locale | None = None  # failed `language`, not passed since
    locales: frozenset[Locale] = frozenset()  # in which `language` failed in the fail streak


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspension:
    """One canary exclusion in force; in observe mode a shadow of one."""

    start: datetime
    until: datetime
    contracts: frozenset[ContractName]  # the suspicion at its start; does not grow
    offence: int  # 1-based
    evidence: Mapping[ContractName, Earned] = field(
        default_factory=dict
    )  # of contracts that it suspended for
    log_r: Mapping[ContractName, float] = field(default_factory=dict)  # of those: the reverse ratio since
    locales: frozenset[Locale] = frozenset()  # in which `language` failed, if it is one of the contracts


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteState:
    """One route of one model, from the first round that named it on."""

    streak: Streak = field(default_factory=Streak)
    suspension: Suspension | None = None
    offences: int = 0  # remembered ones, the present suspension included
    ended_at: datetime | None = None  # when its last suspension ended
    hold_until: datetime | None = None  # not suspended before
    swallows: frozenset[RouteId] = frozenset()  # as last stated
    admitted: bool = True  # as last stated
    control_for: frozenset[ContractName] = frozenset()  # of the last round; empty while absent
    seen_at: datetime | None = None  # when a round first named it
    evidence: Mapping[ContractName, Evidence] = field(default_factory=dict)  # where the ratio is above 1
    days: tuple[Day, ...] = ()  # of attempts, oldest first; evidence trigger
    weighed_at: datetime | None = None  # the last round whose attempts counted


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelState:
    """Everything that is remembered of one model."""

    model: ModelId
    mode: Mode = Mode.ENFORCE
    paused: bool = False  # an administrator stopped the merging of the canary layer
    paused_until: datetime | None = None  # when whoever keeps the clock resumes; None = a person does
    released: bool = False  # the canary layer is left out because no production route was left
    capacity_low: bool = False
    weak: frozenset[ContractName] = frozenset()  # contracts whose probe a control passed last
    routes: Mapping[RouteId, RouteState] = field(default_factory=dict)
    named: frozenset[RouteId] = frozenset()  # by the last round
    builtin: frozenset[str] = frozenset()  # entries of that layer at the last round
    runtime: frozenset[str] = frozenset()  # likewise
    entry_swallows: Mapping[str, frozenset[RouteId]] = field(
        default_factory=dict
    )  # of entries, as last stated
    control_failed_at: Mapping[ContractName, datetime] = field(
        default_factory=dict
    )  # when a control for the contract last failed it, as a control should
    rounds: int = 0  # finished ones
    out_of_turn: int = 0  # of them, those in a locale that was asked for
    last_round_at: datetime | None = None
    last_line_at: datetime | None = None  # round or act

    @classmethod
    def empty(cls, model: ModelId) -> ModelState:
        """Begin: nothing known, mode `enforce`, as a trace starts."""
        return cls(model=model)

    def swallowed_by(self, name: str) -> frozenset[RouteId]:
        """Look up what naming `name` also names; a route's own statement goes before an entry's."""
        route = self.routes.get(RouteId(name))
        stated = self.entry_swallows.get(name, frozenset()) if route is None else route.swallows
        return stated - {name}

    def suspensions(self) -> dict[RouteId, Suspension]:
        """List the suspensions in force, by route, in route order."""
        return {
            name: route.suspension
            for name, route in sorted(self.routes.items())
            if route.suspension is not None
        }

    def controls(self) -> frozenset[RouteId]:
        """List the routes that the last round named as control for any contract."""
        return frozenset(name for name in self.named if self.routes[name].control_for)
