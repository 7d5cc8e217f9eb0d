"""Which keys make a gateway send a request to one route, as it is, and to no other?

Besides the question a request carries what its gateway wants to be told: the pin, and what has to be switched
off. Each gateway has its own keys for that.

Source: openrouter-wire.md §0, §2, §6; docs/gateway.md, "The Vercel AI Gateway".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, assert_never

from routecanary.domain.gateway import GatewayKind
from routecanary.domain.probe import Json
from routecanary.domain.route import Listing, Route

PLUGINS_OFF: Final = ("response-healing", "context-compression", "web")


def pinning(listing: Listing, route: Route, *, whole: bool = False) -> dict[str, Json]:
    """Write the keys that pin a route.

    Args:
        whole: Let the gateway refuse where the route does not take everything that is sent, if it can.
    """
    match listing.gateway:
        case GatewayKind.OPENROUTER:
            provider: dict[str, Json] = {"only": [route.tag]}
            if route.swallows:
                provider["ignore"] = sorted(route.swallows)
            provider["allow_fallbacks"] = False
            if whole:
                provider["require_parameters"] = True
            return routed(provider)
        case GatewayKind.VERCEL:
            return {
                "providerOptions": {"gateway": {"only": sorted(route.provider_names) or [route.tag]}},
                "stream_options": {"include_usage": True},
            }
        case _:
            assert_never(listing.gateway)


def routed(provider: Mapping[str, Json]) -> dict[str, Json]:
    """Write the keys that go with an OpenRouter `provider` object: nothing else may touch the answer."""
    return {
        "provider": dict(provider),
        "plugins": [{"id": plugin, "enabled": False} for plugin in PLUGINS_OFF],
    }
