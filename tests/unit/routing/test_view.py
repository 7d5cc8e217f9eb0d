"""What must be avoided at a time: every end just before, at and just after its edge."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from routecanary.domain.round import Mode
from routecanary.routing.view import base_model
from tests.snapshots import NOW, after, builtin, document, facts, listed, runtime, suspended, view, views

SECOND = timedelta(seconds=1)
BUILTIN, RUNTIME = builtin("filterhost"), runtime("slowhost")


def test_the_list_is_the_sorted_union_of_the_layers() -> None:
    """A name in two layers stands once; the canary layer alone is what `kept` lacks."""
    snapshot = document(
        facts(suspensions=suspended("beta", "alpha")),
        builtin=[builtin("gamma"), builtin("beta")],
        runtime=[runtime("beta"), runtime("delta")],
    )
    found = view(snapshot)
    assert found.ignore == ("alpha", "beta", "delta", "gamma")
    assert found.kept == ("beta", "delta", "gamma")


@pytest.mark.parametrize(
    ("changes", "merged"),
    [
        ({}, True),
        ({"mode": Mode.OBSERVE}, False),
        ({"released": True}, False),
        ({"paused": True}, False),
        ({"paused": True, "paused_until": after(seconds=1)}, False),
        ({"paused": True, "paused_until": NOW}, True),
        ({"paused": False, "paused_until": after(hours=1)}, True),
    ],
)
def test_built_in_and_runtime_are_merged_in_every_state(changes: dict[str, object], merged: bool) -> None:
    """Only the canary layer depends on mode, release and pause."""
    snapshot = document(facts(suspensions=suspended("beta"), **changes), builtin=[BUILTIN], runtime=[RUNTIME])
    assert view(snapshot).ignore == (("beta",) if merged else ()) + ("filterhost", "slowhost")


@pytest.mark.parametrize(
    ("at", "ignored"),
    [(after(hours=1) - SECOND, ("beta",)), (after(hours=1), ()), (after(hours=1) + SECOND, ())],
)
def test_a_suspension_ends_at_its_until(at: datetime, ignored: tuple[str, ...]) -> None:
    """At `until` itself the route is back, without the daemon."""
    assert view(document(facts(suspensions=suspended("beta", until=after(hours=1)))), at).ignore == ignored


@pytest.mark.parametrize(("at", "ignored"), [(after(hours=1) - SECOND, ("beta",)), (after(hours=1), ())])
def test_a_runtime_entry_ends_at_its_expiry(at: datetime, ignored: tuple[str, ...]) -> None:
    """At `expires` itself the entry no longer holds."""
    assert view(document(runtime=[runtime("beta", expires=after(hours=1))]), at).ignore == ignored


@pytest.mark.parametrize(
    ("at", "ignored", "doubt"),
    [
        (after(hours=6), ("alpha", "filterhost", "slowhost"), None),
        (after(hours=6) + SECOND, ("filterhost", "slowhost"), "stale"),
        (NOW - timedelta(minutes=5), ("alpha", "filterhost", "slowhost"), None),
        (NOW - timedelta(minutes=5) - SECOND, ("filterhost", "slowhost"), "from_future"),
    ],
)
def test_an_old_snapshot_loses_the_canary_layer_alone(
    at: datetime, ignored: tuple[str, ...], doubt: str | None
) -> None:
    """Older than `max_snapshot_age`, or from a clock ahead of ours: fail open, and say so."""
    snapshot = document(facts(suspensions=suspended("alpha")), builtin=[BUILTIN], runtime=[RUNTIME])
    found = view(snapshot, at)
    assert (found.ignore, found.doubt) == (ignored, doubt)


def test_a_view_holds_until_the_next_thing_changes() -> None:
    """It is asked for again exactly when an end of any layer is reached."""
    snapshot = document(
        facts(suspensions=suspended("alpha", until=after(hours=3)) + suspended("beta", until=after(hours=2))),
        runtime=[runtime("slowhost", expires=after(hours=1))],
    )
    seen, at = [], NOW.timestamp()
    while at < after(hours=7).timestamp():
        found = views(snapshot).find("acme/chat", at)
        assert found.since <= at < found.until
        seen.append((found.ignore, found.doubt))
        at = found.until
    assert seen == [
        (("alpha", "beta", "slowhost"), None),
        (("alpha", "beta"), None),
        (("alpha",), None),
        ((), None),
        ((), "stale"),
    ]


def test_what_has_ended_stays_ended_when_the_clock_steps_back() -> None:
    """A view is never followed by an earlier one, save when the snapshot would come from the future."""
    held = views(document(facts(suspensions=suspended("beta", until=after(hours=1)))))
    assert held.find("acme/chat", after(minutes=59).timestamp()).ignore == ("beta",)
    assert held.find("acme/chat", after(hours=1).timestamp()).ignore == ()
    assert held.find("acme/chat", after(minutes=30).timestamp()).ignore == ()
    assert held.find("acme/chat", after(hours=-1).timestamp()).doubt == "from_future"


@pytest.mark.parametrize(
    "name",
    [
        "acme/chat",
        "acme/chat:nitro",
        "acme/chat:floor",
        "acme/chat:exacto",
        "acme/chat:floor:nitro",
        "acme/chat-20260101",
        "acme/chat-20260101:nitro",
        "~acme/chat-latest",
    ],
)
def test_every_name_of_a_model_means_the_model(name: str) -> None:
    """Dated slugs, aliases and the routing variants get the base model's list."""
    snapshot = document(
        facts(names=frozenset({"acme/chat-20260101", "~acme/chat-latest"}), suspensions=suspended("beta"))
    )
    found = view(snapshot, model=name)
    assert (found.ignore, found.doubt) == (("beta",), None)


