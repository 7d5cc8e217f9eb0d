"""What is kept of an answer, beside the events that follow from it?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from routecanary.domain.names import ContractName, Locale, ModelId, RouteId
from routecanary.domain.probe import ProbeKind
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict, VerdictKind


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptEntry:
    """The line about a kept transcript: enough to list it, without its bytes.

    The id is the round's time and a hash of the transcript and its verdicts, such as
    `20261129T100000Z-0f343b0931126a20f133d67c2b018a3b`: ids sort by time, and equal content of one round
    has one id.
    """

    id: str
    at: datetime  # the round's time, UTC: with `model` it names the round
    model: ModelId
    route: RouteId | None
    kind: ProbeKind
    locale: Locale | None
    attempt: int  # 0 = first, 1… = confirmations
    verdicts: Mapping[ContractName, Verdict]  # of this attempt, as they were given then
    size: int  # bytes that it takes in the store
    seq: int | None = None  # the last event that was appended together with it

    @property
    def failed(self) -> bool:
        """Say whether a contract failed on this attempt."""
        return any(verdict.kind is VerdictKind.FAIL for verdict in self.verdicts.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedTranscript:
    """A transcript made ready for keeping, in the store's own format."""

    entry: TranscriptEntry
    verdicts: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTranscript:
    """A transcript as the store gives it back."""

    entry: TranscriptEntry
    transcript: Transcript
