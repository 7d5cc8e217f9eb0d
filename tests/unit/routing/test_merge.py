"""How the list enters a caller's preferences, and when the canary layer stays out of them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from routecanary.domain.names import RouteId
from routecanary.routing.merge import EMPTYING, merge
from routecanary.routing.snapshot import ListedRoute
from routecanary.routing.view import View
from tests.snapshots import builtin, document, facts, listed, suspended, view

PLAIN = view(document(facts(suspensions=suspended("beta")), builtin=[builtin("filterhost")]))
NOTHING = view(document(facts()))


def merged(held: View, existing: dict[str, Any] | None) -> tuple[dict[str, Any] | None, int]:
    """Merge twice, since what is remembered must say the same; return the result and a call's count."""
    counts = {EMPTYING: 0}
    first = merge(held, existing, counts)
    second = merge(held, existing, counts)
    assert first == second
    assert counts[EMPTYING] % 2 == 0
    return second, counts[EMPTYING] // 2


@pytest.mark.parametrize(
    ("existing", "expected"),
    [
        (None, {"ignore": ["beta", "filterhost"]}),
        ({}, {"ignore": ["beta", "filterhost"]}),
        ({"ignore": None}, {"ignore": ["beta", "filterhost"]}),
        ({"ignore": []}, {"ignore": ["beta", "filterhost"]}),
        ({"ignore": ["zeta", "eta"]}, {"ignore": ["zeta", "eta", "beta", "filterhost"]}),
        ({"ignore": ("zeta",)}, {"ignore": ["zeta", "beta", "filterhost"]}),
        # No duplicates; the caller's spelling is kept, whatever its case.
        ({"ignore": ["Beta", "zeta"]}, {"ignore": ["Beta", "zeta", "filterhost"]}),
        ({"ignore": ["zeta", "beta", "zeta"]}, {"ignore": ["zeta", "beta", "filterhost"]}),
        ({"ignore": ["zeta", "zeta"]}, {"ignore": ["zeta", "beta", "filterhost"]}),
        ({"ignore": ["filterhost", "beta"]}, {"ignore": ["filterhost", "beta"]}),
        ({"ignore": ["Zeta", "zeta"]}, {"ignore": ["Zeta", "zeta", "beta", "filterhost"]}),
        ({"ignore": ["a\nbeta"]}, {"ignore": ["a\nbeta", "beta", "filterhost"]}),
        ({"ignore": [""]}, {"ignore": ["", "beta", "filterhost"]}),
        # Every other key stays as it is.
        (
            {"sort": "price", "max_price": {"prompt": "1"}, "order": ["alpha"], "zdr": None},
            {
                "sort": "price",
                "max_price": {"prompt": "1"},
                "order": ["alpha"],
                "zdr": None,
                "ignore": ["beta", "filterhost"],
            },
        ),
    ],
)
def test_the_callers_entries_come_first_and_once(
    existing: dict[str, Any] | None, expected: dict[str, Any]
) -> None:
    """In the caller's order and spelling, then ours, sorted; the caller's object is untouched."""
    before = None if existing is None else copy.deepcopy(dict(existing))
    assert merged(PLAIN, existing) == (expected, 0)
    assert existing is None or dict(existing) == before


@pytest.mark.parametrize(
    "existing", [None, {}, {"ignore": None}, {"ignore": []}, {"ignore": ["a"], "zdr": True}]
)
def test_nothing_to_avoid_changes_nothing(existing: dict[str, Any] | None) -> None:
    """No `ignore` appears where neither side has one."""
    assert merged(NOTHING, existing) == (existing or {}, 0)


