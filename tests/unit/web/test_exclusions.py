"""The document of what callers must avoid: the same list as the Python client's, and stable."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from importlib.resources import files
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from routecanary.adapters.snapshot import write_snapshot
from routecanary.client import Canary
from routecanary.domain.names import ContractName, Locale, ModelId
from routecanary.domain.round import Mode
from routecanary.routing.scope import Scope
from routecanary.routing.snapshot import ModelRouting, SuspendedRoute
from routecanary.web.exclusions import all_documents, document_of, snapshot_document
from tests.snapshots import (
    DAY,
    MODEL,
    NOW,
    after,
    builtin,
    document,
    facts,
    listed,
    runtime,
    suspended,
    views,
)

SCHEMA = Draft202012Validator(
    json.loads((files("routecanary.web") / "schemas" / "exclusions.json").read_text("utf-8"))
)
AT = NOW.timestamp()
LANGUAGE = ContractName("language")


def told(snapshot: dict[str, Any], at: float = AT, model: str = MODEL, scope: Scope | None = None) -> Any:
    found = json.loads(document_of(views(snapshot), model, at, scope).body)
    SCHEMA.validate(found)
    return found


def test_each_layer_says_what_is_known_of_its_entries() -> None:
    """By layer and name; nobody's reason is told, for the snapshot holds none."""
    thai = SuspendedRoute(
        route=listed("alpha")[0].tag,
        since=NOW - DAY,
        until=NOW + DAY,
        contracts=frozenset({LANGUAGE}),
        locales=frozenset({Locale("th")}),
    )
    snapshot = document(
        facts(suspensions=(thai,)),
        builtin=[builtin("filterhost")],
        runtime=[runtime("beta", expires=after(hours=1)), runtime("beta", [MODEL])],
    )
    assert told(snapshot) == {
        "model": MODEL,
        "doubt": None,
        "until": "2026-01-05T13:00:00Z",
        "ignore": ["alpha", "beta", "filterhost"],
        "exclusions": [
            {
                "route": "filterhost",
                "layer": "built-in",
                "reason": "a reviewed file names it",
                "contracts": [],
                "locales": [],
                "since": None,
                "until": None,
            },
            {
                "route": "beta",
                "layer": "runtime",
                "reason": "an administrator keeps it away",
                "contracts": [],
                "locales": [],
                "since": None,
                "until": None,
            },
            {
                "route": "alpha",
                "layer": "canary",
                "reason": "it failed its probes",
                "contracts": ["language"],
                "locales": ["th"],
                "since": "2026-01-04T12:00:00Z",
                "until": "2026-01-06T12:00:00Z",
            },
        ],
    }


def test_a_gateway_without_ignore_gets_an_allow_list() -> None:
    """`ignore` is not for its requests; where nobody is to be left out, nothing is said."""
    other = {**document(facts(suspensions=suspended("beta"))), "gateway": "vercel"}
    found = told(other)
    assert (found["doubt"], found["ignore"], found["only"]) == ("other_gateway", [], ["alpha", "gamma"])
    assert [each["route"] for each in found["exclusions"]] == ["beta"]
    assert told({**document(facts()), "gateway": "vercel"})["only"] is None
    unknown = told({**document(facts(suspensions=suspended("beta"))), "gateway": "later"})
    assert (unknown["doubt"], unknown["ignore"], "only" in unknown) == ("other_gateway", [], False)


def test_the_document_is_the_same_while_the_list_is() -> None:
    """Neither the time of asking nor another writing of the same facts gives it another tag."""
    first = document(facts(suspensions=suspended("alpha")))
    later = document(facts(suspensions=suspended("alpha")), written_at=after(minutes=30))
    tags = {
        document_of(views(first), MODEL, AT, None).etag,
        document_of(views(first), MODEL, AT + 60, None).etag,
        document_of(views(later, after(minutes=30)), MODEL, after(minutes=30).timestamp(), None).etag,
    }
    assert len(tags) == 1
    other = document(facts(suspensions=suspended("alpha", "beta")))
    assert document_of(views(other), MODEL, AT, None).etag not in tags


def test_it_holds_until_the_first_end_or_until_it_is_stale() -> None:
    """The instant of a change by time alone, to the second and beyond."""
    snapshot = document(facts(suspensions=suspended("alpha", until=after(hours=1))))
    found = document_of(views(snapshot), MODEL, AT, None)
    assert found.until == after(hours=1).timestamp()
    assert (found.holds(found.until - 0.001), found.holds(found.until)) == (True, False)
    ended = document_of(views(snapshot), MODEL, found.until, None)
    assert json.loads(ended.body)["ignore"] == []
    assert after(hours=6).timestamp() <= ended.until < after(hours=6).timestamp() + 0.001


