"""How many tokens did one fixed prompt count at each route, and what of that changed?

A host that puts words of its own in front of the product's, or cuts words into other tokens, counts the same
prompt otherwise than before. That is remembered here and told; no decision on a route rests on it.

Source: docs/operating.md, Tripwires.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from routecanary.domain.names import RouteId

REMEMBERED: Final = 7
"""Counts of a route that are remembered: one that it had lately is no change."""

SLACK: Final = 2
"""Tokens by which two counts may differ and still be the same: some hosts write the day's date in front."""

FORGOTTEN: Final = timedelta(days=30)
"""After which a route that gave no reading is begun anew, and a change is remembered no longer."""

SHOWN: Final = timedelta(days=7)
"""For how long a change is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptReading:
    """One count; those of different requests are not comparable."""

    tokens: int
    asked: str  # fingerprint of what the host was sent


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPast:
    """The last counts of one route."""

    at: datetime  # of the last one
    asked: str
    counts: tuple[int, ...]  # oldest first, at most `REMEMBERED`, never empty

    def is_changed_by(self, reading: PromptReading) -> bool:
        """Say whether a reading is none of the counts known here; of another request it is no change."""
        return self.asked == reading.asked and all(
            abs(count - reading.tokens) > SLACK for count in self.counts
        )

    def followed_by(self, reading: PromptReading, at: datetime) -> PromptPast:
        """Take in one more reading; that of another request begins anew."""
        known = self.counts if self.asked == reading.asked else ()
        return PromptPast(at=at, asked=reading.asked, counts=(*known, reading.tokens)[-REMEMBERED:])


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptChange:
    """A count that changed, confirmed; the medians are those of the model's other routes."""

    at: datetime
    was: int
    now: int
    peers_were: int | None = None  # None = too few of them
    peers: int | None = None
    study: str | None = None  # id of the one that was begun


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """What is remembered of one model's counts."""

    read_at: datetime | None = None  # when routes were asked last; None = never
    past: Mapping[RouteId, PromptPast] = field(default_factory=dict)
    changed: Mapping[RouteId, PromptChange] = field(default_factory=dict)  # each route's last one
    shifted_at: datetime | None = None  # when most routes changed together the last time

    def read(self, at: datetime, readings: Mapping[RouteId, PromptReading]) -> Prompts:
        """Take in the readings of one day."""
        past = {route: known for route, known in self.past.items() if at - known.at < FORGOTTEN}
        for route, reading in readings.items():
            if route in past:
                past[route] = past[route].followed_by(reading, at)
            else:
                past[route] = PromptPast(at=at, asked=reading.asked, counts=(reading.tokens,))
        changed = {route: change for route, change in self.changed.items() if at - change.at < FORGOTTEN}
        return replace(self, read_at=at, past=past, changed=changed)

    def change_shown(self, route: RouteId, now: datetime) -> PromptChange | None:
        """Look up a route's change, as long as it is new enough to be shown."""
        change = self.changed.get(route)
        return change if change is not None and now - change.at < SHOWN else None

    def is_shift_shown(self, now: datetime) -> bool:
        """Say whether most routes changed together lately."""
        return self.shifted_at is not None and now - self.shifted_at < SHOWN
