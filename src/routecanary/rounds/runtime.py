"""Which exclusions did people make? The runtime layer, as the fold of its events."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from routecanary.domain.codec import JsonObject, from_json, to_json
from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.log import StoredDraft, StoredEvent
from routecanary.domain.names import ModelId
from routecanary.errors import StoreError

ADDED: Final = "exclusion_added"
REMOVED: Final = "exclusion_removed"
RUNTIME_KINDS: Final = frozenset({ADDED, REMOVED})

_Key = tuple[str, tuple[ModelId, ...] | None]
"""A target and the models, sorted; None = all. An entry for one model and one for all stand side by side."""


class RuntimeEntries:
    """Entries by target and models; a later one for the same replaces the earlier."""

    def __init__(self, entries: Iterable[RuntimeEntry] = ()) -> None:
        self._entries: dict[_Key, RuntimeEntry] = {
            _key(entry.target, entry.models): entry for entry in entries
        }

    def take_in(self, stored: StoredEvent) -> None:
        """Fold one event.

        Raises:
            StoreError: Its body is not what was written for this kind.
        """
        if stored.kind == ADDED:
            entry = from_json(RuntimeEntry, stored.body)
            self._entries[_key(entry.target, entry.models)] = entry
        else:
            self._entries.pop(_key(_target(stored), _models(stored)), None)

    def all(self) -> tuple[RuntimeEntry, ...]:
        """List the entries that nobody took back, expired ones too, sorted by target, then models."""
        return tuple(entry for _, entry in sorted(self._entries.items(), key=_order))

    def in_force(self, now: datetime) -> tuple[RuntimeEntry, ...]:
        """List the entries in force, sorted by target, then models; those for all models come first."""
        return tuple(entry for entry in self.all() if entry.in_force(now))


def touched_by(stored: StoredEvent, model: ModelId) -> set[str]:
    """Name what an event of this layer touched of a model."""
    models = _models(stored)
    return {_target(stored)} if models is None or model in models else set()


def entry_added(entry: RuntimeEntry) -> StoredDraft:
    """Make the event of an entry that a person made."""
    return StoredDraft(kind=ADDED, at=entry.created, body=to_json(entry), model=_only(entry.models))


def entry_removed(
    target: str, models: frozenset[ModelId] | None, *, at: datetime, actor: str, reason: str
) -> StoredDraft:
    """Make the event of an entry that a person took back."""
    body: JsonObject = {
        "target": target,
        "models": None if models is None else sorted(models),
        "actor": actor,
        "reason": reason,
    }
    return StoredDraft(kind=REMOVED, at=at, body=body, model=_only(models))


def _key(target: str, models: frozenset[ModelId] | None) -> _Key:
    return target, None if models is None else tuple(sorted(models))


def _order(item: tuple[_Key, RuntimeEntry]) -> tuple[str, tuple[ModelId, ...]]:
    (target, models), _ = item
    return target, models or ()


def _only(models: frozenset[ModelId] | None) -> ModelId | None:
    """Tell whose event it is: that of the one model, or of no single one."""
    return next(iter(models)) if models is not None and len(models) == 1 else None


def _target(stored: StoredEvent) -> str:
    target = stored.body.get("target")
    if not isinstance(target, str):
        raise StoreError(f"event log: event {stored.seq} names no target")
    return target


def _models(stored: StoredEvent) -> frozenset[ModelId] | None:
    models = stored.body.get("models")
    if models is None:
        return None
    if not isinstance(models, list) or not all(isinstance(model, str) for model in models):
        raise StoreError(f"event log: event {stored.seq} names its models in no list")
    return frozenset(map(ModelId, models))
