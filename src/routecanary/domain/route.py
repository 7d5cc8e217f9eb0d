"""What is one serving endpoint of a model, as discovery saw it?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from routecanary.domain.gateway import GatewayKind
from routecanary.domain.names import ModelId, RouteId


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One route: the rows of a listing that share a tag.

    Where twin rows differ, each field holds the value that promises least: the smaller cap, the dearer
    price, only the parameters that all rows declare.
    """

    tag: RouteId
    provider_names: frozenset[str]  # display names, as answers show them
    rows: int = 1
    quantizations: frozenset[str] = frozenset()  # declared precision classes; empty = undeclared
    context_length: int | None = None  # tokens
    max_completion_tokens: int | None = None  # tokens; None = no cap stated
    parameters: frozenset[str] = frozenset()  # supported_parameters
    price_prompt: Decimal | None = None  # USD per token, discount applied; None = not stated
    price_completion: Decimal | None = None  # USD per token
    price_request: Decimal | None = None  # USD per request
    tier: str | None = None  # flex, priority, ultrafast: opt-in endpoints
    zero_retention: bool | None = None  # keeps nothing of a request; None = the listing does not say
    no_training: bool | None = None  # trains on nothing of it; likewise
    status: int | None = None  # 0 operational; other codes are undocumented
    swallows: frozenset[RouteId] = frozenset()  # non-tier tags that naming this one also names


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """All routes of one model at one time, sorted by tag."""

    model: ModelId
    at: datetime
    routes: tuple[Route, ...]
    accepted_models: frozenset[str] = frozenset()  # ids and dated slugs that an answer may carry
    reasoning_mandatory: bool = False  # the gateway says that this model refuses to answer without reasoning
    gateway: GatewayKind = GatewayKind.OPENROUTER  # whose it is: its routes are asked as this one wants it
    notes: tuple[str, ...] = ()  # what was odd in the document and how it was taken, safe to print

    def tags(self) -> frozenset[RouteId]:
        return frozenset(route.tag for route in self.routes)
