"""What did a person say of an incident: was the suspension right?

A label is an event like any other; the last one of an incident holds. A lift as a false positive is a label
by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from routecanary.domain.codec import from_json, to_json
from routecanary.domain.log import StoredDraft, StoredEvent
from routecanary.domain.names import ModelId, RouteId

LABELLED: Final = "incident_labelled"


class Judgement(StrEnum):
    RIGHT = "right"
    WRONG = "wrong"  # a false positive
    UNSURE = "unsure"  # looked at, and not told; counts neither way


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What somebody said of an incident, and why."""

    at: datetime
    incident: int  # number of the event that began it
    model: ModelId
    route: RouteId
    judgement: Judgement
    actor: str
    reason: str


def label_draft(label: Label) -> StoredDraft:
    """Make the event of a label."""
    return StoredDraft(kind=LABELLED, at=label.at, body=to_json(label), model=label.model)


def label_from(stored: StoredEvent) -> Label:
    """Read a label back.

    Raises:
        StoreError: The body is not what was written.
    """
    return from_json(Label, stored.body)
