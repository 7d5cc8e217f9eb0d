"""What an application gets whose models are asked through a gateway without `ignore`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from routecanary.adapters.snapshot import write_snapshot
from routecanary.client import Canary
from routecanary.client.advice import advise
from routecanary.domain.gateway import GatewayKind
from routecanary.routing.snapshot import snapshot_of
from tests.snapshots import MODEL, NOW, after, document, facts, listed, suspended

ONLY = {"gateway": {"only": ["alpha", "gamma"]}}


def a_canary(folder: Path, gateway: str = "vercel", **seconds: float) -> Canary:
    models = [
        facts(suspensions=suspended("beta"), names=frozenset({"acme/chat-20260101"})),
        facts("acme/other", routes=listed("beta", "delta")),
    ]
    written = snapshot_of(models, builtin=(), runtime=(), written_at=NOW, gateway=GatewayKind.VERCEL)
    write_snapshot(folder / "snapshot.json", {**written, "gateway": gateway})
    now = after(**seconds).timestamp()
    return Canary(folder / "snapshot.json", clock=lambda: now, thread=False)


def counted(canary: Canary) -> dict[str, int]:
    return {name: count for name, count in canary.status()["counters"].items() if count}


def test_patch_lays_in_an_allow_list(tmp_path: Path) -> None:
    """Nothing that the other gateway's requests carry gets in, and the request given is not changed."""
    request: dict[str, Any] = {"model": MODEL, "messages": []}
    with a_canary(tmp_path) as canary:
        patched = canary.patch(request)
        assert patched == {"model": MODEL, "messages": [], "providerOptions": ONLY}
        assert patched["messages"] is request["messages"]
        assert canary.changes(request) == {"providerOptions": ONLY}
        assert canary.patch({"model": "acme/chat-20260101"})["providerOptions"] == ONLY
        assert canary.patch({"model": "acme/other"}) == {"model": "acme/other"}
        assert canary.status()["gateway"] == "vercel"
        assert counted(canary) == {}
    assert request == {"model": MODEL, "messages": []}


def test_provider_options_takes_the_callers_own_along(tmp_path: Path) -> None:
    """What it returns is the caller's to change."""
    own = {"gateway": {"order": ["beta", "gamma"]}, "acme": {"mood": "calm"}}
    with a_canary(tmp_path) as canary:
        assert canary.provider_options(MODEL) == ONLY
        found = canary.provider_options(MODEL, own)
        assert found == {"gateway": {**own["gateway"], **ONLY["gateway"]}, "acme": {"mood": "calm"}}
        assert canary.provider_options("acme/other", own) == own
        assert canary.provider_options("acme/other") == {}
        found["gateway"]["only"].clear()
        assert canary.provider_options(MODEL) == ONLY


def test_fallback_models_keep_their_hosts(tmp_path: Path) -> None:
    """Named at the top or among the routing options."""
    expected = ["alpha", "beta", "delta", "gamma"]
    with a_canary(tmp_path) as canary:
        for request in (
            {"model": MODEL, "models": ["acme/other"]},
            {"model": MODEL, "providerOptions": {"gateway": {"models": ["acme/other"]}}},
        ):
            assert canary.patch(request) == request, f"all of {expected} may serve one of them"
        assert counted(canary) == {}


def test_needs_shorten_the_list(tmp_path: Path) -> None:
    """A scope that no suspension touches leaves the request as it is; one that cannot be read counts."""
    broken = facts(suspensions=suspended("beta", contracts=["structured"]))  # type: ignore[list-item]
    written = snapshot_of([broken], builtin=(), runtime=(), written_at=NOW, gateway=GatewayKind.VERCEL)
    write_snapshot(tmp_path / "own.json", written)
    with Canary(tmp_path / "own.json", clock=NOW.timestamp, thread=False) as canary:
        assert canary.provider_options(MODEL, needs={"latency"}) == {}
        assert canary.provider_options(MODEL, needs={"structured"}) == ONLY
        assert canary.changes({"model": MODEL}, needs={"speed"}) == {"providerOptions": ONLY}
        assert counted(canary) == {"bad_scope": 1}


