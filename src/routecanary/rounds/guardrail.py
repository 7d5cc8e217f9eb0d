"""How does a guardrail's list come to hold our exclusions, and nothing of anybody else's change?

Read, check whom it covers, read again, note what is about to be done, write, read once more, note what came
of it. No condition can be put on a write: while its request is under way, from the reading before it on,
somebody else's change would be lost. Whatever else happens is seen and told.

What is ours is what the log says. A write of which nothing is known is settled by the next reading: an entry
that we were about to add and that is there now is ours.

Source: policy.md §8; openrouter-wire.md §2.4; docs/guardrail.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from routecanary.domain.guardrail import (
    Coverage,
    Guardrail,
    GuardrailStanding,
    Refusal,
    refusal_of,
)
from routecanary.domain.operating import OperatingState
from routecanary.domain.operation import (
    GuardrailCleared,
    GuardrailEntriesLost,
    GuardrailRefused,
    GuardrailSynced,
    GuardrailWriteBegun,
    GuardrailWritten,
    Operation,
)
from routecanary.domain.settings import GuardrailSettings
from routecanary.errors import GatewayError, WriteRefusedError
from routecanary.rounds.guardrail_lists import model_lists
from routecanary.rounds.ports import GuardrailApi
from routecanary.rounds.records import Records
from routecanary.routing.guardrail import Plan, Why, as_written, plan

TRIES: Final = 3
"""Times that a plan is made anew because somebody else changed the list meanwhile."""

SLACK: Final = timedelta(seconds=5)
"""What a write may take besides its calls; after it, what a dead process had sent has surely arrived."""

Withheld = Callable[[frozenset[str]], Awaitable[frozenset[str]]]
"""Find the routes that entries name and that are kept from the canary's own key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A guardrail as it is, and what should become of it."""

    guardrail: Guardrail
    standing: GuardrailStanding  # what was not known of the last write is settled, what is lost is gone
    plan: Plan
    coverage: Coverage | None  # None = could not be found out
    refused: Refusal | None
    problem: str = ""  # of the refusal

    @property
    def ours(self) -> frozenset[str]:
        """List our entries that are there."""
        return self.standing.owned & set(self.guardrail.ignored)


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What came of keeping a guardrail in step."""

    look: Look  # the last one
    added: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    refused: Refusal | None = None  # to add anything
    problem: str = ""


class Sync:
    """Keeps one guardrail in step with the exclusions, one call after the other."""

    def __init__(
        self,
        records: Records,
        api: GuardrailApi,
        guardrail: str,
        settings: GuardrailSettings,
        *,
        withheld: Withheld | None = None,
    ) -> None:
        self._records = records
        self._api = api
        self._id = guardrail
        self._settings = settings
        self._withheld = withheld
        self._settled_at: datetime | None = None  # of the write that nobody needs to wait for any more

    # --- looking ------------------------------------------------------------------------------------

    async def look(self, *, again: bool = False, forgiving: bool = False) -> Look:
        """See what should be done; nothing is changed, here or there.

        Args:
            again: Try a guardrail again from which routes were withheld.
            forgiving: Put back what somebody took out.
        Raises:
            GatewayError: The guardrail could not be read.
            StoreError: The log could not be read.
        """
        guardrail = await self._api.guardrail(self._id)
        standing = self._settled(guardrail)
        lists = model_lists(self._records)
        planned = plan(
            guardrail,
            standing,
            lists.models,
            granularity=self._settings.granularity,
            floor=self._records.settings.policy.floor,
            again=forgiving,
        )
        coverage: Coverage | None = None
        refused: Refusal | None = None
        problem = ""
        try:
            canary = await self._api.canary()
            coverage = await self._api.coverage(guardrail, canary)
        except GatewayError as error:
            refused, problem = Refusal.UNCLEAR, str(error)
        else:
            refused = refusal_of(coverage, canary)
            if refused is Refusal.UNCLEAR:
                problem = "members are assigned to it, and who made the canary's key is not told"
        if refused is None and standing.refused is Refusal.WITHHELD and not again:
            refused, problem = Refusal.WITHHELD, standing.problem
        return Look(
            guardrail=guardrail,
            standing=replace(standing, owned=standing.owned - set(planned.lost)),
            plan=planned,
            coverage=coverage,
            refused=refused,
            problem=problem,
        )

    def _settled(self, guardrail: Guardrail) -> GuardrailStanding:
        """Settle what is not known of the last write by what is there now.

        Raises:
            GatewayError: Another process may be about to write.
        """
        standing = self._standing()
        pending = standing.pending
        if pending is None:
            return standing
        if self._is_under_way(standing):
            raise GatewayError("another process is writing to the guardrail")
        came = as_written(pending.add, guardrail.ignored)
        owned = (standing.owned | came) - (pending.remove - set(guardrail.ignored))
        return replace(standing, owned=owned, pending=None)

    def _is_under_way(self, standing: GuardrailStanding) -> bool:
        """Say whether another process may be writing; it has the time of its calls, and some more."""
        if standing.pending is None or standing.pending.at == self._settled_at:
            return False
        patience = 2 * self._records.settings.gateway.document_timeout + SLACK
        return timedelta(0) <= self._now() - standing.pending.at < patience

    async def _let_it_arrive(self) -> None:
        """Wait until whatever was sent in the last write, by whomever, has surely arrived."""
        pending = self._standing().pending
        if pending is not None:
            age = max(timedelta(0), self._now() - pending.at)
            await self._records.clock.sleep(max(timedelta(0), SLACK - age).total_seconds())
            self._settled_at = pending.at

    def _standing(self) -> GuardrailStanding:
        return self._records.ledger.operating().guardrail(self._id)

    # --- doing --------------------------------------------------------------------------------------

    async def keep(self, cause: str, *, actor: str | None = None, again: bool = False) -> Done:
        """Bring the list into step: what is not wanted any more goes first, then what is missing comes.

        Where the guardrail covers the canary's key, all that is ours goes. Where that cannot be found out,
        nothing comes.

        Args:
            again: As a person wishes it: what somebody took out is put back, once, and a guardrail from which
                routes were withheld is tried again.
        Raises:
            GatewayError: It could not be done, or not as a whole; what was done is noted.
            StoreError: The log failed.
        """
        added, removed, forgiving = frozenset[str](), frozenset[str](), again
        for _ in range(2 * TRIES):
            look = await self.look(again=again, forgiving=forgiving)
            self._note_lost(look)
            if look.refused is not None and look.refused.covers_canary:
                done = Done(look=look, added=added, removed=removed)
                return await self._withdrawn(done, look.refused, look.problem, actor)
            add = frozenset[str]() if look.refused is not None else frozenset(look.plan.add)
            remove = frozenset(look.plan.remove)
            if remove:  # by itself: whatever is wrong with what is to come, what has ended goes
                add = frozenset()
            if not add and not remove:
                return await self._kept(look, actor, added, removed)
            if not await self._written(look, add=add, remove=remove, cause=cause, actor=actor):
                continue
            added, removed, forgiving = added | add, removed | remove, forgiving and not add
        raise GatewayError("the guardrail was changed by somebody else again and again")

    async def _kept(
        self, look: Look, actor: str | None, added: frozenset[str], removed: frozenset[str]
    ) -> Done:
        """Note that the list is in step, as far as it may be."""
        if look.refused is not None:
            return Done(look=look, added=added, removed=removed, refused=look.refused, problem=look.problem)
        owned = look.standing.owned
        kept_away = await self._withheld(owned) if owned and self._withheld is not None else frozenset()
        if kept_away:
            problem = f"the canary's own key does not reach {', '.join(sorted(kept_away))}"
            done = Done(look=look, added=added, removed=removed)
            return await self._withdrawn(done, Refusal.WITHHELD, problem, actor)
        lost = frozenset(each.entry for each in look.plan.left_out if each.why is Why.LOST)
        if self._standing().pending is not None or self._standing().owned != owned:
            self._note(self._settled_as(self._standing(), owned))
        self._note(GuardrailSynced(at=self._now(), guardrail=self._id, lost=lost))
        return Done(look=look, added=added, removed=removed)

    async def clear(self, cause: str, *, actor: str | None = None) -> frozenset[str]:
        """Take out all that is ours, whomever the guardrail covers; return what went.

        A write whose process may have died of it is waited for no longer than some seconds.

        Raises:
            GatewayError: It could not be done.
            StoreError: The log failed.
        """
        await self._let_it_arrive()
        for _ in range(TRIES):
            guardrail = await self._api.guardrail(self._id)
            look = Look(
                guardrail=guardrail,
                standing=self._settled(guardrail),
                plan=plan(
                    guardrail, GuardrailStanding(), (), granularity=self._settings.granularity, floor=1
                ),
                coverage=None,
                refused=None,
            )
            if not look.ours:
                known = self._standing()
                if known.owned or known.pending is not None or known.failing_since is not None:
                    self._note(self._cleared(cause, (), actor))
                return frozenset()
            if await self._written(
                look, add=frozenset(), remove=look.ours, cause=cause, actor=actor, clear=True
            ):
                return look.ours
        raise GatewayError("the guardrail was changed by somebody else again and again")

    async def _withdrawn(self, done: Done, why: Refusal, problem: str, actor: str | None) -> Done:
        """Tell that the guardrail may not be written to, and take out what is ours."""
        if self._standing().refused is not why:
            self._note(GuardrailRefused(at=self._now(), guardrail=self._id, why=why, detail=problem))
        gone = await self.clear("covered", actor=actor)
        return replace(done, removed=done.removed | gone, refused=why, problem=problem)

    async def _written(
        self,
        look: Look,
        *,
        add: frozenset[str],
        remove: frozenset[str],
        cause: str,
        actor: str | None,
        clear: bool = False,
    ) -> bool:
        """Change the list, and note what came of it.

        Args:
            clear: Nothing shall be ours afterwards.
        Returns:
            Whether it was done; not where somebody else changed the list since it was looked at.
        """
        fresh = await self._api.guardrail(self._id)
        if fresh.ignored != look.guardrail.ignored:
            return False
        wished = (*(name for name in fresh.ignored if name not in remove), *sorted(add))
        self._begin(look.standing, add, remove)
        try:
            await self._api.replace_ignored(self._id, wished)
        except WriteRefusedError:
            self._note(self._settled_as(look.standing, look.standing.owned))
            raise
        after = (await self._api.guardrail(self._id)).ignored
        came, stayed = as_written(add, after), remove & set(after)
        owned = ((look.standing.owned - remove) & set(after)) | came | stayed
        missing = (look.standing.owned - remove - set(after)) | (add - {name.lower() for name in came})
        if clear and not owned:
            self._note(self._cleared(cause, remove, actor))
        else:
            self._note(
                GuardrailWritten(
                    at=self._now(),
                    guardrail=self._id,
                    owned=owned,
                    cause=cause,
                    added=came,
                    removed=remove - stayed,
                    actor=actor,
                )
            )
        if missing:
            self._note(GuardrailEntriesLost(at=self._now(), guardrail=self._id, entries=missing))
        if stayed:
            raise GatewayError(f"still in the list after a write without it: {', '.join(sorted(stayed))}")
        return True

    # --- noting -------------------------------------------------------------------------------------

    def _begin(self, settled: GuardrailStanding, add: frozenset[str], remove: frozenset[str]) -> None:
        """Note what is about to be done, unless another process has begun to write since.

        Raises:
            GatewayError: It has.
        """
        begun_at = self._now()

        def decide(operating: OperatingState) -> list[Operation]:
            known = operating.guardrail(self._id)
            if self._is_under_way(known):
                raise GatewayError("another process is writing to the guardrail")
            said: list[Operation] = []
            if known.owned != settled.owned or known.pending is not None:
                said.append(self._settled_as(known, settled.owned))
            begun = GuardrailWriteBegun(at=begun_at, guardrail=self._id, add=add, remove=remove)
            return [*said, begun]

        self._records.ledger.operate(decide)
        self._settled_at = begun_at

    def _settled_as(self, known: GuardrailStanding, owned: frozenset[str]) -> Operation:
        """Say what the last write came to, of which nothing was known."""
        return GuardrailWritten(
            at=self._now(),
            guardrail=self._id,
            owned=owned,
            cause="settled",
            added=owned - known.owned,
            removed=known.owned - owned,
        )

    def _cleared(self, cause: str, removed: Iterable[str], actor: str | None) -> GuardrailCleared:
        return GuardrailCleared(
            at=self._now(), guardrail=self._id, cause=cause, removed=frozenset(removed), actor=actor
        )

    def _note_lost(self, look: Look) -> None:
        """Tell that somebody took out what was ours; it is not put back while it is wanted."""
        lost = frozenset(look.plan.lost)
        if lost:
            self._note(GuardrailEntriesLost(at=self._now(), guardrail=self._id, entries=lost))

    def _note(self, operation: Operation) -> None:
        self._records.ledger.operate(lambda _: [operation])

    def _now(self) -> datetime:
        return self._records.clock.now()


def forget(records: Records, guardrail: str, *, actor: str) -> frozenset[str]:
    """Take nothing in a guardrail for ours any more, without asking anybody: it is gone.

    Raises:
        StoreError: The log failed.
    """
    owned = records.ledger.operating().guardrail(guardrail).owned
    at = records.clock.now()
    event = GuardrailCleared(at=at, guardrail=guardrail, cause="forgotten", removed=owned, actor=actor)
    records.ledger.operate(lambda _: [event])
    return owned
