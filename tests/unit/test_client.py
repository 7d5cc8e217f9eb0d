"""What an application sees of the daemon's list, and what it is spared."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from routecanary.adapters.snapshot import write_snapshot
from routecanary.client import Canary
from routecanary.domain.names import LATENCY, ModelId, RouteId
from routecanary.domain.round import Mode
from routecanary.routing.snapshot import ListedRoute, ModelRouting, SuspendedRoute, snapshot_of

NOW = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)


def test_a_suspended_route_reaches_the_request(tmp_path: Path) -> None:
    """The canary layer of the snapshot is united with the caller's own list, the caller's order first."""
    facts = ModelRouting(
        model=ModelId("acme/chat"),
        mode=Mode.ENFORCE,
        routes=tuple(ListedRoute(tag=RouteId(tag)) for tag in ("alpha", "beta", "gamma")),
        suspensions=(
            SuspendedRoute(
                route=RouteId("beta"),
                since=NOW,
                until=NOW + timedelta(days=1),
                contracts=frozenset({LATENCY}),
            ),
        ),
    )
    path = tmp_path / "snapshot.json"
    write_snapshot(path, snapshot_of([facts], builtin=[], runtime=[], written_at=NOW))
    with Canary(path, clock=NOW.timestamp, thread=False) as canary:
        existing = {"ignore": ["Zeta"], "sort": "price"}
        assert canary.provider_preferences("acme/chat", existing) == {
            "ignore": ["Zeta", "beta"],
            "sort": "price",
        }
        assert existing == {"ignore": ["Zeta"], "sort": "price"}
