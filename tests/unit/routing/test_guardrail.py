"""What may stand in a guardrail, and what is ours there."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from routecanary.domain.guardrail import Granularity, Guardrail, GuardrailStanding
from routecanary.routing.guardrail import LeftOut, ModelList, Plan, Why, as_written, plan
from routecanary.routing.index import KnownRoute, RouteIndex

SLUG, TAG = Granularity.SLUG, Granularity.TAG


def a_list(
    *tags: str,
    ignore: Iterable[str] = (),
    kept: Iterable[str] = (),
    tiers: Iterable[str] = (),
    model: str = "acme/chat",
    admitted: Iterable[str] | None = None,
) -> ModelList:
    """Make a model's list; `kept` names stand in it too."""
    routes = [
        KnownRoute(
            tag,
            tier=tag in tuple(tiers),
            swallows=[other for other in tags if other.startswith(f"{tag}/") and other not in tuple(tiers)],
        )
        for tag in tags
    ]
    return ModelList(
        model=model,
        index=RouteIndex(routes),
        ignore=frozenset(ignore) | frozenset(kept),
        kept=frozenset(kept),
        admitted=frozenset(tags if admitted is None else admitted),
    )


def planned(
    *models: ModelList,
    there: Iterable[str] = (),
    owned: Iterable[str] = (),
    lost: Iterable[str] = (),
    granularity: Granularity = SLUG,
    floor: int = 1,
    allowed: Iterable[str] = (),
    again: bool = False,
) -> Plan:
    return plan(
        Guardrail(id="g", name="g", workspace=None, ignored=tuple(there), allowed=tuple(allowed)),
        GuardrailStanding(owned=frozenset(owned), lost=frozenset(lost)),
        models,
        granularity=granularity,
        floor=floor,
        again=again,
    )


@pytest.mark.parametrize(
    ("there", "owned", "add", "remove", "after"),
    [
        ([], [], ["b"], [], ["b"]),
        (["x"], [], ["b"], [], ["x", "b"]),
        (["x", "b"], ["b"], [], [], ["x", "b"]),
        (["c", "x"], ["c"], ["b"], ["c"], ["x", "b"]),
        (["b"], [], [], [], ["b"]),
        (["B"], [], [], [], ["B"]),
        (["B"], ["B"], [], [], ["B"]),
        (["c", "C"], ["c"], ["b"], ["c"], ["C", "b"]),
    ],
)
def test_the_list_becomes_what_is_wanted_and_keeps_what_is_not_ours(
    there: list[str], owned: list[str], add: list[str], remove: list[str], after: list[str]
) -> None:
    """Route b is excluded: it comes if it is not there; only what is ours goes; the order of others stays."""
    found = planned(a_list("a", "b", "c", ignore=["b"]), there=there, owned=owned)
    assert (list(found.add), list(found.remove), list(found.list)) == (add, remove, after)
    assert set(found.foreign) == set(there) - set(owned)


def test_what_was_there_before_us_is_never_ours() -> None:
    """It is said that it is there already, and it stays when the exclusion ends."""
    found = planned(a_list("a", "b", "c", ignore=["b"]), there=["b"])
    assert found.left_out == (LeftOut(entry="b", why=Why.FOREIGN),)
    assert planned(a_list("a", "b", "c"), there=["b"]).list == ("b",)


@pytest.mark.parametrize(
    ("granularity", "tags", "ignore", "add", "left"),
    [
        (SLUG, ["a", "b/x"], ["b/x"], ["b"], None),
        (SLUG, ["a", "b/x", "b/y"], ["b/x"], [], ("b/y",)),
        (SLUG, ["a", "b/x", "b/y"], ["b/x", "b/y"], ["b"], None),
        (SLUG, ["a", "b", "b/y"], ["b"], ["b"], None),
        (SLUG, ["a", "b", "b/y"], ["b/y"], [], ("b",)),
        (TAG, ["a", "b/x", "b/y"], ["b/x"], ["b/x"], None),
        (TAG, ["a", "b", "b/y"], ["b"], ["b"], None),
    ],
)
def test_an_entry_names_no_route_that_its_model_leaves(
    granularity: Granularity, tags: list[str], ignore: list[str], add: list[str], left: tuple[str, ...] | None
) -> None:
    """By a provider's slug all of its routes go, so all of them must be excluded."""
    found = planned(a_list(*tags, ignore=ignore), granularity=granularity)
    assert list(found.add) == add
    if left is not None:
        assert found.left_out == (LeftOut(entry="b", why=Why.SWALLOWS, model="acme/chat", routes=left),)


