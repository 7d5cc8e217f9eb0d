"""A simulation as one HTML page that needs nothing else: no script, no request. Every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Final

from routecanary.domain.policy import Policy, Trigger
from routecanary.domain.probe import Json
from routecanary.simulate.chart import Line, line_chart
from routecanary.simulate.curve import budget_curve, curve_chart
from routecanary.simulate.measures import Measures

_STYLE: Final = (
    "body{font-family:sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem;color:#111;background:#fff}"
    "table{border-collapse:collapse}td,th{padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top}"
    "tr{border-bottom:1px solid #ddd}svg{max-width:100%;height:auto}"
)
_CURVE_RATE: Final = 0.2


def page(document: Mapping[str, Json], measures: Measures, policy: Policy) -> str:
    """Write the page.

    Args:
        document: Of the simulation (`figures.document_of`).
        measures: Of the same, for the distribution of the delays.
        policy: That was simulated.
    """
    title = f"Simulation of {document['scenario']}"
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(str(document['about']))}</p>",
        _table(rows_of(document)),
    ]
    if measures.delay_rounds:
        parts += ["<h2>How soon faults were found</h2>", _delays(measures)]
    if policy.trigger is not Trigger.STREAK:
        parts += [
            "<h2>What a budget buys, by the exact chain</h2>",
            curve_chart(budget_curve(_CURVE_RATE, policy), _CURVE_RATE),
        ]
    text = "\n".join([*parts, "</body></html>", ""])
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")  # whatever the output's encoding


def _delays(measures: Measures) -> str:
    """Draw the share of all faults that was found by a round, those never found included."""
    faults = len(measures.delay_rounds) + measures.missed
    points = [(0.0, 0.0)]
    for number, rounds in enumerate(sorted(measures.delay_rounds), start=1):
        points += [(float(rounds), points[-1][1]), (float(rounds), 100 * number / faults)]
    return line_chart(
        [Line("found", points)], title="Share of faults found", across="rounds since the fault began", up="%"
    )


def rows_of(document: Mapping[str, Json], before: str = "") -> Iterable[tuple[str, str]]:
    """Name every figure of a document, and write its value for people."""
    for key, value in document.items():
        name = f"{before}{key.replace('_', ' ')}"
        if isinstance(value, dict):
            yield from rows_of(value, f"{name}: ")
        elif key not in {"scenario", "about"}:
            yield name, "never" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _table(rows: Iterable[tuple[str, str]]) -> str:
    lines = [f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows]
    return "\n".join(["<table>", *lines, "</table>"])
