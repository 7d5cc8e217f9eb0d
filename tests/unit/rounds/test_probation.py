"""Which routes are watched more closely: new, changed, or just back?"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from routecanary.domain.names import RouteId
from routecanary.domain.route import Listing, Route
from routecanary.rounds.probation import on_probation
from tests.story import HEALTHY, MODEL, START, Story, moment

DAY = timedelta(hours=24)


def a_listing(at: datetime, **changed: Route) -> Listing:
    routes = {tag: Route(tag=RouteId(tag), provider_names=frozenset()) for tag in HEALTHY} | changed
    return Listing(model=MODEL, at=at, routes=tuple(routes.values()))


def reasons(story: Story, now: str, *listings: Listing, length: timedelta = DAY) -> dict[str, str]:
    return {name: one.why for name, one in on_probation(story.state, listings, moment(now), length).items()}


def test_the_first_round_names_no_newcomers() -> None:
    """Everybody is new then, so nobody is."""
    story = Story()
    story.round("0m", HEALTHY)
    assert reasons(story, "1h") == {}


@pytest.mark.parametrize(("now", "expected"), [("1h", {"a": "new"}), ("24h59m", {"a": "new"}), ("25h", {})])
def test_a_newcomer_is_on_probation_for_a_day(now: str, expected: dict[str, str]) -> None:
    """From the round that named it first."""
    story = Story()
    story.round("0m", HEALTHY)
    story.round("1h", {**HEALTHY, "a": "ok"})
    assert reasons(story, now) == expected


def test_a_route_that_came_back_is_on_probation_and_a_suspended_one_is_not() -> None:
    """Reinstated after two clean rounds."""
    story = Story()
    for k, told in enumerate(["language:fail", "language:fail", "ok", "ok"]):
        story.round(f"{30 * k}m", {**HEALTHY, "a": told})
        if k == 1:
            assert reasons(story, "31m") == {}
    assert reasons(story, "2h") == {"a": "back"}
    assert reasons(story, "2h", length=timedelta()) == {}


def test_a_changed_price_or_quantization_and_nothing_else() -> None:
    """The latest reason counts; a change of more than a day ago does not."""
    story = Story()
    story.round("0m", HEALTHY)
    plain = Route(tag=RouteId("h1"), provider_names=frozenset())
    dearer = replace(plain, price_prompt=Decimal("0.001"))
    coarser = replace(dearer, quantizations=frozenset({"fp4"}))
    other = replace(coarser, context_length=4096)
    listings = [
        a_listing(START),
        a_listing(moment("1h"), h1=dearer),
        a_listing(moment("2h"), h1=coarser),
        a_listing(moment("3h"), h1=other),
    ]
    assert reasons(story, "90m", *listings[:2]) == {"h1": "price"}
    assert reasons(story, "4h", *listings) == {"h1": "quantization"}
    (found,) = on_probation(story.state, listings, moment("4h"), DAY).values()
    assert (found.since, found.until) == (moment("2h"), moment("26h"))
    assert reasons(story, "27h", *listings) == {}
