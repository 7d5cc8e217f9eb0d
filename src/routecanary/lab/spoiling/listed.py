"""How does the listing change under a client's feet?

Source: openrouter-wire.md §1.1, §1.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from routecanary.domain.names import RouteId
from routecanary.domain.probe import Json
from routecanary.lab.fault import Amount, ListingFault, Name
from routecanary.lab.host import LabRoute


def drop(_: LabRoute, __: Mapping[str, Json]) -> tuple[LabRoute, ...]:
    return ()


def double_row(route: LabRoute, parameters: Mapping[str, Json]) -> tuple[LabRoute, ...]:
    return (replace(route, rows=int(parameters["rows"])),)


def add_sibling(route: LabRoute, _: Mapping[str, Json]) -> tuple[LabRoute, ...]:
    """Put the bare slug beside a tag with a suffix, or such a tag beside the bare slug."""
    sibling = f"{route.slug}/us" if route.tag == route.slug else route.slug
    return (route, replace(route, tag=RouteId(sibling)))


def rename(route: LabRoute, parameters: Mapping[str, Json]) -> tuple[LabRoute, ...]:
    """Give the route another tag, as when its provider quantizes anew."""
    other = "fp4" if route.tag.endswith("/fp8") else "fp8"
    return (replace(route, tag=RouteId(str(parameters["tag"]) or f"{route.slug}/{other}")),)


LISTED: Final = (
    ListingFault(
        name="delisted",
        version=1,
        gives=("vanished",),
        does="Is neither listed nor found.",
        on_route=drop,
    ),
    ListingFault(
        name="twin_rows",
        version=1,
        gives=("changed: rows",),
        does="Is listed in several rows under one tag.",
        on_route=double_row,
        parameters={"rows": Amount(default=2, low=1, high=10)},
    ),
    ListingFault(
        name="slug_sibling",
        version=1,
        gives=("appeared", "changed: swallows"),
        does="Gets a sibling, so that its provider has a tag that is the bare slug and one with a suffix.",
        on_route=add_sibling,
    ),
    ListingFault(
        name="tag_renamed",
        version=1,
        gives=("appeared", "vanished"),
        does="Goes by another tag; the old one is not found any more.",
        on_route=rename,
        parameters={"tag": Name()},
    ),
    ListingFault(
        name="listing_emptied",
        version=1,
        gives=("vanished", "doubted"),
        does="Is missing from the listing and answers all the same; on a whole model, the listing is empty.",
        on_route=drop,
        listed_only=True,
    ),
)
