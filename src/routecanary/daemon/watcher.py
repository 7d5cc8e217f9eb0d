"""When does one model's next round begin, and what if it fails? The border around each round.

What goes wrong inside of a round is logged, counted and told, and the next round comes all the same: a daemon
that dies of one bad answer lets its suspensions grow stale.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Final

from routecanary.daemon.gate import Gate
from routecanary.daemon.reports import Reports
from routecanary.daemon.schedule import next_due, tick_before
from routecanary.daemon.targets import Targeted, Targets
from routecanary.domain.names import ModelId
from routecanary.domain.operation import AccountFault, ClockStepped, RoundCrashed
from routecanary.domain.state import ModelState
from routecanary.domain.times import format_duration, format_instant
from routecanary.errors import (
    AccountError,
    ClockError,
    ClockLeaptError,
    GatewayError,
    InputError,
    RoutecanaryError,
    SnapshotError,
    StoreError,
)
from routecanary.rounds.clock_watch import ClockWatch
from routecanary.rounds.run import RoundResult, run_round
from routecanary.rounds.tripwire import tripwire
from routecanary.rounds.world import World

LOG: Final = logging.getLogger("routecanary.daemon")

LONGEST_NAP: Final = 60.0
"""Seconds after which the wall clock is read again: it may have been set, or the machine may have slept."""

_LONGEST_ERROR: Final = 500  # characters of an error that are told


class Watcher:
    """Makes the rounds of one model, on the clock."""

    def __init__(
        self,
        world: World,
        model: ModelId,
        *,
        gate: Gate,
        reports: Reports,
        counts: Counter[str],
        on_round: Callable[[RoundResult], None],
    ) -> None:
        """Hold what is shared.

        Args:
            gate: Passed by every round.
            counts: Rounds by how they ended, of all models.
            on_round: Called after each round that was made; what it raises is logged and counted.
        """
        self._world = world
        self._model = model
        self._gate = gate
        self._reports = reports
        self._counts = counts
        self._on_round = on_round
        self._clock = ClockWatch(world.clock)
        self._tried_at: datetime | None = None  # wall time of the last round or attempt at one
        self._held_until = 0.0  # elapsed seconds before which no round begins
        self._targeted = Targeted(world, model)
        self._behind = False  # the wall clock is behind the log, which was told

    async def watch(self) -> None:
        """Make rounds until cancelled."""
        world = self._world
        while (state := self._state()) is None:
            await world.clock.sleep(LONGEST_NAP)
        self._tried_at = state.last_round_at
        LOG.info(
            "watching model=%s mode=%s period=%s rounds=%d last_round=%s",
            self._model,
            (state.mode if state.last_line_at is not None else world.settings.initial_mode).value,
            format_duration(world.settings.schedule.period),
            state.rounds,
            "never" if state.last_round_at is None else format_instant(state.last_round_at),
        )
        while True:
            targets = await self._wait()
            async with self._gate.round():
                await self._round(targets)
            if targets is None:
                self._tried_at = world.clock.now()

    async def _wait(self) -> Targets | None:
        """Sleep until the next round is due, by the wall clock, and a drawn jitter more.

        Returns:
            Whom a targeted round is about that is due before it; None for a full round.
        """
        world = self._world
        drawn = world.rng.uniform(0.0, 1.0)
        while True:
            self._look_at_clock()
            now, schedule = world.clock.now(), world.settings.schedule
            due = next_due(self._last_before(now), now, schedule.period) + drawn * schedule.jitter
            left = max((due - now).total_seconds(), self._held_until - world.clock.elapsed())
            if left <= 0:
                self._targeted.full_round_due()
                return None
            sooner = self._targeted.look(due, self._held_until)
            if isinstance(sooner, Targets):
                return sooner
            left = left if sooner is None else min(left, sooner)
            await world.clock.sleep(min(left, LONGEST_NAP))

    def _look_at_clock(self) -> None:
        """Skip what would be due by a wall clock that has just run ahead; it may be set right again."""
        leap = self._clock.leap()
        if leap > self._world.settings.schedule.max_clock_leap:
            self._leapt(round(leap.total_seconds()))
        self._clock.believe()

    def _leapt(self, seconds: int) -> None:
        """Tell of a leap, and hold still for one period of the time that passes."""
        clock, period = self._world.clock, self._world.settings.schedule.period
        self._clock.believe()
        self._counts["clock"] += 1
        self._held_until = clock.elapsed() + period.total_seconds()
        LOG.error(
            "clock leapt ahead model=%s seconds=%d no_round_for=%s",
            self._model,
            seconds,
            format_duration(period),
        )
        self._reports.say(ClockStepped(at=clock.now(), seconds=seconds, model=self._model))

    def _last_before(self, now: datetime) -> datetime | None:
        """Find after what the next round must come: the last try, or what the log says if that is later.

        A try that left nothing in the log is forgotten when the clock stepped back behind it.
        """
        state, period = self._state(), self._world.settings.schedule.period
        if state is None:  # the round will meet the same trouble, and tell of it
            return self._tried_at
        if self._tried_at is not None and self._tried_at > now:
            self._tried_at = state.last_round_at
        logged = state.last_line_at
        if logged is None or logged < now:
            return self._tried_at
        if logged >= tick_before(now, period) + period:
            self._fell_behind(logged, now)
        return logged

    def _state(self) -> ModelState | None:
        """Read the model's state; None while the log cannot be read."""
        try:
            return self._world.ledger.state(self._model)
        except StoreError as error:
            LOG.error("log not read model=%s error=%s", self._model, error)
            return None

    def _fell_behind(self, logged: datetime, now: datetime) -> None:
        """Tell once that rounds wait for the wall clock to catch up with the log."""
        if self._behind:
            return
        self._behind = True
        self._counts["clock"] += 1
        LOG.error(
            "clock stepped back model=%s no_round_before=%s now=%s",
            self._model,
            format_instant(logged),
            format_instant(now),
        )
        seconds = round((now - logged).total_seconds())
        self._reports.say(ClockStepped(at=now, seconds=seconds, model=self._model))

    async def _round(self, targets: Targets | None) -> None:
        """Make one round, of all routes or a targeted one; this is the border at which our own bugs stop."""
        clock, model = self._world.clock, self._model
        began = clock.monotonic()
        try:
            if targets is None:
                result = await run_round(self._world, model)
            else:
                result = await run_round(self._world, model, only=targets.routes, out_of_turn=targets.locale)
        except ClockLeaptError as error:
            self._failed("clock", error, counted=False)
            self._leapt(error.seconds)
        except ClockError as error:
            self._failed("clock", error, counted=False)
            state = self._state()
            if state is not None and state.last_line_at is not None:
                self._fell_behind(state.last_line_at, clock.now())
        except AccountError as error:
            self._failed("gateway", error)
            at = clock.now()
            self._reports.say(AccountFault(at=at, model=model, code=error.code, detail=str(error)))
        except GatewayError as error:
            self._failed("gateway", error)
        except InputError as error:
            self._failed("input", error)
        except SnapshotError as error:
            self._counts["unpublished"] += 1
            LOG.error("round kept and not published model=%s error=%s", model, error)
        except StoreError as error:
            self._failed("store", error)
            self._crashed(str(error))
        except RoutecanaryError as error:
            self._failed("failed", error)
        except Exception as error:
            self._counts["crashed"] += 1
            first = _innermost(error)
            LOG.exception("round crashed model=%s error=%s", model, type(first).__name__)
            self._crashed(f"{type(first).__name__}: {first}")
        else:
            self._finished(result, seconds=clock.monotonic() - began)
            if targets is None:
                self._targeted.full_round_made(result)
                await self._tripwire(result)

    async def _tripwire(self, result: RoundResult) -> None:
        """Read what a fixed prompt counts, where that is due. What goes wrong here costs no round."""
        if not result.believed:
            return
        try:
            await tripwire(self._world, result.listing)
        except StoreError as error:
            LOG.error("fixed prompt not read model=%s error=%s", self._model, error)
        except Exception as error:
            self._counts["crashed"] += 1
            LOG.exception("fixed prompt not read model=%s error=%s", self._model, type(error).__name__)

    def _finished(self, result: RoundResult, *, seconds: float) -> None:
        self._behind = False
        self._reports.say_again()  # the store takes what it is given
        how = "finished" if result.believed else "doubted"
        self._counts[how] += 1
        LOG.info(
            "round %s model=%s routes=%d suspended=%d seconds=%.1f",
            how,
            self._model,
            len(result.listing.routes),
            len(result.state.suspensions()),
            seconds,
        )
        try:
            self._on_round(result)
        except Exception as error:
            self._counts["crashed"] += 1
            LOG.exception("round not told of model=%s error=%s", self._model, type(error).__name__)

    def _failed(self, how: str, error: RoutecanaryError, *, counted: bool = True) -> None:
        self._counts[how] += counted
        LOG.error("round not recorded model=%s why=%s error=%s", self._model, how, error)

    def _crashed(self, error: str) -> None:
        at = self._world.clock.now()
        self._reports.say(RoundCrashed(at=at, model=self._model, error=error[:_LONGEST_ERROR]))


def _innermost(error: BaseException) -> BaseException:
    """Find what the first of a group of tasks failed of."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
