"""`routecanary round`: one round now."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.flush import flushed
from routecanary.cli.loop import run_async
from routecanary.cli.output import complain, facts_of, plain, say, say_json, say_table
from routecanary.cli.trouble import trouble_of
from routecanary.clock import SystemClock
from routecanary.domain.event import Exclusions, RoundClosed
from routecanary.domain.gateway import GatewayKind
from routecanary.domain.names import ContractName, RouteId, parse_model, parse_route
from routecanary.domain.probe import Json, Probe
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.replay.printed import printed
from routecanary.rounds.run import RoundResult, run_round
from routecanary.rounds.sight import check_judges
from routecanary.wiring import api_key_of, online_world, settings_at


class Bar:
    """A progress bar on standard error; silent when that is no terminal."""

    def __init__(self) -> None:
        self.bar = Progress(
            TextColumn("{task.description}", markup=False),
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
            self.bar.update(self._task, description=f"asking {plain(probe.route)} again")
        else:
            self.bar.advance(self._task)

    def judged(self, probe: Probe, verdicts: Mapping[ContractName, Verdict]) -> None: ...


def round_now(
    model: str, /, *, route: list[str] | None = None, config: Path | None = None, json: bool = False
) -> int:
    """Make one round over a model now and show what it came to.

    Two rounds within min_round_gap count once: a streak needs time between its rounds. Exit code 1 when the
    listing is doubted and no round was made; 3 when the gateway or the account, and not the routes, gave the
    answers.

    Parameters
    ----------
    model
        A configured model, author/slug.
    route
        A targeted round: ask this route, the controls and three others, drawn; every other route changes
        nothing. May be given several times.
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    name = parse_model(model)
    only = None if route is None else {parse_route(tag) for tag in route}
    key = api_key_of(settings)

    async def go() -> RoundResult:
        async with online_world(settings, key, SystemClock()) as world:
            world.model(name)
            check_judges(world, name)
            watcher = Bar()
            with watcher.bar:
                result = await run_round(world, name, only=only, progress=watcher)
            await flushed(world)
            return result

    result = run_async(go())
    if json:
        say_json(_document(result))
    elif result.believed:
        _show(result, settings.gateway.kind)
    if not result.believed:
        complain(
            f"{name}: the listing shrank to {len(result.listing.routes)} routes and is not believed yet; "
            "no round was made"
        )
        return ExitCode.FINDING
    trouble = trouble_of(result)
    if trouble is not None:
        complain(trouble)
        return ExitCode.GATEWAY
    return ExitCode.OK


def _verdicts(result: RoundResult, route: RouteId) -> dict[ContractName, Verdict]:
    return dict(sorted(result.examinations[route].verdicts.items()))


def _document(result: RoundResult) -> Json:
    return {
        "model": result.model,
        "locale": result.locale,
        "listing_believed": result.believed,
        "cost_usd": float(round(result.spent_usd, 6)),
        "left_out": sorted(result.left_out),
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


def _show(result: RoundResult, gateway: GatewayKind) -> None:
    closed = next(event for event in result.events if isinstance(event, RoundClosed))
    say_table(
        ("route", "class", "verdicts"),
        [
            (route, closed.outcomes[route].round_class.value, _summary(_verdicts(result, route)))
            for route in result.examinations
        ],
        title=f"{result.model}, asked in {result.locale}",
    )
    for event in result.events:
        shown = printed(event)
        if shown is not None and not isinstance(event, Exclusions):
            say(facts_of(shown))
    if result.left_out:
        say(f"not asked, for the day's budget is used up: {', '.join(sorted(result.left_out))}")
    ignored = next(event for event in result.events if isinstance(event, Exclusions)).ignore
    where = "provider.ignore" if gateway is GatewayKind.OPENROUTER else "to be avoided"
    say(f"{where}: " + (", ".join(ignored) or "nothing"))


def _summary(verdicts: Mapping[ContractName, Verdict]) -> str:
    """Name what did not pass; what passed is only counted."""
    passed = sum(verdict.kind is VerdictKind.PASS for verdict in verdicts.values())
    others = [
        f"{name} {verdict}" for name, verdict in verdicts.items() if verdict.kind is not VerdictKind.PASS
    ]
    return ", ".join([*others, *([f"{passed} pass"] if passed else [])]) or "not asked"
