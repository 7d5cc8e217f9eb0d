"""How does somebody outside of the rounds have routes looked at? By asking for a targeted round.

Whoever may append to the log may ask; the daemon makes the round (`daemon.targets`) within its budget, and
what it shows is decided on like any other. Whoever asks, and however often: one wish a route and locale
waits, and a route is asked for again only when most of its rounds have been the rotation's own.

Source: docs/operating.md, Rounds on request.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from routecanary.domain.names import Locale, ModelId, RouteId
from routecanary.domain.operating import ModelOperation, OperatingState
from routecanary.domain.operation import Operation, RoundAnswered, RoundAsked
from routecanary.domain.settings import Settings
from routecanary.domain.wanted import Because
from routecanary.errors import InputError
from routecanary.rounds.records import Records
from routecanary.rounds.wording import printable

LONGEST_DETAIL: Final = 200  # characters
_PERIODS: Final = 4  # of the schedule, from one wish for a route to the next


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What became of asking: each route is in exactly one of the three."""

    asked: frozenset[RouteId]  # will be asked in a round of their own
    waiting: frozenset[RouteId]  # somebody asked for the same already, and it has not been made yet
    too_soon: frozenset[RouteId]  # one was asked for lately: nothing was kept


def ask_round(
    records: Records,
    model: ModelId,
    routes: Collection[RouteId],
    *,
    why: Because,
    locale: Locale | None = None,
    detail: str = "",
    gap: timedelta = timedelta(0),
) -> Asked:
    """Ask for a targeted round of routes; the daemon makes it, another process may ask.

    Args:
        locale: In which they are to be asked, one of the rotation's; None = in whichever comes.
        detail: What a reader of the log is to know; cut where it is long.
        gap: Least time since the route was last asked for, where it is longer than everybody's (`least_gap`).
    Raises:
        ConfigError: The model is not configured.
        InputError: No route is named, one is not listed, or the locale is not asked in.
        StoreError: The log failed; nothing was asked.
    """
    _check(records, model, routes, locale)
    least = max(gap, least_gap(records.settings))
    at = records.clock.now()
    outcome = Asked(asked=frozenset(), waiting=frozenset(), too_soon=frozenset())

    def decide(operating: OperatingState) -> Sequence[Operation]:
        nonlocal outcome
        outcome = _sorted_out(operating.model(model), frozenset(routes), locale, at, least)
        if not outcome.asked:
            return ()
        said = printable(detail, LONGEST_DETAIL)
        return (RoundAsked(at=at, model=model, routes=outcome.asked, why=why, locale=locale, detail=said),)

    records.ledger.operate(decide)
    return outcome


def least_gap(settings: Settings) -> timedelta:
    """State how long after a route was asked for it is not asked for again.

    A targeted round can keep the next full one from counting for its routes (`min_round_gap`): most rounds of
    a route have to be the rotation's, or asking for it would keep it from the rotation.
    """
    return max(settings.policy.min_round_gap, _PERIODS * settings.schedule.period)


def answered(
    known: ModelOperation, asked_in: Mapping[RouteId, Locale], *, model: ModelId, at: datetime
) -> Iterator[RoundAnswered]:
    """Say which wishes a round answers, whatever it was made for.

    Args:
        asked_in: The routes that it asked, and in which locale.
    """
    by_locale: dict[Locale | None, set[RouteId]] = {}
    for wanted in known.wanted:
        if wanted.route in asked_in and wanted.locale in {None, asked_in[wanted.route]}:
            by_locale.setdefault(wanted.locale, set()).add(wanted.route)
    for locale, routes in sorted(by_locale.items(), key=lambda each: each[0] or ""):
        yield RoundAnswered(at=at, model=model, routes=frozenset(routes), locale=locale)


def _check(records: Records, model: ModelId, routes: Collection[RouteId], locale: Locale | None) -> None:
    records.model(model)
    listing = records.ledger.listing(model)
    listed = frozenset[RouteId]() if listing is None else listing.tags()
    known = ", ".join(sorted(listed)) or "none: no round was made yet"
    if not routes:
        raise InputError("no route is named", place=model, allowed=known)
    for unknown in sorted(frozenset(routes) - listed):
        raise InputError("not a route of this model", place=model, value=str(unknown), allowed=known)
    locales = records.settings.probes.locales
    if locale is not None and locale not in locales:
        raise InputError(
            "not a locale of the rotation",
            place=records.settings.place,
            key="probes.locales",
            value=str(locale),
            allowed=", ".join(locales),
        )


def _sorted_out(
    known: ModelOperation,
    routes: frozenset[RouteId],
    locale: Locale | None,
    at: datetime,
    least: timedelta,
) -> Asked:
    waiting = {wish.route for wish in known.wanted if wish.locale == locale and wish.is_open(at)}
    lately = {route for route, last in known.wanted_at.items() if abs(at - last) < least}
    return Asked(
        asked=routes - waiting - lately,
        waiting=routes & waiting,
        too_soon=(routes & lately) - waiting,
    )
