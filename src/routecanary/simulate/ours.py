"""How does a policy of ours play a simulated life? Every round goes through the real decision core.

Floor and share are checked after every round by what docs/policy.md says of them, not by the rules' own code.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from routecanary.decide.step import decided
from routecanary.domain.event import (
    CanaryLayerReleased,
    CapacityLow,
    CommonCause,
    Event,
    Exclusions,
    Expired,
    GatewayOutage,
    Reinstated,
    Renewed,
    RoundClosed,
    Suspended,
    SuspensionBlocked,
)
from routecanary.domain.names import FILTERING, RouteId
from routecanary.domain.policy import Policy
from routecanary.domain.state import ModelState
from routecanary.domain.verdict import VerdictKind
from routecanary.simulate.player import Begun, Played
from routecanary.simulate.rounds import MODEL, Told

FLOOR_BREACHED: Final = "floor breached"
SHARE_BREACHED: Final = "share breached"
BREACHES: Final = (FLOOR_BREACHED, SHARE_BREACHED)

_SAID: Final[dict[type[Event], str]] = {
    CommonCause: "common cause",
    GatewayOutage: "gateway outage",
    CapacityLow: "capacity low",
    CanaryLayerReleased: "layer released",
    Renewed: "renewed",
    Reinstated: "reinstated",
    Expired: "expired",
}


class PolicyPlayer:
    """One policy, from an empty state on."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.state = ModelState.empty(MODEL)

    def play(self, told: Told) -> Played:
        events, self.state = decided(self.state, told.line, self._policy)
        last = events[-1]
        if not isinstance(last, Exclusions):
            raise TypeError("a line ends with its exclusions")
        begun = tuple(Begun(event.route, event.contracts) for event in events if isinstance(event, Suspended))
        return Played(
            away=dict.fromkeys(map(RouteId, last.ignore), 1.0),
            begun=begun,
            noted=tuple(_noted(events)) + tuple(self._breaches(events, told.line.at)),
        )

    def _breaches(self, events: tuple[Event, ...], at: datetime) -> Iterator[str]:
        """Name what a suspension of this line left below its bound.

        No route of a simulation swallows another or is named by another layer, so a production route is one
        that is named and not suspended. Suspensions come last in a line: its end is the least they left.
        """
        if not any(
            isinstance(event, Suspended | Renewed) and event.route in self.state.named for event in events
        ):
            return
        state, policy = self.state, self._policy
        named = [state.routes[name] for name in state.named]
        proven = 0
        for route in named:
            heard = route.streak.last_at
            fresh = heard is not None and heard >= at - policy.stale_after
            proven += route.suspension is None and route.streak.was_clean and fresh
        if proven < policy.floor:
            yield FLOOR_BREACHED
        out = sum(route.suspension is not None for route in named)
        if out > policy.max_suspended_share * len(named):
            yield SHARE_BREACHED


def _noted(events: tuple[Event, ...]) -> Iterator[str]:
    for event in events:
        kind = type(event)
        if kind in _SAID:
            yield _SAID[kind]
        elif isinstance(event, SuspensionBlocked):
            yield f"blocked: {event.why.value}"
        elif isinstance(event, RoundClosed) and _the_weights_refuse(event):
            yield "host or weights"


def _the_weights_refuse(event: RoundClosed) -> bool:
    """Say whether filtering failed somewhere and passed nowhere: those fails were set aside."""
    kinds = {outcome.verdicts.get(FILTERING) for outcome in event.outcomes.values()}
    return VerdictKind.FAIL in kinds and VerdictKind.PASS not in kinds
