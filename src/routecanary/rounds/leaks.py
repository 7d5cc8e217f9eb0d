"""Do requests heed the exclusions? Every generation that is told of is looked at, once.

The place that has been reached stands in the log, in the same append as what was found up to it: whatever
dies, nothing is counted twice. What is found is told once an interval, however much it is.

Source: docs/traffic.md, The leak audit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from routecanary.domain.generation import Generation
from routecanary.domain.names import ModelId
from routecanary.domain.operating import OperatingState
from routecanary.domain.operation import (
    ExclusionLeaked,
    ExclusionLeakEnded,
    ExclusionLeakPossible,
    Operation,
    TrafficAudited,
)
from routecanary.rounds.exclusion_history import exclusion_history
from routecanary.rounds.record import Ledger
from routecanary.rounds.records import Records
from routecanary.rounds.runtime import RUNTIME_KINDS
from routecanary.routing.layers import builtin_for
from routecanary.telemetry.leaks import History, leak_of
from routecanary.telemetry.tally import Kind, Leaks, Tally

SETTLES: Final = timedelta(minutes=1)
"""How long a generation is left alone: a hook and the gateway's broadcast complete each other meanwhile."""
INTERVAL: Final = timedelta(minutes=10)
"""Between two events of one kind, and between two that only say how far the audit has come."""
SHORTEST: Final = timedelta(minutes=1)  # between two appends, whatever is found
ENDS_AFTER: Final = timedelta(hours=1)  # without one more: leaks of a kind have stopped
STEP: Final = 1_000  # generations that are read at once
STEPS: Final = 10  # in one look: the probes beside it are not to be kept waiting
MOST_KINDS: Final = 200  # in one append; whoever makes up more of them keeps the audit waiting, not the log


