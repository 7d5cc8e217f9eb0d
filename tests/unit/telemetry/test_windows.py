"""What a window comes to: one answer of each conversation."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping

import pytest

from routecanary.domain.generation import Generation
from routecanary.telemetry import windows
from routecanary.telemetry.measures import Measure
from routecanary.telemetry.windows import Count, Routes, Served, WindowBuilder, add_up
from tests.traffic import served, tags


def built(generations: Iterable[Generation]) -> Mapping[Routes, Served]:
    builder = WindowBuilder(late_ms=10_000)
    for generation in generations:
        builder.add(generation)
    return builder.built()


def test_one_unlucky_conversation_counts_once() -> None:
    """Five hundred tries after an error are one of ten conversations."""
    unlucky = [served("a", conversation="unlucky", status=502, finish_reason=None) for _ in range(500)]
    others = [served("a", conversation=f"c{number}") for number in range(9)]
    found = built([*unlucky, *others])[tags("a")]
    assert (found.requests, found.conversations, found.anonymous) == (509, 10, 0)
    assert found.count(Measure.FAILED) == Count(1, 10)


def test_an_answer_without_a_conversation_counts_for_itself() -> None:
    """And that is told."""
    found = built(served("a", empty=number < 3, finish_reason="stop") for number in range(10))[tags("a")]
    assert (found.requests, found.conversations, found.anonymous) == (10, 10, 10)
    assert found.count(Measure.EMPTY) == Count(3, 10)


def test_the_drawn_share_is_the_share_of_the_answers() -> None:
    """A fault of one answer in five shows as one in five, however long the conversations are."""
    rng = random.Random(7)
    generations = [
        served("a", conversation=f"c{number % 500}", key=f"k{number}", empty=rng.random() < 0.2)
        for number in range(5_000)
    ]
    share = built(generations)[tags("a")].count(Measure.EMPTY)
    assert share.of == 500
    assert 0.15 < share.share < 0.25


def test_routes_that_cannot_be_told_apart_stand_together() -> None:
    """By their candidates; what has none is counted aside."""
    builder = WindowBuilder(late_ms=10_000)
    for by in ("a", "a a/fp4", "a a/fp4", "", "b"):
        builder.add(served(by))
    assert {tuple(sorted(routes)): each.requests for routes, each in builder.built().items()} == {
        ("a",): 1,
        ("a", "a/fp4"): 2,
        ("b",): 1,
    }
    assert builder.unplaced == 1


def test_of_very_many_conversations_some_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same ones in whatever order they come."""
    monkeypatch.setattr(windows, "MOST_DRAWN", 50)
    generations = [served("a", conversation=f"c{n}", ttft_ms=n, key=f"k{n}") for n in range(400)]
    once = built(generations)
    random.Random(1).shuffle(generations)
    assert built(generations) == once
    assert once[tags("a")].conversations == 50
    assert once[tags("a")].requests == 400


def test_windows_add_up() -> None:
    """Counts, waits and all, by routes."""
    first = built([served("a", ttft_ms=500), served("b")])
    second = built([served("a", ttft_ms=300, empty=True), served("a", finish_reason=None, status=None)])
    both = add_up([first, second])
    assert both[tags("a")] == Served(
        requests=3,
        conversations=3,
        anonymous=3,
        counts={
            Measure.LATE: Count(0, 3),
            Measure.EMPTY: Count(1, 3),
            Measure.FILTERED: Count(0, 2),
            Measure.FAILED: Count(0, 2),
            Measure.UNFINISHED: Count(0, 2),
        },
        first_text_ms=(300, 400, 500),
    )
    assert both[tags("b")] == first[tags("b")]
    assert add_up([]) == {}
