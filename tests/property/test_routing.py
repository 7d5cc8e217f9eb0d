"""What holds of every merge, whatever the facts, the caller's lists, the time and the file."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from routecanary.client import Canary
from routecanary.domain.exclusion import BuiltinEntry, RuntimeEntry
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.round import Mode
from routecanary.errors import SnapshotError
from routecanary.routing.merge import EMPTYING, merge
from routecanary.routing.reading import read_snapshot
from routecanary.routing.snapshot import ListedRoute, ModelRouting, SuspendedRoute, snapshot_of
from tests.snapshots import MODEL, NOW, builtin, document, runtime, views

MAX_AGE = timedelta(hours=6)
BASES = ("alpha", "beta", "gamma")
TAGS = st.sampled_from(
    [RouteId(f"{base}{suffix}") for base in BASES for suffix in ("", "/us", "/fp4", "/us/fast")]
)
NAMES = TAGS | st.sampled_from(["alpha", "beta", "nobody"])
SPELLED = NAMES | NAMES.map(str.upper) | st.sampled_from(["Alpha Cloud", "Beta Cloud"])
MOMENTS = st.integers(-8 * 3600, 8 * 3600).map(lambda seconds: NOW + timedelta(seconds=seconds))

ROUTES = st.builds(
    ListedRoute,
    tag=TAGS,
    tier=st.booleans(),
    swallows=st.frozensets(TAGS, max_size=2),
    providers=st.frozensets(st.sampled_from(["Alpha Cloud", "Beta Cloud"]), max_size=1),
)
SUSPENSIONS = st.builds(
    SuspendedRoute,
    route=TAGS,
    since=st.just(NOW - timedelta(days=1)),
    until=MOMENTS,
    contracts=st.just(frozenset[Any]()),
)
FACTS = st.builds(
    ModelRouting,
    model=st.just(MODEL),
    mode=st.sampled_from(Mode),
    routes=st.lists(ROUTES, max_size=6, unique_by=lambda route: route.tag).map(tuple),
    suspensions=st.lists(SUSPENSIONS, max_size=4, unique_by=lambda one: one.route).map(tuple),
    released=st.booleans(),
    paused=st.booleans(),
    paused_until=st.none() | MOMENTS,
)
MERGED = st.builds(
    lambda routes, out, known: ModelRouting(
        model=MODEL,
        mode=Mode.ENFORCE,
        routes=tuple(routes) if known else (),
        suspensions=tuple(
            SuspendedRoute(route=tag, since=NOW, until=NOW + timedelta(days=1), contracts=frozenset())
            for tag in sorted(out)
        ),
    ),
    st.lists(ROUTES, min_size=1, max_size=4, unique_by=lambda route: route.tag),
    st.frozensets(TAGS, min_size=1, max_size=4),
    st.sampled_from([True] * 9 + [False]),
)
"""Facts of which the canary layer is merged, and often takes much of what there is."""

MODELS = st.none() | st.lists(st.sampled_from([MODEL, "acme/other"]), max_size=2)
BUILTIN = st.lists(st.builds(builtin, NAMES, MODELS), max_size=3)
RUNTIME = st.lists(st.builds(runtime, NAMES, MODELS, st.none() | MOMENTS), max_size=3)
LISTS = st.lists(SPELLED, max_size=5) | st.lists(st.sampled_from(["beta", "Beta", "alpha/us"]), max_size=4)
EXISTING = st.none() | st.fixed_dictionaries(
    {"ignore": LISTS | st.none()},
    optional={
        "only": st.none() | LISTS,
        "order": st.none() | LISTS,
        "allow_fallbacks": st.booleans(),
        "sort": st.just("price"),
    },
)


def applying(entries: Iterable[BuiltinEntry | RuntimeEntry]) -> set[str]:
    return {str(entry.target) for entry in entries if entry.models is None or MODEL in entry.models}


@given(FACTS, BUILTIN, RUNTIME, MOMENTS)
def test_the_layers_hold_exactly_as_long_as_they_should(
    facts: ModelRouting, built_in: list[BuiltinEntry], acts: list[RuntimeEntry], now: Any
) -> None:
    """Built-in always, runtime until it expires, canary while enforced, unreleased, unpaused and fresh."""
    found = views(document(facts, builtin=built_in, runtime=acts), now).find(MODEL, now.timestamp())
    kept = applying(built_in) | applying(
        entry for entry in acts if entry.in_force(NOW) and entry.in_force(now)
    )
    paused = facts.paused and (facts.paused_until is None or now < facts.paused_until)
    believed = timedelta(minutes=-5) <= now - NOW <= MAX_AGE
    merged = facts.mode is Mode.ENFORCE and not facts.released and not paused and believed
    canary = {one.route for one in facts.suspensions if now < one.until} if merged else set()
    assert list(found.kept) == sorted(kept)
    assert list(found.ignore) == sorted(kept | canary)


def leaves_nothing(facts: ModelRouting, ignore: list[str], existing: dict[str, Any]) -> bool:
    """Decide emptiness the slow way: route by route, name by name, by the documented rule."""
    routes = {route.tag: route for route in facts.routes}

    def below(name: str, route: ListedRoute) -> bool:
        return not route.tier and (route.tag.startswith(name + "/") or name in lowered(route.providers))

    def takes(name: str, route: ListedRoute) -> bool:
        stated = name in routes and route.tag in routes[RouteId(name)].swallows
        return name == route.tag or below(name, route) or stated

    def admits(name: str, route: ListedRoute) -> bool:
        if name in routes:
            return name == route.tag or route.tag in routes[RouteId(name)].swallows
        return below(name, route)

    limits = [existing.get("only")]
    if existing.get("allow_fallbacks") is False:
        limits.append(existing.get("order"))
    limits = [lowered(names) for names in limits if names]
    return not any(
        not any(takes(name, route) for name in lowered(ignore))
        and all(any(admits(name, route) for name in names) for names in limits)
        and (limits or not route.tier)
        for route in facts.routes
    )


def lowered(names: Iterable[str]) -> list[str]:
    return [name.lower() for name in names]


@given(MERGED, BUILTIN, RUNTIME, EXISTING)
@settings(max_examples=300)
def test_a_merge_keeps_the_callers_own_and_a_route_for_it(
    facts: ModelRouting,
    built_in: list[BuiltinEntry],
    acts: list[RuntimeEntry],
    existing: dict[str, Any] | None,
) -> None:
    """Order and spelling stay, nothing stands twice, and the canary layer leaves a route or stays out."""
    view = views(document(facts, builtin=built_in, runtime=acts)).find(MODEL, NOW.timestamp())
    before, counts = copy.deepcopy(existing), {EMPTYING: 0}
    merged = merge(view, existing, counts)
    assert merged is not None
    assert existing == before
    own = (existing or {}).get("ignore") or []
    ignore = merged.get("ignore") or []
    distinct = list(dict.fromkeys(own))
    assert ignore[: len(distinct)] == distinct
    assert len(set(ignore)) == len(ignore)
    ours = ignore[len(distinct) :]
    assert ours == sorted(ours)
    assert not set(ours) & set(lowered(own))
    assert set(lowered(ignore)) >= set(view.kept)
    assert {key: value for key, value in merged.items() if key != "ignore"} == {
        key: value for key, value in (existing or {}).items() if key != "ignore"
    }
    whole = [*own, *view.ignore]
    emptied = leaves_nothing(facts, whole, existing or {})
    spared = set(view.ignore) - set(view.kept) - set(lowered(own))
    if emptied:
        assert set(lowered(ignore)) == set(lowered(own)) | set(view.kept)
    else:
        assert set(lowered(ignore)) == set(lowered(whole))
    assert counts[EMPTYING] == (1 if emptied and spared else 0)


@given(FACTS, BUILTIN, RUNTIME, st.lists(EXISTING, max_size=6), MOMENTS)
@settings(max_examples=60, deadline=None)
def test_the_client_says_what_the_merge_says(
    facts: ModelRouting,
    built_in: list[BuiltinEntry],
    acts: list[RuntimeEntry],
    callers: list[dict[str, Any] | None],
    now: Any,
) -> None:
    """Through a file, with memory of the calls before, and by whatever of the model's names."""
    snapshot = document(facts, builtin=built_in, runtime=acts)
    with TemporaryDirectory() as directory:
        path = Path(directory) / "snapshot.json"
        path.write_text(json.dumps(snapshot))
        canary = Canary(path, clock=now.timestamp, thread=False)
        for existing in [*callers, *callers]:
            fresh = views(snapshot, now).find(MODEL, now.timestamp())
            expected = merge(fresh, copy.deepcopy(existing), {EMPTYING: 0})
            assert canary.provider_preferences(MODEL, existing) == expected
            assert canary.patch({"model": MODEL + ":nitro", "provider": existing}).get("provider") == (
                None if existing is None and not expected else expected
            )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