@pytest.mark.parametrize(
    "existing",
    [
        {"ignore": "beta"},
        {"ignore": {"beta": 1}},
        {"ignore": 3},
        {"ignore": False},
        {"ignore": ["a", 1]},
        {"ignore": [None]},
        {"ignore": [["beta"]]},
        {"ignore": [b"beta"]},
        {"only": "alpha"},
        {"only": [1], "ignore": ["a"]},
        {"only": {"alpha": 1}, "ignore": []},
        {"order": "alpha", "allow_fallbacks": False},
        {"order": ["alpha", None], "allow_fallbacks": False},
    ],
)
def test_what_is_no_list_of_names_is_not_merged_with(existing: dict[str, Any]) -> None:
    """The merge declines, also right after a list that it could merge with."""
    held = view(document(facts(suspensions=suspended("beta"))))
    assert merge(held, {"ignore": ["a"]}, {EMPTYING: 0}) is not None
    assert merged(held, existing) == (None, 0)


ROUTES = (
    *listed("alpha", "alpha/us", alpha=["alpha/us"]),
    *listed("beta/fp4", "beta/fp8", "gamma", "gamma/priority", tiers=["gamma/priority"]),
    ListedRoute(tag=RouteId("google-vertex"), providers=frozenset({"Google"})),
)


@pytest.mark.parametrize(
    ("out", "existing", "left"),
    [
        # `out` is suspended; the caller's own lists decide whether a route is left.
        ("gamma", {}, True),
        ("gamma", {"only": ["gamma"]}, False),
        ("gamma", {"only": ["Gamma"]}, False),
        ("gamma", {"only": ["gamma", "alpha"]}, True),
        ("gamma", {"only": []}, True),
        ("gamma", {"only": None}, True),
        ("gamma", {"only": ["nobody"]}, False),
        ("gamma", {"only": ["beta"]}, True),
        ("beta/fp4", {"only": ["beta"]}, True),
        ("beta/fp4", {"only": ["beta"], "ignore": ["beta/fp8"]}, False),
        ("beta/fp4", {"only": ["beta"], "ignore": ["BETA/fp8"]}, False),
        ("beta/fp4", {"only": ["beta/fp8"], "ignore": ["beta"]}, False),
        ("alpha", {"only": ["alpha"]}, False),
        ("alpha", {"only": ["alpha/us"]}, False),
        ("alpha/us", {"only": ["alpha"]}, True),
        ("gamma", {"ignore": ["alpha", "beta"]}, True),
        ("gamma", {"ignore": ["alpha", "beta", "Google"]}, False),
        ("gamma", {"ignore": ["alpha", "beta", "google-vertex"]}, False),
        ("gamma", {"ignore": ["alpha", "beta/fp4", "google-vertex"]}, True),
        ("gamma", {"ignore": ["alpha/us", "beta", "google-vertex"]}, True),
        ("google-vertex", {"only": ["Google"]}, False),
        # A tier serves only those who name it.
        ("gamma", {"ignore": ["alpha", "beta", "google"]}, False),
        ("gamma", {"only": ["gamma/priority"]}, True),
        ("gamma/priority", {"only": ["gamma/priority"]}, False),
        # Without fallbacks nothing but `order` is tried.
        ("gamma", {"order": ["gamma"]}, True),
        ("gamma", {"order": ["gamma"], "allow_fallbacks": True}, True),
        ("gamma", {"order": ["gamma"], "allow_fallbacks": False}, False),
        ("gamma", {"order": ["gamma", "alpha"], "allow_fallbacks": False}, True),
        ("gamma", {"order": ["gamma", "alpha"], "only": ["gamma"], "allow_fallbacks": False}, False),
        ("gamma", {"order": ["alpha"], "only": ["beta"], "allow_fallbacks": False}, False),
        ("gamma", {"order": ["alpha/us"], "only": ["alpha"], "allow_fallbacks": False}, True),
        ("gamma", {"allow_fallbacks": False}, True),
    ],
)
def test_the_canary_layer_never_takes_the_last_route(out: str, existing: dict[str, Any], left: bool) -> None:
    """Where the whole list would leave the caller none, only built-in and runtime are merged; it counts."""
    held = view(document(facts(routes=ROUTES, suspensions=suspended(out)), builtin=[builtin("filterhost")]))
    own = existing.get("ignore", [])
    expected = [*own, *([out] if left else []), "filterhost"]
    found, emptied = merged(held, existing)
    assert found is not None
    assert sorted(found["ignore"]) == sorted(expected)
    assert found["ignore"][: len(own)] == own
    assert emptied == (0 if left else 1)


