"""Which gateways can be asked, and by which request does one see whose it is?

What differs between them stands in few places, each a `match` over these kinds: what discovery reads of a
listing, which keys a request carries besides its question, where an answer says who served it.

Source: docs/gateway.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final


class GatewayKind(StrEnum):
    """The service that lists endpoints and forwards requests."""

    OPENROUTER = "openrouter"
    VERCEL = "vercel"


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """Where a gateway is found, where nothing else is configured."""

    base_url: str
    key_variable: str  # name of the environment variable that holds its key


WHEREABOUTS: Final[Mapping[GatewayKind, Whereabouts]] = {
    GatewayKind.OPENROUTER: Whereabouts(
        base_url="https://openrouter.ai/api/v1", key_variable="OPENROUTER_API_KEY"
    ),
    GatewayKind.VERCEL: Whereabouts(
        base_url="https://ai-gateway.vercel.sh/v1", key_variable="AI_GATEWAY_API_KEY"
    ),
}


def gateway_of_request(body: Mapping[str, Any]) -> GatewayKind:
    """Tell by a request's body whose it is: each gateway has its own key for routing."""
    return GatewayKind.VERCEL if "providerOptions" in body else GatewayKind.OPENROUTER