def test_preferences_of_the_other_gateway_come_back_and_are_counted(tmp_path: Path) -> None:
    """They would be refused there, or do nothing."""
    with a_canary(tmp_path) as canary:
        assert canary.provider_preferences(MODEL, {"sort": "price"}) == {"sort": "price"}
        assert canary.provider_preferences("acme/unheard-of") == {}
        assert canary.provider_preferences(MODEL, None, needs={"latency"}) == {}
        assert counted(canary) == {"other_gateway": 3}
    write_snapshot(tmp_path / "usual.json", document(facts(suspensions=suspended("beta"))))
    with Canary(tmp_path / "usual.json", clock=NOW.timestamp, thread=False) as usual:
        assert usual.provider_options(MODEL, {"gateway": {}}) == {"gateway": {}}
        assert counted(usual) == {"other_gateway": 1}


@pytest.mark.parametrize(
    ("request_", "counters"),
    [
        ({"model": "acme/unheard-of"}, {"unknown_model": 1}),
        ({"model": MODEL, "models": ["acme/unheard-of"]}, {"unknown_model": 1}),
        ({"model": MODEL, "preset": "x"}, {"preset": 1}),
        ({"model": 7}, {"bad_request": 1}),
        ({"model": MODEL, "providerOptions": "x"}, {"bad_existing": 1}),
        ({"model": MODEL, "providerOptions": {"gateway": {"models": "x"}}}, {"bad_existing": 1}),
    ],
)
def test_a_request_in_doubt_goes_as_it_is(
    tmp_path: Path, request_: dict[str, Any], counters: dict[str, int]
) -> None:
    """And the reason is counted."""
    with a_canary(tmp_path) as canary:
        assert canary.patch(request_) == request_
        assert counted(canary) == counters


def test_a_stale_snapshot_and_an_unknown_gateway_leave_requests_alone(tmp_path: Path) -> None:
    """The canary layer ends with its age; what a gateway's requests want is not guessed."""
    with a_canary(tmp_path, hours=7) as canary:
        assert canary.patch({"model": MODEL}) == {"model": MODEL}
        assert counted(canary) == {"stale": 1}
    with a_canary(tmp_path, "later") as canary:
        assert canary.patch({"model": MODEL}) == {"model": MODEL}
        assert canary.provider_options(MODEL, {"gateway": {}}) == {"gateway": {}}
        assert canary.provider_preferences(MODEL, {"sort": "price"}) == {"sort": "price"}
        assert counted(canary) == {"other_gateway": 3}


@pytest.mark.parametrize("existing", ["x", 7, ["a"]])
def test_options_that_are_no_object_come_back_as_they_are(tmp_path: Path, existing: Any) -> None:
    """For the gateway to refuse."""
    with a_canary(tmp_path) as canary:
        assert canary.provider_options(MODEL, existing) == existing
        assert counted(canary) == {"bad_existing": 1}


def test_before_the_first_snapshot_nothing_is_added(tmp_path: Path) -> None:
    """Nobody knows which gateway it will be."""
    with Canary(tmp_path / "none.json", thread=False) as canary:
        assert canary.provider_options(MODEL, {"gateway": {"sort": "cost"}}) == {"gateway": {"sort": "cost"}}
        assert counted(canary)["no_snapshot"] == 1


def test_advice_says_whom_a_request_keeps_away(tmp_path: Path) -> None:
    """An allow-list keeps away whoever is listed and not in it; the caller's own counts too."""
    own = {"providerOptions": {"gateway": {"only": ["Gamma"]}}}
    with a_canary(tmp_path) as canary:
        advice = advise(canary, {"model": MODEL})
        assert (advice.changes, advice.ignore, advice.reason) == ({"providerOptions": ONLY}, ["beta"], None)
        assert advise(canary, {"model": MODEL, **own}).ignore == ["alpha", "beta"]
        assert advise(canary, {"model": MODEL, "provider": {"only": ["alpha"]}}).ignore == ["beta", "gamma"]
        assert advise(canary, {"model": "acme/other"}).ignore == []
        assert advise(canary, {"model": "acme/unheard-of"}).reason == "unknown_model"
