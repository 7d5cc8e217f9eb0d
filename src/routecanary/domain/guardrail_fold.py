"""What is remembered of a guardrail after an event? The fold of its events."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from routecanary.domain.guardrail import GuardrailStanding, PendingWrite
from routecanary.domain.operation import (
    GuardrailCleared,
    GuardrailEntriesLost,
    GuardrailFailed,
    GuardrailRefused,
    GuardrailSynced,
    GuardrailWriteBegun,
    GuardrailWritten,
)

GuardrailEvent = (
    GuardrailWriteBegun
    | GuardrailWritten
    | GuardrailSynced
    | GuardrailCleared
    | GuardrailEntriesLost
    | GuardrailRefused
    | GuardrailFailed
)


def after_guardrail_event(known: GuardrailStanding, event: GuardrailEvent) -> GuardrailStanding:
    """Take one event into what is remembered of its guardrail."""
    match event:
        case GuardrailWriteBegun():
            return replace(known, pending=PendingWrite(at=event.at, add=event.add, remove=event.remove))
        case GuardrailWritten():
            back = {name.lower() for name in event.owned}
            return replace(known, owned=event.owned, lost=known.lost - back, pending=None)
        case GuardrailSynced():
            return GuardrailStanding(owned=known.owned, lost=event.lost, synced_at=event.at)
        case GuardrailCleared():
            return replace(known, owned=frozenset(), pending=None, failing_since=None)
        case GuardrailEntriesLost():
            gone = {name.lower() for name in event.entries}
            return replace(known, owned=known.owned - event.entries, lost=known.lost | gone)
        case GuardrailRefused():
            since = event.at if known.refused is not event.why else known.refused_at
            return replace(known, refused=event.why, refused_at=since, problem=event.detail)
        case GuardrailFailed():
            since = event.at if known.failing_since is None else known.failing_since
            return replace(known, failing_since=since, problem=event.detail)
        case _:
            assert_never(event)
