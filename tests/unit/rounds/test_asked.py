"""Whom does a round ask: all, or a target in company?"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from random import Random
from typing import Any, cast

import pytest

from routecanary.adapters.store.memory import MemoryStore
from routecanary.clock import SystemClock
from routecanary.domain.exclusion import BuiltinEntry
from routecanary.domain.names import FILTERING, LATENCY, ContractName, ModelId, RouteId
from routecanary.domain.route import Listing, Route
from routecanary.domain.settings import ModelSettings, ProductionSettings, Settings
from routecanary.errors import InputError
from routecanary.probe.catalog import Catalog
from routecanary.rounds.asked import COMPANY, asked_routes, controls_of
from routecanary.rounds.world import World
from routecanary.wiring import world_of

MODEL = ModelId("acme/chat")
TAGS = ("a", "b", "c", "d", "e", "filterhost", "filterhost/us", "priority/priority")


def a_listing(tags: Iterable[str] = TAGS) -> Listing:
    return Listing(
        model=MODEL,
        at=datetime(2026, 1, 5, tzinfo=UTC),
        routes=tuple(
            Route(
                tag=RouteId(tag),
                provider_names=frozenset({tag}),
                tier="priority" if tag.endswith("/priority") else None,
            )
            for tag in tags
        ),
    )


def a_world(
    *,
    seed: int = 1,
    only: tuple[str, ...] = (),
    controls: dict[ContractName, frozenset[RouteId]] | None = None,
    builtin: tuple[BuiltinEntry, ...] = (),
) -> World:
    model = ModelSettings(model=MODEL, controls=controls or {}, production=ProductionSettings(only=only))
    return world_of(
        Settings(store_path="nowhere", snapshot_path="nowhere", models=(model,)),
        store=MemoryStore(),
        gateway=cast("Any", None),
        clock=SystemClock(),
        catalog=cast("Catalog", None),
        builtin=builtin,
        rng=Random(seed),
    )


def an_entry(target: str, *controls: ContractName) -> BuiltinEntry:
    return BuiltinEntry(
        target=target,
        models=None,
        reason="filters",
        evidence="a study",
        reviewer="ada",
        date="2026-01-01",
        control_for=frozenset(controls),
    )


def test_a_round_asks_all_but_the_tiers_that_production_does_not_name() -> None:
    """An opt-in tier is asked only where its full tag stands in `only`."""
    assert asked_routes(a_world(), a_listing(), None) == frozenset(TAGS) - {"priority/priority"}
    named = a_world(only=("priority/priority", "a"))
    assert asked_routes(named, a_listing(), None) == frozenset(TAGS)


def test_a_targeted_round_asks_controls_and_company() -> None:
    """The target, each control, and three others that are neither and no tier."""
    world = a_world(
        controls={LATENCY: frozenset({RouteId("e")})}, builtin=(an_entry("filterhost", FILTERING),)
    )
    asked = asked_routes(world, a_listing(), {RouteId("a")})
    assert asked > {"a", "e", "filterhost", "filterhost/us"}
    assert asked - {"a", "e", "filterhost", "filterhost/us"} == {"b", "c", "d"}


def test_the_company_is_drawn() -> None:
    """Not always the same three: seeds differ, and the target is never its own company."""
    drawn = {asked_routes(a_world(seed=seed), a_listing(), {RouteId("a")}) for seed in range(20)}
    assert len(drawn) > 5
    assert all(len(asked) == 1 + COMPANY and "a" in asked for asked in drawn)


def test_where_there_are_few_all_keep_company() -> None:
    """Three others are a wish, not a condition."""
    assert asked_routes(a_world(), a_listing(["a", "b"]), {RouteId("a")}) == {"a", "b"}


def test_a_tier_may_be_a_target() -> None:
    """Whoever names it wants it asked."""
    assert "priority/priority" in asked_routes(a_world(), a_listing(), {RouteId("priority/priority")})


def test_a_target_that_is_not_listed_is_refused() -> None:
    """The message names it and what there is."""
    with pytest.raises(InputError, match=r"acme/chat: not a route .* \(got 'x'\); allowed: a, b"):
        asked_routes(a_world(), a_listing(["a", "b"]), {RouteId("a"), RouteId("x")})


def test_controls_come_from_both_places() -> None:
    """A bare slug of the built-in layer names the routes below it too; a route may control several."""
    world = a_world(
        controls={LATENCY: frozenset({RouteId("filterhost"), RouteId("gone")})},
        builtin=(an_entry("filterhost", FILTERING), an_entry("a")),
    )
    assert controls_of(world, a_listing()) == {
        "filterhost": {LATENCY, FILTERING},
        "filterhost/us": {FILTERING},
    }
