"""What did a user report, and how sure is the answer?

A complaint holds no content: when, which model, which language, what kind of trouble, and at most a short
note of whoever passed it on.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from routecanary.domain.names import CONTRACT_NAMES, ContractName, Locale, ModelId, RouteId

METHOD: Final = 1
"""The version of how routes are ranked; kept with every answer."""


class Symptom(StrEnum):
    """What was wrong with the answer, in the words of the contracts."""

    LATENCY = "latency"
    FILTERING = "filtering"
    STRUCTURED = "structured"
    LANGUAGE = "language"
    INTEGRITY = "integrity"
    OTHER = "other"

    @property
    def contracts(self) -> tuple[ContractName, ...]:
        """The contracts that would see it; all of them where it is none of theirs."""
        return CONTRACT_NAMES if self is Symptom.OTHER else (ContractName(self.value),)


class Sureness(StrEnum):
    """How sure an answer is."""

    EXACT = "exact"  # an id or a conversation says who served
    LIKELY = "likely"
    POSSIBLE = "possible"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """What a user reported, as somebody passed it on."""

    at: datetime  # when it was passed on, UTC
    actor: str
    model: ModelId
    readings: tuple[datetime, ...]  # when it happened, UTC; two where a local time can mean two
    within_s: int  # how far off that may be, seconds
    symptom: Symptom = Symptom.OTHER
    locale: Locale | None = None  # in which the answer was wanted
    conversation: str | None = None  # the application's opaque hash
    generation: str | None = None  # the gateway's generation id
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """Routes of which one gave the answer, and how likely its fault is behind the complaint."""

    routes: tuple[RouteId, ...]  # the likeliest first; several where nothing tells a provider's tags apart
    posterior: float  # that one of them served the answer, and its fault is what was seen
    share: float  # of the traffic that may be meant, by weight; before anything was known of faults
    generations: int = 0  # that may be meant; 0 where no telemetry tells
    attempts: int = 0  # of probes nearby, of the contracts that would see the symptom
    fails: int = 0  # of these


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Every explanation with its probability; they add up to 1."""

    suspects: tuple[Suspect, ...]  # the likeliest first
    no_fault: float  # that no route's fault is behind it
    generations: int = 0
    guessed: bool = False  # no telemetry: shares are a guess
    exact: bool = False  # an id or a conversation names one set
