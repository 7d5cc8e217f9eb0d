"""How does an administrator's act take effect? Through the same decision as a round."""

from __future__ import annotations

from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.names import ModelId
from routecanary.domain.round import Act, Mode, SwitchMode
from routecanary.rounds.record import Decision
from routecanary.rounds.records import Records
from routecanary.rounds.runtime import entry_added, entry_removed


def act(records: Records, line: Act) -> Decision:
    """Carry out an act now: decided, kept, published.

    Raises:
        StoreError: It could not be kept; nothing is published.
    """
    decision = records.ledger.decide(line.model, lambda _at, _acted: line, now=records.clock.now)
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


def exclude(records: Records, entry: RuntimeEntry) -> None:
    """Add an entry to the runtime layer, or replace the one of its target."""
    records.ledger.note(entry_added(entry))
    records.publish()


def readmit(records: Records, target: str, *, actor: str, reason: str) -> None:
    """Take an entry of the runtime layer back."""
    records.ledger.note(entry_removed(target, at=records.clock.now(), actor=actor, reason=reason))
    records.publish()
