"""How can a request have come to a route that it should have avoided?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from routecanary.domain.names import RouteId


class LeakReason(StrEnum):
    """The likely reason; `docs/traffic.md` says of each what to do."""

    CARRIED = "carried"  # the request named the route in its `ignore`, as far as is told
    OLD_LIST = "old_list"  # it carried a list from before the exclusion
    NOT_CARRIED = "not_carried"  # it says that it carried a list, and not this name
    BY_SCOPE = "by_scope"  # it may have left the exclusion out on purpose, by what it said that it needs
    NO_HOOK = "no_hook"  # only the gateway tells of it: no hook, no proxy saw the request
    NOT_SAID = "not_said"  # whoever tells of it says nothing of a list
    # why it went out without the list, in the client's own words
    NO_SNAPSHOT = "no_snapshot"
    STALE = "stale"
    FROM_FUTURE = "from_future"
    UNKNOWN_MODEL = "unknown_model"
    MERGE_WOULD_EMPTY = "merge_would_empty"  # by design for the canary layer, which is no leak
    PRESET = "preset"
    BAD_EXISTING = "bad_existing"
    BAD_REQUEST = "bad_request"
    BAD_SCOPE = "bad_scope"
    OTHER_GATEWAY = "other_gateway"
    UNREAD_BODY = "unread_body"
    FAILED = "failed"
    OTHER = "other"  # a word that this version does not know


def leak_name(reason: LeakReason, *, certain: bool) -> str:
    """Name leaks of one kind, as the fold and conditions do."""
    return f"leak:{reason}" if certain else f"leak_possible:{reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaking:
    """Leaks of one kind that have not stopped."""

    reason: LeakReason
    certain: bool
    since: datetime  # when the first of these requests was built
    last_at: datetime  # when the last event told of more
    count: int
    routes: frozenset[RouteId]
