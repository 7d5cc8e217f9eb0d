"""What is asked?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from routecanary.domain.names import Locale, ModelId, RouteId

Json = Any
"""A decoded JSON value: dict, list, str, int, float, bool or None."""


class ProbeKind(StrEnum):
    """Which question a probe asks; `ANY` is a stored transcript judged by every contract that applies."""

    CHAT = "chat"
    FILTER = "filter"
    STRUCTURED = "structured"
    ANY = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One pinned wording of a probe spec, in one locale.

    `prompt` holds the placeholders `{place}`, `{date}` and `{name}` that the nonce fills, at its front,
    so that no cache hides a prefill fault.
    """

    id: str
    prompt: str
    opening: str | None = None  # the exact first characters asked for, e.g. "*"; None = free
    names: tuple[str, ...] = ()  # the two characters
    object: str | None = None  # the fixed object, as the scene's language writes it
    min_words: int | None = None
    stop: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSpec:
    """The pinned wording and parameters of one question in one locale, versioned."""

    kind: ProbeKind
    version: int
    locale: Locale
    scenes: tuple[Scene, ...]
    max_tokens: int
    system: str | None = None
    schema: Mapping[str, Json] | None = None  # of the structured probe
    places: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    people: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One asking: spec × scene × route × nonce, with the exact body that goes over the wire."""

    model: ModelId
    route: RouteId
    kind: ProbeKind
    locale: Locale
    scene: Scene
    spec_version: int
    attempt: int  # 0 = first, 1… = confirmations
    body: Mapping[str, Json]
    provider_names: frozenset[str]  # display names under which the pinned route may answer
    accepted_models: frozenset[str]  # model ids that an answer may carry
