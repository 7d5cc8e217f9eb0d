"""Does the whole loop catch every fault, and no healthy route?

The real loop, from the listing to the decision, against the lab without its sockets: every fault of the lab,
in groups, in all shipped locales. A fault that a contract can fail is persistent here, and has to be
suspended in the second round in which it showed and counted; whatever else goes wrong must not lead there.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Final

from routecanary.clock import ScaledClock
from routecanary.demo.groups import EVERY_FAULT, MODEL, Group, expectation_of, groups_for
from routecanary.demo.unwired import UnwiredGateway
from routecanary.domain.event import RoundClosed, Suspended
from routecanary.domain.names import RouteId
from routecanary.domain.round import Mode
from routecanary.domain.settings import BudgetSettings, ModelSettings, ProbeSettings, Settings
from routecanary.domain.verdict import VerdictKind
from routecanary.lab.fault import Fault, ListingFault
from routecanary.lab.host import Expectation
from routecanary.probe.plan import CONTRACTS_FED
from routecanary.rounds.run import RoundResult, run_round
from routecanary.wiring import catalog_of, trial_world

START: Final = datetime(2026, 1, 5, tzinfo=UTC)
PERIOD: Final = timedelta(minutes=30)
LEAST_ROUNDS: Final = 3  # of a group, so that a wrong suspension has the time to come
TIMES_ROUND: Final = 2  # turns of the rotation, after which a fault that was not caught is missed
NO_WAITING: Final = 1e9  # wire seconds in a real second: pauses between probes are none


@dataclass(slots=True, kw_only=True)
class Caught:
    """What became of one fault. Rounds are counted from 1."""

    fault: Fault | ListingFault
    seed: int
    shown: list[int]  # rounds that counted, in which it struck an answer that its contracts judge
    suspended_in: int | None = None
    told: tuple[str, ...] = ()  # contract and verdict, as in `integrity fail:repetition`

    @property
    def expectation(self) -> Expectation:
        return expectation_of(self.fault)

    @property
    def showing(self) -> int | None:
        """Count the showings up to the suspension, its own included."""
        return (
            None if self.suspended_in is None else sum(number <= self.suspended_in for number in self.shown)
        )

    @property
    def right(self) -> bool:
        match self.expectation:
            case Expectation.SUSPENDED:
                return self.showing == 2
            case Expectation.NOT_SUSPENDED:
                return self.suspended_in is None
            case Expectation.EITHER:
                return True


@dataclass(slots=True, kw_only=True)
class FullStory:
    """The full demo so far."""

    caught: list[Caught] = field(default_factory=list)
    healthy_suspended: list[str] = field(default_factory=list)  # seed and route
    rounds: int = 0
    probes: int = 0
    began: float = field(default_factory=time.monotonic)  # real time

    @property
    def real_seconds(self) -> float:
        return time.monotonic() - self.began

    @property
    def right(self) -> bool:
        return not self.healthy_suspended and all(each.right for each in self.caught)


async def play_full(
    seeds: range,
    *,
    faults: Sequence[Fault | ListingFault] = EVERY_FAULT,
    on_group: Callable[[FullStory], None] = lambda _: None,
) -> FullStory:
    """Play every group of every seed.

    Args:
        faults: Those that are tried.
        on_group: Called with the story so far after each group.
    """
    story = FullStory()
    with tempfile.TemporaryDirectory(prefix="routecanary-demo-") as folder:
        settings = _settings(Path(folder))
        for seed in seeds:
            for group in groups_for(faults, catalog_of(settings), seed=seed):
                await _play_group(story, group, settings, seed)
                on_group(story)
    return story


def _settings(folder: Path) -> Settings:
    """Configure the canary as shipped, but for the paths, the mode and a purse for many rounds."""
    return Settings(
        store_path=str(folder / "events.sqlite3"),
        snapshot_path=str(folder / "snapshot.json"),
        budget=BudgetSettings(per_day_usd=Decimal(1_000)),
        initial_mode=Mode.ENFORCE,
        models=(ModelSettings(model=MODEL),),
    )


async def _play_group(story: FullStory, group: Group, settings: Settings, seed: int) -> None:
    clock = ScaledClock(start=START, rate=NO_WAITING)
    gateway = UnwiredGateway(group.scenario, clock, seed=seed)
    world = trial_world(
        replace(settings, probes=ProbeSettings(locales=group.locales)),
        gateway=gateway,
        clock=clock,
        catalog=group.catalog,
        rng=Random(seed),  # noqa: S311 - a lab
    )
    caught = {group.tag(fault): Caught(fault=fault, seed=seed, shown=[]) for fault in group.faults}
    story.caught += caught.values()
    for number in range(1, TIMES_ROUND * len(group.locales) + 1):
        result = await run_round(world, MODEL)
        story.rounds += 1
        story.probes += sum(len(each.attempts) for each in result.examinations.values())
        _tell(story, caught, result, number)
        _note_showings(caught, result, gateway, number, clock.now())
        waiting = any(
            each.expectation is Expectation.SUSPENDED and each.suspended_in is None
            for each in caught.values()
        )
        if number >= LEAST_ROUNDS and not waiting:
            return
        clock.advance(PERIOD)


def _tell(story: FullStory, caught: Mapping[RouteId, Caught], result: RoundResult, number: int) -> None:
    """Take up who was suspended in a round."""
    for event in result.events:
        if not isinstance(event, Suspended):
            continue
        fault = caught.get(event.route)
        if fault is None:
            story.healthy_suspended.append(f"seed {story.caught[-1].seed}, {event.route}")
            continue
        if fault.suspended_in is None:
            fault.suspended_in = number
            said = result.examinations[event.route].verdicts.values()
            fault.told = tuple(
                f"{verdict.contract} {verdict}" for verdict in said if verdict.kind is VerdictKind.FAIL
            )


def _note_showings(
    caught: Mapping[RouteId, Caught], result: RoundResult, gateway: UnwiredGateway, number: int, at: datetime
) -> None:
    """Note for which routes the round counted and a contract judged an answer that the fault struck."""
    (closed,) = (event for event in result.events if isinstance(event, RoundClosed))
    for served in gateway.desk.ledger:
        fault = caught.get(served.route)
        if fault is None or served.at != at or not served.planted or not served.faults:
            continue
        judged = CONTRACTS_FED.get(served.kind, frozenset()) & set(fault.fault.seen_by)
        if judged and closed.outcomes[served.route].counted and fault.shown[-1:] != [number]:
            fault.shown.append(number)
