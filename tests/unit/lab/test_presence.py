"""How the listing changes, and what discovery makes of it."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from routecanary.discover.changes import Belief, changes_between, weigh
from routecanary.discover.parse import listing_from_json
from routecanary.domain.names import RouteId
from routecanary.domain.route import Listing
from routecanary.lab import listing
from routecanary.lab.desk import Desk
from routecanary.lab.fault import DISCOVERY, ListingFault
from routecanary.lab.faults import FAULT_NAMED, LISTING_FAULT_NAMED, LISTING_FAULTS
from routecanary.lab.host import LabModel, ParameterValue, PlantedListingFault, Window
from routecanary.lab.refusal import RefusedError
from tests.lab import MODEL, START, a_body, a_model, a_request, a_route, a_scenario

HOUR = timedelta(hours=1)
OPEN = Window(start=HOUR, end=2 * HOUR)
BEFORE, DURING, AFTER = (timedelta(minutes=minutes) for minutes in (59, 60, 120))


def planted(fault: str, **parameters: ParameterValue) -> PlantedListingFault:
    return PlantedListingFault(fault=fault, window=OPEN, parameters=parameters)


def a_changing_model(fault: str, of: str = "host/fp8", **parameters: ParameterValue) -> LabModel:
    return a_model(
        a_route(of, listing_faults=(planted(fault, **parameters),)), a_route("maple"), a_route("dear")
    )


def discovered(model: LabModel, elapsed: timedelta) -> Listing:
    document = listing.endpoints(model, elapsed, known_key=True)
    return listing_from_json(document, model=MODEL, at=START + elapsed)


def made_of(before: Listing, after: Listing) -> set[str]:
    """Say what discovery makes of a second listing, in the words of the faults' rows."""
    changes = changes_between(before, after)
    said = {f"changed: {name}" for change in changes.changed for name in change.fields()}
    said |= {"appeared"} if changes.appeared else set()
    said |= {"vanished"} if changes.vanished else set()
    belief = weigh(Belief(believed=before), after)
    return said | ({"doubted"} if belief.doubted is not None else set())


@pytest.mark.parametrize("fault", LISTING_FAULTS, ids=lambda fault: fault.name)
def test_a_change_is_seen_by_discovery_and_undone_with_its_window(fault: ListingFault) -> None:
    """What the row says is what discovery says, no more; after the window the listing is what it was."""
    if fault.name == "listing_emptied":
        everywhere = (planted(fault.name),)
        model = a_model(*(a_route(tag, listing_faults=everywhere) for tag in ("host/fp8", "maple", "dear")))
    else:
        model = a_changing_model(fault.name, "host" if fault.name == "slug_sibling" else "host/fp8")
    before, during, after = (discovered(model, elapsed) for elapsed in (BEFORE, DURING, AFTER))
    assert made_of(before, during) == set(fault.gives)
    assert made_of(before, after) == set()
    assert fault.seen_by == (DISCOVERY,)


def test_listing_faults_have_names_of_their_own() -> None:
    """No name means two faults, and the scenario may name either kind."""
    assert not set(LISTING_FAULT_NAMED) & set(FAULT_NAMED)
    assert len(LISTING_FAULT_NAMED) == len(LISTING_FAULTS)


def tags(model: LabModel, elapsed: timedelta) -> list[str]:
    return sorted(route.tag for route in discovered(model, elapsed).routes)


def test_the_changes_are_the_ones_named() -> None:
    """Tags and rows as the faults say, with the parameters that they take."""
    assert tags(a_changing_model("delisted"), DURING) == ["dear", "maple"]
    twins = discovered(a_changing_model("twin_rows", rows=3.0), DURING)
    assert {route.tag: route.rows for route in twins.routes} == {"dear": 1, "host/fp8": 3, "maple": 1}
    assert tags(a_changing_model("tag_renamed"), DURING) == ["dear", "host/fp4", "maple"]
    assert tags(a_changing_model("tag_renamed", tag="host/turbo"), DURING) == ["dear", "host/turbo", "maple"]
    assert tags(a_changing_model("slug_sibling"), DURING) == ["dear", "host", "host/fp8", "maple"]
    bare = discovered(a_changing_model("slug_sibling", "host"), DURING)
    assert {route.tag: set(route.swallows) for route in bare.routes} == {
        "dear": set(),
        "host": {"host/us"},
        "host/us": set(),
        "maple": set(),
    }


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        ("delisted", {"host/fp8": False}),
        ("tag_renamed", {"host/fp8": False, "host/fp4": True}),
        ("slug_sibling", {"host/fp8": True, "host": True}),
        ("listing_emptied", {"host/fp8": True}),
    ],
)
def test_requests_find_what_is_there(fault: str, found: dict[str, bool]) -> None:
    """A pin to a tag that is gone is refused with 404; an emptied listing takes nobody's route away."""
    now = START
    route = a_route("host/fp8", listing_faults=(planted(fault),))
    desk = Desk(a_scenario(route, a_route("maple")), seed=1, now=lambda: now)
    now = START + DURING
    for tag, there in found.items():
        body = a_body(provider={"only": [tag], "allow_fallbacks": False})
        request = a_request(json.loads(json.dumps(body)))
        if there:
            assert desk.answer(request).route.slug == "host"
        else:
            with pytest.raises(RefusedError) as caught:
                desk.answer(request)
            assert caught.value.refusal.status == 404


def test_a_route_with_a_planted_change_is_not_healthy() -> None:
    """Whoever counts healthy routes leaves it out."""
    assert not a_route("host", listing_faults=(planted("delisted"),)).healthy
    assert a_route("host").tag == RouteId("host")
