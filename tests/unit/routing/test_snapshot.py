"""How the facts are laid into the document that applications read."""

from __future__ import annotations

import json
from decimal import Decimal

from routecanary.domain.names import INTEGRITY, LANGUAGE, Locale, ModelId, RouteId
from routecanary.domain.route import Route
from routecanary.routing.reading import read_snapshot
from routecanary.routing.snapshot import ListedRoute, SuspendedRoute
from tests.snapshots import DAY, NOW, after, builtin, document, facts, listed, runtime, suspended

DOCUMENT = """
{
  "format": "routecanary-snapshot",
  "version": 1,
  "written_at": "2026-01-05T12:00:00Z",
  "max_snapshot_age_seconds": 21600.0,
  "builtin": [{"target": "filterhost", "models": ["acme/chat"]}],
  "runtime": [
    {"target": "alpha", "models": null, "expires": "2026-01-05T13:00:00Z"},
    {"target": "slowhost", "models": null, "expires": null}
  ],
  "models": {
    "acme/chat": {
      "names": ["acme/chat-20260101", "~acme/chat-latest"],
      "mode": "enforce",
      "released": false,
      "paused": true,
      "paused_until": "2026-01-05T14:00:00Z",
      "routes": [
        {"tag": "alpha", "swallows": ["alpha/us"], "tier": false, "providers": []},
        {"tag": "alpha/priority", "swallows": [], "tier": true, "providers": []},
        {"tag": "alpha/us", "swallows": [], "tier": false, "providers": []}
      ],
      "swallows": {"filterhost": ["alpha", "alpha/us"]},
      "suspensions": [
        {
          "route": "alpha",
          "since": "2026-01-04T12:00:00Z",
          "until": "2026-01-06T12:00:00Z",
          "contracts": ["integrity", "language"],
          "locales": ["pt-BR", "th"]
        }
      ]
    },
    "acme/other": {
      "names": [],
      "mode": "enforce",
      "released": false,
      "paused": false,
      "paused_until": null,
      "routes": [],
      "swallows": {},
      "suspensions": []
    }
  }
}
"""
"""The format as docs/routing.md shows it; a change of it is a change for every reader."""


def test_the_document_is_as_documented() -> None:
    """Sorted throughout, times in UTC, and neither reasons nor people in it."""
    suspension = SuspendedRoute(
        route=RouteId("alpha"),
        since=NOW - DAY,
        until=NOW + DAY,
        contracts=frozenset({LANGUAGE, INTEGRITY}),
        locales=frozenset({Locale("th"), Locale("pt-BR")}),
    )
    made = document(
        facts("acme/other", routes=()),
        facts(
            names=frozenset({"~acme/chat-latest", "acme/chat-20260101"}),
            routes=listed(
                "alpha/us", "alpha", "alpha/priority", tiers=["alpha/priority"], alpha=["alpha/us"]
            ),
            suspensions=(suspension,),
            swallows={"filterhost": frozenset({RouteId("alpha/us"), RouteId("alpha")})},
            paused=True,
            paused_until=after(hours=2),
        ),
        builtin=[builtin("filterhost", models=["acme/chat"])],
        runtime=[runtime("slowhost"), runtime("alpha", expires=after(hours=1)), runtime("old", expires=NOW)],
    )
    assert json.dumps(made, indent=1) == json.dumps(json.loads(DOCUMENT), indent=1)


def test_a_listed_route_keeps_what_a_listing_says() -> None:
    """Tier, swallows and display names come from discovery."""
    route = Route(
        tag=RouteId("alpha"),
        provider_names=frozenset({"Alpha Cloud"}),
        tier="flex",
        price_prompt=Decimal("0.000001"),
        swallows=frozenset({RouteId("alpha/us")}),
    )
    assert ListedRoute.of(route) == ListedRoute(
        tag=RouteId("alpha"),
        swallows=frozenset({RouteId("alpha/us")}),
        tier=True,
        providers=frozenset({"Alpha Cloud"}),
    )


def test_an_odd_name_from_the_gateway_does_not_blind_the_readers() -> None:
    """What a reader would refuse is left out, the rest stands."""
    odd = RouteId("host\ud800")
    made = document(
        facts(
            names=frozenset({"acme/chat\x00", "acme/chat-20260101"}),
            routes=(
                ListedRoute(tag=odd),
                ListedRoute(
                    tag=RouteId("alpha"),
                    swallows=frozenset({RouteId("alpha/" + "x" * 300)}),
                    providers=frozenset({"Alpha\u202e"}),
                ),
            ),
            suspensions=suspended(odd, "alpha"),
            swallows={"two words": frozenset({RouteId("alpha")})},
        ),
        facts("acme/\ud800"),
        builtin=[builtin("bad host"), builtin("filterhost", models=["acme/\ud800"])],
        runtime=[runtime("x" * 300)],
    )
    read = read_snapshot(json.loads(json.dumps(made)))
    assert list(read.models) == ["acme/chat"]
    assert read.models["acme/chat"].names == {"acme/chat-20260101"}
    assert read.models["acme/chat"].index.tags == {"alpha"}
    assert [suspension.route for suspension in read.models["acme/chat"].suspensions] == ["alpha"]
    assert [(entry.target, entry.models) for entry in read.builtin] == [("filterhost", frozenset())]
    assert read.runtime == ()


def test_a_model_without_a_name_for_it_stays_out() -> None:
    """Model ids are names too."""
    assert document(facts(ModelId("")))["models"] == {}
