"""How does the daemon keep a guardrail in step, and what does it leave behind?

What stands in a guardrail ends by nobody's clock but ours. So it is looked at whenever the exclusions
change, a suspension reaches its end, and at intervals besides; a failure is tried again until it succeeds,
and told; and a daemon that ends takes its entries with it, unless it is told to leave them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from routecanary.daemon.reports import Reports
from routecanary.domain.guardrail import OnStop, Refusal
from routecanary.domain.operation import GuardrailFailed, GuardrailRefused
from routecanary.domain.settings import GuardrailSettings
from routecanary.errors import GatewayError, StoreError
from routecanary.rounds.guardrail import Done, Look, Sync
from routecanary.rounds.guardrail_lists import model_lists
from routecanary.rounds.guardrail_withheld import withheld_by
from routecanary.rounds.ports import GuardrailApi
from routecanary.rounds.world import World

LOG: Final = logging.getLogger("routecanary.daemon")

GLANCE: Final = 1.0
"""Seconds between two looks at the log."""

SETTLE: Final = 5.0
"""Seconds without a further change before a change is written: acts come in groups."""

GAP: Final = 30.0
"""Seconds between a write and the next that a change asks for; and after a failure, doubled with each."""

LONGEST_GAP: Final = 600.0

TOLD_AFTER: Final = 3
"""Attempts in a row after which trouble is told."""

PARTING: Final = 15.0
"""Real seconds that an ending daemon gives the gateway to take its entries out."""


class GuardrailKeeper:
    """Looks after one guardrail, as long as it is let."""

    def __init__(
        self, world: World, api: GuardrailApi, guardrail: str, settings: GuardrailSettings, reports: Reports
    ) -> None:
        """Hold what is needed; `settings` are those of this guardrail, whatever the world's become."""
        self._world = world
        self._settings = settings
        self._id = guardrail
        self._reports = reports
        self._sync = Sync(world, api, guardrail, settings, withheld=self._withheld)
        self._seen: object = None  # what the exclusions came to when last looked at
        self._head: object = None
        self._read_at = -SETTLE  # elapsed seconds at which the exclusions were last looked at
        self._until = 0.0  # epoch seconds at which the exclusions change by themselves
        self._changed_at: float | None = None  # elapsed seconds; None = in step with what was seen
        self._next_at = 0.0  # elapsed seconds before which nothing is tried, after a failure
        self._write_at = 0.0  # elapsed seconds before which a change is not written, after a write
        self._check_at = 0.0  # elapsed seconds at which list and coverage are looked at in any case
        self._failures = 0  # in a row
        self._is_told = False  # of them, to people
        self._told: object = None  # what a dry run was last logged as
        self._refused: Refusal | None = None  # as last logged

    def goes_on(self, settings: GuardrailSettings) -> bool:
        """Say whether another configuration still wants this guardrail to be written to."""
        return settings.apply and settings.id == self._id

    async def keep_looking(self) -> None:
        """Look until cancelled."""
        while True:
            await self.look()
            await self._world.clock.sleep(GLANCE)

    async def look(self) -> None:
        """Do what is due now; trouble is logged, and told when it lasts."""
        try:
            cause = self._due()
            if cause is not None:
                await self._attempt(cause)
        except (GatewayError, StoreError) as error:
            self._failed(error)

    def _due(self) -> str | None:
        """Say why the guardrail is to be looked at now; None where it need not be."""
        clock = self._world.clock
        now, elapsed = clock.now().timestamp(), clock.elapsed()
        head = self._world.ledger.head()
        moved = head != self._head and elapsed - self._read_at >= SETTLE
        if moved or now >= self._until:
            self._read_at = elapsed
            lists = model_lists(self._world)
            seen = lists.fingerprint()
            if seen != self._seen:
                self._changed_at = elapsed
            self._head, self._until, self._seen = head, lists.until, seen
        if elapsed < self._next_at:
            return None
        settled = self._changed_at is not None and elapsed - self._changed_at >= SETTLE
        if settled and elapsed >= self._write_at:
            return "change"
        return "check" if elapsed >= self._check_at else None

    async def _attempt(self, cause: str) -> None:
        clock = self._world.clock
        tried = self._changed_at
        if not self._settings.apply:
            self._say_what_would_be_done(await self._sync.look())
        else:
            self._report(await self._sync.keep(cause))
        if self._failures:  # it could not be done as a whole, and is tried again soon
            return
        if self._changed_at == tried:
            self._changed_at = None
        self._check_at = clock.elapsed() + self._settings.check_every.total_seconds()

    def _report(self, done: Done) -> None:
        if done.added or done.removed:
            self._write_at = self._world.clock.elapsed() + GAP
            LOG.info(
                "guardrail written id=%s added=%s removed=%s", self._id, _row(done.added), _row(done.removed)
            )
        if done.refused is Refusal.UNCLEAR:
            self._back_off()
            if self._is_to_be_told():
                at = self._world.clock.now()
                self._reports.say(
                    GuardrailRefused(at=at, guardrail=self._id, why=done.refused, detail=done.problem)
                )
        else:
            self._failures, self._is_told = 0, False
        self._log_refusal(done.refused, done.problem)

    def _say_what_would_be_done(self, look: Look) -> None:
        """Log what would be written, when it is something else than before."""
        self._failures, self._is_told = 0, False
        self._log_refusal(look.refused, look.problem)
        told = (look.plan.add, look.plan.remove)
        if told != self._told:
            LOG.info(
                "guardrail not written, apply is off id=%s add=%s remove=%s",
                self._id,
                _row(look.plan.add),
                _row(look.plan.remove),
            )
        self._told = told

    def _log_refusal(self, refused: Refusal | None, problem: str) -> None:
        if refused is not None and refused is not self._refused:
            LOG.error("guardrail refused id=%s why=%s problem=%s", self._id, refused.value, problem)
        self._refused = refused

    def _failed(self, error: GatewayError | StoreError) -> None:
        """Try again later, ever more seldom; tell of it once it lasts."""
        self._back_off()
        LOG.warning("guardrail not in step id=%s tries=%d error=%s", self._id, self._failures, error)
        if isinstance(error, GatewayError) and self._settings.apply and self._is_to_be_told():
            self._say_failed(str(error))

    def _say_failed(self, problem: str) -> None:
        """Tell of trouble, with what stands in the guardrail meanwhile; without the store, later."""
        world = self._world
        try:
            owned = world.ledger.operating().guardrail(self._id).owned
        except StoreError as error:
            LOG.error("log not read error=%s", error)
            owned = frozenset()
        at = world.clock.now()
        self._reports.say(GuardrailFailed(at=at, guardrail=self._id, detail=problem, owned=owned))

    def _is_to_be_told(self) -> bool:
        """Say whether trouble has lasted long enough to be told, which it is once."""
        if self._is_told or self._failures < TOLD_AFTER:
            return False
        self._is_told = True
        return True

    def _back_off(self) -> None:
        self._failures += 1
        gap = min(GAP * 2 ** min(self._failures, 10), LONGEST_GAP)
        self._next_at = self._world.clock.elapsed() + gap
        self._check_at = self._next_at

    async def _withheld(self, entries: frozenset[str]) -> frozenset[str]:
        return await withheld_by(self._world, entries, self._settings.granularity)

    async def leave(self, cause: str) -> None:
        """End: take out what is ours, where that is wished; what cannot be done is told."""
        if not self._settings.apply or self._settings.on_stop is OnStop.KEEP:
            return
        try:
            known = self._world.ledger.operating().guardrail(self._id)
            if not known.owned and known.pending is None:
                return
            async with asyncio.timeout(PARTING):
                removed = await self._sync.clear(cause)
        except TimeoutError:
            self._left_behind("no answer in time")
        except (GatewayError, StoreError) as error:
            self._left_behind(str(error))
        else:
            LOG.info("guardrail left id=%s removed=%s", self._id, _row(removed))

    def _left_behind(self, problem: str) -> None:
        """Tell that our entries may stay there, and nobody looks after them."""
        LOG.error("guardrail not cleared id=%s error=%s", self._id, problem)
        self._say_failed(f"not cleared at the daemon's end: {problem}")