def test_a_service_tier_counts_as_named_by_its_providers_slug() -> None:
    """A provider's slug may take its tiers too, though in `ignore` it does not."""
    model = a_list("a", "b", "b/priority", tiers=["b/priority"], ignore=["b"])
    assert planned(model).left_out[0].routes == ("b/priority",)
    assert planned(model, granularity=TAG).add == ("b",)


@pytest.mark.parametrize("granularity", [SLUG, TAG])
def test_a_route_that_is_healthy_for_another_model_is_left_to_the_hooks(granularity: Granularity) -> None:
    """A guardrail knows no models, so what one model's list leaves no other model's entry may take."""
    ill, well = a_list("a", "b", "c", ignore=["b"]), a_list("b", "c", model="acme/other")
    found = planned(ill, well, granularity=granularity)
    assert found.add == ()
    assert found.left_out == (LeftOut(entry="b", why=Why.SWALLOWS, model="acme/other", routes=("b",)),)
    both = planned(ill, a_list("b", "c", "d", ignore=["b"], model="acme/other"), granularity=granularity)
    assert both.add == ("b",)


def test_nothing_comes_while_a_watched_model_is_unknown() -> None:
    """Before its first round nobody knows what an entry would take from it; what is ours goes as well."""
    found = planned(a_list("a", "b", ignore=["b"]), a_list(model="acme/new"), there=["b"], owned=["b"])
    assert (found.add, found.remove) == ((), ("b",))
    assert found.left_out == (LeftOut(entry="b", why=Why.UNSEEN, model="acme/new"),)


@pytest.mark.parametrize(
    ("floor", "there", "allowed", "add"),
    [
        (1, [], [], ["b", "c"]),
        (2, [], [], ["b"]),
        (3, [], [], []),
        (1, ["a"], [], ["b"]),
        (1, ["North"], [], ["b", "c"]),
        (1, [], ["a", "b"], ["b", "c"]),
        (1, [], ["b", "c"], ["b"]),
    ],
)
def test_the_canary_layer_leaves_the_floor(
    floor: int, there: list[str], allowed: list[str], add: list[str]
) -> None:
    """Others' entries and allow-lists count; of several, those first by name are taken."""
    found = planned(a_list("a", "b", "c", ignore=["b", "c"]), floor=floor, there=there, allowed=allowed)
    assert list(found.add) == add
    assert {each.why for each in found.left_out} <= {Why.EMPTIES}
    assert [*found.add, *(each.entry for each in found.left_out)] == ["b", "c"]


def test_no_layer_ignores_every_route() -> None:
    """Entries of people may go below the floor, and never to nothing; they are taken first."""
    found = planned(a_list("a", "b", ignore=["a"], kept=["b"]), floor=2)
    assert found.add == ("b",)
    everything = planned(a_list("a", "b", kept=["a", "b"]), floor=2)
    assert everything.add == ("a",)
    assert everything.left_out == (LeftOut(entry="b", why=Why.EMPTIES, model="acme/chat", routes=()),)


def test_a_service_tier_is_no_route_that_is_left() -> None:
    """It serves only those who ask for it."""
    found = planned(a_list("a", "b", "b/priority", tiers=["b/priority"], kept=["a", "b"]), granularity=TAG)
    assert found.add == ("a",)
    assert found.left_out == (LeftOut(entry="b", why=Why.EMPTIES, model="acme/chat", routes=()),)


@pytest.mark.parametrize("turned", [False, True])
def test_what_a_person_excluded_of_any_model_is_not_the_canarys(turned: bool) -> None:
    """Where one model's list has it from a person, the floor of the canary layer does not hold it back."""
    models = [
        a_list("a", "b", ignore=["b"]),
        a_list("a", "b", kept=["b"], model="acme/other"),
    ]
    assert planned(*(reversed(models) if turned else models), floor=2).add == ("b",)


def test_what_takes_no_admitted_route_is_bound_by_no_floor() -> None:
    """A route that production never uses can always go."""
    found = planned(a_list("a", "b", ignore=["b"], admitted=["a"]), floor=5)
    assert found.add == ("b",)


def test_what_somebody_took_out_is_told_and_not_put_back() -> None:
    """It stays out as long as it is wanted, unless a person asks for it again."""
    model = a_list("a", "b", "c", ignore=["b"])
    found = planned(model, there=["x"], owned=["b"])
    assert (found.add, found.lost, found.list) == ((), ("b",), ("x",))
    assert found.left_out == (LeftOut(entry="b", why=Why.LOST),)
    assert planned(model, lost=["b"]).add == ()
    assert planned(model, lost=["b"], again=True).add == ("b",)


def test_an_entry_is_found_however_the_gateway_writes_it() -> None:
    """As we write it where that is there, else in the first other case."""
    assert as_written(["b", "c", "d"], ["B", "C", "c", "x"]) == {"B", "c"}
