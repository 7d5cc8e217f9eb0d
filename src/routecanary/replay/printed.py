"""How is an event printed? As docs/policy.md, Replay, says: a key that does not apply is absent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, assert_never

from routecanary.domain.event import (
    EVENT_NAMES,
    CanaryLayerPaused,
    CanaryLayerReleased,
    CanaryLayerRestored,
    CanaryLayerResumed,
    CapacityLow,
    CapacityRestored,
    Checkpoint,
    ClosedByMode,
    CommonCause,
    Event,
    Exclusions,
    Expired,
    GatewayOutage,
    LadderReset,
    Lifted,
    ModeChanged,
    PauseEndMoved,
    ProbeRecovered,
    ProbeWeak,
    Reinstated,
    Renewed,
    RoundClosed,
    RoutesNamed,
    Suspended,
    SuspensionBlocked,
    SuspicionCleared,
)
from routecanary.domain.evidence import Earned
from routecanary.domain.names import ContractName
from routecanary.domain.times import format_instant

PrintedEvent = dict[str, Any]
"""A JSON object with `at`, `model`, `event` and what else applies."""


def printed(event: Event) -> PrintedEvent | None:
    """Write an event as a replay prints it; None for what only the event log keeps.

    Times are UTC with `Z`, in whole seconds; lists are sorted.
    """
    fields = _fields(event)
    if fields is None:
        return None
    head = {"at": format_instant(event.at), "model": event.model, "event": EVENT_NAMES[type(event)]}
    return head | fields


def _fields(event: Event) -> PrintedEvent | None:
    match event:
        case Suspended():
            return _present(
                route=event.route,
                contracts=sorted(event.contracts),
                until=format_instant(event.until),
                offence=event.offence,
                collateral=sorted(event.collateral),
                redundant=event.redundant,
                shadow=event.shadow,
                evidence=_evidence(event.evidence),
            )
        case SuspensionBlocked():
            return _present(
                route=event.route,
                contracts=sorted(event.contracts),
                why=event.why.value,
                shadow=event.shadow,
                evidence=_evidence(event.evidence),
            )
        case Renewed():
            return _present(
                route=event.route,
                due=format_instant(event.due),
                until=format_instant(event.until),
                offence=event.offence,
                shadow=event.shadow,
            )
        case Expired():
            return _present(
                route=event.route,
                due=format_instant(event.due),
                why=event.why.value if event.why else None,
                shadow=event.shadow,
            )
        case Reinstated() | Lifted():
            return _present(route=event.route, shadow=event.shadow)
        case ClosedByMode() | LadderReset():
            return {"route": event.route}
        case ProbeWeak() | ProbeRecovered() | CommonCause():
            return {"contracts": [event.contract]}
        case ModeChanged():
            return {"mode": event.mode.value}
        case Exclusions():
            return {"ignore": list(event.ignore)}
        case (
            GatewayOutage()
            | CapacityLow()
            | CapacityRestored()
            | CanaryLayerReleased()
            | CanaryLayerRestored()
            | CanaryLayerPaused()
            | CanaryLayerResumed()
        ):
            return {}
        case RoutesNamed() | RoundClosed() | SuspicionCleared() | PauseEndMoved() | Checkpoint():
            return None
        case _:
            assert_never(event)


def _evidence(earned: Mapping[ContractName, Earned]) -> PrintedEvent | None:
    """Print ratios, not logarithms, with four digits; `exact` where the chain gave the threshold, not 1/α."""
    if not earned:
        return None
    return {
        contract: {
            "attempts": one.attempts,
            "fails": one.fails,
            "p0": float(f"{one.p0:.4g}"),
            "p1": float(f"{one.p1:.4g}"),
            "m": float(f"{math.exp(one.log_m):.4g}"),
            "threshold": float(f"{math.exp(one.log_threshold):.4g}"),
            "exact": one.exact,
        }
        for contract, one in sorted(earned.items())
    }


def _present(**fields: object) -> PrintedEvent:
    return {
        key: value
        for key, value in fields.items()
        if value is not None and value is not False and value != []
    }
