"""What was a user served, by whom and when? Telemetry, without a word of what was said.

An answer names its provider, not its endpoint: where one provider has several tags of a model, any of them
may have served it, so a generation has candidates.

Source: product.md §4; openrouter-wire.md §3.2, §5.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from routecanary.domain.names import Locale, ModelId, RouteId


class Source(StrEnum):
    """Who told of a generation."""

    HOOK = "hook"  # in the application's process
    PROXY = "proxy"
    BROADCAST = "broadcast"  # the gateway itself
    API = "api"  # an application in its own words


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One answer to one request of a user."""

    key: str  # told twice, it is kept once: the gateway's generation id, or what the sender drew
    source: Source
    model: ModelId  # as the canary calls it
    started_at: datetime  # when the request was built, UTC
    id: str | None = None  # the gateway's generation id; None = it is not known
    provider: str | None = None  # the display name that the answer gave; None = it gave none
    candidates: frozenset[RouteId] = frozenset()  # which may have served it; empty = nothing is known
    carried: frozenset[RouteId] = (
        frozenset()
    )  # of these (of all, while none is known) what the request ignored
    unchanged: str | None = None  # why it went out without the list, a counter's name; None = it carried it
    list_written_at: datetime | None = None  # of the snapshot that it carried; None = not said
    ttft_ms: int | None = None  # from sending to the first text; None = no text, or not measured
    duration_ms: int | None = None
    status: int | None = None  # of HTTP; None = no answer came, or not said
    finish_reason: str | None = None  # as the gateway normalises it; None = none came
    empty: bool | None = None  # completed without visible text; None = not said
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    conversation: str | None = None  # a hash that the application drew; opaque
    locale: Locale | None = None  # in which the answer was wanted, as the application says


def completed(known: Generation, told: Generation) -> Generation:
    """Fill in what was missing of a generation from another telling of it; what was said stays.

    The gateway does not know what a request carried: whoever does becomes the source. Two that name different
    ids are not the same generation, whatever their keys say: nothing is filled in.
    """
    if known.id is not None and told.id is not None and known.id != told.id:
        return known
    candidates = known.candidates or told.candidates
    carried = known.carried or told.carried
    unsaid = known.unchanged is None and known.list_written_at is None
    return replace(
        known,
        source=told.source if known.source is Source.BROADCAST else known.source,
        candidates=candidates,
        carried=carried & candidates if candidates else carried,
        unchanged=told.unchanged if unsaid else known.unchanged,
        **{name: getattr(told, name) for name in _OPTIONAL if getattr(known, name) is None},
    )


_OPTIONAL: Final = (
    "id",
    "provider",
    "list_written_at",
    "ttft_ms",
    "duration_ms",
    "status",
    "finish_reason",
    "empty",
    "prompt_tokens",
    "completion_tokens",
    "conversation",
    "locale",
)
