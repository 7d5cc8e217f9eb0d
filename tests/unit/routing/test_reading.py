"""What the reader of a snapshot refuses, and what it bears."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from routecanary.errors import SnapshotError, SnapshotVersionError
from routecanary.routing.reading import VERSION, read_snapshot
from tests.snapshots import MODEL, after, builtin, document, facts, listed, runtime, suspended

GOOD = document(
    facts(
        names=frozenset({"acme/chat-20260101"}),
        routes=listed("alpha", "alpha/us", alpha=["alpha/us"]),
        suspensions=suspended("alpha"),
        swallows={"filterhost": frozenset({"alpha"})},
        paused=True,
        paused_until=after(hours=1),
    ),
    builtin=[builtin("filterhost", models=[MODEL])],
    runtime=[runtime("slowhost", expires=after(hours=1))],
)
IN_MODEL = ("models", MODEL)


def changed(path: tuple[str | int, ...], value: object) -> dict[str, Any]:
    """Copy the good document with one value replaced, or removed where the value is `...`."""
    document = copy.deepcopy(GOOD)
    at: Any = document
    for key in path[:-1]:
        at = at[key]
    if value is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("format",), "other", "format: not a snapshot (got 'other'); allowed: 'routecanary-snapshot'"),
        (("format",), ..., "format: not a snapshot (got None)"),
        (("version",), "1", "version: not a version (got '1'); allowed: 1 to 1"),
        (("version",), True, "version: not a version (got True)"),
        (("version",), 0, "version: not a version (got 0)"),
        (("version",), ..., "version: not a version (got None)"),
        (("written_at",), "yesterday", "written_at: not a time with a zone (got 'yesterday')"),
        (("written_at",), "2026-01-05T12:00:00", "written_at: not a time with a zone"),
        (("written_at",), 1767571200, "written_at: not a time with a zone (got 1767571200)"),
        (("max_snapshot_age_seconds",), 0, "max_snapshot_age_seconds: not a duration (got 0)"),
        (("max_snapshot_age_seconds",), float("nan"), "max_snapshot_age_seconds: not a duration"),
        (("max_snapshot_age_seconds",), float("inf"), "max_snapshot_age_seconds: not a duration"),
        (("max_snapshot_age_seconds",), True, "max_snapshot_age_seconds: not a duration"),
        (("max_snapshot_age_seconds",), 10**400, "not a duration (got a very large number)"),
        (("models",), [], "models: not an object (got a list of 0)"),
        (("models",), {"a\ud800": {}}, "models: not a name"),
        (("builtin",), {}, "builtin: not a list (got a dict of 0)"),
        (("builtin",), ["filterhost"], "builtin: not an object (got 'filterhost')"),
        (("builtin", 0, "target"), "two words", "builtin.target: not a tag or slug (got 'two words')"),
        (("builtin", 0, "target"), "", "builtin.target: not a name (got '')"),
        (("builtin", 0, "target"), "x" * 201, "builtin.target: not a name"),
        (("builtin", 0, "target"), "a\udcff", "builtin.target: not a name"),
        (("builtin", 0, "target"), "a\nb", "builtin.target: not a name"),
        (("builtin", 0, "models"), "acme/chat", "builtin.models: not a list (got 'acme/chat')"),
        (("builtin", 0, "models"), [3], "builtin.models: not a name (got 3)"),
        (("runtime", 0, "expires"), "soon", "runtime.expires: not a time with a zone (got 'soon')"),
        (("runtime",), ..., "runtime: not a list (got None)"),
        ((*IN_MODEL, "mode"), "shadow", f"models.{MODEL}.mode: unknown (got 'shadow')"),
        ((*IN_MODEL, "released"), "no", f"models.{MODEL}.released: not true or false (got 'no')"),
        ((*IN_MODEL, "paused"), 1, f"models.{MODEL}.paused: not true or false (got 1)"),
        ((*IN_MODEL, "paused_until"), 5, f"models.{MODEL}.paused_until: not a time with a zone"),
        ((*IN_MODEL, "names"), None, f"models.{MODEL}.names: not a list"),
        ((*IN_MODEL, "routes"), {}, f"models.{MODEL}.routes: not a list"),
        ((*IN_MODEL, "routes", 0, "tag"), None, f"models.{MODEL}.routes.tag: not a name (got None)"),
        ((*IN_MODEL, "routes", 0, "tier"), ..., f"models.{MODEL}.routes.tier: not true or false (got None)"),
        ((*IN_MODEL, "routes", 0, "swallows"), "us", f"models.{MODEL}.routes.swallows: not a list"),
        ((*IN_MODEL, "swallows"), [], f"models.{MODEL}.swallows: not an object"),
        ((*IN_MODEL, "swallows"), {"filterhost": [1]}, f"models.{MODEL}.swallows: not a name (got 1)"),
        ((*IN_MODEL, "suspensions", 0, "until"), ..., f"models.{MODEL}.suspensions.until: not a time"),
        ((*IN_MODEL, "suspensions", 0, "route"), 7, f"models.{MODEL}.suspensions.route: not a name (got 7)"),
        (
            (*IN_MODEL, "suspensions", 0, "contracts"),
            ...,
            f"models.{MODEL}.suspensions.contracts: not a list",
        ),
    ],
)
def test_a_document_is_taken_whole_or_refused_by_the_key(
    path: tuple[str | int, ...], value: object, message: str
) -> None:
    """One bad value refuses the document, and the message names the place and what it found."""
    with pytest.raises(SnapshotError) as raised:
        read_snapshot(changed(path, value))
    assert message in str(raised.value)
    assert not isinstance(raised.value, SnapshotVersionError)


@pytest.mark.parametrize("document", [None, 3, "text", [], True, 1.5])
def test_what_is_no_object_is_refused(document: object) -> None:
    """Any JSON value may stand in the file."""
    with pytest.raises(SnapshotError, match="document: not an object"):
        read_snapshot(document)


def test_a_later_version_is_told_apart() -> None:
    """An old application must be able to say that it is too old."""
    with pytest.raises(SnapshotVersionError, match="later than this reader"):
        read_snapshot(changed(("version",), VERSION + 1) | {"models": "of another shape"})


def test_unknown_keys_are_borne() -> None:
    """A daemon may add keys without locking older applications out."""
    document = copy.deepcopy(GOOD)
    document["news"] = {"deep": [1]}
    document["models"][MODEL]["news"] = None
    document["models"][MODEL]["routes"][0]["news"] = 1
    assert read_snapshot(document).models[MODEL].suspensions[0].route == "alpha"


def test_targets_are_read_in_lower_case() -> None:
    """The gateway wants tags in lower case."""
    read = read_snapshot(changed(("builtin", 0, "target"), "FilterHost/FP4"))
    assert read.builtin[0].target == "filterhost/fp4"
