"""The bound of an asking holds for every probe that a round can send."""

from __future__ import annotations

import json
from random import Random

import pytest

from routecanary.domain.names import CONTRACT_NAMES, FILTERING, INTEGRITY, LATENCY, STRUCTURED, Locale
from routecanary.domain.probe import Json, ProbeKind
from routecanary.domain.settings import ContractSettings, ProbeSettings
from routecanary.probe.extent import Extents, most_askings, most_prompt_tokens
from routecanary.probe.plan import confirmation
from tests.unit.probe.test_plan import CATALOG, USERS, a_listing, a_route, plan

LISTING = a_listing(
    a_route("alpha", "structured_outputs", "reasoning"),
    a_route("beta"),
    a_route("capped", "response_format", max_completion_tokens=500),
    a_route("narrow", context_length=3_000),
)


def bytes_sent(body: Json) -> int:
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    prompts = sum(len(message["content"].encode()) for message in body["messages"])
    return prompts + (0 if schema is None else len(json.dumps(schema).encode()))


@pytest.mark.parametrize("locale", ["en", "pt-BR", "th"])
@pytest.mark.parametrize("seed", range(4))
def test_no_probe_is_longer_than_its_bound(locale: str, seed: int) -> None:
    """First askings and their confirmations, in every scene, with every nonce."""
    extents = Extents(LISTING, CATALOG, reasoning_room=2_000)
    routes = {route.tag: route for route in LISTING.routes}
    probes = plan(LISTING, seed=seed, number=seed, locale_of=dict.fromkeys(LISTING.tags(), Locale(locale)))
    assert {probe.kind for probe in probes} == {ProbeKind.CHAT, ProbeKind.FILTER, ProbeKind.STRUCTURED}
    for probe in probes:
        bound = extents.of(routes[probe.route], probe.kind, probe.locale)
        attempt = probe
        for _ in range(4):
            assert bytes_sent(attempt.body) <= bound.prompt
            assert attempt.body["max_tokens"] <= bound.completion
            again = confirmation(
                attempt, LISTING, CATALOG, settings=ProbeSettings(), users=USERS, rng=Random(seed)
            )
            assert again is not None
            attempt = again


def test_a_route_that_may_reason_has_a_larger_bound() -> None:
    """Reasoning is charged for as well; an endpoint's own cap holds for both."""
    extents = Extents(LISTING, CATALOG, reasoning_room=2_000)
    alpha, beta, capped, _ = LISTING.routes
    assert extents.of(alpha, ProbeKind.CHAT, Locale("en")).completion == 900
    assert extents.of(beta, ProbeKind.CHAT, Locale("en")).completion == 2_900
    assert extents.of(capped, ProbeKind.CHAT, Locale("en")).completion == 500


def test_the_longest_scene_with_the_longest_words_bounds_the_prompt() -> None:
    """In bytes, of which a token has at least one; Thai has three to a letter."""
    for spec in CATALOG.specs:
        assert most_prompt_tokens(spec) > max(len(scene.prompt.encode()) for scene in spec.scenes)


def test_a_probe_is_asked_once_and_once_more_for_each_confirmation() -> None:
    """The contract that asks for most decides, of those that the probe feeds and that are enabled."""
    contracts = {name: ContractSettings() for name in CONTRACT_NAMES}
    assert most_askings(ProbeKind.CHAT, contracts, CONTRACT_NAMES) == 3
    contracts[LATENCY] = ContractSettings(confirmations=6)
    assert most_askings(ProbeKind.CHAT, contracts, CONTRACT_NAMES) == 7
    assert most_askings(ProbeKind.CHAT, contracts, {FILTERING, INTEGRITY}) == 3
    contracts[STRUCTURED] = contracts[INTEGRITY] = ContractSettings(confirmations=0)
    assert most_askings(ProbeKind.STRUCTURED, contracts, CONTRACT_NAMES) == 1
