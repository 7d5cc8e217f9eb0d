"""What have the commands that make a study in common? It is priced, agreed to, asked, watched, and kept."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from routecanary.cli.checked import usd
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.flush import flushed
from routecanary.cli.loop import run_async
from routecanary.cli.output import complain
from routecanary.clock import SystemClock
from routecanary.discover.undivided import united
from routecanary.domain.money import NOTHING
from routecanary.domain.names import ModelId
from routecanary.domain.route import Listing
from routecanary.domain.secret import Secret
from routecanary.domain.settings import Settings
from routecanary.domain.verdict import VerdictKind
from routecanary.errors import ConfigError
from routecanary.rounds.spending import general_part
from routecanary.rounds.studies import KeptStudy, study_draft
from routecanary.rounds.study import Stop, Stopped, ask_study
from routecanary.rounds.study_plan import Cost, cost_of, left_of
from routecanary.rounds.world import World
from routecanary.study.order import Asking
from routecanary.study.values import Study, StudyAnswer
from routecanary.wiring import online_world

TOLD: Final = 10  # lines of progress where no bar can be shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What a study would still ask, priced; `is_new`: it is not in the log yet."""

    study: Study
    listing: Listing
    left: tuple[Asking, ...]
    cost: Cost
    room_usd: Decimal  # that the day's budget has left for it
    is_new: bool


def planned(
    settings: Settings,
    key: Secret,
    model: ModelId,
    make: Callable[[World, Listing], KeptStudy],
    *,
    is_new: bool,
) -> Planned:
    """Look at who serves a model now, and price what a study asks of them. Nothing is asked yet.

    Args:
        make: Plans the study, or brings back one that is kept.
    """

    async def look() -> Planned:
        async with online_world(settings, key, SystemClock()) as world:
            operating = world.ledger.operating()
            world.model(model)
            listing = united(await world.gateway.listing(model), operating.undivided)
            kept = make(world, listing)
            left = left_of(world, kept, listing)
            committed = operating.committed(world.clock.now().date())
            return Planned(
                study=kept.study,
                listing=listing,
                left=left,
                cost=cost_of(world, kept.study, listing, left),
                room_usd=max(NOTHING, general_part(settings.budget) - committed),
                is_new=is_new,
            )

    return run_async(look())


def agreed(plan: Planned, *, yes: bool) -> bool:
    """Say what it will cost; where a person is at the terminal, ask whether to go on.

    Elsewhere the day's budget is the agreement.
    """
    routes = len({asking.route for asking in plan.left})
    complain(
        f"study {plan.study.id}: {len(plan.left)} askings of {routes} routes, usually {usd(plan.cost.usual)} "
        f"USD, at most {usd(plan.cost.most)}; today's budget leaves {usd(plan.room_usd)}"
    )
    if yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    sys.stderr.write("go on? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def asked(settings: Settings, key: Secret, plan: Planned) -> Stopped | None:
    """Ask what is left of a study, and keep the answers; returns why it ended early."""

    async def ask() -> Stopped | None:
        async with online_world(settings, key, SystemClock()) as world:
            if plan.is_new:
                world.ledger.note(study_draft(plan.study))
            watcher = _Watched(plan)
            with watcher.bar:
                stopped = await ask_study(world, plan.study, plan.listing, plan.left, watcher)
            await flushed(world)
            return stopped

    try:
        return run_async(ask())
    except (KeyboardInterrupt, asyncio.CancelledError):
        complain(f"what has come is kept: `routecanary compare --resume {plan.study.id}` goes on")
        raise


def nothing_covered(settings: Settings) -> ConfigError:
    """Say that the day's budget does not cover a single asking."""
    return ConfigError(
        "the day's budget does not cover a single asking; nothing was asked",
        place=settings.place,
        key="budget.per_day_usd",
        value=float(settings.budget.per_day_usd),
    )


def ended(study: Study, stopped: Stopped | None, *, complete: bool) -> ExitCode:
    """Complain of an end that came early, and choose the exit code."""
    if complete:
        return ExitCode.OK
    why = "some requests could not be sent" if stopped is None else stopped.detail
    complain(f"study {study.id} is not complete: {why}; `routecanary compare --resume {study.id}` goes on")
    if stopped is not None and stopped.why in (Stop.ACCOUNT, Stop.GATEWAY):
        return ExitCode.GATEWAY
    return ExitCode.FINDING


class _Watched:
    """A bar on standard error, or some lines where that is no terminal."""

    def __init__(self, plan: Planned) -> None:
        self._total = len(plan.left)
        self._study = plan.study.id
        self._answered = 0
        self._failed = 0
        self._usd = NOTHING
        self.bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
            transient=True,
        )
        self._task = self.bar.add_task("asking", total=self._total)

    def answered(self, answer: StudyAnswer) -> None:
        self._answered += 1
        self._failed += any(said.kind is VerdictKind.FAIL for said in answer.verdicts.values())
        self._usd += answer.usd
        self.bar.advance(self._task)
        told = self._answered * TOLD // self._total
        if self.bar.disable and told > (self._answered - 1) * TOLD // self._total:
            complain(
                f"study {self._study}: {self._answered} of {self._total} answers, {self._failed} failed, "
                f"{usd(self._usd)} USD"
            )
