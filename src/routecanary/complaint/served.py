"""What may the user have been served, and what does the record of it show by itself?

Telemetry holds no text, yet an answer that was filtered, empty or late says so in its own numbers, and then
no probe needs to be asked what the route did at the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from routecanary.domain.generation import Generation
from routecanary.domain.names import FILTERING, INTEGRITY, LATENCY, STRUCTURED, ContractName, Locale, RouteId

SHOWN: Final = 0.9
"""How likely an answer that shows the trouble is the one complained of, where it is one of its kind."""

HINTED: Final = 0.3
"""The same where its numbers only fit: an empty answer is damaged too, a cut one breaks its schema."""

DENIED: Final = 0.05
"""What is left of the route's own rate where the answer's numbers speak against it: clocks may be wrong."""

SHOWING: Final = frozenset({LATENCY, FILTERING})
"""Contracts whose trouble an answer's own numbers mostly show."""

LATE_MS: Final = 10_000
"""From here on the wait for the first text fails `latency`."""

PROMPT_MS: Final = 4_000
"""Up to here nobody has reason to complain of the wait."""

OTHER_LOCALE: Final = 0.05
"""What an answer counts that was wanted in another language than the complaint's."""

UNSAID_LOCALE: Final = 0.5
"""What one counts whose language nobody said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One answer that may be meant, or a share of answers where only a guess is at hand."""

    candidates: frozenset[RouteId]  # empty = any route
    at: datetime
    weight: float = 1.0
    locale: Locale | None = None
    shows: Mapping[
        ContractName, float
    ]  # above 0: so likely by itself; negative: speaks against, see `DENIED`
    broken: bool = False  # it came with an error, which is trouble of no contract


def served_of(generation: Generation) -> Served:
    """Read what telemetry holds of one answer.

    Tags that its request told the gateway to avoid are left out, where others remain.
    """
    allowed = generation.candidates - generation.carried
    return Served(
        candidates=allowed or generation.candidates,
        at=generation.started_at,
        locale=generation.locale,
        shows=dict(_shows(generation)),
        broken=_is_broken(generation),
    )


def guessed(
    shares: Mapping[RouteId, float], since: datetime, until: datetime, step: timedelta
) -> Iterator[Served]:
    """Spread a guess of the traffic evenly over a time."""
    at = since
    while at <= until:
        for route, share in sorted(shares.items()):
            yield Served(candidates=frozenset({route}), at=at, weight=share, shows={})
        at += step


def locale_weight(served: Served, locale: Locale | None) -> float:
    """Weigh how well an answer's language fits the complaint's."""
    if locale is None:
        return 1.0
    if served.locale is None:
        return UNSAID_LOCALE
    return 1.0 if served.locale == locale else OTHER_LOCALE


def likelihood(served: Served, contract: ContractName, rate: float, faulty: float) -> float:
    """Combine what the answer shows with how its route stood then.

    Args:
        rate: How often its route failed then by a fault.
        faulty: How likely it had one, by all that is known: an answer that shows the trouble may as well be
            one that any route gives now and then.
    """
    shown = served.shows.get(contract)
    if shown is None:
        return rate
    return rate * DENIED if shown < 0 else max(rate, shown * faulty)


def _shows(generation: Generation) -> Iterable[tuple[ContractName, float]]:
    ttft, reason = generation.ttft_ms, generation.finish_reason
    if ttft is not None and ttft > LATE_MS:
        yield LATENCY, SHOWN
    elif ttft is not None and ttft <= PROMPT_MS:
        yield LATENCY, -1.0
    elif ttft is None and generation.duration_ms is not None and generation.duration_ms > LATE_MS:
        yield LATENCY, HINTED
    if reason == "content_filter":
        yield FILTERING, SHOWN
    elif generation.empty:
        yield FILTERING, SHOWN
        yield INTEGRITY, HINTED
    if reason == "length":
        yield STRUCTURED, HINTED


def _is_broken(generation: Generation) -> bool:
    return generation.finish_reason == "error" or (generation.status is not None and generation.status >= 400)
