"""What can happen?

The closed union of everything that changes or reports a model's state. All events of one line of a trace
carry that line's time; folding them gives the state after the line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from routecanary.domain.codec import JsonObject, from_json, member_from_json, to_json
from routecanary.domain.evidence import Earned, Weighed
from routecanary.domain.names import ContractName, Locale, ModelId, RouteId
from routecanary.domain.round import Mode, RoundClass
from routecanary.domain.state import ModelState, Streak
from routecanary.domain.verdict import VerdictKind


class Why(StrEnum):
    """What stood in the way of a suspension or of a renewal."""

    COVERED = "covered"  # built-in, runtime or control: out already
    HOLD = "hold"
    FLOOR = "floor"
    SHARE = "share"


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """What every event carries."""

    at: datetime  # UTC, the time of the line that it belongs to
    model: ModelId


# A round, as the state takes it up


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteFacts:
    """What a round says of a route, its verdicts aside."""

    swallows: frozenset[RouteId] = frozenset()
    control_for: frozenset[ContractName] = frozenset()
    admitted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutesNamed(Happened):
    """A round was accepted: these are the model's routes and the other layers' entries from now on."""

    routes: Mapping[RouteId, RouteFacts]
    builtin: frozenset[str] = frozenset()
    runtime: frozenset[str] = frozenset()
    swallows: Mapping[str, frozenset[RouteId]] = field(default_factory=dict)  # of entries that are no routes


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteOutcome:
    """What a round came to for one route."""

    round_class: RoundClass
    streak: Streak  # after this round
    counted: bool = False
    verdicts: Mapping[ContractName, VerdictKind] = field(default_factory=dict)  # as judged, before the brakes
    failing: frozenset[ContractName] = frozenset()  # after the brakes
    evidence: Mapping[ContractName, Weighed] = field(default_factory=dict)  # of the attempts that counted
    attempts: Mapping[ContractName, tuple[bool, ...]] = field(
        default_factory=dict
    )  # as the round stated them, where they are not one for a verdict
    locale: Locale | None = None  # in which this route was asked, where it is not the round's
    acted: bool = False  # touched by an act while the round ran


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundClosed(Happened):
    """All routes of a round were classified."""

    outcomes: Mapping[RouteId, RouteOutcome]
    locale: Locale | None = None
    in_full: bool = (
        False  # all that deciding it again would need; an older log kept neither attempts nor acts
    )
    out_of_turn: bool = False  # its locale was asked for: it took no turn of the rotation


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeWeak(Happened):
    """A control passed the contract that it is control for."""

    contract: ContractName


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRecovered(Happened):
    """The controls of a weak probe fail again as they should."""

    contract: ContractName


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonCause(Happened):
    """So many routes failed a contract together that those fails say nothing of a route."""

    contract: ContractName
    routes: frozenset[RouteId]  # whose fails were set aside


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayOutage(Happened):
    """No route gave anything but `transport` and `account`."""


# Suspensions


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspended(Happened):
    route: RouteId
    contracts: frozenset[ContractName]
    until: datetime
    offence: int  # 1-based
    collateral: frozenset[RouteId] = frozenset()  # production routes lost with it
    redundant: bool = False  # takes no production route away
    shadow: bool = False
    evidence: Mapping[ContractName, Earned] = field(default_factory=dict)  # of contracts it was asked for by
    locales: frozenset[Locale] = frozenset()  # in which `language` failed


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspensionBlocked(Happened):
    route: RouteId
    contracts: frozenset[ContractName]
    why: Why
    shadow: bool = False
    evidence: Mapping[ContractName, Earned] = field(default_factory=dict)  # as of a suspension


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewed(Happened):
    """Still failing at its end: suspended anew without returning in between."""

    route: RouteId
    contracts: frozenset[ContractName]
    due: datetime
    until: datetime
    offence: int
    shadow: bool = False
    locales: frozenset[Locale] = frozenset()  # in which `language` failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Expired(Happened):
    """Ended by time, at `due`; `why` says what refused a renewal."""

    route: RouteId
    due: datetime
    why: Why | None = None
    shadow: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reinstated(Happened):
    """Ended by recovery."""

    route: RouteId
    shadow: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifted(Happened):
    """Ended by a person."""

    route: RouteId
    false_positive: bool = False
    hold_until: datetime | None = None
    actor: str | None = None
    reason: str | None = None
    shadow: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedByMode(Happened):
    """Ended by a change of mode."""

    route: RouteId


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderReset(Happened):
    """The route's offences are forgotten."""

    route: RouteId


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspicionCleared(Happened):
    """What judges these contracts is new: they were taken out of the suspicion sets.

    A fail streak that nothing else supports ended with it; so did all evidence of these contracts.
    """

    contracts: frozenset[ContractName]
    streaks: Mapping[RouteId, Streak]  # of the routes that were under such a suspicion, after it
    actor: str | None = None
    reason: str | None = None


