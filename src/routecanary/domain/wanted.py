"""Which routes has somebody asked to have looked at, out of turn?

A wish is taken up by an event and taken away by the event that a round answers it with, so that it outlives
any process and is not granted twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from routecanary.domain.names import Locale, RouteId

WAITS: Final = timedelta(hours=6)
"""How long a wish is kept: what was odd longer ago has been looked at in a dozen rounds since."""


class Because(StrEnum):
    """Who asked for a targeted round."""

    COMPLAINT = "complaint"  # a user's report
    TRAFFIC = "traffic"  # telemetry that is unlike what it was


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One route that is to be asked out of turn."""

    route: RouteId
    at: datetime  # when somebody asked for it
    why: Because
    locale: Locale | None = None  # in which it is to be asked; None = in whichever comes
    detail: str = ""

    def is_open(self, now: datetime) -> bool:
        """Say whether it is still waited for; neither an old wish is, nor one of a clock that was wrong."""
        return abs(now - self.at) <= WAITS


def with_wishes(known: Iterable[Wanted], wishes: Collection[Wanted]) -> tuple[Wanted, ...]:
    """Take wishes up, oldest first; one for the same route and locale takes the place of the older one."""
    named = {(wish.route, wish.locale) for wish in wishes}
    return (*(wish for wish in known if (wish.route, wish.locale) not in named), *wishes)


def without_wishes(
    known: Iterable[Wanted], routes: frozenset[RouteId], locale: Locale | None
) -> tuple[Wanted, ...]:
    """Take the wishes away that a round has answered."""
    return tuple(wish for wish in known if wish.route not in routes or wish.locale != locale)
