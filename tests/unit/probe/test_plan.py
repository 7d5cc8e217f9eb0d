"""Which probes a round asks, and which one confirms."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random

import pytest

from routecanary.adapters.config.texts import shipped_texts
from routecanary.domain.names import (
    CONTRACT_NAMES,
    FILTERING,
    INTEGRITY,
    LANGUAGE,
    LATENCY,
    STRUCTURED,
    Locale,
    ModelId,
    RouteId,
)
from routecanary.domain.probe import Probe, ProbeKind
from routecanary.domain.route import Listing, Route
from routecanary.domain.settings import ProbeSettings
from routecanary.errors import ConfigError
from routecanary.probe.catalog import catalog_from_texts
from routecanary.probe.pin import Users
from routecanary.probe.plan import CONTRACTS_FED, confirmation, kinds_asked, plan_round
from tests.unit.probe.test_text import HEAD, SCENE

CATALOG = catalog_from_texts(shipped_texts())
USERS = Users(chat="c" * 32, filter="f" * 32)
CHAT, FILTER, SCHEMA = ProbeKind.CHAT, ProbeKind.FILTER, ProbeKind.STRUCTURED


def a_route(tag: str, *parameters: str, **changes: object) -> Route:
    declared = frozenset({"max_tokens", "temperature", *parameters})
    return Route(tag=RouteId(tag), provider_names=frozenset({tag.title()}), parameters=declared, **changes)


def a_listing(*routes: Route) -> Listing:
    return Listing(model=ModelId("acme/chat"), at=datetime(2026, 1, 5, tzinfo=UTC), routes=routes)


LISTING = a_listing(
    a_route("alpha", "structured_outputs"), a_route("beta"), a_route("gamma", "response_format")
)


def plan(listing: Listing = LISTING, *, seed: int = 1, **changes: object) -> tuple[Probe, ...]:
    arguments = {
        "number": 0,
        "locale_of": dict.fromkeys(listing.tags(), Locale("en")),
        "contracts_enabled": CONTRACT_NAMES,
        "settings": ProbeSettings(),
        "asked": listing.tags(),
    }
    return plan_round(listing, CATALOG, users=USERS, rng=Random(seed), **(arguments | changes))


def asked(probes: tuple[Probe, ...]) -> list[tuple[str, ProbeKind]]:
    return [(probe.route, probe.kind) for probe in probes]


def test_each_route_is_asked_each_probe_that_it_can_be_asked() -> None:
    """A route that declares no way to structured output gets no structured probe."""
    assert asked(plan()) == [
        ("alpha", CHAT),
        ("alpha", FILTER),
        ("alpha", SCHEMA),
        ("beta", CHAT),
        ("beta", FILTER),
        ("gamma", CHAT),
        ("gamma", FILTER),
        ("gamma", SCHEMA),
    ]


@pytest.mark.parametrize(
    ("enabled", "kinds"),
    [
        (CONTRACT_NAMES, (CHAT, FILTER, SCHEMA)),
        ((LATENCY,), (CHAT,)),
        ((LANGUAGE,), (CHAT,)),
        ((INTEGRITY,), (CHAT,)),
        ((FILTERING,), (FILTER,)),
        ((FILTERING, INTEGRITY), (CHAT, FILTER)),
        ((STRUCTURED,), (SCHEMA,)),
        ((), ()),
    ],
)
def test_a_contract_switched_off_asks_nothing(enabled: tuple[str, ...], kinds: tuple[ProbeKind, ...]) -> None:
    """Only the probes that an enabled contract needs are sent; `integrity` needs only the chat probe."""
    assert kinds_asked(enabled) == kinds
    assert {kind for _, kind in asked(plan(contracts_enabled=enabled))} == set(kinds)


def test_every_contract_is_fed() -> None:
    """Each contract judges at least one kind of probe, and `integrity` all of them."""
    assert set().union(*CONTRACTS_FED.values()) == set(CONTRACT_NAMES)
    assert all(INTEGRITY in fed for fed in CONTRACTS_FED.values())


def test_only_the_named_routes_are_asked() -> None:
    """A targeted round leaves the others alone; a name that the listing does not have is no error."""
    assert {route for route, _ in asked(plan(asked={"beta", "vanished"}))} == {"beta"}


def test_each_route_is_asked_in_its_own_locale() -> None:
    """A locale that failed is asked again while the rest move on."""
    probes = plan(locale_of={"alpha": Locale("pt-BR"), "beta": Locale("th"), "gamma": Locale("en")})
    assert {(probe.route, probe.locale) for probe in probes} == {
        ("alpha", "pt-BR"),
        ("beta", "th"),
        ("gamma", "en"),
    }


def test_a_locale_without_chat_text_is_an_error() -> None:
    """It is caught before anything is sent."""
    with pytest.raises(ConfigError, match="no chat text for this locale"):
        plan(locale_of=dict.fromkeys(LISTING.tags(), Locale("sv")))


def test_the_order_of_routes_changes_nothing() -> None:
    """Neither the order nor the nonces depend on how the listing is sorted."""
    backwards = a_listing(*reversed(LISTING.routes))
    assert plan(backwards) == plan()


def test_prompts_begin_differently() -> None:
    """In one round no two prompts share their first words, and the next draw gives others."""
    fronts = [probe.body["messages"][-1]["content"][:24] for seed in range(3) for probe in plan(seed=seed)]
    assert len(set(fronts)) > 0.9 * len(fronts)


def test_the_configured_numbers_reach_the_body() -> None:
    """Sampling and room are the settings' own."""
    probe = plan()[0]
    assert probe.body["temperature"] == 0.8
    assert probe.body["max_tokens"] == 2_900
    assert plan(settings=ProbeSettings(reasoning_room=0))[0].body["max_tokens"] == 900


