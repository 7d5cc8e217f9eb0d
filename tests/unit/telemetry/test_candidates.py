"""Which routes may have served an answer."""

from __future__ import annotations

import pytest

from routecanary.domain.names import RouteId
from routecanary.telemetry.candidates import locate, nothing_known, serves
from tests.unit.telemetry.known import MODEL, lookup


@pytest.mark.parametrize(
    ("provider", "candidates"),
    [
        ("Alpha AI", {"alpha", "alpha/priority"}),
        ("alpha ai", {"alpha", "alpha/priority"}),
        ("alpha", {"alpha", "alpha/priority"}),
        ("Beta", {"beta/fp4", "beta/fp8"}),
        ("beta", {"beta/fp4", "beta/fp8"}),
        ("beta/FP4", {"beta/fp4"}),
        ("alpha/priority", {"alpha/priority"}),
        ("Gamma", {"gamma"}),
        ("Delta", set()),
        ("", set()),
        (None, set()),
    ],
)
def test_every_tag_of_the_provider_is_a_candidate(provider: str | None, candidates: set[str]) -> None:
    """By display name, slug or tag, whatever the case; an opt-in tier may have served it too."""
    assert locate(lookup, MODEL, provider=provider).candidates == candidates
    assert serves(lookup(MODEL), provider or "") == bool(candidates)


@pytest.mark.parametrize(
    "model", [MODEL, "acme/chat-20260101", "acme/chat:nitro", "acme/chat-20260101:floor"]
)
def test_a_model_has_many_names(model: str) -> None:
    """Aliases and dated slugs become the id that the canary uses."""
    assert locate(lookup, model, provider="Gamma") == (MODEL, {"gamma"}, set())


def test_a_model_that_is_not_watched_keeps_its_name() -> None:
    """Nothing is known of its providers; a tag is taken at its word."""
    assert locate(lookup, "acme/other:nitro", provider="Gamma") == ("acme/other", set(), set())
    assert locate(nothing_known, MODEL, route=RouteId("x/y"), ignore=["X"]) == (MODEL, {"x/y"}, {"x/y"})
    assert not serves(nothing_known(MODEL), "Gamma")


def test_a_sender_that_knows_the_tag_is_believed() -> None:
    """Before the display name, and where the tag is not listed any more."""
    assert locate(lookup, MODEL, provider="Beta", route=RouteId("beta/fp8")).candidates == {"beta/fp8"}
    assert locate(lookup, MODEL, route=RouteId("gone/fp8"), ignore=["gone"]) == (
        MODEL,
        {"gone/fp8"},
        {"gone/fp8"},
    )


@pytest.mark.parametrize(
    ("provider", "ignore", "carried"),
    [
        ("Beta", None, set()),
        ("Beta", [], set()),
        ("Beta", ["beta"], {"beta/fp4", "beta/fp8"}),
        ("Beta", ["BETA/fp4", "gamma"], {"beta/fp4"}),
        ("Beta", ["gamma", "nobody"], set()),
        ("Alpha AI", ["alpha"], {"alpha"}),
        ("Alpha AI", ["alpha", "alpha/priority"], {"alpha", "alpha/priority"}),
        ("Alpha AI", ["Alpha AI"], {"alpha"}),
        (None, ["beta/fp8", "alpha"], {"alpha", "beta/fp8"}),
    ],
)
def test_what_the_request_ignored_is_read_as_the_gateway_reads_it(
    provider: str | None, ignore: list[str] | None, carried: set[str]
) -> None:
    """A bare slug names no tier; while nobody knows who served it, all that was ignored is kept."""
    assert locate(lookup, MODEL, provider=provider, ignore=ignore).carried == carried
