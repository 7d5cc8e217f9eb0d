"""`routecanary round`: one round now."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.loop import run_async
from routecanary.cli.output import say, say_json, say_table
from routecanary.clock import SystemClock
from routecanary.domain.event import Exclusions, RoundClosed
from routecanary.domain.names import ContractName, RouteId, parse_model, parse_route
from routecanary.domain.probe import Json, Probe
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict
from routecanary.replay.printed import printed
from routecanary.rounds.run import RoundResult, run_round
from routecanary.wiring import api_key_of, online_world, settings_at


class Bar:
    """A progress bar on standard error; silent when that is no terminal."""

    def __init__(self) -> None:
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
            transient=True,
        )
        self._task = self.bar.add_task("asking", total=None)

    def planned(self, probes: Sequence[Probe]) -> None:
        self.bar.update(self._task, total=len(probes))

    def answered(self, probe: Probe, transcript: Transcript) -> None:
        del transcript
        if probe.attempt:
            self.bar.update(self._task, description=f"asking {probe.route} again")
        else:
            self.bar.advance(self._task)

    def judged(self, probe: Probe, verdicts: Mapping[ContractName, Verdict]) -> None: ...


def round_now(
    model: str, /, *, route: list[str] | None = None, config: Path | None = None, json: bool = False
) -> int:
    """Make one round over a model now and show what it came to.

    Two rounds within min_round_gap count once: a streak needs time between its rounds.

    Parameters
    ----------
    model
        A configured model, author/slug.
    route
        Ask only this route; may be given several times. Every other route changes nothing in the round.
    config
        The configuration file.
    json
        Print JSON.
    """
    settings = settings_at(config)
    key = api_key_of(settings)
    name = parse_model(model)
    only = None if route is None else {parse_route(tag) for tag in route}

    async def go() -> RoundResult:
        async with online_world(settings, key, SystemClock()) as world:
            world.model(name)
            watcher = Bar()
            with watcher.bar:
                return await run_round(world, name, only=only, progress=watcher)

    result = run_async(go())
    if json:
        say_json(_document(result))
    else:
        _show(result)
    return ExitCode.OK


def _verdicts(result: RoundResult, route: RouteId) -> dict[ContractName, Verdict]:
    return dict(sorted(result.examinations[route].verdicts.items()))


def _document(result: RoundResult) -> Json:
    return {
        "model": result.model,
        "locale": result.locale,
        "listing_believed": result.believed,
        "routes": {
            route: {
                name: {"verdict": said.kind.value, "kind": said.code, "reason": said.detail}
                for name, said in _verdicts(result, route).items()
            }
            for route in result.examinations
        },
        "classes": {
            route: outcome.round_class.value
            for event in result.events
            if isinstance(event, RoundClosed)
            for route, outcome in event.outcomes.items()
        },
        "events": [shown for event in result.events if (shown := printed(event)) is not None],
    }


def _show(result: RoundResult) -> None:
    if not result.believed:
        say(
            f"{result.model}: the listing shrank to {len(result.listing.routes)} routes; no round is made yet"
        )
        return
    closed = next(event for event in result.events if isinstance(event, RoundClosed))
    say_table(
        ("route", "class", "verdicts"),
        [
            (
                route,
                closed.outcomes[route].round_class.value,
                ", ".join(f"{name} {said}" for name, said in _verdicts(result, route).items()) or "not asked",
            )
            for route in result.examinations
        ],
        title=f"{result.model}, asked in {result.locale}",
    )
    for event in result.events:
        shown = printed(event)
        if shown is not None and not isinstance(event, Exclusions):
            facts = {key: value for key, value in shown.items() if key not in {"at", "model", "event"}}
            say(f"{shown['event']} " + " ".join(f"{key}={value}" for key, value in facts.items()))
    ignored = next(event for event in result.events if isinstance(event, Exclusions)).ignore
    say("provider.ignore: " + (", ".join(ignored) or "nothing"))
