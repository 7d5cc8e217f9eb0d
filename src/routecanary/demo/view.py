"""How is the demo shown? A live view while it runs, a table at its end."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table
from rich.text import Text

from routecanary.demo.play import PERIOD, WIRE_FACTOR, RouteStory, Story
from routecanary.domain.probe import Json
from routecanary.domain.round import RoundClass
from routecanary.lab.host import Expectation

STRIP = 30  # rounds shown
LINES = 8  # of what happened

_MARKS = {
    RoundClass.CLEAN: ("■", "green"),
    RoundClass.FAILED: ("■", "red"),
    RoundClass.FROZEN: ("·", "yellow"),
}


def live(story: Story) -> Group:
    """Draw the story so far."""
    head = Text.assemble(
        ("Routecanary demo", "bold"),
        f"  {story.model}  seed {story.seed}  round {story.rounds}  {story.at:%a %d %b %H:%M}  ",
        f"{story.probes} probes  {story.real_seconds:.0f} s\n",
        (factors(story), "dim"),
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("route", "planted", f"last {STRIP} rounds", "stands"):
        table.add_column(column, no_wrap=True)
    for tag, route in story.routes.items():
        strip = Text()
        for round_class in route.classes[-STRIP:]:
            mark, colour = _MARKS[round_class]
            strip.append(mark, style=colour)
        table.add_row(
            Text(tag), Text(route.faults, style="dim" if route.route.healthy else ""), strip, _standing(route)
        )
    ignore = Text.assemble(("provider.ignore ", "bold"), ", ".join(story.ignore) or "nothing")
    happened = Text("\n".join(story.lines[-LINES:]), style="cyan")
    return Group(head, table, ignore, happened)


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


def result_table(story: Story) -> Table:
    """Draw the table of the end: what was planted, and what became of it."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("route", "planted fault", "expected", "suspended", "after rounds", "ended", ""):
        table.add_column(column, no_wrap=True)
    for tag, route in story.routes.items():
        table.add_row(
            Text(tag),
            Text(route.faults),
            route.expectation.value.replace("_", " "),
            "yes" if route.suspended_in else "no",
            str(after_rounds(route) or ""),
            ", ".join(str(number) for number in route.ended_in),
            Text("right", style="green") if route.right else Text("WRONG", style="bold red"),
        )
    return table


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
