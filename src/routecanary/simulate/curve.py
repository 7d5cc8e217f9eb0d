"""What does a budget of false suspensions buy? Delay against budget, by the exact chain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from routecanary.decide.evidence import scale_at
from routecanary.domain.policy import Policy, Trigger
from routecanary.simulate.chart import Line, line_chart
from routecanary.simulate.exact import delay
from routecanary.simulate.scenario import NATURAL

BUDGETS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
FIRSTS: Final = (1, 3)  # attempts of a round that see the fault
ROUTES: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One budget, and in how many rounds a fault is found; None: not in 20,000."""

    budget: float  # false suspensions a year and model
    log_threshold: float  # natural logarithm of M
    median: tuple[int | None, ...]  # one for each of `FIRSTS`
    p95: tuple[int | None, ...]


def budget_curve(
    rate: float,
    policy: Policy | None = None,
    *,
    budgets: Iterable[float] = BUDGETS,
    routes: int = ROUTES,
    natural: float = NATURAL,
) -> tuple[Point, ...]:
    """Compute the curve.

    Args:
        rate: Share of the answers that the fault spoils; chance failures come on top.
        policy: Its budget aside; None: the defaults.
        natural: Failure rate of the other routes.
    """
    failing = 1 - (1 - natural) * (1 - rate)
    points = []
    for budget in budgets:
        numbers = replace(policy or Policy(), trigger=Trigger.EVIDENCE, false_suspensions_per_year=budget)
        scale = scale_at(natural, numbers, routes=routes)
        points.append(
            Point(
                budget=budget,
                log_threshold=scale.limit.log_m,
                median=tuple(delay(failing, firsts, scale, 0.5) for firsts in FIRSTS),
                p95=tuple(delay(failing, firsts, scale, 0.95) for firsts in FIRSTS),
            )
        )
    return tuple(points)


def curve_chart(points: Iterable[Point], rate: float) -> str:
    """Draw a curve as SVG."""
    drawn = tuple(points)
    lines = [
        Line(
            f"{name}, {firsts} attempt{'s' if firsts > 1 else ''}",
            [(point.budget, float(said[place] or 0)) for point, said in zip(drawn, values, strict=True)],
        )
        for place, firsts in enumerate(FIRSTS)
        for name, values in (("median", [p.median for p in drawn]), ("95 %", [p.p95 for p in drawn]))
    ]
    return line_chart(
        lines,
        title=f"Rounds until a fault of {100 * rate:g} % is found by evidence",
        across="declared budget: false suspensions a year, 30 routes",
        up="rounds",
        log_across=True,
    )
