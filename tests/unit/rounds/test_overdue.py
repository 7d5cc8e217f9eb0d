"""Which models had no round for too long, just before, at and just after the edge."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from routecanary.domain.names import ModelId
from routecanary.rounds.overdue import overdue

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
AFTER = timedelta(minutes=62)
MODEL, OTHER = ModelId("acme/chat"), ModelId("acme/other")
TICK = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("last", "late"),
    [
        (NOON, False),
        (NOON - AFTER, False),
        (NOON - AFTER - TICK, True),
        (NOON - timedelta(days=3), True),
        (NOON + AFTER, False),  # a clock that stepped back a little: rounds come again soon
        (NOON + AFTER + TICK, True),  # nothing is recorded for longer than is borne
    ],
)
def test_a_model_is_overdue_beyond_the_limit(last: datetime, late: bool) -> None:
    """At the limit it is not yet; a last round from the future counts as far as it lies ahead."""
    assert overdue([MODEL], {MODEL: last}, now=NOON, after=AFTER) == ({MODEL: last} if late else {})


def test_a_model_without_a_round_is_overdue() -> None:
    """Its last round is None; models keep their configured order, and strangers are left out."""
    last = {ModelId("acme/gone"): NOON - timedelta(days=9), OTHER: NOON - timedelta(days=1)}
    found = overdue([OTHER, MODEL], last, now=NOON, after=AFTER)
    assert list(found.items()) == [(OTHER, NOON - timedelta(days=1)), (MODEL, None)]
