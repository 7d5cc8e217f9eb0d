"""Did a request reach a route that was excluded when it was built?

Certain is only what no other tag can explain: an answer names its provider, so all of its candidates must
have been excluded. Where the request may have been meant so, nothing is certain; where it surely was, that is
no leak.

Source: docs/traffic.md, The leak audit; policy.md §8, §12.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from routecanary.domain.exclusion import Layer
from routecanary.domain.generation import Generation, Source
from routecanary.domain.leak import LeakReason
from routecanary.domain.names import LANGUAGE, STRUCTURED, ContractName, Locale, RouteId
from routecanary.routing.merge import EMPTYING
from routecanary.routing.scope import Scope

_WORDS: Final = frozenset(LeakReason) - {
    LeakReason.CARRIED,
    LeakReason.OLD_LIST,
    LeakReason.NOT_CARRIED,
    LeakReason.BY_SCOPE,
    LeakReason.NO_HOOK,
    LeakReason.NOT_SAID,
}
"""Those that a client may state itself."""

_LEFT_TO_SOME: Final = frozenset({STRUCTURED, LANGUAGE})
"""Contracts that a request may do without, if it says so; a suspension for others touches every request."""


_ROUNDING: Final = timedelta(milliseconds=1)  # of an instant that travels as a number of seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A name that was to be ignored for some time."""

    name: str  # a tag, or a slug that names all below it
    layer: Layer
    since: datetime
    until: datetime | None = None  # None = it still is
    contracts: frozenset[ContractName] = frozenset()  # of a suspension
    locales: frozenset[Locale] = frozenset()  # likewise, for `language`

    def covers(self, at: datetime, grace: timedelta) -> bool:
        """Say whether it was surely in force, for whoever reads clocks that may be so far apart."""
        return self.since + grace <= at and (self.until is None or at < self.until - grace)


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What was to be ignored of one model, and when."""

    spans: Mapping[str, Sequence[Span]]  # by name, earliest first
    tiers: frozenset[RouteId] = frozenset()  # that no slug names

    def covering(self, tag: RouteId, at: datetime, grace: timedelta) -> tuple[Span, ...]:
        """List what kept a route away at a time. A slug names what is below it; in doubt it names nothing."""
        base, slash, _ = tag.partition("/")
        names = (tag, base) if slash and tag not in self.tiers else (tag,)
        return tuple(span for name in names for span in self.spans.get(name, ()) if span.covers(at, grace))

    def seconds(self, since: datetime, until: datetime) -> float:
        """Add up for how long each name was to be ignored within a window."""
        total = timedelta(0)
        for spans in self.spans.values():
            reached = since
            for span in spans:  # two layers may name one route: the time counts once
                begin, end = max(span.since, reached), min(span.until or until, until)
                if begin < end:
                    total += end - begin
                    reached = end
        return total.total_seconds()


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """A generation that reached, or may have reached, excluded routes."""

    routes: frozenset[RouteId]  # the excluded ones among its candidates
    certain: bool  # every candidate was excluded, and nothing says that it was meant so
    reason: LeakReason


def leak_of(generation: Generation, history: History, grace: timedelta) -> Leak | None:
    """Judge one generation.

    Args:
        history: Of its model.
        grace: How long an exclusion may take to reach a request, and how far clocks may be apart.
    Returns:
        None where no candidate was excluded for this request, or it was let through by design.
    """
    at = generation.started_at
    spans = {tag: history.covering(tag, at, grace) for tag in generation.candidates}
    scope = Scope(locale=generation.locale)
    held = {
        tag: touching
        for tag, found in spans.items()
        if (touching := tuple(span for span in found if _touches(span, scope)))
    }
    if generation.unchanged == EMPTYING:  # the canary layer was left out, which saved the request
        held = {tag: found for tag, found in held.items() if any(s.layer is not Layer.CANARY for s in found)}
    if not held:
        return None
    reason = _reason(generation, held)
    return Leak(
        routes=frozenset(held),
        certain=len(held) == len(generation.candidates) and reason is not LeakReason.BY_SCOPE,
        reason=reason,
    )


def _touches(span: Span, scope: Scope) -> bool:
    return span.layer is not Layer.CANARY or scope.touches(span)


def _reason(generation: Generation, held: Mapping[RouteId, Iterable[Span]]) -> LeakReason:
    """Find the likeliest reason: what the request itself says goes before what we infer."""
    if generation.carried and generation.carried >= held.keys():
        return LeakReason.CARRIED
    if generation.unchanged is not None:
        word = generation.unchanged
        return LeakReason(word) if word in _WORDS else LeakReason.OTHER
    if generation.source is Source.BROADCAST:
        return LeakReason.NO_HOOK
    if generation.list_written_at is None:
        return LeakReason.NOT_SAID
    missing = [span for tag, found in held.items() if tag not in generation.carried for span in found]
    if any(generation.list_written_at + _ROUNDING < span.since for span in missing):
        return LeakReason.OLD_LIST
    if all(span.layer is Layer.CANARY and span.contracts <= _LEFT_TO_SOME for span in missing):
        return LeakReason.BY_SCOPE
    return LeakReason.NOT_CARRIED
