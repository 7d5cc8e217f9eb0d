"""What a refusal tells of the routes that the account withholds, and when it tells nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest

from routecanary.discover.withheld import Untold, Withheld, withheld_from_refusal
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.route import Listing, Route

TOLD = "No endpoints found for acme/chat. Every candidate endpoint was removed during routing: "
FALLBACK = "Filter by Fallback removed birch/fp8, cedar, cedar/us"


def a_listing(**rows: int) -> Listing:
    tags = {"alder": 1, "birch/fp8": 2, "cedar": 1, "cedar/us": 1} | rows
    return Listing(
        model=ModelId("acme/chat"),
        at=datetime(2026, 1, 5, tzinfo=UTC),
        routes=tuple(
            Route(tag=RouteId(tag), provider_names=frozenset(), rows=count) for tag, count in tags.items()
        ),
    )


def an_error(message: str, *funnel: tuple[str, int], **metadata: Any) -> dict[str, Any]:
    steps = [{"step": step, "endpoint_count": count} for step, count in funnel]
    return {"code": 404, "message": message, "metadata": {"routing_funnel": steps, **metadata}}


SOUND = an_error(
    f"{TOLD}Filter by Guardrails removed alder (Training on paid requests (account settings)); {FALLBACK}.",
    ("Initial Endpoints", 5),
    ("Filter by Guardrails", 4),
    ("Apply Status Sorting", 4),
    ("Filter by Fallback", 0),
    failed_routing_step="Filter by Fallback",
)


def read(error: Any, status: int | None = 404) -> Withheld | Untold:
    return withheld_from_refusal(status, error, a_listing())


def test_what_a_step_removed_is_withheld() -> None:
    """The reason may have parentheses of its own; a step that removes nothing is not told of."""
    told = read(SOUND)
    assert isinstance(told, Withheld)
    assert told.by_step == {"Filter by Guardrails": {"alder"}}
    assert told.routes == {"alder"}
    assert told.reached == {"birch/fp8", "cedar", "cedar/us"}


def test_nothing_withheld_is_told_as_such() -> None:
    """Only the last step removed anything: this is knowledge, and not a lack of it."""
    error = an_error(
        f"{TOLD}Filter by Fallback removed alder, birch/fp8, cedar, cedar/us.",
        ("Initial Endpoints", 5),
        ("Filter by Fallback", 0),
    )
    told = read(error)
    assert isinstance(told, Withheld)
    assert told.routes == frozenset()


def test_several_steps_are_kept_apart() -> None:
    """Each step has its own tags; one that the listing does not know has one row; case does not matter."""
    error = an_error(
        f"{TOLD}Filter by Data Policy removed Alder; Add BYOK Endpoints removed oak/x/y (a; b); {FALLBACK}.",
        ("Initial Endpoints", 6),
        ("Filter by Data Policy", 5),
        ("Add BYOK Endpoints", 4),
        ("Filter by Fallback", 0),
    )
    told = read(error)
    assert isinstance(told, Withheld)
    assert told.by_step == {"Filter by Data Policy": {"alder"}, "Add BYOK Endpoints": {"oak/x/y"}}


def message(text: str) -> Callable[[dict[str, Any]], None]:
    return lambda error: error.update(message=text)


def funnel(*entries: Any) -> Callable[[dict[str, Any]], None]:
    return lambda error: error["metadata"].update(routing_funnel=list(entries))


def step(place: int, **changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda error: error["metadata"]["routing_funnel"][place].update(changes)


def said(old: str, new: str) -> Callable[[dict[str, Any]], None]:
    return lambda error: error.update(message=error["message"].replace(old, new))


DRIFTS = {
    "no message": message(""),
    "another language": message("Keine Endpunkte gefunden."),
    "no list": said(TOLD, "No endpoints found: "),
    "no full stop": said("cedar/us.", "cedar/us"),
    "another separator": said("; Filter", " and Filter"),
    "another verb": said("removed alder", "dropped alder"),
    "another list": said(", cedar/us", " and cedar/us"),
    "a count of the rest": said(", cedar/us", " and 1 more"),
    "quoted tags": said("removed alder", 'removed "alder"'),
    "a display name": said("removed alder", "removed Alder Cloud"),
    "no tag": said("removed alder ", "removed "),
    "an open reason": said("settings)); ", "settings); "),
    "a tag twice": said("removed birch/fp8", "removed alder, birch/fp8"),
    "a tag twice in a clause": said(", cedar,", ", cedar, cedar,"),
    "a step twice": said("Filter by Fallback", "Filter by Guardrails"),
    "a tag too few": said(", cedar/us", ""),
    "a tag too many": said("removed alder", "removed alder, oak"),
    "a step without a clause": message(f"{TOLD}{FALLBACK}."),
    "a clause without a step": step(1, step="Filter by Something"),
    "no funnel": funnel(),
    "a funnel of texts": funnel("Initial Endpoints", "Filter by Fallback"),
    "a funnel without counts": step(2, endpoint_count=None),
    "a count that is no number": step(2, endpoint_count="4"),
    "a count that is a boolean": step(3, endpoint_count=False),
    "a negative count": step(3, endpoint_count=-1),
    "a funnel that widens": step(2, endpoint_count=5),
    "a funnel that does not end": step(3, endpoint_count=1),
    "another beginning": step(0, step="All Endpoints"),
    "a step with a control character": step(2, step="Apply \x1b[31m"),
    "another end": step(3, step="Filter by Order"),
    "another failing step": lambda error: error["metadata"].update(
        failed_routing_step="Filter by Guardrails"
    ),
    "metadata of another kind": lambda error: error.update(metadata=[]),
    "a message of another kind": lambda error: error.update(message=404),
    "too many steps": funnel(*({"step": f"Step {'x' * n}", "endpoint_count": 0} for n in range(60))),
}


@pytest.mark.parametrize("change", DRIFTS.values(), ids=DRIFTS)
def test_a_text_that_drifted_tells_nothing(change: Callable[[dict[str, Any]], None]) -> None:
    """Whatever does not add up is "could not tell", never "nothing is withheld"."""
    error = deepcopy(SOUND)
    change(error)
    assert json.dumps(error) != json.dumps(SOUND)
    told = read(error)
    assert isinstance(told, Untold)
    assert told.why.isprintable()


@pytest.mark.parametrize("status", [None, 200, 401, 402, 403, 429, 500])
def test_another_answer_tells_nothing(status: int | None) -> None:
    """Only a refusal with 404 is the one that is known."""
    assert isinstance(read(SOUND, status), Untold)
    assert isinstance(read(None, status), Untold)


def test_an_account_that_withholds_everything_is_told_apart() -> None:
    """Then the routing ends before it comes to fallbacks, and the text lists nothing."""
    error = an_error(
        "0 endpoints out of 2 requested match guardrail restrictions.",
        ("Initial Endpoints", 2),
        ("Filter by Guardrails", 0),
        failed_routing_step="Filter by Guardrails",
    )
    told = read(error)
    assert isinstance(told, Untold)
    assert "as if every route were withheld" in told.why


def test_twins_are_counted_by_row() -> None:
    """The same text tells nothing when the listing has another number of rows for a tag."""
    assert isinstance(withheld_from_refusal(404, SOUND, a_listing(**{"birch/fp8": 1})), Untold)