def test_what_would_be_missing_anyway_is_not_counted() -> None:
    """Leaving the canary layer out changes nothing for a caller that names its routes itself."""
    held = view(document(facts(suspensions=suspended("beta"))))
    assert merged(held, {"only": ["beta"], "ignore": ["Beta"]}) == ({"only": ["beta"], "ignore": ["Beta"]}, 0)
    assert merged(NOTHING, {"only": ["nobody"]}) == ({"only": ["nobody"]}, 0)


def test_without_known_routes_the_canary_layer_stays_out() -> None:
    """Where nothing is known to be left, nothing is taken away."""
    held = view(document(facts(routes=(), suspensions=suspended("beta")), builtin=[builtin("filterhost")]))
    assert merged(held, None) == ({"ignore": ["filterhost"]}, 1)


def test_built_in_entries_are_merged_even_if_they_leave_nothing() -> None:
    """The first two layers are never released."""
    held = view(document(facts(suspensions=suspended("beta")), builtin=[builtin("alpha"), builtin("gamma")]))
    assert merged(held, None) == ({"ignore": ["alpha", "gamma"]}, 1)


def test_the_result_is_the_callers_to_change() -> None:
    """Neither the next result nor the caller's own object feels a change of a list in the last one."""
    existing = {"ignore": ["zeta"], "order": ["alpha"], "only": ["alpha", "beta"]}
    for held in (PLAIN, NOTHING, view(document(facts(suspensions=suspended("zeta"))))):
        for own in (existing, {"ignore": ["zeta"]}, {"ignore": ["beta"]}, {"ignore": []}, {}, None):
            before = copy.deepcopy(own)
            first = merge(held, own, {EMPTYING: 0})
            assert first is not None
            expected = copy.deepcopy(first)
            for name in ("ignore", "order", "only"):
                first.setdefault(name, []).append("changed")
            assert own == before
            assert merge(held, own, {EMPTYING: 0}) == expected


def test_a_list_that_changed_in_place_is_merged_anew() -> None:
    """What is remembered goes by the content, not by the object."""
    existing = {"ignore": ["zeta"]}
    assert merge(PLAIN, existing, {EMPTYING: 0}) == {"ignore": ["zeta", "beta", "filterhost"]}
    existing["ignore"].append("beta")
    assert merge(PLAIN, existing, {EMPTYING: 0}) == {"ignore": ["zeta", "beta", "filterhost"]}
    existing["ignore"][0] = "eta"
    assert merge(PLAIN, existing, {EMPTYING: 0}) == {"ignore": ["eta", "beta", "filterhost"]}
    assert merge(PLAIN, {"ignore": ["eta", "beta"], "only": ["beta"]}, {EMPTYING: 0}) == {
        "ignore": ["eta", "beta", "filterhost"],
        "only": ["beta"],
    }


def test_thousands_of_routes_are_not_searched() -> None:
    """A caller's few names are weighed against groups: what is asked of the index does not grow with it."""
    asked = 0

    class Counting(dict[str, frozenset[str]]):
        def __getitem__(self, tag: str) -> frozenset[str]:
            nonlocal asked
            asked += 1
            return super().__getitem__(tag)

    tags = [f"host{number % 10}/r{number}" for number in range(10_000)]
    held = view(document(facts(routes=listed(*tags), suspensions=suspended(*tags[:4_000]))))
    held.rooms[0].index.names_of = Counting(held.rooms[0].index.names_of)
    own = [f"host{number}" for number in range(9)] + tags[4_009:4_100:10]
    found = merge(held, {"ignore": own}, {EMPTYING: 0})
    assert found is not None
    assert len(found["ignore"]) == len(own) + 4_000
    assert asked <= 2 * len(own)