def test_a_confirmation_asks_the_next_scene_with_a_new_front() -> None:
    """Same spec, same locale, same pin; another scene, another nonce, and the attempt is counted."""
    first = plan(number=1, locale_of=dict.fromkeys(LISTING.tags(), Locale("th")))[0]
    rng = Random(2)
    chain = [first]
    for _ in range(2):
        again = confirmation(chain[-1], LISTING, CATALOG, settings=ProbeSettings(), users=USERS, rng=rng)
        assert again is not None
        chain.append(again)
    assert [probe.attempt for probe in chain] == [0, 1, 2]
    assert len({probe.scene.id for probe in chain}) == 3
    assert len({probe.body["messages"][-1]["content"][:20] for probe in chain}) == 3
    assert {(probe.kind, probe.locale, probe.route, probe.spec_version) for probe in chain} == {
        (CHAT, "th", "alpha", 1)
    }
    assert len({str(probe.body["provider"]) for probe in chain}) == 1


@pytest.mark.parametrize(("context", "scene"), [(100_000, "long"), (700, "short"), (100, None)])
def test_a_confirmation_passes_over_a_scene_that_leaves_no_room(context: int, scene: str | None) -> None:
    """Where the next scene is too long for the route, the one after it is asked; if none fits, nothing is."""
    long = SCENE.replace("ONE", "long").replace("Begin with", "So it goes. " * 100 + "Begin with")
    catalog = catalog_from_texts({"x.toml": HEAD + SCENE + long + SCENE.replace("ONE", "short")})
    spec = catalog.specs[0]
    assert [each.id for each in spec.scenes] == ["ONE", "long", "short"]
    first = plan_round(
        a_listing(a_route("alpha")),
        catalog,
        number=0,
        locale_of={RouteId("alpha"): Locale("en")},
        contracts_enabled=(LATENCY,),
        settings=ProbeSettings(),
        asked={RouteId("alpha")},
        users=USERS,
        rng=Random(1),
    )[0]
    small = a_listing(a_route("alpha", context_length=context))
    again = confirmation(first, small, catalog, settings=ProbeSettings(), users=USERS, rng=Random(1))
    assert (again.scene.id if again else None) == scene


def test_a_confirmation_of_another_round_is_a_mistake() -> None:
    """A route that the listing does not name cannot be asked again."""
    with pytest.raises(LookupError):
        confirmation(
            plan()[0],
            a_listing(a_route("beta")),
            CATALOG,
            settings=ProbeSettings(),
            users=USERS,
            rng=Random(1),
        )
