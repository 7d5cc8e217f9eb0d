"""Which few routes are to be asked between two full rounds, and when?

Two kinds: rechecks, of what the last full round has made doubtful, and rounds that somebody asked for. One of
each at most follows a full round, so that neither a bad day nor a flood of wishes can take the rounds over.

Source: docs/operating.md, Rechecks, Rounds on request.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from routecanary.decide.rotation import locales_for, round_locale
from routecanary.domain.event import RoundClosed
from routecanary.domain.names import Locale, ModelId, RouteId
from routecanary.domain.round import RoundClass
from routecanary.domain.state import ModelState
from routecanary.domain.wanted import Wanted
from routecanary.errors import StoreError
from routecanary.rounds.probation import last_listings, on_probation
from routecanary.rounds.run import RoundResult
from routecanary.rounds.world import World

LOG: Final = logging.getLogger("routecanary.daemon")

MOST_WANTED: Final = 3
"""Routes of one round that was asked for; with as many others for company that is a small part of a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """Whom a targeted round is about."""

    routes: frozenset[RouteId]
    locale: Locale | None = None  # that was asked for; None = the rotation's


class _Due(NamedTuple):
    at: datetime
    wish: Wanted


class Targeted:
    """The targeted rounds of one model."""

    def __init__(self, world: World, model: ModelId) -> None:
        self._world = world
        self._model = model
        self._suspects: frozenset[RouteId] = frozenset()  # to be asked again before the next full round
        self._recheck_at = 0.0  # elapsed seconds at which that is done
        self._granted = False  # a round that was asked for has followed the last full one

    def full_round_made(self, result: RoundResult) -> None:
        """Note what it made doubtful, if that is to be asked again soon."""
        schedule = self._world.settings.schedule
        self._granted = False
        self._suspects = frozenset()
        if schedule.recheck:
            self._suspects = first_failures(result) | self._on_probation(result)
        self._recheck_at = self._world.clock.elapsed() + schedule.recheck_after.total_seconds()

    def full_round_due(self) -> None:
        """Drop the suspects: the full round asks them too."""
        self._suspects = frozenset()

    def look(self, full_round_at: datetime, held_until: float) -> Targets | float | None:
        """Say whom to ask now; else for how many seconds nobody is to be asked, None where nobody is to come.

        Args:
            full_round_at: When the next full round is due.
            held_until: Elapsed seconds before which no round begins.
        """
        clock = self._world.clock
        now, held = clock.now(), held_until - clock.elapsed()
        wanted = self._wanted(full_round_at)
        waits = [(due.at - now).total_seconds() for due in wanted]
        recheck = self._recheck_at - clock.elapsed()
        if self._suspects:
            waits.append(recheck)
        if not waits or max(min(waits), held) > 0:
            return max(min(waits), held) if waits else None
        if self._suspects and recheck <= 0:
            suspects, self._suspects = self._suspects, frozenset()
            return Targets(routes=suspects)
        return self._granted_now([each.wish for each in wanted if each.at <= now])

    def _granted_now(self, due: Sequence[Wanted]) -> Targets:
        """Take the oldest wishes that can share a round."""
        self._granted = True
        locale = due[0].locale
        routes = dict.fromkeys(wish.route for wish in due if wish.locale in {None, locale})
        targets = Targets(routes=frozenset(list(routes)[:MOST_WANTED]), locale=locale)
        LOG.info(
            "round asked for model=%s routes=%s locale=%s why=%s",
            self._model,
            ",".join(sorted(targets.routes)),
            locale or "any",
            due[0].why,
        )
        return targets

    def _wanted(self, full_round_at: datetime) -> list[_Due]:
        """List the wishes that can be granted before the next full round, and from when on, oldest first.

        A route that has to be asked again in the locale that it failed is asked in no other.
        """
        world, model = self._world, self._model
        if self._granted:
            return []
        try:
            wanted = world.ledger.operating().model(model).wanted
            if not wanted:
                return []
            state, listing = world.ledger.state(model), world.ledger.listing(model)
        except StoreError:  # the round will meet the same trouble, and tell of it
            return []
        now = world.clock.now()
        listed = frozenset[RouteId]() if listing is None else listing.tags()
        grantable = [
            wish for wish in wanted if wish.is_open(now) and wish.route in listed and self._heeds(wish, state)
        ]
        return list(self._dated(grantable, state, full_round_at))

    def _heeds(self, wish: Wanted, state: ModelState) -> bool:
        """Say whether the route would be asked in the locale that was asked for."""
        locales = self._world.settings.probes.locales
        if wish.locale is None:
            return True
        asked_in = locales_for(state, locales, [wish.route], out_of_turn=wish.locale)
        return wish.locale in locales and asked_in[wish.route] == wish.locale

    def _dated(self, wishes: list[Wanted], state: ModelState, full_round_at: datetime) -> Iterator[_Due]:
        """Wait until the round can count, where that is before the next full one; else show what there is.

        What the full round will ask in any case, and sooner, is left to it.
        """
        gap = self._world.settings.policy.min_round_gap
        next_turn = round_locale(state, self._world.settings.probes.locales)
        for wish in wishes:
            known = state.routes.get(wish.route)
            last = None if known is None else known.streak.last_at
            counts_at = wish.at if last is None else max(wish.at, last + gap)
            if counts_at < full_round_at:
                yield _Due(counts_at, wish)
            elif wish.locale not in {None, next_turn}:
                yield _Due(wish.at, wish)

    def _on_probation(self, result: RoundResult) -> frozenset[RouteId]:
        """List the routes on probation; none where the log cannot be read, for a recheck is no duty."""
        world = self._world
        try:
            listings = last_listings(world.store, self._model)
        except StoreError as error:
            LOG.error("listings not read model=%s error=%s", self._model, error)
            return frozenset()
        length = world.settings.schedule.probation
        return frozenset(on_probation(result.state, listings, world.clock.now(), length))


def first_failures(result: RoundResult) -> frozenset[RouteId]:
    """List the routes whose fail streak began with this round, and that are not suspended."""
    return frozenset(
        name
        for event in result.events
        if isinstance(event, RoundClosed)
        for name, outcome in event.outcomes.items()
        if outcome.counted
        and outcome.round_class is RoundClass.FAILED
        and outcome.streak.failed == 1
        and result.state.routes[name].suspension is None
    )
