"""Which exclusions did people make? The runtime layer, as the fold of its events."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from routecanary.domain.codec import from_json, to_json
from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.log import StoredDraft, StoredEvent
from routecanary.domain.names import ModelId
from routecanary.errors import StoreError

ADDED: Final = "exclusion_added"
REMOVED: Final = "exclusion_removed"
RUNTIME_KINDS: Final = frozenset({ADDED, REMOVED})


class RuntimeEntries:
    """Entries by target; a later one for the same target replaces the earlier."""

    def __init__(self) -> None:
        self._entries: dict[str, RuntimeEntry] = {}

    def take_in(self, stored: StoredEvent) -> None:
        """Fold one event.

        Raises:
            StoreError: Its body is not what was written for this kind.
        """
        if stored.kind == ADDED:
            entry = from_json(RuntimeEntry, stored.body)
            self._entries[entry.target] = entry
        else:
            self._entries.pop(_target(stored), None)

    def in_force(self, now: datetime) -> tuple[RuntimeEntry, ...]:
        """List the entries in force, sorted by target."""
        return tuple(entry for _, entry in sorted(self._entries.items()) if entry.in_force(now))


def touched_by(stored: StoredEvent, model: ModelId) -> set[str]:
    """Name what an event of this layer touched of a model."""
    models = stored.body.get("models")
    return {_target(stored)} if models is None or model in models else set()


def entry_added(entry: RuntimeEntry) -> StoredDraft:
    """Make the event of an entry that a person made."""
    return StoredDraft(kind=ADDED, at=entry.created, body=to_json(entry))


def entry_removed(target: str, *, at: datetime, actor: str, reason: str) -> StoredDraft:
    """Make the event of an entry that a person took back."""
    return StoredDraft(kind=REMOVED, at=at, body={"target": target, "actor": actor, "reason": reason})


def _target(stored: StoredEvent) -> str:
    target = stored.body.get("target")
    if not isinstance(target, str):
        raise StoreError(f"event log: event {stored.seq} names no target")
    return target
