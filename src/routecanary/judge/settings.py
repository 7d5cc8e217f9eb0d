"""Which numbers do the judges use?"""

from __future__ import annotations

from dataclasses import dataclass

from routecanary.judge.refusals.entry import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The limits of the contracts, as the product states them; handed in, never global.

    Source: product.md §2; language.md §4; filtering.md §3.
    """

    latency_limit_ms: float = 10_000  # first visible text, inclusive
    listen_ms: float = 30_000  # how long a probe waits to say how late
    lag_limit_ms: float = 250  # our own event loop; more voids a latency verdict
    reasoning_room_tokens: int = 2_000  # from here on a budget eaten by reasoning is the host's fault
    min_units: int = 12  # words (or their like in other scripts) below which language never fails
    mix_units: int = 12  # foreign words that a mix needs
    mix_share: float = 0.20  # and their share of the answer
    refusal_points: int = 4  # score from which a text is a refusal
    own_refusals: tuple[Entry, ...] = ()  # an administrator's own, beside the shipped tables
