"""Under which display names may a route's provider answer?

Answers name the provider by display name, tags by slug, and one cannot be derived from the other. The
listing pairs them row by row; the gateway's list of providers pairs them once more, and the two are checked
against each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from routecanary.domain.names import RouteId
from routecanary.domain.route import Listing, Route


def with_provider_names(listing: Listing, slugs: Mapping[str, str]) -> Listing:
    """Complete the routes' display names from the gateway's list of providers.

    Args:
        listing: As it was read.
        slugs: Display name → base slug.
    Returns:
        Each route with the names that either source gives it. Where the two disagree both are accepted,
        since a wrong doubt would void every answer of the route, and a note says so.
    Source: openrouter-wire.md §1.4.
    """
    names: dict[str, set[str]] = {}
    for name, slug in slugs.items():
        names.setdefault(slug, set()).add(name)
    routes: list[Route] = []
    notes: list[str] = []
    for route in listing.routes:
        known = names.get(base_slug(route.tag, names), set())
        if known and route.provider_names and not known & route.provider_names:
            listed = ", ".join(sorted(route.provider_names))
            notes.append(f"{route.tag}: listed as {listed}, known as {', '.join(sorted(known))}")
        routes.append(replace(route, provider_names=route.provider_names | known))
    return replace(listing, routes=tuple(routes), notes=(*listing.notes, *notes))


def base_slug(tag: RouteId, slugs: Mapping[str, object]) -> str:
    """Find the longest known slug that the tag is, or stands below; the tag's first part if none is known.

    Example: `amazon-bedrock/claude-on-aws/us` has the slug `amazon-bedrock/claude-on-aws` where that is
    known, else `amazon-bedrock`.
    """
    parts = tag.split("/")
    for length in range(len(parts), 0, -1):
        slug = "/".join(parts[:length])
        if slug in slugs:
            return slug
    return parts[0]
