"""Has observing a model shown enough to let its suspensions take effect?

What observe mode is for: suspensions that people looked at, over a time in which rounds were made, and what
both say of how often the canary is wrong, against the rate that the policy declares.

Source: docs/incidents.md, From observe to enforce.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from routecanary.domain.event import EVENT_NAMES, ModeChanged, RoundClosed
from routecanary.domain.interval import Interval, exact_count_interval
from routecanary.domain.log import StoredEvent
from routecanary.domain.names import ModelId
from routecanary.domain.round import Mode
from routecanary.rounds.incidents import INCIDENT_KINDS, Tally, incidents_of, tally
from routecanary.rounds.records import Records

LEAST_TOLD: Final = 20
"""Shadow suspensions that people marked right or wrong. Without a wrong one among so many, the exact interval
still admits one in six."""

LEAST_OBSERVED: Final = timedelta(days=7)

_YEAR: Final = timedelta(days=365)
_MODE: Final = EVENT_NAMES[ModeChanged]
OBSERVED_BY: Final = frozenset({EVENT_NAMES[RoundClosed], _MODE})
"""Kinds of events from which it can be told how long a model was observed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """What observing a model came to, as far back as the log goes."""

    counts: Tally  # of its shadow suspensions
    observed: timedelta  # in observe mode, as far as rounds were made
    declared: float  # false suspensions a year, by the policy

    @property
    def enough(self) -> bool:
        return self.counts.told >= LEAST_TOLD and self.observed >= LEAST_OBSERVED

    @property
    def a_year(self) -> float | None:
        """State the suspensions marked wrong, at the pace of the observed time; None where none was observed.

        Those that nobody marked are not counted: the truth may be worse.
        """
        return self.counts.wrong * (_YEAR / self.observed) if self.observed else None

    def interval_a_year(self, confidence: float) -> Interval | None:
        """Give the exact interval of that rate."""
        if not self.observed:
            return None
        years = self.observed / _YEAR
        low, high = exact_count_interval(self.counts.wrong, confidence)
        return Interval(low / years, high / years)

    def exceeds(self, confidence: float) -> bool:
        """Say whether what was marked wrong speaks against the declared rate, as surely as was asked."""
        interval = self.interval_a_year(confidence)
        return interval is not None and interval.low > self.declared


def trust_in(records: Records, model: ModelId) -> Trust:
    """Sum up what observing a model has shown.

    Raises:
        StoreError: The log cannot be read.
    """
    store = records.store
    shadows = [each for each in incidents_of(store.read(0, model, kinds=INCIDENT_KINDS)) if each.shadow]
    return Trust(
        counts=tally(shadows),
        observed=observed_time(
            store.read(0, model, kinds=OBSERVED_BY),
            records.ledger.state(model).mode,
            longest_gap=records.settings.overdue_after(),
        ),
        declared=records.settings.policy.false_suspensions_per_year,
    )


def observed_time(events: Iterable[StoredEvent], mode: Mode, *, longest_gap: timedelta) -> timedelta:
    """Add up the time between the rounds that were made in observe mode.

    Args:
        events: Of one model, of the kinds of `OBSERVED_BY`, in order.
        mode: In force after them; each switch before it was from the other one.
        longest_gap: What a time without rounds counts for at most: nobody was observed then.
    """
    stretches: list[list[datetime]] = [[]]
    for stored in events:
        if stored.kind == _MODE:
            stretches.append([])
        else:
            stretches[-1].append(stored.at)
    observed = stretches[::-1][0 if mode is Mode.OBSERVE else 1 :: 2]
    gaps = (later - earlier for times in observed for earlier, later in pairwise(times))
    return sum((min(gap, longest_gap) for gap in gaps), timedelta())
