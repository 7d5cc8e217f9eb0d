"""Does a route that counts a fixed prompt otherwise also answer otherwise? The study that a change starts.

The route is asked the chat question of the rotation's first locale several times over, and the others beside
it. As with any study, nothing of it is evidence in the decision; a person looks at it, and may go on with it.

Source: docs/operating.md, Tripwires; docs/studies.md.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from typing import Final

from routecanary.domain.names import RouteId
from routecanary.domain.probe import ProbeKind
from routecanary.domain.route import Listing
from routecanary.errors import ConfigError, InputError
from routecanary.rounds.asked import usual_routes
from routecanary.rounds.studies import KeptStudy
from routecanary.rounds.study import Stopped, ask_study
from routecanary.rounds.study_plan import askings_of, left_of, questions_of, study_of
from routecanary.rounds.world import World
from routecanary.study.values import Study, StudyAnswer

LOG: Final = logging.getLogger("routecanary.rounds")

ASKINGS: Final = 10  # of each route that changed
OTHERS: Final = 20  # of all others together
LONGEST: Final = 300.0
"""Seconds after which it ends, whole or not: no reload is taken over meanwhile, and rounds wait."""


class _Unwatched:
    """Nobody watches while it is asked."""

    def answered(self, answer: StudyAnswer) -> None: ...


def study_of_change(world: World, listing: Listing, routes: Collection[RouteId]) -> Study | None:
    """Plan the study of routes that changed; nothing is kept yet. None where they cannot be asked."""
    production = world.model(listing.model).production
    usual = usual_routes(listing, production)
    try:
        questions = questions_of(world.catalog, ProbeKind.CHAT, world.settings.probes.locales[0])
        askings = askings_of(
            usual,
            chosen=(),
            suspects=routes,
            n=ASKINGS,
            others=OTHERS if usual - frozenset(routes) else None,
            rng=world.rng,
        )
        return study_of(
            world,
            listing,
            questions,
            [turn % len(questions) for turn in range(max(askings.values()))],
            askings,
            contracts=world.settings.enabled_contracts(),
            suspects=routes,
        )
    except (ConfigError, InputError) as error:
        LOG.warning("no study of a change model=%s error=%s", listing.model, error)
        return None


async def ask_of_change(world: World, study: Study, listing: Listing) -> None:
    """Ask a study that is in the log already, as far as time and the day's budget allow; the rest is left.

    Raises:
        StoreError: Something could not be kept; nothing more is asked.
    """
    own = replace(world, ledger=world.ledger.another())  # a study writes from a thread of its own
    left = left_of(own, KeptStudy(study=study, answers=()), listing)
    asking = asyncio.create_task(ask_study(own, study, listing, left, _Unwatched()))
    patience = asyncio.create_task(world.clock.sleep(LONGEST))
    try:
        await asyncio.wait((asking, patience), return_when=asyncio.FIRST_COMPLETED)
    finally:
        patience.cancel()
        asking.cancel()
        stopped: Stopped | None = None
        with suppress(asyncio.CancelledError):
            stopped = await asking
    LOG.info(
        "study of a change model=%s study=%s complete=%s why=%s",
        study.model,
        study.id,
        stopped is None and not asking.cancelled(),
        "" if stopped is None else stopped.detail,
    )
