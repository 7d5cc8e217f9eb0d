"""How does an administrator's act take effect? Through the same decision as a round."""

from __future__ import annotations

from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.names import ModelId
from routecanary.domain.round import Act, Mode, SwitchMode
from routecanary.rounds.record import Decision
from routecanary.rounds.runtime import entry_added, entry_removed
from routecanary.rounds.world import World


def act(world: World, line: Act) -> Decision:
    """Carry out an act now: decided, kept, published.

    Raises:
        StoreError: It could not be kept; nothing is published.
    """
    decision = world.ledger.decide(line.model, lambda _at, _acted: line, now=world.clock.now)
    world.publish()
    return decision


def ensure_mode(world: World, model: ModelId) -> None:
    """Put a model that the log does not know yet into the configured first mode."""
    if world.ledger.state(model).last_line_at is None and world.settings.initial_mode is not Mode.ENFORCE:
        first = SwitchMode(
            at=world.clock.now(),
            model=model,
            mode=world.settings.initial_mode,
            actor="configuration",
            reason="initial_mode",
        )
        world.ledger.decide(model, lambda _at, _acted: first, now=world.clock.now)


def exclude(world: World, entry: RuntimeEntry) -> None:
    """Add an entry to the runtime layer, or replace the one of its target."""
    world.ledger.note(entry_added(entry))
    world.publish()


def readmit(world: World, target: str, *, actor: str, reason: str) -> None:
    """Take an entry of the runtime layer back."""
    world.ledger.note(entry_removed(target, at=world.clock.now(), actor=actor, reason=reason))
    world.publish()
