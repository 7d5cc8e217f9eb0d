"""Which routes do worse for users than they did, and worse than the others do?

Both have to hold, as far as both can be told: a bad hour of all is nobody's, and a route that was always so
is no news. Pure, and with a stated error rate: where nothing has changed, the chance that a window shows any
oddity at all is at most the level, however many routes and measures were compared.

Source: docs/traffic.md, The passive watch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from routecanary.study.fisher import fisher_exact
from routecanary.study.holm import holm
from routecanary.telemetry.measures import Measure
from routecanary.telemetry.windows import Count, Routes, Served

TIMES: Final = 2.0
"""So many times the share that it is compared with: less is not worth asking about, however sure it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Oddity:
    """One thing that a set of routes does worse."""

    routes: Routes
    measure: Measure
    now: Count
    before: Count | None  # None = too little to compare with
    others: Count | None
    p_value: float  # corrected for the number of comparisons

    def __str__(self) -> str:
        against = [
            f"{name} {count.bad} of {count.of}"
            for name, count in (("before", self.before), ("other routes", self.others))
            if count is not None
        ]
        return f"{self.measure}: {self.now.bad} of {self.now.of} conversations, {', '.join(against)}"


def oddities(
    now: Mapping[Routes, Served],
    before: Mapping[Routes, Served],
    *,
    least: int,
    least_share: float,
    level: float,
) -> tuple[Oddity, ...]:
    """Compare a window with the ones before it and with the other routes in it, the most surprising first.

    Args:
        least: Conversations that a side of a comparison needs.
        least_share: Of bad ones, below which nothing is odd.
        level: The chance of an oddity in a window in which nothing has changed.
    """
    found = {(each.routes, each.measure): each for each in _compared(now, before, least, least_share)}
    corrected = holm({key: each.p_value for key, each in found.items()})
    odd = [
        Oddity(
            routes=each.routes,
            measure=each.measure,
            now=each.now,
            before=each.before,
            others=each.others,
            p_value=corrected[key],
        )
        for key, each in found.items()
        if corrected[key] <= level
    ]
    return tuple(sorted(odd, key=lambda each: (each.p_value, sorted(each.routes), each.measure)))


def _compared(
    now: Mapping[Routes, Served], before: Mapping[Routes, Served], least: int, least_share: float
) -> Iterator[Oddity]:
    """Make every comparison that can be made, whatever comes of it."""
    for routes, served in now.items():
        for measure in Measure:
            count = served.count(measure)
            then = before.get(routes, Served()).count(measure)
            peers = (other.count(measure) for name, other in now.items() if name.isdisjoint(routes))
            others = sum(peers, Count())
            sides = [side for side in (then, others) if side.of >= least]
            if count.of < least or not sides:
                continue
            yield Oddity(
                routes=routes,
                measure=measure,
                now=count,
                before=then if then.of >= least else None,
                others=others if others.of >= least else None,
                p_value=max(_surprise(count, side, least_share) for side in sides),
            )


def _surprise(count: Count, side: Count, least_share: float) -> float:
    """Give a p-value; 1 where it is not so much worse that anybody would ask."""
    if count.share < least_share or count.share < TIMES * side.share:
        return 1.0
    return fisher_exact(count.bad, count.of, side.bad, side.of)
