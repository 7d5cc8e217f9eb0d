"""`routecanary demo`: the whole product in a minute, without a key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.live import Live

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.loop import run_async
from routecanary.cli.output import complain, say, say_json, say_table
from routecanary.demo.play import Story, play
from routecanary.demo.view import RESULT, document, factors, live, result_rows
from routecanary.errors import InputError
from routecanary.lab.scenario import builtin_scenario

MOST_SECONDS: Final = 86_400


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
        Print the result as one JSON object, and no live view.
    """
    if seconds is not None and not 0 < seconds <= MOST_SECONDS:
        raise InputError(
            "not a length", key="--seconds", value=seconds, allowed=f"above 0, up to {MOST_SECONDS}"
        )
    played = builtin_scenario(scenario)
    told: list[Story] = []
    with _silent() if json else _watched() as show:

        def on_round(story: Story) -> None:
            told[:] = [story]
            show(story)

        try:
            run_async(play(played, seed=seed, seconds=seconds, on_round=on_round))
        except (KeyboardInterrupt, asyncio.CancelledError):
            if seconds is not None or not told:
                raise
    story = told[0]
    if json:
        say_json(document(story))
    else:
        _show(story)
    # whoever stops an endless play early did not give every fault its time
    return ExitCode.OK if story.right or seconds is None else ExitCode.FINDING


@contextmanager
def _silent() -> Iterator[Callable[[Story], None]]:
    yield lambda _: None


@contextmanager
def _watched() -> Iterator[Callable[[Story], None]]:
    """Show the story as it goes on: a live view on a terminal, else a line for whatever happens."""
    console = Console()
    if console.is_terminal:
        with Live(console=console, auto_refresh=False, transient=True) as screen:
            yield lambda story: screen.update(
                live(story, height=console.height, ascii_only=console.options.ascii_only), refresh=True
            )
        return
    printed = 0

    def tell(story: Story) -> None:
        nonlocal printed
        for line in story.lines[printed:]:
            say(line)
        printed = len(story.lines)

    yield tell


def _show(story: Story) -> None:
    say_table(RESULT, result_rows(story))
    verdict = "every fault as expected" if story.right else "NOT as expected"
    say(f"{story.rounds} rounds, {story.probes} probes in {story.real_seconds:.0f} s: {verdict}")
    say(factors(story))
    for tag in story.missed():
        complain(f"missed: {tag}")
    for tag in story.false_suspensions():
        complain(f"suspended without cause: {tag}")
