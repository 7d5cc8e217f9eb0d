"""Small functions that make snapshots: the facts of a model, the document, a reading and a view of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from routecanary.domain.exclusion import BuiltinEntry, RuntimeEntry
from routecanary.domain.names import LATENCY, ContractName, ModelId, RouteId
from routecanary.domain.round import Mode
from routecanary.routing.reading import read_snapshot
from routecanary.routing.snapshot import ListedRoute, ModelRouting, SuspendedRoute, snapshot_of
from routecanary.routing.view import View, Views

MODEL = ModelId("acme/chat")
NOW = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)


def after(**duration: float) -> datetime:
    """Return the instant so long after `NOW`."""
    return NOW + timedelta(**duration)


def listed(*tags: str, tiers: Iterable[str] = (), **swallows: Iterable[str]) -> tuple[ListedRoute, ...]:
    """Make routes; `swallows` by tag, for tags that are identifiers."""
    return tuple(
        ListedRoute(
            tag=RouteId(tag),
            tier=tag in tuple(tiers),
            swallows=frozenset(map(RouteId, swallows.get(tag, ()))),
        )
        for tag in tags
    )


def suspended(
    *routes: str, until: datetime = NOW + DAY, contracts: Iterable[ContractName] = (LATENCY,)
) -> tuple[SuspendedRoute, ...]:
    return tuple(
        SuspendedRoute(route=RouteId(route), since=NOW - DAY, until=until, contracts=frozenset(contracts))
        for route in routes
    )


def facts(model: str = MODEL, **changes: Any) -> ModelRouting:
    """Make a model in enforce mode with three hosts, none suspended."""
    given: dict[str, Any] = {"mode": Mode.ENFORCE, "routes": listed("alpha", "beta", "gamma")} | changes
    return ModelRouting(model=ModelId(model), **given)


def builtin(target: str, models: Iterable[str] | None = None) -> BuiltinEntry:
    named = None if models is None else frozenset(map(ModelId, models))
    return BuiltinEntry(
        target=target, models=named, reason="r", evidence="e", reviewer="v", date="2026-01-05"
    )


def runtime(
    target: str, models: Iterable[str] | None = None, expires: datetime | None = None
) -> RuntimeEntry:
    named = None if models is None else frozenset(map(ModelId, models))
    return RuntimeEntry(
        target=target, models=named, reason="r", actor="ops", created=NOW - DAY, expires=expires
    )


def document(
    *models: ModelRouting,
    builtin: Iterable[BuiltinEntry] = (),
    runtime: Iterable[RuntimeEntry] = (),
    written_at: datetime = NOW,
) -> dict[str, Any]:
    return snapshot_of(models or (facts(),), builtin=builtin, runtime=runtime, written_at=written_at)


def views(snapshot: Mapping[str, Any], at: datetime = NOW) -> Views:
    return Views(read_snapshot(snapshot), at.timestamp())


def view(snapshot: Mapping[str, Any], at: datetime = NOW, model: str = MODEL) -> View:
    return views(snapshot, at).find(model, at.timestamp())
