"""Which routes does the listing of the Vercel AI Gateway name?

Its rows are those of the usual listing but for the name by which a route is pinned: that is the provider's
slug, which answers carry too. So a row is read as one whose tag is its provider; several of one provider (its
regions) are one route, since a request can name them together only.

Source: docs/gateway.md, "The Vercel AI Gateway".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from routecanary.discover.parse import MAX_LIST, NO_NAMES, listing_from_json
from routecanary.domain.gateway import GatewayKind
from routecanary.domain.names import ModelId
from routecanary.domain.probe import Json
from routecanary.domain.route import Listing


def vercel_listing_from_json(
    document: Json,
    *,
    model: ModelId,
    at: datetime,
    place: str = "listing",
    facts: Json = None,
    providers: Mapping[str, str] = NO_NAMES,
) -> Listing:
    """Read the answer of `GET /models/{creator}/{model}/endpoints`, as `listing_from_json` does."""
    data = document.get("data") if isinstance(document, dict) else None
    rows = data.get("endpoints") if isinstance(data, dict) else None
    if isinstance(data, dict) and isinstance(rows, list):
        document = {**document, "data": {**data, "endpoints": [_as_usual(row) for row in rows]}}
    listing = listing_from_json(document, model=model, at=at, place=place, facts=facts, providers=providers)
    return replace(listing, gateway=GatewayKind.VERCEL)


def _as_usual(row: Json) -> Json:
    """Name a row by its provider, and let the prices of its regions count as those that may apply."""
    if not isinstance(row, dict):
        return row
    pricing, regions = row.get("pricing"), row.get("inference_regions")
    if isinstance(pricing, dict) and isinstance(regions, list):
        dearer = [region.get("pricing") for region in regions[:MAX_LIST] if isinstance(region, dict)]
        pricing = {**pricing, "overrides": [prices for prices in dearer if isinstance(prices, dict)]}
    return {**row, "tag": row.get("provider_name"), "pricing": pricing, "service_tier": None}