GOOD = json.dumps(document(), indent=None).encode()
DAMAGED = st.one_of(
    st.binary(max_size=60),
    JSON.map(lambda value: json.dumps(value).encode()),
    st.integers(0, len(GOOD) - 1).map(lambda end: GOOD[:end]),
    st.tuples(st.integers(0, len(GOOD) - 1), st.binary(min_size=1, max_size=3)).map(
        lambda cut: GOOD[: cut[0]] + cut[1] + GOOD[cut[0] + len(cut[1]) :]
    ),
)


@given(st.lists(DAMAGED, min_size=1, max_size=4), JSON, JSON)
@settings(max_examples=150, deadline=None)
def test_no_file_and_no_caller_makes_a_call_raise(contents: list[bytes], model: Any, existing: Any) -> None:
    """Cut, spoiled or strange: the call answers, and the caller's object is not changed."""
    with TemporaryDirectory() as directory:
        path = Path(directory) / "snapshot.json"
        canary = Canary(path, clock=NOW.timestamp, thread=False)
        for content in contents:
            path.write_bytes(content)
            canary.refresh()
            before = repr(existing)
            found = canary.provider_preferences(model, existing)
            assert isinstance(found, dict) or found is existing
            assert repr(existing) == before
            canary.patch(existing)
            canary.patch({"model": model, "models": existing, "provider": existing})
            json.dumps(canary.status())


