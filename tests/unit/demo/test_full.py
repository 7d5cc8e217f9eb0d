"""Which faults the full demo tries together, and what it calls right."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from routecanary.adapters.config.texts import shipped_texts
from routecanary.demo.full import Caught, FullStory
from routecanary.demo.full_view import full_document, full_rows
from routecanary.demo.groups import CODE, EVERY_FAULT, FAULTY, HEALTHY, Group, expectation_of, groups_for
from routecanary.domain.probe import ProbeKind
from routecanary.lab.faults import FAULT_NAMED, LISTING_FAULT_NAMED
from routecanary.lab.host import Expectation
from routecanary.probe.catalog import catalog_from_texts

CATALOG = catalog_from_texts(shipped_texts())


def groups(seed: int = 1) -> list[Group]:
    return list(groups_for(EVERY_FAULT, CATALOG, seed=seed))


def test_every_fault_is_in_one_small_group() -> None:
    """None is left out or tried twice; healthy routes are the many, and all locales are asked in by turns."""
    tried = Counter(fault.name for group in groups() for fault in group.faults)
    assert tried == Counter(fault.name for fault in EVERY_FAULT)
    for group in groups():
        (model,) = group.scenario.models
        assert 1 <= len(group.faults) <= FAULTY
        assert sum(route.healthy for route in model.routes) == HEALTHY
        assert {route.tag for route in model.routes if not route.healthy} == {
            group.tag(fault) for fault in group.faults
        }
        assert set(group.locales) == set(group.catalog.locales())
    assert sum(set(group.locales) == set(CATALOG.locales()) for group in groups()) == len(groups()) - 1


def test_seeds_group_otherwise() -> None:
    """Another seed mixes the faults anew and begins with other locales; the same one does not."""
    one, again, other = groups(), groups(), groups(2)
    assert [group.faults for group in one] == [group.faults for group in again]
    assert [group.locales[0] for group in one] == [group.locales[0] for group in again]
    assert [group.faults for group in one] != [group.faults for group in other]
    assert [group.locales[0] for group in one] != [group.locales[0] for group in other]


def test_two_faults_are_asked_only_where_they_can_show() -> None:
    """Scenes with a stop word alone, and prompts that ask for a code; the other probes are as shipped."""
    of = {group.faults[0].name: group for group in groups()}
    stops = of["stop_ignored"].catalog
    chats = [scene for spec in stops.specs if spec.kind is ProbeKind.CHAT for scene in spec.scenes]
    assert len(chats) >= 8
    assert all(scene.stop in scene.prompt for scene in chats if scene.stop is not None)
    assert all(scene.stop is not None for scene in chats)
    for spec in of["cross_talk"].catalog.specs:
        assert all((CODE in scene.prompt) is (spec.kind is ProbeKind.CHAT) for scene in spec.scenes)


def test_what_ends_a_round_is_kept_apart() -> None:
    """Faults that speak for the whole account stand in groups of their own."""
    for group in groups():
        accounts = [fault.gives[0].startswith("account:") for fault in group.faults]
        assert all(accounts) or not any(accounts)


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("spoiled_start", Expectation.SUSPENDED),
        ("moderation_403", Expectation.SUSPENDED),
        ("missing_done", Expectation.NOT_SUSPENDED),
        ("wrong_provider", Expectation.NOT_SUSPENDED),
        ("account_in_flight", Expectation.NOT_SUSPENDED),
        ("keepalive_as_data", Expectation.NOT_SUSPENDED),
        ("planning_prose", Expectation.EITHER),
    ],
)
def test_what_a_contract_can_fail_shall_be_suspended(fault: str, expected: Expectation) -> None:
    """By the verdict that its row lists first."""
    assert expectation_of(FAULT_NAMED[fault]) is expected
    assert expectation_of(LISTING_FAULT_NAMED["delisted"]) is Expectation.NOT_SUSPENDED


SPOILED = Caught(fault=FAULT_NAMED["spoiled_start"], seed=1, shown=[3, 4, 7], suspended_in=4)
SERVING = Caught(fault=FAULT_NAMED["missing_done"], seed=1, shown=[1, 2])


@pytest.mark.parametrize(
    ("caught", "showing", "right"),
    [
        (SPOILED, 2, True),
        (replace(SPOILED, suspended_in=7), 3, False),
        (replace(SPOILED, suspended_in=3), 1, False),
        (replace(SPOILED, suspended_in=None), None, False),
        (SERVING, None, True),
        (replace(SERVING, suspended_in=2), 2, False),
        (replace(SERVING, fault=FAULT_NAMED["planning_prose"], suspended_in=2), 2, True),
    ],
)
def test_right_is_the_second_showing_or_never(caught: Caught, showing: int | None, right: bool) -> None:
    """Neither later nor sooner, and not at all where nothing of quality is wrong."""
    assert (caught.showing, caught.right) == (showing, right)


def test_one_wrong_fault_or_one_healthy_route_makes_the_whole_wrong() -> None:
    """The story is right only if all of it is, and tells which was not."""
    assert FullStory(caught=[SPOILED, SERVING]).right
    missed = FullStory(caught=[SPOILED, replace(SPOILED, seed=2, suspended_in=7)])
    assert not missed.right
    ((_, _, when, _, verdict),) = full_rows(missed)
    assert (when, verdict) == ("at showing 2, 3", "WRONG")
    accused = FullStory(caught=[SPOILED], healthy_suspended=["seed 1, healthy-01/fp8"])
    assert not accused.right
    assert full_document(accused)["healthy_suspended"] == ["seed 1, healthy-01/fp8"]
    assert full_document(accused)["ok"] is False