@pytest.mark.parametrize(
    "name", ["acme/chat:free", "acme/chat:free:nitro", "acme/other", "", "::", "acme/chat:"]
)
def test_another_model_gets_what_holds_for_all_models(name: str) -> None:
    """`:free` is a model of its own; of an unknown one only entries for all models are known."""
    snapshot = document(
        facts(suspensions=suspended("beta")),
        builtin=[builtin("filterhost"), builtin("alpha", models=["acme/chat"])],
    )
    found = view(snapshot, model=name)
    assert (found.ignore, found.doubt) == (("filterhost",), "unknown_model")


def test_an_entry_applies_to_the_models_that_it_names() -> None:
    """Also to one that the canary does not watch."""
    snapshot = document(
        facts("acme/chat"),
        facts("acme/other"),
        builtin=[builtin("alpha", models=["acme/other", "acme/new"])],
        runtime=[runtime("beta", models=["acme/chat"])],
    )
    assert view(snapshot, model="acme/chat").ignore == ("beta",)
    assert view(snapshot, model="acme/other").ignore == ("alpha",)
    assert view(snapshot, model="acme/new:nitro").ignore == ("alpha",)


def test_an_alias_of_two_models_is_no_name_of_either() -> None:
    """An id goes before an alias, and what is ambiguous is unknown."""
    snapshot = document(
        facts("acme/one", names=frozenset({"acme/latest", "acme/two"}), suspensions=suspended("alpha")),
        facts("acme/two", names=frozenset({"acme/latest"}), suspensions=suspended("beta")),
    )
    assert view(snapshot, model="acme/two").ignore == ("beta",)
    assert view(snapshot, model="acme/latest").doubt == "unknown_model"


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("a/b", "a/b"),
        ("a/b:nitro", "a/b"),
        ("a/b:exacto:floor", "a/b"),
        ("a/b:free", "a/b:free"),
        ("a/b:nitro:free", "a/b:nitro:free"),
        (":nitro", ""),
    ],
)
def test_variants_that_only_wish_another_routing_are_stripped(name: str, base: str) -> None:
    """From the right, as long as they stand there."""
    assert base_model(name) == base


@pytest.mark.parametrize(
    ("first", "second", "common"),
    [
        ({"suspensions": suspended("alpha", "beta")}, {"suspensions": suspended("beta")}, ("beta",)),
        ({"suspensions": suspended("alpha")}, {"suspensions": suspended("beta")}, ()),
        ({"suspensions": suspended("alpha")}, {"mode": Mode.OBSERVE}, ()),
        # A bare slug in one list covers the tag in the other, unless that is a tier of the first model.
        (
            {"suspensions": suspended("alpha"), "routes": listed("alpha", "alpha/us", "beta")},
            {"suspensions": suspended("alpha/us"), "routes": listed("alpha/us", "beta")},
            ("alpha/us",),
        ),
        (
            {"suspensions": suspended("alpha"), "routes": listed("alpha", "alpha/us", tiers=["alpha/us"])},
            {"suspensions": suspended("alpha/us"), "routes": listed("alpha/us", "beta")},
            (),
        ),
    ],
)
def test_of_several_models_only_what_all_ignore_counts(
    first: dict[str, object], second: dict[str, object], common: tuple[str, ...]
) -> None:
    """The gateway may choose any of them, so a route that is good for one must stay."""
    held = views(
        document(facts("acme/one", **first), facts("acme/two", **second), builtin=[builtin("filterhost")])
    )
    found = held.find_common(("acme/one", "acme/two"), NOW.timestamp())
    assert found.ignore == tuple(sorted((*common, "filterhost")))


def test_a_common_list_ends_with_the_first_of_its_models() -> None:
    """It is remembered only as long as all of them stand."""
    held = views(
        document(
            facts("acme/one", suspensions=suspended("alpha", until=after(hours=2))),
            facts("acme/two", suspensions=suspended("alpha", until=after(hours=1))),
        )
    )
    names = ("acme/one", "acme/two")
    assert held.find_common(names, NOW.timestamp()).ignore == ("alpha",)
    assert held.find_common(names, after(hours=1).timestamp()).ignore == ()
