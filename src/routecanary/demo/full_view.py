"""How is the outcome of the full demo told? A row a fault, over all seeds, and one document."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from routecanary.demo.full import Caught, FullStory
from routecanary.domain.probe import Json
from routecanary.lab.host import Expectation

FULL_RESULT: Final = ("fault", "expected", "suspended", "by", "")
"""The columns of the table."""

_EXPECTED: Final = {
    Expectation.SUSPENDED: "suspended",
    Expectation.NOT_SUSPENDED: "serving",
    Expectation.EITHER: "either",
}


def full_rows(story: FullStory) -> list[tuple[str, ...]]:
    """State what became of each fault in all seeds, as `FULL_RESULT` heads it."""
    by_fault: dict[str, list[Caught]] = defaultdict(list)
    for each in story.caught:
        by_fault[each.fault.name].append(each)
    return [
        (
            name,
            _EXPECTED[caught[0].expectation],
            _when(caught),
            ", ".join(sorted({said for each in caught for said in each.told})),
            "right" if all(each.right for each in caught) else "WRONG",
        )
        for name, caught in sorted(by_fault.items(), key=lambda item: (item[1][0].expectation.value, item[0]))
    ]


def _when(caught: list[Caught]) -> str:
    """Say at which showing: that of all seeds, or each seed's where they differ."""
    showings = [each.showing for each in caught]
    if set(showings) == {None}:
        return "never"
    if len(set(showings)) == 1:
        return f"at showing {showings[0]}"
    return "at showing " + ", ".join("never" if number is None else str(number) for number in showings)


def full_document(story: FullStory) -> Json:
    """State the result as JSON."""
    return {
        "seeds": sorted({each.seed for each in story.caught}),
        "rounds": story.rounds,
        "probes": story.probes,
        "real_seconds": round(story.real_seconds, 1),
        "faults": [
            {
                "fault": each.fault.name,
                "seed": each.seed,
                "expected": each.expectation.value,
                "shown_in_round": each.shown,
                "suspended_in_round": each.suspended_in,
                "showing": each.showing,
                "told": list(each.told),
                "right": each.right,
            }
            for each in story.caught
        ],
        "healthy_suspended": story.healthy_suspended,
        "ok": story.right,
    }