@given(st.data())
@settings(max_examples=100)
def test_one_strange_value_refuses_the_document_or_changes_nothing_else(data: st.DataObject) -> None:
    """Any value at any place is either read or refused by `SnapshotError`; nothing else is raised."""
    snapshot = data.draw(
        st.builds(lambda facts, b, r: document(facts, builtin=b, runtime=r), FACTS, BUILTIN, RUNTIME)
    )
    at: Any = snapshot
    while True:
        key = (
            data.draw(st.sampled_from(sorted(at)))
            if isinstance(at, dict)
            else data.draw(st.integers(0, len(at) - 1))
        )
        if not isinstance(at[key], dict | list) or not at[key] or data.draw(st.booleans()):
            at[key] = data.draw(JSON)
            break
        at = at[key]
    try:
        read = read_snapshot(snapshot)
    except SnapshotError:
        return
    assert read.models.keys() <= snapshot["models"].keys()


@given(st.lists(FACTS, max_size=3), BUILTIN, RUNTIME, st.randoms())
def test_equal_facts_give_an_equal_document(
    models: list[ModelRouting], built_in: list[BuiltinEntry], acts: list[RuntimeEntry], chance: Any
) -> None:
    """The order in which facts come changes nothing, and what is built can be read."""
    named = {ModelId(f"acme/m{number}"): facts for number, facts in enumerate(models)}

    def made() -> dict[str, Any]:
        return snapshot_of(
            shuffled(
                [
                    ModelRouting(
                        model=model,
                        mode=facts.mode,
                        routes=tuple(shuffled(facts.routes)),
                        suspensions=tuple(shuffled(facts.suspensions)),
                    )
                    for model, facts in named.items()
                ]
            ),
            builtin=shuffled(built_in),
            runtime=shuffled(acts),
            written_at=NOW,
        )

    def shuffled(values: Iterable[Any]) -> list[Any]:
        result = list(values)
        chance.shuffle(result)
        return result

    first, second = made(), made()
    assert json.dumps(first) == json.dumps(second)
    assert read_snapshot(json.loads(json.dumps(first))).models.keys() == named.keys()
