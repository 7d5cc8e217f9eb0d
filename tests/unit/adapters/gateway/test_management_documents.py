"""What is not told clearly of a guardrail is not told."""

from __future__ import annotations

from typing import Any

import pytest

from routecanary.adapters.gateway.management_documents import (
    guardrail_from_json,
    own_key_from_json,
    rows_of,
    total_of,
)
from routecanary.domain.guardrail import CanaryKey, Coverage, Guardrail, Refusal, refusal_of
from routecanary.errors import GatewayError

GUARDRAIL = {"id": "g", "name": "shield", "workspace_id": None, "ignored_providers": None}
KEY = {"label": "sk-or-v1-abc...xyz", "workspace_id": "w", "creator_user_id": None}


def a_guardrail(**changes: Any) -> Guardrail:
    return guardrail_from_json({"data": {**GUARDRAIL, **changes}}, "GET /guardrails/g", asked="g")


def test_lists_may_be_null_and_keep_their_order_and_case() -> None:
    """Only the list that will be written back must be stated."""
    assert a_guardrail() == Guardrail(id="g", name="shield", workspace=None)
    found = a_guardrail(ignored_providers=["b", "A"], allowed_providers=[], allowed_models=["a/b"])
    assert (found.ignored, found.allowed, found.allowed_models) == (("b", "A"), (), ("a/b",))


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {**GUARDRAIL, "id": "other"},
        {name: value for name, value in GUARDRAIL.items() if name != "ignored_providers"},
        {name: value for name, value in GUARDRAIL.items() if name != "workspace_id"},
        {**GUARDRAIL, "ignored_providers": "acme"},
        {**GUARDRAIL, "ignored_providers": [""]},
        {**GUARDRAIL, "ignored_providers": [1]},
        {**GUARDRAIL, "ignored_providers": ["a\n"]},
        {**GUARDRAIL, "ignored_providers": ["a" * 201]},
        {**GUARDRAIL, "ignored_providers": ["a"] * 1_001},
        {**GUARDRAIL, "allowed_providers": {}},
        {**GUARDRAIL, "name": 5},
    ],
)
def test_a_guardrail_of_another_shape_is_refused(data: Any) -> None:
    """It is never taken for an empty one."""
    with pytest.raises(GatewayError):
        guardrail_from_json({"data": data}, "GET /guardrails/g", asked="g")


@pytest.mark.parametrize("name", KEY)
def test_a_key_must_say_who_it_is(name: str) -> None:
    """Each of the three is needed; only the maker may be null; the label is not shown."""
    own = own_key_from_json({"data": KEY}, "GET /key")
    assert (own.workspace, own.creator) == ("w", None)
    assert "abc" not in repr(own)
    with pytest.raises(GatewayError, match=name):
        own_key_from_json({"data": {key: KEY[key] for key in KEY if key != name}}, "GET /key")


@pytest.mark.parametrize("document", [None, {}, {"data": {}}, {"data": [1]}, {"data": "x", "total_count": 1}])
def test_a_page_of_another_shape_is_refused(document: Any) -> None:
    """Rows are objects in a list."""
    with pytest.raises(GatewayError):
        rows_of(document, "GET /x")


@pytest.mark.parametrize("total", [None, "3", True, -1, 1.5])
def test_a_total_that_is_none_is_refused(total: Any) -> None:
    """Without it nobody knows whether a list is whole."""
    with pytest.raises(GatewayError, match="total_count"):
        total_of({"data": [], "total_count": total}, "GET /x")


@pytest.mark.parametrize(
    ("coverage", "creator", "refused"),
    [
        (Coverage(), "u", None),
        (
            Coverage(keys=frozenset({"other"}), members=frozenset({"v"}), workspaces=frozenset({"x"})),
            "u",
            None,
        ),
        (Coverage(keys=frozenset({"k2"})), "u", Refusal.COVERS_KEY),
        (Coverage(members=frozenset({"u"})), "u", Refusal.COVERS_MEMBER),
        (Coverage(workspaces=frozenset({"w"})), "u", Refusal.COVERS_WORKSPACE),
        (Coverage(members=frozenset({"v"})), None, Refusal.UNCLEAR),
        (Coverage(keys=frozenset({"other"})), None, None),
    ],
)
def test_who_is_covered(coverage: Coverage, creator: str | None, refused: Refusal | None) -> None:
    """The key by any hash that may be its own, its maker, its workspace; an unknown maker is anybody."""
    canary = CanaryKey(hashes=frozenset({"k1", "k2"}), creator=creator, workspace="w")
    assert refusal_of(coverage, canary) is refused
    assert "k1" not in repr(canary)
