"""Does telemetry show that a route does worse? Then it is worth a round out of turn, and nothing else.

Telemetry comes from outside and may be made up: it accuses nobody. All that an oddity does is to ask for a
targeted round (`rounds.asking`), whose probes are judged like any others; how often, that has bounds.

Source: docs/traffic.md, The passive watch.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Final

from routecanary.domain.names import ModelId
from routecanary.domain.settings import Settings, TrafficSettings
from routecanary.domain.wanted import Because
from routecanary.errors import InputError
from routecanary.rounds.asking import ask_round
from routecanary.rounds.oddity import Oddity, oddities
from routecanary.rounds.record import Ledger
from routecanary.rounds.records import Records
from routecanary.telemetry.windows import Routes, Served, WindowBuilder, add_up

LOG: Final = logging.getLogger("routecanary.rounds")

SETTLES: Final = timedelta(minutes=1)
"""How long after its end a window is looked at: hooks and the gateway tell of it in batches."""
BEFORE: Final = 24  # windows that make up a route's own past
AGAIN_AFTER: Final = timedelta(hours=6)  # of a route, from one round that traffic asked for to the next
MOST_READ: Final = 50_000  # generations of one window; of more, the first ones
_EMPTY_ONES: Final = 100  # windows without any that are passed over in one look
_WEEK: Final = timedelta(weeks=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Window = Mapping[Routes, Served]


class PassiveWatch:
    """Looks at each window of each configured model once; the daemon's own, not for two threads at once."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._ledger: Ledger | None = None
        self._length = timedelta(0)
        self._windows: dict[tuple[ModelId, int], Window] = {}
        self._judged: dict[ModelId, int] = {}

    def look(self) -> None:
        """Read at most one window that holds anything, and judge those that are whole.

        Raises:
            StoreError: The store failed; the same is tried next time.
        """
        settings = self._records.settings
        if settings.traffic.window != self._length:
            self._length = settings.traffic.window
            self._windows, self._judged = {}, {}
        if not settings.traffic.watch:
            return
        last = (self._records.clock.now() - SETTLES - _EPOCH) // self._length - 1
        models = [model.model for model in settings.models]
        self._windows = {
            key: window
            for key, window in self._windows.items()
            if key[0] in models and last - BEFORE <= key[1] <= last
        }
        left = _EMPTY_ONES
        for model in models:
            for number in range(last, last - BEFORE - 1, -1):
                if (model, number) not in self._windows:
                    self._windows[model, number] = self._read(model, number, settings)
                    left -= 1
                    if self._windows[model, number] or not left:
                        return
            if self._judged.get(model) != last:
                self._judge(model, last, settings.traffic)
                self._judged[model] = last

    def _read(self, model: ModelId, number: int, settings: Settings) -> Window:
        since = _EPOCH + number * self._length
        builder = WindowBuilder(late_ms=settings.latency.limit.total_seconds() * 1000)
        found = self._records.store.generations(model, since=since, until=since + self._length)
        for generation in islice(found, MOST_READ):
            builder.add(generation)
        return builder.built()

    def _judge(self, model: ModelId, number: int, settings: TrafficSettings) -> None:
        now = self._windows[model, number]
        before = add_up(self._windows[model, each] for each in range(number - BEFORE, number))
        for oddity in oddities(
            now,
            before,
            least=settings.min_conversations,
            least_share=float(settings.min_share),
            level=level_of(settings),
        ):
            self._ask(model, oddity)

    def _ask(self, model: ModelId, oddity: Oddity) -> None:
        """Ask for a round of those that may be at fault, and are not suspended and watched already."""
        if self._ledger is None:
            self._ledger = self._records.ledger.another()
        records = replace(self._records, ledger=self._ledger)
        routes = oddity.routes - self._ledger.state(model).suspensions().keys()
        listing = self._ledger.listing(model)
        routes &= frozenset() if listing is None else listing.tags()
        LOG.info("odd traffic model=%s routes=%s %s", model, ",".join(sorted(oddity.routes)), oddity)
        if not routes:
            return
        try:
            ask_round(records, model, routes, why=Because.TRAFFIC, detail=str(oddity), gap=AGAIN_AFTER)
        except InputError as error:  # the configuration was read anew meanwhile
            LOG.warning("no round asked for model=%s why=%s", model, error)


def level_of(settings: TrafficSettings) -> float:
    """State the chance of a false oddity that one window may have, so that a week has what is configured."""
    return min(0.05, settings.false_rounds_per_week * (settings.window / _WEEK))
