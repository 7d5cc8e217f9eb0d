"""Which routes do worse: than before, and than the others. With a stated error rate."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from routecanary.rounds.oddity import oddities
from routecanary.telemetry.measures import Measure
from routecanary.telemetry.windows import Count, Routes, Served
from tests.traffic import tags

LEVEL = 0.01


def traffic(**counts: tuple[int, int]) -> Mapping[Routes, Served]:
    """Make a window in which answers were empty; `a_b` is two routes that cannot be told apart."""
    return {
        tags(name.replace("_", " ")): Served(
            requests=of, conversations=of, counts={Measure.EMPTY: Count(bad, of)}
        )
        for name, (bad, of) in counts.items()
    }


def odd(now: Mapping[Routes, Served], before: Mapping[Routes, Served], level: float = LEVEL) -> list[str]:
    found = oddities(now, before, least=20, least_share=0.05, level=level)
    return [" ".join(sorted(each.routes)) for each in found]


@pytest.mark.parametrize(
    ("now", "before", "expected"),
    [
        # worse than before and than the others
        (traffic(a=(12, 40), b=(0, 40)), traffic(a=(4, 900), b=(4, 900)), ["a"]),
        # all are worse: nobody's fault that a round of one would show
        (traffic(a=(12, 40), b=(12, 40), c=(12, 40)), traffic(a=(4, 900), b=(4, 900), c=(4, 900)), []),
        # it was always so
        (traffic(a=(12, 40), b=(0, 400)), traffic(a=(270, 900), b=(4, 9_000)), []),
        # nothing to compare with but one of the two
        (traffic(a=(12, 40)), traffic(a=(4, 900)), ["a"]),
        (traffic(a=(12, 40), b=(0, 400)), {}, ["a"]),
        (traffic(a=(12, 40)), {}, []),
        # too few of them: of its own, of the past, of the others
        (traffic(a=(19, 19), b=(0, 400)), traffic(a=(0, 900)), []),
        (traffic(a=(20, 20), b=(0, 400)), traffic(a=(0, 900)), ["a"]),
        (traffic(a=(20, 20), b=(0, 19)), traffic(a=(0, 19)), []),
        (traffic(a=(20, 20), b=(0, 20)), traffic(a=(0, 19)), ["a"]),
        # below the least share, or not twice as bad: not worth a round, however sure
        (traffic(a=(49, 1_000), b=(0, 1_000)), traffic(a=(0, 20_000)), []),
        (traffic(a=(50, 1_000), b=(0, 1_000)), traffic(a=(0, 20_000)), ["a"]),
        (traffic(a=(199, 1_000), b=(0, 1_000)), traffic(a=(1_000, 10_000)), []),
        (traffic(a=(200, 1_000), b=(0, 1_000)), traffic(a=(1_000, 10_000)), ["a"]),
        # better is never odd
        (traffic(a=(0, 400), b=(40, 400)), traffic(a=(200, 400), b=(40, 400)), []),
        # routes that share a tag are no company for each other
        (traffic(a=(12, 40), a_b=(0, 400)), {}, []),
        (traffic(a=(0, 400), a_b=(12, 40), c=(0, 400)), {}, ["a b"]),
    ],
)
def test_both_comparisons_have_to_hold(
    now: Mapping[Routes, Served], before: Mapping[Routes, Served], expected: list[str]
) -> None:
    """As far as both can be made."""
    assert odd(now, before) == expected


def test_what_was_compared_is_told() -> None:
    """In numbers, for whoever reads the log."""
    (found,) = oddities(
        traffic(a=(12, 40), b=(0, 40)), traffic(a=(4, 900)), least=20, least_share=0.05, level=LEVEL
    )
    assert str(found) == "empty: 12 of 40 conversations, before 4 of 900, other routes 0 of 40"


def test_the_most_surprising_comes_first() -> None:
    """A round out of turn has room for three."""
    now = traffic(a=(10, 40), b=(30, 40), c=(0, 400), d=(20, 40), e=(0, 400))
    assert odd(now, {}) == ["b", "d", "a"]


def test_where_nothing_has_changed_chance_keeps_to_its_rate() -> None:
    """Thirty routes, five measures, bad at 3 %: of 200 windows at 5 %, at most about 10 are odd."""
    rng = random.Random(11)
    level, windows = 0.05, 200

    def hour(share: float, conversations: int) -> Mapping[Routes, Served]:
        def count() -> Count:
            return Count(sum(rng.random() < share for _ in range(conversations)), conversations)

        return {
            tags(f"r{n}"): Served(
                requests=conversations,
                conversations=conversations,
                counts={measure: count() for measure in Measure},
            )
            for n in range(30)
        }

    before = hour(0.03, 600)
    alarms = sum(bool(odd(hour(0.03, 30), before, level)) for _ in range(windows))
    assert alarms <= 18  # a binomial of 200 and 5 % exceeds it less than once in two hundred runs
