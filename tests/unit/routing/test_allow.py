"""How the exclusions enter a request to a gateway that takes an allow-list, and when they stay out of it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from routecanary.domain.gateway import GatewayKind
from routecanary.domain.names import RouteId
from routecanary.routing.allow import allow, changes_of, fallbacks_of
from routecanary.routing.merge import EMPTYING
from routecanary.routing.reading import read_snapshot
from routecanary.routing.snapshot import ListedRoute, snapshot_of
from routecanary.routing.view import VERCEL, View
from tests.snapshots import NOW, builtin, document, facts, listed, runtime, suspended, view

PLAIN = view(document(facts(suspensions=suspended("beta"))))
NOTHING = view(document(facts()))
OTHER = view(
    document(facts("acme/other", routes=listed("beta", "delta"), suspensions=suspended("delta"))),
    model="acme/other",
)


def allowed(only: tuple[str, ...], *views: View) -> tuple[list[str] | None, int]:
    """Ask twice, since what is remembered must say the same; return the result and a call's count."""
    counts = {EMPTYING: 0}
    first = allow(views, only, counts)
    second = allow(views, only, counts)
    assert first == second
    assert first is None or first is not second, "each caller gets a list of its own"
    return second, counts[EMPTYING] // 2


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        ((), ["alpha", "gamma"]),
        (("gamma", "beta", "alpha"), ["gamma", "alpha"]),
        (("Beta", "Gamma"), ["Gamma"]),
        (("gamma", "newcomer", "beta"), ["gamma", "newcomer"]),
        (("gamma", "alpha"), None),
    ],
)
def test_the_list_is_the_callers_or_the_last_rounds_without_whom_to_avoid(
    only: tuple[str, ...], expected: list[str] | None
) -> None:
    """Order and spelling are the caller's; where nothing goes, nothing is said."""
    assert allowed(only, PLAIN) == (expected, 0)


def test_without_an_exclusion_nobody_is_locked_out() -> None:
    """A list of our own would shut out a provider that came a minute ago."""
    assert allowed((), NOTHING) == (None, 0)
    assert changes_of([NOTHING], {"model": "acme/chat"}, {EMPTYING: 0}) == {}


def test_names_are_spelled_as_the_gateway_spells_them() -> None:
    """It may heed the case, and tags are kept in lower case."""
    routes = (
        ListedRoute(tag=RouteId("vertexanthropic"), providers=frozenset({"vertexAnthropic"})),
        *listed("alpha", "beta"),
    )
    held = view(document(facts(routes=routes, suspensions=suspended("beta"))))
    assert allowed((), held) == (["alpha", "vertexAnthropic"], 0)


@pytest.mark.parametrize(
    ("only", "expected", "emptied"),
    [(("beta",), None, 1), (("beta", "unheard-of"), None, 1), (("beta", "filterhost"), ["beta"], 1)],
)
def test_the_canary_layer_stays_out_where_nobody_would_be_left(
    only: tuple[str, ...], expected: list[str] | None, emptied: int
) -> None:
    """A name that no round has named counts for nothing; an administrator's entry holds all the same."""
    held = view(document(facts(suspensions=suspended("beta")), builtin=[builtin("filterhost")]))
    assert allowed(only, held) == (expected, emptied)


def test_the_list_is_never_empty() -> None:
    """Where an administrator's own entries leave nobody, an empty list might allow everybody."""
    held = view(document(facts(), runtime=[runtime("alpha"), runtime("beta"), runtime("gamma")]))
    assert allowed((), held) == (None, 1)
    assert allowed(("alpha",), held) == (None, 1)