class Guarding:
    """Whoever looks after the guardrail that is configured now, if one is."""

    def __init__(
        self,
        world: World,
        reports: Reports,
        keep: Callable[[str, Callable[[], Awaitable[None]]], asyncio.Task[None]],
    ) -> None:
        """Hold what is shared; `keep` does something all the time."""
        self._world = world
        self._reports = reports
        self._keep = keep
        self._keeper: GuardrailKeeper | None = None
        self._task: asyncio.Task[None] | None = None

    async def take(self, api: GuardrailApi | None) -> None:
        """Look after what the world's settings name; another guardrail than before is left as at an end."""
        settings = self._world.settings.guardrail
        if self._keeper is not None and not self._keeper.goes_on(settings):
            await self.end("left")
        await self._rest()
        self._tell_of_orphans()
        if api is not None and settings.id is not None:
            keeper = GuardrailKeeper(self._world, api, settings.id, settings, self._reports)
            self._keeper, self._task = keeper, self._keep("guardrail", keeper.keep_looking)

    async def end(self, cause: str = "stop") -> None:
        """Look no longer, and leave the guardrail."""
        await self._rest()
        if self._keeper is not None:
            await self._keeper.leave(cause)
        self._keeper = None

    def _tell_of_orphans(self) -> None:
        """Tell of entries of ours, in whatever guardrail, that this configuration lets nobody look after."""
        settings, now = self._world.settings.guardrail, self._world.clock.now()
        try:
            guardrails = self._world.ledger.operating().guardrails
        except StoreError as error:
            LOG.error("log not read error=%s", error)
            return
        for each, known in sorted(guardrails.items()):
            looked_after = settings.apply and settings.id == each
            if known.owned and not looked_after and known.failing_since is None:
                LOG.error("guardrail orphaned id=%s owned=%s", each, _row(known.owned))
                detail = "by this configuration no daemon looks after it"
                self._reports.say(GuardrailFailed(at=now, guardrail=each, detail=detail, owned=known.owned))

    async def _rest(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None


def _row(names: frozenset[str] | tuple[str, ...]) -> str:
    return ",".join(sorted(names)) or "-"
