"""With whom a route is compared: the vendor, and the hosts of its precision class."""

from __future__ import annotations

import pytest

from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.route import Route
from routecanary.study.kin import is_official, same_precision
from routecanary.study.values import StudyRoute

OFFICIAL = [
    # tag, display name, model, configured, expected
    ("acme", "Acme", "acme/chat-2", (), True),
    ("acme/fp8", "Acme", "acme/chat-2", (), True),
    ("xai", "xAI", "x-ai/talk", (), True),
    ("north", "Z.AI", "z-ai/talk", (), True),  # by its display name
    ("acme-cloud", "Acme Cloud", "acme/chat-2", (), False),
    ("other/acme", "Other", "acme/chat-2", (), False),
    ("vertex/eu", "Vertex", "acme/chat-2", ("vertex",), True),
    ("vertex-2", "Vertex 2", "acme/chat-2", ("vertex",), False),
    ("acme", "Acme", "acme/chat-2", ("vertex",), False),  # what is configured decides alone
]


@pytest.mark.parametrize(("tag", "name", "model", "configured", "expected"), OFFICIAL)
def test_the_vendor_is_who_is_configured_or_bears_the_authors_name(
    tag: str, name: str, model: str, configured: tuple[str, ...], expected: bool
) -> None:
    """Letters and digits alone are compared, and never a part of a name."""
    route = Route(tag=RouteId(tag), provider_names=frozenset({name}))
    assert is_official(route, ModelId(model), configured) is expected


def test_a_class_that_is_not_declared_has_no_equal() -> None:
    """Two routes that say nothing of their weights may serve different ones."""

    def a_route(*declared: str) -> StudyRoute:
        return StudyRoute(route=RouteId("x"), n=1, quantizations=frozenset(declared))

    assert same_precision(a_route("fp8"), a_route("fp8"))
    assert not same_precision(a_route("fp8"), a_route("fp8", "fp4"))
    assert not same_precision(a_route(), a_route())
