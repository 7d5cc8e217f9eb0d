"""A chart of lines as SVG text, with nothing from outside: no script, no font, no style sheet.

Every text is escaped; every number is written with at most two decimals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Final, NamedTuple

_WIDTH: Final = 640  # of the drawing, in its own units
_HEIGHT: Final = 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 150, 46, 50  # margins
_COLOURS: Final = ("#2563eb", "#d97706", "#059669", "#7c3aed", "#dc2626")
_TICKS: Final = 4


class Line(NamedTuple):
    """One line of a chart: its name, and its points from left to right."""

    name: str
    points: Sequence[tuple[float, float]]


def line_chart(lines: Sequence[Line], *, title: str, across: str, up: str, log_across: bool = False) -> str:
    """Draw lines over a common pair of axes; the upward axis begins at 0.

    Args:
        across: What the horizontal axis shows.
        up: What the vertical axis shows.
        log_across: The horizontal axis is logarithmic; its values are above 0.
    """
    xs = [x for line in lines for x, _ in line.points] or [1.0]
    ys = [y for line in lines for _, y in line.points] or [1.0]
    top = _nice(max(*ys, 1e-9))
    low, high = min(xs), max(xs)
    if not log_across:
        low = 0.0
    scaled = math.log10 if log_across else float
    span = scaled(high) - scaled(low) or 1.0

    def place(x: float, y: float) -> str:
        across_share = (scaled(x) - scaled(low)) / span
        left = _LEFT + across_share * (_WIDTH - _LEFT - _RIGHT)
        return f"{left:.2f},{_HEIGHT - _BOTTOM - y / top * (_HEIGHT - _TOP - _BOTTOM):.2f}"

    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img"'
            ' font-family="sans-serif" font-size="12">'
        ),
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        _text(_LEFT, 18, title, weight="bold"),
        _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 10, across, anchor="middle"),
        _text(_LEFT, _TOP - 10, up, fill="#555555"),
    ]
    for number in range(_TICKS + 1):
        y = top * number / _TICKS
        spot = float(place(high, y).split(",")[1])
        parts.append(
            f'<line x1="{_LEFT}" y1="{spot:.2f}" x2="{_WIDTH - _RIGHT}" y2="{spot:.2f}" stroke="#dddddd"/>'
        )
        parts.append(_text(_LEFT - 6, spot + 4, f"{y:g}", anchor="end"))
    for x in _across_ticks(low, high, log=log_across):
        spot = float(place(x, 0).split(",")[0])
        parts.append(_text(spot, _HEIGHT - _BOTTOM + 16, f"{x:g}", anchor="middle"))
    for number, line in enumerate(lines):
        colour = _COLOURS[number % len(_COLOURS)]
        points = " ".join(place(x, y) for x, y in line.points)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(_text(_WIDTH - _RIGHT + 10, _TOP + 20 + 18 * number, line.name, fill=colour))
    parts.append("</svg>")
    return "\n".join(parts)


def _text(
    x: float, y: float, said: str, *, anchor: str = "start", weight: str = "normal", fill: str = "#111111"
) -> str:
    return (
        f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}" font-weight="{weight}" fill="{fill}">'
        f"{escape(said)}</text>"
    )


def _nice(value: float) -> float:
    """Round up to what divides evenly into the ticks."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= value)


def _across_ticks(low: float, high: float, *, log: bool) -> list[float]:
    if log:
        return [10.0**power for power in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)]
    return [low + (high - low) * number / _TICKS for number in range(_TICKS + 1)]