class LeakAudit:
    """Looks at what was kept since the last time; one for a store, and not for two threads at once."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._histories: Histories | None = None  # once the first look has begun
        self._from = 0  # number of the last generation that the log says was looked at
        self._through = 0  # of the last one looked at
        self._audited = 0  # generations between the two
        self._unplaced = 0
        self._tally = Tally()
        self._told_at: dict[Kind, float] = {}  # elapsed seconds
        self._appended_at: float | None = None  # likewise

    def look(self) -> None:
        """Look at a bounded number of generations, and tell what is due.

        Raises:
            StoreError: The store failed; what was found is told later.
        """
        histories = self._histories
        if histories is None:
            histories = self._histories = Histories(self._records, self._records.ledger.another())
            self._begin(histories.ledger.operating())
        before = self._records.clock.now() - SETTLES
        for _ in range(STEPS):
            if len(self._tally) >= MOST_KINDS:
                break
            step = self._records.store.generations_after(self._through, received_before=before, limit=STEP)
            self._audit(step, histories)
            if len(step) < STEP:
                break
        self._tell(histories.ledger)

    def _begin(self, operating: OperatingState) -> None:
        self._from = self._through = operating.audited_through
        self._audited = self._unplaced = 0
        self._tally = Tally()

    def _audit(self, step: Sequence[tuple[int, Generation]], histories: Histories) -> None:
        grace = self._records.settings.traffic.grace
        histories.reach_back([generation for _, generation in step], grace)
        for number, generation in step:
            leak = leak_of(generation, histories.of(generation.model), grace)
            if leak is not None:
                self._tally.add(generation, leak)
            self._through = number
            self._audited += 1
            self._unplaced += not generation.candidates

    def _tell(self, ledger: Ledger) -> None:
        elapsed, at = self._records.clock.elapsed(), self._records.clock.now()
        ended = tuple(_ended(ledger.operating(), at))
        if not self._is_due(elapsed) and not ended:
            return

        def decide(operating: OperatingState) -> Sequence[Operation]:
            if operating.audited_through != self._from:  # another process has done it
                return ()
            leaked = (_leaked(kind, leaks, at) for kind, leaks in self._tally.items())
            audited = TrafficAudited(
                at=at, through=self._through, generations=self._audited, unplaced=self._unplaced
            )
            return (*leaked, *ended, *((audited,) if self._audited else ()))

        ledger.operate(decide)
        known = INTERVAL.total_seconds()
        self._told_at = {kind: told for kind, told in self._told_at.items() if elapsed - told < known}
        self._told_at |= dict.fromkeys(self._tally.kinds(), elapsed)
        self._appended_at = elapsed
        self._begin(ledger.operating())

    def _is_due(self, elapsed: float) -> bool:
        """Say whether there is news: a kind that nobody was told of lately, or a long way that was come."""
        passed = INTERVAL.total_seconds() if self._appended_at is None else elapsed - self._appended_at
        if passed < SHORTEST.total_seconds() or not self._audited:
            return False
        news = any(
            elapsed - self._told_at[kind] >= INTERVAL.total_seconds() if kind in self._told_at else True
            for kind in self._tally.kinds()
        )
        return news or passed >= INTERVAL.total_seconds()


class _Known(NamedTuple):
    newest: tuple[int, ...]  # numbers of the newest events that it may rest on
    builtin: frozenset[str]  # targets of the built-in layer then
    since: datetime
    history: History


class Histories:
    """What was to be ignored, by model: read when it is needed, and again when something happened to it."""

    def __init__(self, records: Records, ledger: Ledger) -> None:
        self._records = records
        self.ledger = ledger
        self._known: dict[ModelId, _Known] = {}

    def reach_back(self, generations: Sequence[Generation], grace: timedelta) -> None:
        """Read as far back as these need; a model that the log does not know excludes nothing."""
        watched = {state.model for state in self.ledger.states()}
        watched |= {model.model for model in self._records.settings.models}
        oldest: dict[ModelId, datetime] = {}
        for generation in generations:
            if generation.model in watched:
                at = oldest.get(generation.model, generation.started_at)
                oldest[generation.model] = min(at, generation.started_at)
        for model, at in oldest.items():
            self.reach_back_to(model, at - grace)

    def of(self, model: ModelId) -> History:
        """Return what was to be ignored of a model since the time that was reached back to."""
        known = self._known.get(model)
        return History(spans={}) if known is None else known.history

    def reach_back_to(self, model: ModelId, since: datetime) -> None:
        """Read a model's history as far back as this, where the log has it."""
        newest = self._newest(model)
        builtin = frozenset(entry.target for entry in builtin_for(self._records.builtin, model))
        known = self._known.get(model)
        if known is not None and (known.newest, known.builtin) == (newest, builtin) and known.since <= since:
            return
        history = exclusion_history(
            self._records.store,
            model,
            since=since,
            listing=self.ledger.listing(model),
            builtin=builtin,
        )
        self._known[model] = _Known(newest, builtin, since, history)

    def _newest(self, model: ModelId) -> tuple[int, ...]:
        """Number the newest events that a history can rest on."""
        store = self._records.store
        found = (*store.newest(1, model), *store.newest(1, kinds=RUNTIME_KINDS))
        return tuple(stored.seq for stored in found)


def _leaked(kind: Kind, leaks: Leaks, at: datetime) -> Operation:
    event = ExclusionLeaked if kind.certain else ExclusionLeakPossible
    return event(
        at=at,
        model=kind.model,
        routes=kind.routes,
        reason=kind.reason,
        count=leaks.generations,
        first_at=leaks.first_at,
        last_at=leaks.last_at,
        examples=tuple(name for _, name in leaks.examples),
    )


def _ended(operating: OperatingState, at: datetime) -> Iterator[Operation]:
    """Tell which leaks have stopped; a clock that stepped back says nothing."""
    for model, one in sorted(operating.models.items()):
        for _, leaking in sorted(one.leaking.items()):
            if at - leaking.last_at >= ENDS_AFTER:
                yield ExclusionLeakEnded(at=at, model=model, reason=leaking.reason, certain=leaking.certain)
