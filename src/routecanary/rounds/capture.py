"""What did every route answer? The listening half of a round.

Nothing is judged here: judging while streams are open would delay their time stamps, and our own slowness
must not become a provider's failure.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random

from routecanary.clock import Clock
from routecanary.domain.names import RouteId
from routecanary.domain.probe import Probe
from routecanary.domain.transcript import Transcript
from routecanary.rounds.ports import Gateway, Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """One probe and what came back."""

    probe: Probe
    transcript: Transcript


async def capture(
    probes: Sequence[Probe],
    gateway: Gateway,
    *,
    clock: Clock,
    rng: Random,
    spread: timedelta,
    blames_account: Callable[[Transcript], bool],
    progress: Progress,
) -> Mapping[RouteId, tuple[Captured, ...]]:
    """Ask each route its probes one after another, all routes side by side.

    Args:
        probes: Of one round, in the order in which a route is asked.
        rng: Shuffles the routes and draws the jitter, so that no route is always the first to be asked.
        spread: Routes start within this time, evenly drawn; it staggers the requests of one key.
        blames_account: Says of an answer that our own key, credit or configuration is at fault; nothing more
            is asked then, for every further answer would say the same.
    Returns:
        What was captured, by route, sorted; a probe that was not asked is absent.
    """
    by_route: dict[RouteId, list[Probe]] = {}
    for probe in probes:
        by_route.setdefault(probe.route, []).append(probe)
    order = sorted(by_route)
    rng.shuffle(order)
    delays = {route: rng.uniform(0.0, spread.total_seconds()) for route in order}
    answers: dict[RouteId, list[Captured]] = {route: [] for route in order}
    stopped = False

    async def ask_in_turn(route: RouteId) -> None:
        nonlocal stopped
        await clock.sleep(delays[route])
        for probe in by_route[route]:
            if stopped:
                return
            transcript = await gateway.ask(probe)
            answers[route].append(Captured(probe=probe, transcript=transcript))
            if blames_account(transcript):
                stopped = True
            progress.answered(probe, transcript)

    async with asyncio.TaskGroup() as tasks:
        for route in order:
            tasks.create_task(ask_in_turn(route))
    return {route: tuple(answers[route]) for route in sorted(answers)}
