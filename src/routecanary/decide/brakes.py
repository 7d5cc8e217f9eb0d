"""Which verdicts of a round may be believed?

Applied after confirmation and before classification, in this order: positive controls, host or weights,
common cause. Each turns verdicts into `inconclusive`; none makes a pass or a fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from routecanary.decide.capacity import reach
from routecanary.domain.event import CommonCause, Event, GatewayOutage, ProbeRecovered, ProbeWeak
from routecanary.domain.names import FILTERING, ContractName, RouteId
from routecanary.domain.policy import Policy
from routecanary.domain.round import Round
from routecanary.domain.state import ModelState
from routecanary.domain.verdict import VerdictKind

Verdicts = Mapping[RouteId, Mapping[ContractName, VerdictKind]]
"""One verdict per (route, contract) of one round."""

_Column = dict[RouteId, VerdictKind]
"""One contract's verdicts in one round, by route."""

_OF_AN_OUTAGE = frozenset({VerdictKind.TRANSPORT, VerdictKind.ACCOUNT})
_FEWEST_OF_ONE_MIND = 2  # routes; fewer than common_cause_min_routes will do where all of them fail


class Braked(NamedTuple):
    """The verdicts that classification may believe, and what the brakes report."""

    verdicts: Verdicts
    events: tuple[Event, ...]
    silent: frozenset[ContractName] = frozenset()  # whose fails were set aside: no attempt of them counts
    weak: frozenset[ContractName] = frozenset()  # whose passes a control put in doubt


def brake(state: ModelState, line: Round, policy: Policy) -> Braked:
    """Set aside the verdicts that the round itself puts in doubt.

    Args:
        state: With the round's facts taken up; suspensions as before any expiry of this line.
    Source: docs/policy.md, Brakes.
    """
    events: list[Event] = []
    silent: set[ContractName] = set()
    weak: set[ContractName] = set()
    doubted: dict[RouteId, dict[ContractName, VerdictKind]] = {}
    for contract in _contracts(line):
        judged = {
            name: report.verdicts[contract]
            for name, report in line.routes.items()
            if contract in report.verdicts
        }
        column = dict(judged)
        controls = frozenset(name for name, report in line.routes.items() if contract in report.control_for)
        if controls:
            events += _doubt_weak_probe(state, line, contract, column, controls)
            if any(judged.get(name) is VerdictKind.PASS for name in controls):
                weak.add(contract)
        if contract == FILTERING and not _host_is_to_blame(judged, controls):
            _set_aside_fails(column)
            silent.add(contract)
        if VerdictKind.FAIL in column.values():
            common = _common_cause(state, line, contract, column, policy=policy)
            if common:
                events += common
                silent.add(contract)
        for name, kind in column.items():
            if kind is not judged[name]:
                doubted.setdefault(name, {})[contract] = kind
    if _is_outage(line):
        events.append(GatewayOutage(at=line.at, model=line.model))
    believed = {
        name: {**report.verdicts, **doubted[name]} if name in doubted else report.verdicts
        for name, report in line.routes.items()
    }
    return Braked(believed, tuple(events), frozenset(silent), frozenset(weak))


def known_offenders(state: ModelState, contract: ContractName) -> frozenset[str]:
    """List the routes that excuse no other: controls, the built-in layer, those suspended for a contract."""
    controls = {name for name in state.named if contract in state.routes[name].control_for}
    suspended = {name for name, suspension in state.suspensions().items() if contract in suspension.contracts}
    return reach(state, state.builtin) | controls | suspended


def _contracts(line: Round) -> list[ContractName]:
    found = set[ContractName]()
    for report in line.routes.values():
        found.update(report.verdicts)
    return sorted(found)


def _doubt_weak_probe(
    state: ModelState,
    line: Round,
    contract: ContractName,
    column: _Column,
    controls: frozenset[RouteId],
) -> list[Event]:
    """Doubt every pass when a control passes; fails stand. Silent controls change nothing."""
    heard = {column[name] for name in controls if name in column}
    if VerdictKind.PASS in heard:
        for name, kind in column.items():
            if kind is VerdictKind.PASS:
                column[name] = VerdictKind.INCONCLUSIVE
        if contract not in state.weak:
            return [ProbeWeak(at=line.at, model=line.model, contract=contract)]
    elif VerdictKind.FAIL in heard and contract in state.weak:
        return [ProbeRecovered(at=line.at, model=line.model, contract=contract)]
    return []


def _host_is_to_blame(judged: _Column, controls: frozenset[RouteId]) -> bool:
    """Say whether some route that is no control continued the scene; else the model refuses, not the host."""
    return any(kind is VerdictKind.PASS for name, kind in judged.items() if name not in controls)


def _set_aside_fails(column: _Column) -> None:
    for name, kind in column.items():
        if kind is VerdictKind.FAIL:
            column[name] = VerdictKind.INCONCLUSIVE


def _common_cause(
    state: ModelState,
    line: Round,
    contract: ContractName,
    column: _Column,
    *,
    policy: Policy,
) -> list[Event]:
    """Doubt the fails of routes that fail together; known offenders neither count nor profit."""
    known = known_offenders(state, contract)
    failing, total = set[RouteId](), 0
    for name, kind in column.items():
        if name in known:
            continue
        if kind is VerdictKind.FAIL:
            failing.add(name)
        elif kind is not VerdictKind.PASS:
            continue
        total += 1
    failed = len(failing)
    many = total >= policy.common_cause_min_routes and failed > policy.common_cause_share * total
    everyone = total >= _FEWEST_OF_ONE_MIND and failed == total
    if not (many or everyone):
        return []
    for name in failing:
        column[name] = VerdictKind.INCONCLUSIVE
    return [CommonCause(at=line.at, model=line.model, contract=contract, routes=frozenset(failing))]


def _is_outage(line: Round) -> bool:
    """Say whether the round holds verdicts, and none but `transport` and `account`, `skipped` aside."""
    heard = False
    for report in line.routes.values():
        for kind in report.verdicts.values():
            if kind in _OF_AN_OUTAGE:
                heard = True
            elif kind is not VerdictKind.SKIPPED:
                return False
    return heard
