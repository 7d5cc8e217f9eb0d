"""What is so at present that a person was told of, and what has just ended?

A condition opens, may go on, and closes; an event that only says again what is known tells nobody. Some
conditions have no event that ends them: they are over when a round that could have said them again did not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Self

from routecanary.domain import event as happened
from routecanary.domain.event import Event
from routecanary.domain.names import ContractName, ModelId
from routecanary.domain.notice import Condition, Notice, NoticeKind, Phase
from routecanary.domain.operation import Operation
from routecanary.domain.probe import Json
from routecanary.domain.times import format_instant
from routecanary.domain.verdict import VerdictKind
from routecanary.rounds.wording import notice

OF_THE_CANARY: Final = ""
"""Under which conditions of no single model are kept."""

_HEARD: Final = frozenset({VerdictKind.PASS, VerdictKind.FAIL, VerdictKind.INCONCLUSIVE})

_ENDED_BY_SILENCE: Final = {
    NoticeKind.SUSPENSION_BLOCKED: NoticeKind.SUSPENSION_UNBLOCKED,
    NoticeKind.COMMON_CAUSE: NoticeKind.COMMON_CAUSE_ENDED,
    NoticeKind.GATEWAY_OUTAGE: NoticeKind.GATEWAY_OUTAGE_ENDED,
    NoticeKind.JUDGE_CRASHED: NoticeKind.JUDGE_RECOVERED,
    NoticeKind.PIN_VIOLATED: NoticeKind.PIN_HELD,
}
"""Conditions that the next round that could have said them again, and did not, ends; and how that is told."""

_ENDED_BY_A_ROUND: Final = {
    "round_crashed": NoticeKind.ROUND_RECOVERED,
    "clock": NoticeKind.CLOCK_STEADY,
}
"""Conditions that any round ends, by name."""

_ENDED_BY_MODE: Final = {
    NoticeKind.SUSPENSION_BLOCKED: NoticeKind.SUSPENSION_UNBLOCKED,
    NoticeKind.CANARY_LAYER_RELEASED: NoticeKind.CANARY_LAYER_RESTORED,
    NoticeKind.CANARY_LAYER_PAUSED: NoticeKind.CANARY_LAYER_RESUMED,
}
"""Conditions that a switch of mode ends without an event of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenConditions:
    """The conditions as the log keeps them: by model and name, with those said since a line's end."""

    open: Mapping[str, Mapping[str, Condition]] = field(default_factory=dict)
    said: Mapping[str, frozenset[str]] = field(default_factory=dict)


