"""The list is laid into a request's bytes as `Canary.patch` lays it into the request; nothing else moves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from routecanary.adapters.snapshot import write_snapshot
from routecanary.client import Canary
from routecanary.client.advice import Adviser
from routecanary.client.canary import UNREAD_BODY
from routecanary.proxy.editing import edit
from tests.snapshots import MODEL, NOW, builtin, document, facts, suspended

OTHER = "acme/other"
NAMES = st.sampled_from(["alpha", "beta", "gamma", "x/fp8", "Beta", "beta", "filterhost"])
TEXT = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    ['"provider":{}', "\\", '"', "\x7f", "}"]
)
ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
PROVIDER = st.fixed_dictionaries(
    {},
    optional={
        "ignore": st.none() | st.lists(NAMES, max_size=4) | st.just("beta") | st.just([1]),
        "only": st.none() | st.lists(NAMES, max_size=3),
        "order": st.lists(NAMES, max_size=3),
        "allow_fallbacks": st.booleans(),
        "max_price": st.fixed_dictionaries({"prompt": TEXT, "ignore": st.lists(NAMES, max_size=2)}),
        "x": ANY,
    },
)
REQUESTS = st.fixed_dictionaries(
    {},
    optional={
        "model": st.sampled_from([MODEL, OTHER, f"{MODEL}:nitro", "a/b@preset/x", "", "unknown/model"])
        | st.none()
        | ANY,
        "models": st.none() | st.lists(st.sampled_from([MODEL, OTHER]), max_size=2) | ANY,
        "preset": st.none() | st.just("mine"),
        "provider": st.none() | PROVIDER | ANY,
        "messages": ANY,
        "stream": st.booleans(),
        "metadata": ANY,
    },
).flatmap(lambda request: st.permutations(list(request.items())).map(dict))
STYLES = st.sampled_from(
    [
        {"separators": (",", ":")},
        {},
        {"indent": 2},
        {"ensure_ascii": False},
        {"separators": (" ,\t", "\r\n: ")},
    ]
)
NEEDS = st.none() | st.lists(st.sampled_from(["structured", "language", "rubbish"]), max_size=2)


@pytest.fixture(scope="module")
def canary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Canary]:
    path = Path(tmp_path_factory.mktemp("snapshot")) / "snapshot.json"
    both = [facts(MODEL, suspensions=suspended("beta", "alpha")), facts(OTHER, suspensions=suspended("beta"))]
    write_snapshot(path, document(*both, builtin=[builtin("filterhost", [MODEL])]))
    with Canary(path, clock=NOW.timestamp, thread=False) as made:
        yield made


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])  # many shapes
@given(
    request=REQUESTS,
    style=STYLES,
    needs=NEEDS,
    margin=st.sampled_from(["", " \n"]),
)
@example({"model": MODEL}, {}, None, "")
@example({"model": MODEL, "provider": {}}, {"indent": 1}, None, " ")
@example({"provider": None, "model": MODEL}, {}, None, "")
@example({"model": MODEL, "provider": {"ignore": ["Beta", "Beta"]}}, {}, None, "")
@example({"model": MODEL, "provider": {"\x1f": None}}, {}, None, "")
def test_the_edited_body_reads_as_the_patched_request(
    canary: Canary,
    request: dict[str, Any],
    style: dict[str, Any],
    needs: list[str] | None,
    margin: str,
) -> None:
    """Decoded, it is what `Canary.patch` makes; every byte outside the list is where it was, in order.

    Only an object that changes and has a key written with escapes stays as it is, which is counted.
    """
    body = (margin + json.dumps(request, **style) + margin).encode()
    edited = edit(Adviser(canary), body, needs, "th")
    patched = canary.patch(request, needs=needs, locale="th")
    if patched != request and has_escapes(request.get("provider"), style):
        assert (edited.body, edited.unchanged) == (body, UNREAD_BODY)
        return
    assert json.loads(edited.body) == patched
    if patched == request:
        assert edited.body is body
        return
    start = common_prefix(body, edited.body)
    end = common_prefix(body[start:][::-1], edited.body[start:][::-1])
    gone, new = body[start : len(body) - end], edited.body[start : len(edited.body) - end]
    ignore = json.dumps(patched["provider"]["ignore"], separators=(",", ":")).encode()
    assert new in b',"provider":{"ignore":%b}' % ignore or new in b',"ignore":%b' % ignore
    provider = request.get("provider")
    old = provider.get("ignore") if isinstance(provider, dict) else None
    assert without_space(gone) in without_space(json.dumps(old, **style).encode())


def has_escapes(provider: object, style: dict[str, Any]) -> bool:
    """Say whether a key of the object is written otherwise than it reads."""
    keys = provider if isinstance(provider, dict) else {}
    plain = style.get("ensure_ascii", True)
    return any(json.dumps(key, ensure_ascii=plain) != f'"{key}"' for key in keys)


def without_space(text: bytes) -> bytes:
    return b"".join(text.split())


def common_prefix(one: bytes, other: bytes) -> int:
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return place
    return min(len(one), len(other))


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    body=st.binary(max_size=60)
    | st.text(st.sampled_from('{}[]":,\\ \nmodel1aé'), max_size=40).map(str.encode)
)
def test_rubbish_comes_back_as_it_is(canary: Canary, body: bytes) -> None:
    """Whatever the bytes are, an edit never raises, and what cannot be edited is returned itself."""
    edited = edit(Adviser(canary), body, None, None)
    assert edited.body is body or json.loads(edited.body)["provider"]["ignore"]
