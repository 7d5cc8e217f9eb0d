"""What one answer tells of its quality: yes, no, or nothing."""

from __future__ import annotations

from typing import Any

import pytest

from routecanary.telemetry.measures import Measure, measured
from tests.traffic import served

UNSAID = {"status": None, "finish_reason": None, "empty": None, "ttft_ms": None}


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, {"late": False, "empty": False, "filtered": False, "failed": False, "unfinished": False}),
        (UNSAID, {}),
        ({**UNSAID, "ttft_ms": 10_000}, {"late": False}),
        ({**UNSAID, "ttft_ms": 10_001}, {"late": True}),
        ({**UNSAID, "empty": True}, {"empty": True}),
        ({**UNSAID, "finish_reason": "stop"}, {"failed": False, "filtered": False, "unfinished": False}),
        (
            {**UNSAID, "finish_reason": "content_filter"},
            {"failed": False, "filtered": True, "unfinished": False},
        ),
        # who filters has said nothing, which is one thing and not two
        (
            {**UNSAID, "finish_reason": "content_filter", "empty": True},
            {"failed": False, "filtered": True, "empty": False, "unfinished": False},
        ),
        ({**UNSAID, "finish_reason": "error", "empty": True}, {"failed": True}),
        ({**UNSAID, "status": 502, "ttft_ms": 90}, {"failed": True, "late": False}),
        ({**UNSAID, "status": 429}, {"failed": True}),
        # the asker's own doing
        ({**UNSAID, "status": 400, "ttft_ms": 20_000}, {}),
        ({**UNSAID, "status": 404}, {}),
        ({**UNSAID, "status": 499, "finish_reason": "error"}, {}),
        # text came, and no ending; where no text was told of either, nothing is known
        ({**UNSAID, "status": 200, "ttft_ms": 90}, {"failed": False, "late": False, "unfinished": True}),
        ({**UNSAID, "status": 200}, {"failed": False}),
    ],
)
def test_a_record_tells_what_it_says_and_no_more(facts: dict[str, Any], expected: dict[str, bool]) -> None:
    """What is not said is left out, and counts for neither side."""
    found = measured(served("a", **facts), late_ms=10_000)
    assert {measure.value: bad for measure, bad in found.items()} == expected


def test_every_measure_can_be_told() -> None:
    """A whole record tells all of them."""
    assert set(measured(served("a"), late_ms=10_000)) == set(Measure)
