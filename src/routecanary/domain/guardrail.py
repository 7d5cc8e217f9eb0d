"""What is a guardrail, whom does it cover, and what do we remember of the one that we write to?

A guardrail is an account's own rule at the gateway. It ends by itself never: whatever stands in its list of
ignored providers stays there until somebody takes it out.

Source: openrouter-wire.md §2.4; the official SDK's schemas `guardrail`, `keyassignment`, `memberassignment`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Granularity(StrEnum):
    """What an entry of a guardrail's list names; which of the two the gateway heeds is unconfirmed."""

    SLUG = "slug"  # a provider with all its endpoints
    TAG = "tag"  # as in `provider.ignore`


class OnStop(StrEnum):
    """What becomes of our entries when the daemon ends in good order."""

    CLEAR = "clear"
    KEEP = "keep"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guardrail:
    """A guardrail as the gateway tells it now; entries as they are written there."""

    id: str
    name: str
    workspace: str | None  # id; None = of none
    ignored: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()  # empty = all
    allowed_models: tuple[str, ...] = ()  # empty = all


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryKey:
    """Who the canary's own key is to the gateway; never the key itself."""

    hashes: frozenset[str] = field(repr=False)  # the key's, or of all that it may be; at least one
    creator: str | None  # user id of the member who made it
    workspace: str  # id


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Whose requests a guardrail filters."""

    keys: frozenset[str] = field(default=frozenset(), repr=False)  # hashes
    members: frozenset[str] = frozenset()  # user ids: all of their keys
    workspaces: frozenset[str] = frozenset()  # ids: as default guardrail, all of their traffic

    @property
    def is_empty(self) -> bool:
        """Say whether it filters nobody's."""
        return not (self.keys or self.members or self.workspaces)


class Refusal(StrEnum):
    """Why nothing may be added to a guardrail."""

    COVERS_KEY = "covers_key"
    COVERS_MEMBER = "covers_member"
    COVERS_WORKSPACE = "covers_workspace"
    UNCLEAR = "unclear"  # whom it covers could not be found out
    WITHHELD = "withheld"  # routes that it names are kept from the canary's own key

    @property
    def covers_canary(self) -> bool:
        """Say whether our entries, where they are, keep routes from the canary."""
        return self is not Refusal.UNCLEAR


def refusal_of(coverage: Coverage, canary: CanaryKey) -> Refusal | None:
    """Say why a guardrail may not be written to; None where it leaves the canary's key alone.

    A member assignment covers every key that the member made: where nobody says who made the canary's, any
    such assignment may.
    """
    if coverage.keys & canary.hashes:
        return Refusal.COVERS_KEY
    if canary.creator in coverage.members:
        return Refusal.COVERS_MEMBER
    if canary.workspace in coverage.workspaces:
        return Refusal.COVERS_WORKSPACE
    if canary.creator is None and coverage.members:
        return Refusal.UNCLEAR
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingWrite:
    """A write that was begun, and of which is not known yet what came of it."""

    at: datetime
    add: frozenset[str]
    remove: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardrailStanding:
    """What is remembered of one guardrail: the fold of its events."""

    owned: frozenset[str] = (
        frozenset()
    )  # entries that we put there, as they were written there when last seen
    lost: frozenset[str] = (
        frozenset()
    )  # in lower case: ours that somebody took out, and that are not put back
    pending: PendingWrite | None = None
    synced_at: datetime | None = None  # the last time that list and coverage were as they should be
    refused: Refusal | None = None
    refused_at: datetime | None = None
    failing_since: datetime | None = None
    problem: str = ""  # of the refusal or failure
