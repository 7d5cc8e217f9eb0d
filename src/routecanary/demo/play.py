"""What happens in the demo? Real rounds against the lab, with two times compressed.

Wire time: every second of a deadline, a delay or a confirmation passes in 1/`WIRE_FACTOR` of a second. Policy
time: a round is dated half an hour after the one before, and begins as soon as that one is done.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Final

from routecanary.client import Canary
from routecanary.clock import ScaledClock
from routecanary.domain.event import (
    CanaryLayerReleased,
    Event,
    Expired,
    Reinstated,
    Renewed,
    RoundClosed,
    Suspended,
    SuspensionBlocked,
)
from routecanary.domain.names import Locale, ModelId, RouteId
from routecanary.domain.round import Mode, RoundClass
from routecanary.domain.secret import Secret
from routecanary.domain.settings import (
    GatewaySettings,
    LatencySettings,
    ModelSettings,
    ProbeSettings,
    Settings,
)
from routecanary.lab.gateway import LabGateway
from routecanary.lab.host import Expectation, LabRoute
from routecanary.lab.scenario import Scenario
from routecanary.rounds.run import RoundResult, run_round
from routecanary.wiring import online_world

WIRE_FACTOR: Final = 50.0
PERIOD: Final = timedelta(minutes=30)
LOCALES: Final = (Locale("en"), Locale("pt-BR"), Locale("th"))
"""A short rotation: within a minute, each fault has to meet the language that it strikes in."""
START: Final = datetime(2026, 1, 5, tzinfo=UTC)
LAG_LIMIT: Final = timedelta(seconds=6)
"""Of our own event loop, in wire time: 0.12 s real. At this pace a busy machine is late by more than the
usual 0.25 s (here 5 ms) all the time, and no latency verdict would be left."""


@dataclass(slots=True, kw_only=True)
class RouteStory:
    """What the demo saw of one route."""

    route: LabRoute
    classes: list[RoundClass] = field(default_factory=list)  # one a round
    suspended_in: list[int] = field(default_factory=list)  # rounds, 1-based, in which a suspension began
    ended_in: list[int] = field(default_factory=list)
    blocked: int = 0
    suspended: bool = False

    @property
    def expectation(self) -> Expectation:
        return Expectation.NOT_SUSPENDED if self.route.healthy else self.route.expectation

    @property
    def faults(self) -> str:
        return ", ".join(fault.fault for fault in self.route.faults) or "healthy"

    @property
    def first_faulty_round(self) -> int | None:
        """The first round, 1-based, in which a planted fault was due."""
        due = [
            number
            for number in range(1, len(self.classes) + 1)
            if any(fault.window.holds((number - 1) * PERIOD) for fault in self.route.faults)
        ]
        return due[0] if due else None

    @property
    def right(self) -> bool:
        """Say whether the canary did what the scenario expects of it."""
        match self.expectation:
            case Expectation.SUSPENDED:
                return bool(self.suspended_in)
            case Expectation.NOT_SUSPENDED:
                return not self.suspended_in
            case Expectation.EITHER:
                return True


@dataclass(slots=True, kw_only=True)
class Story:
    """The demo so far."""

    model: ModelId
    seed: int
    routes: dict[RouteId, RouteStory]
    rounds: int = 0
    probes: int = 0
    at: datetime = START
    began: float = field(default_factory=time.monotonic)  # real time
    ignore: list[str] = field(default_factory=list)  # as the client merges it
    lines: list[str] = field(default_factory=list)  # what happened, newest last

    @property
    def real_seconds(self) -> float:
        return time.monotonic() - self.began

    @property
    def right(self) -> bool:
        return all(story.right for story in self.routes.values())

    def false_suspensions(self) -> tuple[RouteId, ...]:
        """List the routes that were suspended and should not have been."""
        return tuple(
            tag
            for tag, story in sorted(self.routes.items())
            if story.expectation is Expectation.NOT_SUSPENDED and story.suspended_in
        )

    def missed(self) -> tuple[RouteId, ...]:
        """List the routes that should have been suspended and were not."""
        return tuple(
            tag
            for tag, story in sorted(self.routes.items())
            if story.expectation is Expectation.SUSPENDED and not story.suspended_in
        )


async def play(
    scenario: Scenario,
    *,
    seed: int,
    seconds: float | None,
    on_round: Callable[[Story], None],
) -> Story:
    """Play a scenario until the time is up; without `seconds`, until cancelled.

    Args:
        on_round: Called with the story so far after each round, and once before the first.
    """
    model = scenario.models[0]
    clock = ScaledClock(start=START, rate=WIRE_FACTOR)
    story = Story(
        model=model.id, seed=seed, routes={route.tag: RouteStory(route=route) for route in model.routes}
    )
    on_round(story)
    with tempfile.TemporaryDirectory(prefix="routecanary-demo-") as folder:
        # The lab shares our event loop, so that a busy machine delays both and the lag that voids a latency
        # verdict sees it: from a process of its own, the lab's lateness would pass for its hosts'.
        async with LabGateway(scenario, seed=seed, time_scale=WIRE_FACTOR, now=clock.now) as lab:
            settings = _settings(model.id, lab.base_url, Path(folder))
            rng = Random(seed)  # noqa: S311 - a repeatable demo
            async with online_world(settings, Secret(scenario.key), clock, rng=rng) as world:
                story.began = time.monotonic()
                with Canary(
                    settings.snapshot_path, clock=lambda: clock.now().timestamp(), thread=False
                ) as canary:
                    while seconds is None or story.real_seconds < seconds:
                        result = await run_round(world, model.id)
                        canary.refresh()
                        preferences = canary.provider_preferences(model.id)
                        _tell(story, result, clock.now(), preferences)
                        on_round(story)
                        clock.advance(PERIOD)
    return story


def _settings(model: ModelId, base_url: str, folder: Path) -> Settings:
    """Configure the canary as shipped, but for the paths, the mode and what compressed time asks for."""
    return Settings(
        gateway=GatewaySettings(base_url=base_url),
        store_path=str(folder / "events.sqlite3"),
        snapshot_path=str(folder / "snapshot.json"),
        probes=ProbeSettings(
            locales=LOCALES,
            start_spread=timedelta(seconds=2),
            confirm_delay=(timedelta(seconds=2), timedelta(seconds=3)),
        ),
        latency=LatencySettings(listen=timedelta(seconds=15), lag_limit=LAG_LIMIT),
        initial_mode=Mode.ENFORCE,
        models=(ModelSettings(model=model),),
    )


def _tell(story: Story, result: RoundResult, at: datetime, preferences: dict[str, object]) -> None:
    """Take up what one round came to."""
    story.rounds += 1
    story.at = at
    story.probes += sum(len(examination.attempts) for examination in result.examinations.values())
    ignored = preferences.get("ignore", [])
    story.ignore = [str(name) for name in ignored] if isinstance(ignored, list) else []
    for event in result.events:
        _tell_event(story, event)
    for tag, route in story.routes.items():
        route.suspended = tag in result.state.suspensions()


def _tell_event(story: Story, event: Event) -> None:
    match event:
        case RoundClosed():
            for tag, outcome in event.outcomes.items():
                story.routes[tag].classes.append(outcome.round_class)
        case Suspended():
            story.routes[event.route].suspended_in.append(story.rounds)
            contracts = ", ".join(sorted(event.contracts))
            length = event.until - event.at
            _say(story, f"{event.route} suspended for {length.days} d: {contracts}")
        case SuspensionBlocked():
            story.routes[event.route].blocked += 1
            _say(story, f"{event.route} not suspended: {event.why.value}")
        case Reinstated():
            story.routes[event.route].ended_in.append(story.rounds)
            _say(story, f"{event.route} reinstated: it recovered")
        case Expired():
            story.routes[event.route].ended_in.append(story.rounds)
            _say(story, f"{event.route} returned: its time was up")
        case Renewed():
            _say(story, f"{event.route} renewed: still failing")
        case CanaryLayerReleased():
            _say(story, "the canary layer is released: no route was left")
        case _:
            pass


def _say(story: Story, line: str) -> None:
    story.lines.append(f"{story.at:%a %H:%M} round {story.rounds}: {line}")
