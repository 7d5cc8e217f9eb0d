"""How is the demo shown? A live view while it runs, a table at its end."""

from __future__ import annotations

from typing import Final

from rich.console import Group
from rich.table import Table
from rich.text import Text

from routecanary.demo.play import PERIOD, WIRE_FACTOR, RouteStory, Story
from routecanary.domain.probe import Json
from routecanary.domain.round import RoundClass
from routecanary.lab.host import Expectation

STRIP: Final = 26  # rounds shown; with the demo's names a row is then 79 wide
LINES: Final = 8  # of what happened
_AROUND: Final = 7  # lines of the view that are neither a route nor what happened, and the cursor's

_MARKS: Final = {
    RoundClass.CLEAN: ("▁", "_", "green"),
    RoundClass.FAILED: ("█", "X", "red"),
    RoundClass.FROZEN: ("·", ".", "yellow"),
}
"""Class of a round → its mark, the mark where there is only ASCII, the colour."""


def live(story: Story, *, height: int, ascii_only: bool = False) -> Group:
    """Draw the story so far.

    Args:
        height: Of the terminal, in lines; where not every route fits, the uneventful ones are only counted.
    """
    head = Text.assemble(
        ("Routecanary demo", "bold"),
        f"  {story.model}  seed {story.seed}  round {story.rounds}  {story.at:%a %d %b %H:%M}"
        f"  {story.real_seconds:.0f} s\n",
        (f"{story.probes} probes  {factors(story)}", "dim"),
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("route", "planted", f"last {STRIP} rounds", "stands"):
        table.add_column(column, overflow="fold")
    shown = dict(story.routes)
    if len(shown) + _AROUND + LINES > height:
        shown = {tag: route for tag, route in shown.items() if not _uneventful(route)}
    for tag, route in shown.items():
        strip = Text()
        for round_class in route.classes[-STRIP:]:
            mark, plain, colour = _MARKS[round_class]
            strip.append(plain if ascii_only else mark, style=colour)
        table.add_row(
            Text(tag), Text(route.faults, style="dim" if route.route.healthy else ""), strip, _standing(route)
        )
    left = len(story.routes) - len(shown)
    rest = Text(f"and {left} healthy routes, serving" if left else "", style="dim")
    ignore = Text.assemble(("provider.ignore ", "bold"), ", ".join(story.ignore) or "nothing")
    room = max(1, min(LINES, height - _AROUND - len(shown)))
    happened = Text(
        "\n".join(story.lines[-room:]),
        style="cyan",
        no_wrap=True,
        overflow="crop" if ascii_only else "ellipsis",
    )
    return Group(head, table, rest, ignore, happened)


def _uneventful(route: RouteStory) -> bool:
    """Say that nothing was planted and nothing came of it."""
    return route.route.healthy and not (route.suspended_in or route.blocked)


def factors(story: Story) -> str:
    """State how far the two times are compressed."""
    if not story.rounds:
        return f"wire time x{WIRE_FACTOR:g}"
    policy = story.rounds * PERIOD.total_seconds() / max(story.real_seconds, 0.001)
    return f"policy time x{policy:,.0f} (30 minutes between rounds), wire time x{WIRE_FACTOR:g}"


def _standing(route: RouteStory) -> Text:
    if route.suspended:
        return Text("suspended", style="bold red")
    if route.ended_in:
        return Text("returned", style="bold green")
    return Text("serving", style="green")


RESULT: Final = ("route", "planted fault", "expected", "suspended\nafter", "back in\nround", "")
"""The columns of the end's table."""


def result_rows(story: Story) -> list[tuple[str, ...]]:
    """State what was planted and what became of it, a row a route, as `RESULT` heads them."""
    return [
        (
            tag,
            route.faults,
            _EXPECTED[route.expectation],
            _after(route),
            _back(route),
            "right" if route.right else "WRONG",
        )
        for tag, route in story.routes.items()
    ]


_EXPECTED: Final = {
    Expectation.SUSPENDED: "suspended",
    Expectation.NOT_SUSPENDED: "serving",
    Expectation.EITHER: "either",
}


def _after(route: RouteStory) -> str:
    if not route.suspended_in:
        return "never"
    rounds = after_rounds(route)
    return "no cause" if rounds is None else f"{rounds} rounds"


def _back(route: RouteStory) -> str:
    if not route.ended_in:
        return ""
    times = len(route.ended_in)
    return str(route.ended_in[0]) if times == 1 else f"{route.ended_in[0]} ({times}x)"


def after_rounds(route: RouteStory) -> int | None:
    """Count the rounds from the first in which the fault was due to the first suspension, both included."""
    first = route.first_faulty_round
    if not route.suspended_in or first is None:
        return None
    return route.suspended_in[0] - first + 1


def document(story: Story) -> Json:
    """State the result as JSON."""
    return {
        "model": story.model,
        "seed": story.seed,
        "rounds": story.rounds,
        "probes": story.probes,
        "real_seconds": round(story.real_seconds, 1),
        "policy_factor": round(story.rounds * PERIOD.total_seconds() / max(story.real_seconds, 0.001)),
        "wire_factor": WIRE_FACTOR,
        "routes": [
            {
                "route": tag,
                "planted_fault": None if route.route.healthy else route.faults,
                "expected": route.expectation.value,
                "suspended": bool(route.suspended_in),
                "after_rounds": after_rounds(route),
                "suspended_in_round": route.suspended_in,
                "ended_in_round": route.ended_in,
                "blocked": route.blocked,
                "right": route.right,
            }
            for tag, route in story.routes.items()
        ],
        "healthy_suspended": [
            tag
            for tag, route in story.routes.items()
            if route.expectation is Expectation.NOT_SUSPENDED and route.suspended_in
        ],
        "missed": list(story.missed()),
        "false_suspensions": list(story.false_suspensions()),
        "ok": story.right,
    }