class Conditions:
    """The conditions that are open, kept up event by event."""

    def __init__(self, known: OpenConditions = OpenConditions()) -> None:
        self._open: dict[str, dict[str, Condition]] = {
            model: dict(names) for model, names in known.open.items()
        }
        self._said: dict[str, set[str]] = {model: set(names) for model, names in known.said.items()}
        self._round: dict[ModelId, happened.RoundClosed] = {}  # whose line has not ended

    def known(self) -> OpenConditions:
        """Return what is open, between two lines."""
        return OpenConditions(
            open={model: dict(names) for model, names in self._open.items() if names},
            said={model: frozenset(names) for model, names in self._said.items() if names},
        )

    def copy(self) -> Self:
        """Return conditions that can be tried out, apart from these; between two lines."""
        return type(self)(self.known())

    def of(self, model: ModelId | None) -> Mapping[str, Condition]:
        """List the open conditions of a model, or of the canary itself, by name."""
        return self._open.get(model or OF_THE_CANARY, {})

    def opens(
        self,
        kind: NoticeKind,
        event: Event | Operation,
        name: str,
        *,
        quiet: bool = False,
        facts: Mapping[str, Json] | None = None,
    ) -> tuple[Notice, ...]:
        """Open a condition; one that is open already, and known to people, says nothing new."""
        model = _model_of(event)
        known = self.of(model).get(name)
        if known is not None and (quiet or not known.quiet):
            return ()
        condition = Condition(
            opened_by=kind,
            since=event.at,
            route=getattr(event, "route", None),
            contracts=_contracts_of(event),
            shadow=getattr(event, "shadow", False),
            quiet=quiet,
        )
        self._open.setdefault(model or OF_THE_CANARY, {})[name] = condition
        if quiet:
            return ()
        return (
            _about(condition, kind, Phase.OPENED, name=name, at=event.at, model=model, facts=facts or {}),
        )

    def goes_on(
        self, kind: NoticeKind, event: Event | Operation, name: str, facts: Mapping[str, Json]
    ) -> tuple[Notice, ...]:
        """Tell what changed about an open condition; one whose beginning was not seen begins here."""
        model = _model_of(event)
        known = self.of(model).get(name)
        if known is None:
            return self.opens(kind, event, name, facts=facts)
        if known.quiet:
            return ()
        known = replace(known, contracts=_contracts_of(event) or known.contracts)
        self._open[model or OF_THE_CANARY][name] = known
        return (_about(known, kind, Phase.CONTINUED, name=name, at=event.at, model=model, facts=facts),)

    def closes(
        self, kind: NoticeKind, event: Event | Operation, name: str, facts: Mapping[str, Json] | None = None
    ) -> tuple[Notice, ...]:
        """Close a condition; what was not open, or known to nobody, ends in silence."""
        return self._close(kind, event.at, _model_of(event), name, facts or {})

    def _close(
        self, kind: NoticeKind, at: datetime, model: ModelId | None, name: str, facts: Mapping[str, Json]
    ) -> tuple[Notice, ...]:
        known = self._open.get(model or OF_THE_CANARY, {}).pop(name, None)
        if known is None or known.quiet:
            return ()
        since: Mapping[str, Json] = {"since": format_instant(known.since)}
        return (_about(known, kind, Phase.CLOSED, name=name, at=at, model=model, facts={**facts, **since}),)

    # What ends without an event of its own

    def said_by_round(
        self,
        kind: NoticeKind,
        event: Event | Operation,
        name: str,
        facts: Mapping[str, Json] | None = None,
    ) -> tuple[Notice, ...]:
        """Open a condition that every round says again as long as it lasts."""
        self._said.setdefault(_model_of(event) or OF_THE_CANARY, set()).add(name)
        return self.opens(kind, event, name, facts=facts)

    def line_ended(self, event: happened.Exclusions) -> tuple[Notice, ...]:
        """Close what this line's round could have said again, and did not; an act's line says nothing."""
        closed = self._round.pop(event.model, None)
        if closed is None:
            return ()
        said = self._said.pop(event.model, set())
        return tuple(
            told
            for name, condition in sorted(self.of(event.model).items())
            if name not in said and condition.opened_by in _ENDED_BY_SILENCE and _is_over(condition, closed)
            for told in self._close(_ENDED_BY_SILENCE[condition.opened_by], event.at, event.model, name, {})
        )

    def round_closed(self, event: happened.RoundClosed) -> tuple[Notice, ...]:
        """Close what any round ends; the rest waits for the end of its line."""
        self._round[event.model] = event
        return tuple(
            told
            for name, kind in _ENDED_BY_A_ROUND.items()
            for model in (event.model, None)
            for told in self._close(kind, event.at, model, name, {})
        )

    def ended_by_mode(self, event: happened.ModeChanged) -> tuple[Notice, ...]:
        """Close what a switch of mode ends in silence; suspensions have their own event."""
        return tuple(
            told
            for name, condition in sorted(self.of(event.model).items())
            if condition.opened_by in _ENDED_BY_MODE
            for told in self._close(
                _ENDED_BY_MODE[condition.opened_by], event.at, event.model, name, {"mode": event.mode.value}
            )
        )

    def unblocked(self, event: happened.SuspicionCleared) -> tuple[Notice, ...]:
        """Close what held back the suspension of routes that are under no suspicion any more."""
        return tuple(
            told
            for route, streak in sorted(event.streaks.items())
            if not streak.failed
            for told in self.closes(NoticeKind.SUSPENSION_UNBLOCKED, event, f"blocked:{route}")
        )


def _is_over(condition: Condition, closed: happened.RoundClosed) -> bool:
    """Say whether a round that did not say a condition again shows that it is over.

    A round that could not have said it, because nothing was heard of what it is about, shows nothing.
    """
    of_contract = [
        outcome.verdicts.get(contract, VerdictKind.SKIPPED)
        for outcome in closed.outcomes.values()
        for contract in condition.contracts
    ]
    outcome = None if condition.route is None else closed.outcomes.get(condition.route)
    match condition.opened_by:
        case NoticeKind.SUSPENSION_BLOCKED:
            return outcome is None or outcome.counted or not outcome.streak.failed
        case NoticeKind.COMMON_CAUSE:
            return VerdictKind.PASS in of_contract
        case NoticeKind.JUDGE_CRASHED:
            return not _HEARD.isdisjoint(of_contract)
        case NoticeKind.PIN_VIOLATED:
            return outcome is None or any(kind.conclusive for kind in outcome.verdicts.values())
        case _:
            kinds = {kind for outcome in closed.outcomes.values() for kind in outcome.verdicts.values()}
            return not _HEARD.isdisjoint(kinds)


def _about(
    condition: Condition,
    kind: NoticeKind,
    phase: Phase,
    *,
    name: str,
    at: datetime,
    model: ModelId | None,
    facts: Mapping[str, Json],
) -> Notice:
    return notice(
        kind,
        phase,
        at=at,
        model=model,
        condition=name,
        routes=() if condition.route is None else (condition.route,),
        contracts=condition.contracts,
        shadow=condition.shadow,
        facts=facts,
    )


def _model_of(event: Event | Operation) -> ModelId | None:
    return getattr(event, "model", None)


def _contracts_of(event: Event | Operation) -> frozenset[ContractName]:
    contract: ContractName | None = getattr(event, "contract", None)
    contracts: frozenset[ContractName] = getattr(event, "contracts", frozenset())
    return contracts if contract is None else frozenset({contract})
