"""What the log says of a listing."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.route import Listing, Route
from routecanary.rounds.listed import MAX_NAMED, tell_listing

MODEL = ModelId("acme/chat")


def a_listing(*tags: str, notes: tuple[str, ...] = ()) -> Listing:
    routes = tuple(Route(tag=RouteId(tag), provider_names=frozenset()) for tag in tags)
    return Listing(model=MODEL, at=datetime(2026, 1, 5, tzinfo=UTC), routes=routes, notes=notes)


def told(caplog: pytest.LogCaptureFixture, before: Listing | None, listing: Listing) -> list[str]:
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="routecanary.rounds"):
        tell_listing(before, listing)
    return caplog.messages


def test_the_first_listing_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    """All of it is new; its length is what a person wants to see."""
    assert told(caplog, None, a_listing("a", "b")) == ["listed model=acme/chat routes=2"]


def test_who_came_who_went_and_what_changed_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """With the fields that are another way now."""
    after = a_listing("a", "b", "d")
    after = replace(after, routes=(replace(after.routes[0], status=-2, context_length=8), *after.routes[1:]))
    assert told(caplog, a_listing("a", "b", "c"), after) == [
        "routes appeared model=acme/chat routes=d",
        "routes vanished model=acme/chat routes=c",
        "routes changed model=acme/chat routes=a (context_length status)",
    ]


def test_what_was_odd_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """As long as it stays odd it is not repeated; when it returns it is new."""
    odd, fine = a_listing("a", notes=("row 3: no tag",)), a_listing("a")
    line = "listing odd model=acme/chat what=row 3: no tag"
    assert [told(caplog, before, after) for before, after in ((fine, odd), (odd, odd), (odd, fine))] == [
        [line],
        [],
        [],
    ]
    assert told(caplog, None, odd)[1:] == [line]


def test_a_line_does_not_grow_without_bound(caplog: pytest.LogCaptureFixture) -> None:
    """The others are counted."""
    (line,) = told(caplog, a_listing(), a_listing(*(f"r{n:03}" for n in range(MAX_NAMED + 5))))
    assert line.endswith(f"r{MAX_NAMED - 1:03} and 5 more")
