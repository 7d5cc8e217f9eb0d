"""What the tests' snapshot knows: one model with two tags of a provider, a tier, and an alias."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from routecanary.domain.names import RouteId
from routecanary.routing.reading import ModelFacts
from routecanary.routing.snapshot import ListedRoute
from tests.snapshots import document, facts, views

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
KEEP = timedelta(days=30)
MODEL = "acme/chat"

_ROUTES = (
    ("alpha", "Alpha AI", False),
    ("alpha/priority", "Alpha AI", True),
    ("beta/fp4", "Beta", False),
    ("beta/fp8", "Beta", False),
    ("gamma", "Gamma", False),
)


def lookup(model: str) -> ModelFacts | None:
    """Look up as a server does."""
    return _VIEWS.facts(model)


_VIEWS = views(
    document(
        facts(
            MODEL,
            names=frozenset({"acme/chat-20260101"}),
            routes=tuple(
                ListedRoute(tag=RouteId(tag), tier=tier, providers=frozenset({name}))
                for tag, name, tier in _ROUTES
            ),
        ),
        written_at=NOW,
    ),
    NOW,
)