def test_a_provider_is_left_to_a_fallback_model_that_does_not_avoid_it() -> None:
    """`beta` fails the one model and serves the other; `delta` serves only the one that avoids it."""
    assert allowed((), PLAIN, OTHER) == (["alpha", "beta", "gamma"], 0)
    assert allowed(("delta", "beta"), PLAIN, OTHER) == (None, 1), "no route would be left to acme/chat"
    assert allowed(("delta", "alpha", "beta"), PLAIN, OTHER) == (["alpha", "beta"], 0)


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({}, {"providerOptions": {"gateway": {"only": ["alpha", "gamma"]}}}),
        (
            {"providerOptions": {"gateway": {"order": ["beta"], "sort": "ttft"}, "acme": {"mood": "calm"}}},
            {
                "providerOptions": {
                    "gateway": {"order": ["beta"], "sort": "ttft", "only": ["alpha", "gamma"]},
                    "acme": {"mood": "calm"},
                }
            },
        ),
        (
            {"providerOptions": {"gateway": {"only": ["beta", "alpha"]}}},
            {"providerOptions": {"gateway": {"only": ["alpha"]}}},
        ),
        (
            {"provider": {"only": ["beta", "alpha"], "sort": "tps"}},
            {"provider": {"only": ["alpha"], "sort": "tps"}},
        ),
        (
            {
                "provider": {"only": ["beta", "alpha"]},
                "providerOptions": {"gateway": {"only": ["beta", "gamma"]}},
            },
            {"provider": {"only": ["alpha"]}, "providerOptions": {"gateway": {"only": ["gamma"]}}},
        ),
        ({"providerOptions": {"gateway": {"only": ["alpha"]}}}, {}),
        (
            {"providerOptions": None, "provider": None},
            {"providerOptions": {"gateway": {"only": ["alpha", "gamma"]}}},
        ),
        (
            {"providerOptions": {"gateway": {"only": []}}},
            {"providerOptions": {"gateway": {"only": ["alpha", "gamma"]}}},
        ),
    ],
)
def test_only_is_narrowed_where_it_stands(request_: dict[str, Any], expected: dict[str, Any]) -> None:
    """The rest of the routing options goes along, and the caller's objects stay as they were."""
    before = copy.deepcopy(request_)
    assert changes_of([PLAIN], request_, {EMPTYING: 0}) == expected
    assert request_ == before


@pytest.mark.parametrize(
    "request_",
    [
        {"providerOptions": []},
        {"providerOptions": {"gateway": "x"}},
        {"providerOptions": {"gateway": {"only": "alpha"}}},
        {"providerOptions": {"gateway": {"only": [7]}}},
        {"provider": "x"},
        {"provider": {"only": {"alpha": 1}}},
    ],
)
def test_what_is_no_list_of_names_is_left_to_the_gateway(request_: dict[str, Any]) -> None:
    """It is not merged with."""
    assert changes_of([PLAIN], request_, {EMPTYING: 0}) is None


def test_a_model_of_which_no_route_is_known_leaves_the_request_as_it_is() -> None:
    """An allow-list of the other model's hosts would lock out its own."""
    unknown = view(document(facts(), builtin=[builtin("filterhost")]), model="acme/unheard-of")
    counts = {EMPTYING: 0}
    assert changes_of([PLAIN, unknown], {}, counts) == {}
    own = {"providerOptions": {"gateway": {"only": ["filterhost", "alpha"]}}}
    assert changes_of([unknown], own, counts) == {"providerOptions": {"gateway": {"only": ["alpha"]}}}


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        (None, ()),
        (["a/b", {"model": "c/d", "when": {}}], ("a/b", "c/d")),
        ("a/b", None),
        ([7], None),
        ([{"when": {}}], None),
    ],
)
def test_fallback_models_are_read_from_the_routing_options(
    models: Any, expected: tuple[str, ...] | None
) -> None:
    """An entry is a name, or a table that names one."""
    assert fallbacks_of({"providerOptions": {"gateway": {"models": models}}}) == expected


def test_a_snapshot_says_its_gateway_only_where_it_is_not_the_usual_one() -> None:
    """Readers of before know no such key, and a later one may name what this one does not know."""
    usual = document(facts())
    assert "gateway" not in usual
    assert read_snapshot(usual).gateway == "openrouter"
    other = snapshot_of([facts()], builtin=(), runtime=(), written_at=NOW, gateway=GatewayKind.VERCEL)
    assert read_snapshot(other).gateway == VERCEL
    assert read_snapshot({**other, "gateway": "later"}).gateway == "later"
