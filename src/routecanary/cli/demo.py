"""`routecanary demo`: the whole product in a minute, without a key."""

from __future__ import annotations

import asyncio
import sys
from typing import Self

from rich.console import Console
from rich.live import Live

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.loop import run_async
from routecanary.cli.output import say, say_json
from routecanary.demo.play import Story, play
from routecanary.demo.view import document, factors, live, result_table
from routecanary.errors import InputError
from routecanary.lab.scenario import builtin_scenario

MOST_SECONDS = 86_400


def demo(*, seconds: float | None = None, seed: int = 1, scenario: str = "demo", json: bool = False) -> int:
    """Watch a lab gateway misbehave and the canary route around it.

    Real HTTP, the real judges and the real decision, with time compressed. With --seconds it ends by itself,
    prints a table, and exits 1 if a planted persistent fault was missed or a healthy route suspended.

    Parameters
    ----------
    seconds
        How long to play; left out, until Ctrl-C.
    seed
        Of every draw.
    scenario
        A scenario that the package ships.
    json
        Print the result as JSON and no live view.
    """
    if seconds is not None and not 0 < seconds <= MOST_SECONDS:
        raise InputError(
            "not a length", key="--seconds", value=seconds, allowed=f"above 0, up to {MOST_SECONDS}"
        )
    played = builtin_scenario(scenario)
    console = Console()
    shown = console.is_terminal and not json
    latest: list[Story] = []
    with Live(console=console, auto_refresh=False, transient=True) if shown else _Quiet() as screen:

        def on_round(story: Story) -> None:
            latest[:] = [story]
            if shown:
                screen.update(live(story), refresh=True)

        try:
            run_async(play(played, seed=seed, seconds=seconds, on_round=on_round))
        except (KeyboardInterrupt, asyncio.CancelledError):
            if seconds is not None:
                raise
    story = latest[0]
    if json:
        say_json(document(story))
    else:
        console.print(result_table(story))
        verdict = "every fault as expected" if story.right else "NOT as expected"
        say(f"{story.rounds} rounds, {story.probes} probes in {story.real_seconds:.0f} s: {verdict}")
        say(factors(story))
        for tag in story.missed():
            sys.stderr.write(f"missed: {tag}\n")
        for tag in story.false_suspensions():
            sys.stderr.write(f"suspended without cause: {tag}\n")
    return ExitCode.OK if story.right else ExitCode.FINDING


class _Quiet:
    """Stands in for the live view where nobody looks."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def update(self, *_: object, **__: object) -> None: ...
