"""`routecanary demo`: the whole product in a minute, without a key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.live import Live

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.loop import calm_collector, run_async
from routecanary.cli.output import complain, say, say_json, say_table
from routecanary.demo.full import FullStory, play_full
from routecanary.demo.full_view import FULL_RESULT, full_document, full_rows
from routecanary.demo.play import Story, play
from routecanary.demo.view import RESULT, document, factors, live, result_rows
from routecanary.errors import InputError
from routecanary.lab.scenario import builtin_scenario

DEMO: Final = "demo"
MOST_SECONDS: Final = 86_400
MOST_SEEDS: Final = 1_000


def demo(
    *,
    seconds: float | None = None,
    seed: int = 1,
    scenario: str = DEMO,
    full: bool = False,
    seeds: int = 1,
    json: bool = False,
) -> int:
    """Watch a lab gateway misbehave and the canary route around it.

    Real HTTP, the real judges and the real decision, with time compressed. With --seconds it ends by itself,
    prints a table, and exits 1 if a planted persistent fault was missed or a healthy route suspended. With
    --full it tries every fault of the lab in every shipped locale, without sockets, and does the same.

    Parameters
    ----------
    seconds
        How long to play; left out, until Ctrl-C.
    seed
        Of every draw.
    scenario
        A scenario that the package ships.
    full
        Try every fault, in groups, instead of one scenario.
    seeds
        How many seeds --full tries, from --seed on.
    json
        Print the result as one JSON object, and no live view.
    """
    if seconds is not None and not 0 < seconds <= MOST_SECONDS:
        raise InputError(
            "not a length", key="--seconds", value=seconds, allowed=f"above 0, up to {MOST_SECONDS}"
        )
    if full:
        return _demo_in_full(seeds=seeds, seed=seed, json=json, odd=seconds is not None or scenario != DEMO)
    if seeds != 1:
        raise InputError("only with --full", key="--seeds", value=seeds)
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


def _demo_in_full(*, seeds: int, seed: int, json: bool, odd: bool) -> int:
    if odd:
        raise InputError("not together with --seconds or --scenario", key="--full")
    if not 1 <= seeds <= MOST_SEEDS:
        raise InputError("not a number of seeds", key="--seeds", value=seeds, allowed=f"1 to {MOST_SEEDS}")
    told = 0

    def on_group(story: FullStory) -> None:
        nonlocal told
        for each in story.caught[told:] if not json else ():
            if not each.right:
                complain(f"seed {each.seed}: {each.fault.name} shown in {each.shown}, not as expected")
        told = len(story.caught)

    calm_collector()
    story = run_async(play_full(range(seed, seed + seeds), on_group=on_group))
    if json:
        say_json(full_document(story))
    else:
        say_table(FULL_RESULT, full_rows(story))
        verdict = "every fault as expected" if story.right else "NOT as expected"
        say(f"{story.rounds} rounds, {story.probes} probes in {story.real_seconds:.0f} s: {verdict}")
        say(f"healthy routes suspended: {', '.join(story.healthy_suspended) or 'none'}")
    return ExitCode.OK if story.right else ExitCode.FINDING


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
