"""Whatever a guardrail held before and whatever happens: what is not ours never changes, and ours can go."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.settings import GuardrailSettings
from routecanary.errors import GatewayError, WriteRefusedError
from routecanary.rounds.act import exclude, readmit
from routecanary.rounds.guardrail import Sync
from tests.account import CANARY, SHIELD, AccountAtHand
from tests.records import some_records, tell_round
from tests.story import MODEL

SETTINGS = GuardrailSettings(enabled=True, apply=True, id=SHIELD)
HOSTS = ("ada", "bob", "cyd", "dan")
NAMES = st.sampled_from([*HOSTS, *(name.title() for name in HOSTS), "zoe"])


class Killed(BaseException):
    """The process ends here."""


def _raise(error: BaseException) -> None:
    raise error


TROUBLE: dict[str, tuple[str, Callable[[], BaseException]]] = {
    "no answer, not landed": ("before", lambda: GatewayError("no answer")),
    "no answer, landed": ("after", lambda: GatewayError("no answer")),
    "refused": ("before", lambda: WriteRefusedError("HTTP 400")),
    "killed before": ("before", Killed),
    "killed after": ("after", Killed),
}


class GuardrailMachine(RuleBasedStateMachine):
    """One guardrail, those who edit it by hand, and processes of ours that come and go."""

    @initialize(before=st.lists(NAMES, unique=True, max_size=4))
    def begin(self, before: list[str]) -> None:
        self.records = some_records()

        async def sleep(seconds: float) -> None:
            self.records.clock.advance(timedelta(seconds=seconds))  # type: ignore[attr-defined]

        self.records.clock.sleep = sleep  # type: ignore[method-assign]
        tell_round(self.records, "0s", dict.fromkeys([f"{host}/fp8" for host in (*HOSTS, "eve")], "ok"))
        self.account = AccountAtHand(*before)
        self.theirs = list(before)
        self.sync = Sync(self.records, self.account, SHIELD, SETTINGS)

    # --- what the canary wants ----------------------------------------------------------------------

    @rule(host=st.sampled_from(HOSTS))
    def wanted(self, host: str) -> None:
        now = self.records.clock.now()
        exclude(
            self.records,
            RuntimeEntry(target=f"{host}/fp8", models=frozenset({MODEL}), reason="r", actor="a", created=now),
        )

    @rule(host=st.sampled_from(HOSTS))
    def not_wanted(self, host: str) -> None:
        readmit(self.records, f"{host}/fp8", frozenset({MODEL}), actor="a", reason="r")

    # --- what others do -----------------------------------------------------------------------------

    def _may_be_ours(self) -> set[str]:
        """List what is ours, or may be: whoever adds that by hand cannot be told from us."""
        standing = self.records.ledger.operating().guardrail(SHIELD)
        pending = set() if standing.pending is None else set(standing.pending.add)
        return set(standing.owned) | pending | {name.title() for name in pending}

    @rule(name=NAMES)
    def somebody_adds(self, name: str) -> None:
        if name not in self.account.ignored and name not in self._may_be_ours():
            self.account.ignored = [*self.account.ignored, name]
            self.theirs.append(name)

    @rule(name=NAMES)
    def somebody_removes(self, name: str) -> None:
        self.account.ignored = [each for each in self.account.ignored if each != name]
        self.theirs = [each for each in self.theirs if each != name]

    @rule()
    def somebody_writes_an_older_list(self) -> None:
        """Without anything of ours in it."""
        self.account.ignored = list(self.theirs)

    @rule(covered=st.booleans())
    def somebody_assigns(self, covered: bool) -> None:
        if covered:
            self.account.guardrails.assign_keys(SHIELD, [CANARY.hash])
        else:
            self.account.guardrails.of_key.pop(CANARY.hash, None)

    # --- what we do ---------------------------------------------------------------------------------

    @rule(
        trouble=st.sampled_from(["none", *TROUBLE]),
        again=st.booleans(),
        clearing=st.booleans(),
        edit=st.none() | NAMES,
    )
    def we_act(self, trouble: str, again: bool, clearing: bool, edit: str | None) -> None:
        """Act, with trouble at the write, and perhaps somebody's edit between our reading and our write."""
        when, error = TROUBLE.get(trouble, ("before", None))

        def between(name: str) -> None:
            if name == "coverage" and edit is not None:
                self.somebody_adds(edit)

        self.account.before = between

        def meddle(name: str) -> None:
            between(name)
            if name == "write" and error is not None:
                _raise(error())

        setattr(self.account, when, meddle)
        coming: Any = self.sync.clear("command") if clearing else self.sync.keep("change", again=again)
        with contextlib.suppress(GatewayError, Killed):
            asyncio.run(coming)
        self.account.before = self.account.after = lambda _: None
        if trouble.startswith("killed"):
            self.sync = Sync(self.records, self.account, SHIELD, SETTINGS)

    @rule(seconds=st.sampled_from([10, 71, 600]))
    def time_passes(self, seconds: int) -> None:
        self.records.clock.advance(timedelta(seconds=seconds))  # type: ignore[attr-defined]

    @precondition(lambda self: hasattr(self, "theirs"))
    @invariant()
    def what_is_theirs_is_there_in_its_order(self) -> None:
        assert [name for name in self.account.ignored if name in self.theirs] == self.theirs

    @precondition(lambda self: hasattr(self, "theirs"))
    @invariant()
    def never_every_route(self) -> None:
        """One host is never excluded, and no entry may name it."""
        assert "eve" not in self.account.ignored

    def teardown(self) -> None:
        """At the end all that is ours goes, and nothing else."""
        if not hasattr(self, "theirs"):
            return
        self.records.clock.advance(timedelta(seconds=600))  # type: ignore[attr-defined]
        asyncio.run(self.sync.clear("command"))
        assert self.account.ignored == self.theirs
        standing = self.records.ledger.operating().guardrail(SHIELD)
        assert (standing.owned, standing.pending) == (frozenset(), None)


TestGuardrail = GuardrailMachine.TestCase
TestGuardrail.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
