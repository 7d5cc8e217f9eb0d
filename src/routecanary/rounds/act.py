"""How does an administrator's act take effect? Through the same decision as a round.

Each is decided, kept, and published at once: what `act`, `exclude` and `readmit` return from has reached
every application on the machine that looks at the snapshot.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.names import ModelId
from routecanary.domain.operation import Operation
from routecanary.domain.round import Act, Mode, Resume, SwitchMode
from routecanary.rounds.record import Decision, Ledger
from routecanary.rounds.records import Records
from routecanary.rounds.runtime import entry_added, entry_removed

BY_CLOCK: Final = "routecanary"
"""The actor of what nobody did but the clock."""


def act(records: Records, line: Act, *, operations: Sequence[Operation] = ()) -> Decision:
    """Carry out an act now: decided, kept, published.

    Args:
        operations: What else is to be kept with it.
    Raises:
        StoreError: It could not be kept; nothing is published.
        SnapshotError: It is kept, and could not be published.
    """
    ensure_mode(records, line.model)
    decision = records.ledger.decide(
        line.model, lambda _at, _acted: line, now=records.clock.now, operations=operations
    )
    records.publish()
    return decision


def ensure_mode(records: Records, model: ModelId) -> None:
    """Put a model that the log does not know yet into the configured first mode."""
    if records.ledger.state(model).last_line_at is None and records.settings.initial_mode is not Mode.ENFORCE:
        first = SwitchMode(
            at=records.clock.now(),
            model=model,
            mode=records.settings.initial_mode,
            actor="configuration",
            reason="initial_mode",
        )
        records.ledger.decide(model, lambda _at, _acted: first, now=records.clock.now)


def resumptions_due(ledger: Ledger, now: datetime) -> tuple[ModelId, ...]:
    """List the models whose pause has reached its end, sorted."""
    return tuple(
        state.model
        for state in ledger.states()
        if state.paused and state.paused_until is not None and now >= state.paused_until
    )


def resume_due(records: Records) -> tuple[Decision, ...]:
    """End every pause that has reached its end; one that was moved meanwhile goes on.

    Raises:
        StoreError: It could not be kept; nothing is published.
        SnapshotError: It is kept, and could not be published.
    """
    now = records.clock.now()
    return tuple(
        act(
            records,
            Resume(at=now, model=model, actor=BY_CLOCK, reason="the pause reached its end", scheduled=True),
        )
        for model in resumptions_due(records.ledger, now)
    )


def exclude(records: Records, entry: RuntimeEntry) -> None:
    """Add an entry to the runtime layer, or replace the one of its target and models."""
    records.ledger.note(entry_added(entry))
    records.publish()


def readmit(
    records: Records, target: str, models: frozenset[ModelId] | None, *, actor: str, reason: str
) -> None:
    """Take an entry of the runtime layer back."""
    records.ledger.note(entry_removed(target, models, at=records.clock.now(), actor=actor, reason=reason))
    records.publish()