# The model as a whole


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeChanged(Happened):
    mode: Mode
    actor: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityLow(Happened):
    """Production routes fell below the floor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityRestored(Happened):
    """Production routes are at the floor again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryLayerReleased(Happened):
    """No production route is left: the canary layer is not merged for now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryLayerRestored(Happened):
    """Production routes are at the floor again: the canary layer is merged again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryLayerPaused(Happened):
    until: datetime | None = None  # when whoever keeps the clock resumes
    actor: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseEndMoved(Happened):
    """A pause in force got another end."""

    until: datetime | None = None  # None = until a person resumes
    actor: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryLayerResumed(Happened):
    actor: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusions(Happened):
    """A line ends: this is what a caller must ignore from now on."""

    ignore: tuple[str, ...]  # sorted, no duplicates


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint(Happened):
    """The state so far; a fold may begin here."""

    state: ModelState


Event = (
    RoutesNamed
    | RoundClosed
    | ProbeWeak
    | ProbeRecovered
    | CommonCause
    | GatewayOutage
    | Suspended
    | SuspensionBlocked
    | Renewed
    | Expired
    | Reinstated
    | Lifted
    | ClosedByMode
    | LadderReset
    | SuspicionCleared
    | ModeChanged
    | CapacityLow
    | CapacityRestored
    | CanaryLayerReleased
    | CanaryLayerRestored
    | CanaryLayerPaused
    | PauseEndMoved
    | CanaryLayerResumed
    | Exclusions
    | Checkpoint
)

EVENT_NAMES: Final[Mapping[type[Event], str]] = {
    RoutesNamed: "routes_named",
    RoundClosed: "round_closed",
    ProbeWeak: "probe_weak",
    ProbeRecovered: "probe_recovered",
    CommonCause: "common_cause",
    GatewayOutage: "gateway_outage",
    Suspended: "suspended",
    SuspensionBlocked: "suspension_blocked",
    Renewed: "renewed",
    Expired: "expired",
    Reinstated: "reinstated",
    Lifted: "lifted",
    ClosedByMode: "closed_by_mode",
    LadderReset: "ladder_reset",
    SuspicionCleared: "suspicion_cleared",
    ModeChanged: "mode_changed",
    CapacityLow: "capacity_low",
    CapacityRestored: "capacity_restored",
    CanaryLayerReleased: "canary_layer_released",
    CanaryLayerRestored: "canary_layer_restored",
    CanaryLayerPaused: "canary_layer_paused",
    PauseEndMoved: "pause_end_moved",
    CanaryLayerResumed: "canary_layer_resumed",
    Exclusions: "exclusions",
    Checkpoint: "checkpoint",
}
_TYPES: Final = {name: kind for kind, name in EVENT_NAMES.items()}


def event_to_json(event: Event) -> JsonObject:
    """Write an event as plain JSON values, lossless; `event` names its kind."""
    return {"event": EVENT_NAMES[type(event)], **to_json(event)}


def event_from_json(data: Mapping[str, object]) -> Event:
    """Read an event back.

    Raises:
        StoreError: It is of no known kind, or a field is missing, unknown or of the wrong type.
    """
    return member_from_json(_TYPES, data, "event")


def state_to_json(state: ModelState) -> JsonObject:
    """Write a state as plain JSON values, lossless."""
    return to_json(state)


def state_from_json(data: Mapping[str, object]) -> ModelState:
    """Read a state back.

    Raises:
        StoreError: A field is missing, unknown or of the wrong type.
    """
    return from_json(ModelState, data)
