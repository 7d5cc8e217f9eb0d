"""Which suspensions were there, how did they end, and what did people say of them?

An incident is one suspension with its renewals, in force or ended, shadow or not. Its id is the number of the
event that began it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from routecanary.domain.event import (
    EVENT_NAMES,
    ClosedByMode,
    Event,
    Expired,
    Lifted,
    Reinstated,
    Renewed,
    Suspended,
    event_from_json,
)
from routecanary.domain.interval import Interval, exact_interval
from routecanary.domain.log import StoredEvent
from routecanary.domain.names import ContractName, ModelId, RouteId
from routecanary.rounds.labels import LABELLED, Judgement, Label, label_from

_TOLD_BY: Final = (Suspended, Renewed, Expired, Reinstated, Lifted, ClosedByMode)
INCIDENT_KINDS: Final = frozenset({EVENT_NAMES[kind] for kind in _TOLD_BY}) | {LABELLED}
"""Kinds of events that incidents are made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """One suspension's outline."""

    id: int
    model: ModelId
    route: RouteId
    began_at: datetime
    until: datetime  # as of its last renewal
    contracts: frozenset[ContractName]
    offence: int
    shadow: bool = False
    redundant: bool = False
    collateral: frozenset[RouteId] = frozenset()
    renewals: int = 0
    ended_at: datetime | None = None  # None = in force, as far as the log says
    ended_by: str | None = None  # name of the event
    ended_seq: int | None = None  # its number
    label: Label | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many suspensions people marked, and how."""

    incidents: int
    right: int
    wrong: int
    unsure: int = 0

    @property
    def unlabelled(self) -> int:
        return self.incidents - self.right - self.wrong - self.unsure

    @property
    def told(self) -> int:
        """Those of which somebody could tell whether they were right."""
        return self.right + self.wrong

    @property
    def share(self) -> float | None:
        """The share of wrong ones among those that are told; None where none is."""
        return self.wrong / self.told if self.told else None

    def interval(self, confidence: float) -> Interval:
        """Give the exact interval of that share."""
        return exact_interval(self.wrong, self.told, confidence)


def incidents_of(events: Iterable[StoredEvent]) -> tuple[Incident, ...]:
    """Make incidents of events of the kinds of `INCIDENT_KINDS`, in order; sorted by id.

    One whose beginning was pruned begins with the first renewal that is left.

    Raises:
        StoreError: An event's body is not what was written.
    """
    found = IncidentFold()
    for stored in events:
        if stored.kind == LABELLED:
            found.label(label_from(stored))
        else:
            found.take_in(event_from_json(stored.body), stored.seq)
    return found.incidents()


class IncidentFold:
    """Incidents as their events come, from the log or from a policy that is tried out."""

    def __init__(self) -> None:
        self._found: dict[int, Incident] = {}
        self._in_force: dict[tuple[ModelId, RouteId], int] = {}

    def carry(self, incident: Incident) -> None:
        """Begin with one that is in force; its number is none that comes later."""
        self._found[incident.id] = incident
        self._in_force[incident.model, incident.route] = incident.id

    def take_in(self, event: Event, number: int) -> None:
        """Take in one event; a number that was not used before is the id of what it begins."""
        found = self._found
        match event:
            case Suspended() | Renewed():
                key = (event.model, event.route)
                if isinstance(event, Renewed) and key in self._in_force:
                    known = found[self._in_force[key]]
                    found[known.id] = replace(known, until=event.until, renewals=known.renewals + 1)
                else:
                    self._in_force[key] = number
                    found[number] = _begun(event, number)
            case Expired() | Reinstated() | Lifted() | ClosedByMode():
                ended = self._in_force.pop((event.model, event.route), None)
                if ended is not None:
                    found[ended] = _ended(found[ended], event, number)
            case _:
                pass

    def label(self, label: Label) -> None:
        """Take in what a person said of one."""
        if label.incident in self._found:
            self._found[label.incident] = replace(self._found[label.incident], label=label)

    def incidents(self) -> tuple[Incident, ...]:
        """List them, sorted by id."""
        return tuple(incident for _, incident in sorted(self._found.items()))


def tally(incidents: Iterable[Incident]) -> Tally:
    """Count what people said of incidents."""
    counted = tuple(incidents)
    said = [incident.label.judgement for incident in counted if incident.label is not None]
    return Tally(
        incidents=len(counted),
        right=said.count(Judgement.RIGHT),
        wrong=said.count(Judgement.WRONG),
        unsure=said.count(Judgement.UNSURE),
    )


def _begun(event: Suspended | Renewed, seq: int) -> Incident:
    return Incident(
        id=seq,
        model=event.model,
        route=event.route,
        began_at=event.at,
        until=event.until,
        contracts=event.contracts,
        offence=event.offence,
        shadow=event.shadow,
        redundant=isinstance(event, Suspended) and event.redundant,
        collateral=event.collateral if isinstance(event, Suspended) else frozenset(),
    )


def _ended(incident: Incident, event: Expired | Reinstated | Lifted | ClosedByMode, seq: int) -> Incident:
    """End an incident; a lift as a false positive marks it wrong."""
    label = incident.label
    if isinstance(event, Lifted) and event.false_positive:
        label = Label(
            at=event.at,
            incident=incident.id,
            model=event.model,
            route=event.route,
            judgement=Judgement.WRONG,
            actor=event.actor or "unknown",
            reason=event.reason or "lifted as a false positive",
        )
    return replace(
        incident,
        ended_at=event.due if isinstance(event, Expired) else event.at,
        ended_by=EVENT_NAMES[type(event)],
        ended_seq=seq,
        label=label,
    )