@pytest.mark.parametrize(
    ("doubt", "at", "model"),
    [
        ("stale", after(hours=7), MODEL),
        ("from_future", NOW - timedelta(hours=1), MODEL),
        ("unknown_model", NOW, "other/model"),
        ("preset", NOW, "@preset/mine"),
    ],
)
def test_doubt_is_said(doubt: str, at: Any, model: str) -> None:
    """The canary layer is gone, and what an administrator said stays where it applies."""
    snapshot = document(facts(suspensions=suspended("alpha")), runtime=[runtime("beta")])
    found = told(snapshot, at.timestamp(), model)
    assert found["doubt"] == doubt
    assert found["ignore"] == ([] if doubt == "preset" else ["beta"])
    assert {each["layer"] for each in found["exclusions"]} <= {"runtime"}


def test_without_a_snapshot_nothing_is_avoided() -> None:
    """That is said, for one model and for all, and as an error where the snapshot itself is asked for."""
    one = json.loads(document_of(None, MODEL, AT, None).body)
    SCHEMA.validate(one)
    assert (one["doubt"], one["ignore"]) == ("no_snapshot", [])
    assert json.loads(all_documents(None, AT, None).body) == {"models": {}}
    assert snapshot_document(None, b"").response.status == 503


def test_a_list_that_would_leave_nobody_is_not_told() -> None:
    """As the Python client leaves the canary layer out, and says so."""
    snapshot = document(facts(suspensions=suspended("alpha", "beta", "gamma")), runtime=[runtime("alpha")])
    found = told(snapshot)
    assert (found["doubt"], found["ignore"]) == ("merge_would_empty", ["alpha"])
    assert [each["layer"] for each in found["exclusions"]] == ["runtime"]


def test_a_pause_ends_by_itself() -> None:
    """`until` names its end, at which the list grows."""
    snapshot = document(facts(suspensions=suspended("alpha"), paused=True, paused_until=after(hours=2)))
    assert (told(snapshot)["ignore"], told(snapshot)["until"]) == ([], "2026-01-05T14:00:00Z")
    assert told(snapshot, after(hours=2).timestamp())["ignore"] == ["alpha"]


def test_all_models_are_told_by_name() -> None:
    """The same documents, good until the first of them is not."""
    snapshot = document(
        facts("b/two", suspensions=suspended("beta", until=after(hours=1))),
        facts("a/one"),
        builtin=[builtin("x")],
    )
    every = all_documents(views(snapshot), AT, None)
    found = json.loads(every.body)
    SCHEMA.validate(found)
    assert list(found["models"]) == ["a/one", "b/two"]
    assert found["models"]["b/two"] == told(snapshot, model="b/two")
    assert every.until == after(hours=1).timestamp()


def random_facts(rng: Random) -> Iterator[ModelRouting]:
    """Make models in every condition."""
    for number in range(2):
        tags = [f"host{each}" for each in range(rng.randint(0, 5))] + ["host0/fp8"] * rng.randint(0, 1)
        yield facts(
            f"acme/m{number}",
            names=frozenset({f"acme/m{number}-2026"}),
            mode=rng.choice(list(Mode)),
            routes=listed(*tags),
            suspensions=tuple(
                each
                for tag in tags
                if rng.random() < 0.5
                for each in suspended(
                    tag,
                    until=NOW + timedelta(hours=rng.randint(-1, 9)),
                    contracts=[ContractName(rng.choice(["language", "structured", "latency"]))],
                )
            ),
            released=rng.random() < 0.1,
            paused=rng.random() < 0.2,
            paused_until=rng.choice([None, after(hours=rng.randint(-1, 5))]),
        )


@pytest.mark.parametrize("seed", range(60))
def test_the_list_is_that_of_the_python_client(seed: int, tmp_path: Any) -> None:
    """For every name, scope and time; and each name of it has its reason."""
    rng = Random(seed)
    snapshot = document(
        *random_facts(rng),
        builtin=[builtin("host1", [ModelId("acme/m0")])] * rng.randint(0, 1),
        runtime=[runtime(f"host{rng.randint(0, 3)}", expires=after(hours=rng.randint(1, 5)))]
        * rng.randint(0, 1),
    )
    path = tmp_path / "snapshot.json"
    write_snapshot(path, snapshot)
    for hours in sorted(rng.randint(-2, 9) for _ in range(4)):
        at = (NOW + timedelta(hours=hours)).timestamp()
        with Canary(path, clock=lambda now=at: now, thread=False) as canary:
            for model in ("acme/m0", "acme/m1-2026:nitro", "other/x"):
                for needs, locale in ((None, None), ([], None), (["structured"], "th")):
                    scope = None if needs is None and locale is None else Scope(needs, locale)
                    found = told(snapshot, at, model, scope)
                    merged = canary.provider_preferences(model, needs=needs, locale=locale)
                    assert found["ignore"] == merged.get("ignore", [])
                    assert {each["route"] for each in found["exclusions"]} == set(found["ignore"])
