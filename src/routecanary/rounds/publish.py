"""What do applications read after a change? The ledger's facts, laid into the snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from routecanary.domain.exclusion import BuiltinEntry
from routecanary.domain.gateway import GatewayKind
from routecanary.domain.names import RouteId
from routecanary.domain.probe import Json
from routecanary.domain.route import Listing
from routecanary.domain.state import ModelState
from routecanary.rounds.record import Ledger
from routecanary.routing.snapshot import ListedRoute, ModelRouting, SuspendedRoute, snapshot_of


def snapshot(
    ledger: Ledger,
    builtin: Sequence[BuiltinEntry],
    *,
    now: datetime,
    max_age: timedelta,
    gateway: GatewayKind = GatewayKind.OPENROUTER,
) -> dict[str, Json]:
    """Make the document of the snapshot file from everything that the log says.

    It is as old as the newest round: an act while the daemon is dead must not make its canary layer young.
    """
    states = ledger.states()
    rounds = [state.last_round_at for state in states if state.last_round_at is not None]
    return snapshot_of(
        [_routing(state, ledger.listing(state.model)) for state in states],
        builtin=builtin,
        runtime=ledger.runtime(now),
        written_at=min(now, max(rounds, default=now)),
        max_age=max_age,
        gateway=gateway,
    )


def _routing(state: ModelState, listing: Listing | None) -> ModelRouting:
    listed = {} if listing is None else {route.tag: route for route in listing.routes}
    return ModelRouting(
        model=state.model,
        mode=state.mode,
        names=frozenset() if listing is None else listing.accepted_models - {state.model},
        routes=tuple(
            ListedRoute.of(listed[tag])
            if tag in listed
            else ListedRoute(tag=RouteId(tag), swallows=state.swallowed_by(tag))
            for tag in sorted(state.named)
        ),
        swallows=state.entry_swallows,
        suspensions=tuple(
            SuspendedRoute(
                route=route,
                since=suspension.start,
                until=suspension.until,
                contracts=suspension.contracts,
                locales=suspension.locales,
            )
            for route, suspension in state.suspensions().items()
        ),
        released=state.released,
        paused=state.paused,
        paused_until=state.paused_until,
    )
