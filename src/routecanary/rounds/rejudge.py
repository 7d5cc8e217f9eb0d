"""What would the judges of today say of what is kept?

Each kept transcript is judged again by the contracts that judged it then, under today's limits. Nothing is
written: what was decided stays decided, and a judge of another version goes on trial by itself (`requalify`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from routecanary.domain.answer import read_answer
from routecanary.domain.archive import StoredTranscript, TranscriptEntry
from routecanary.domain.names import ContractName, ModelId
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.errors import StoreError
from routecanary.judge.contract import Contract
from routecanary.judge.examine import judge_answer
from routecanary.judge.registry import contracts_with
from routecanary.judge.settings import Settings
from routecanary.rounds.examine import unjudged
from routecanary.rounds.ports import TranscriptStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A verdict that would be another one today: another kind, or another reason code."""

    entry: TranscriptEntry
    was: Verdict
    now: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A kept transcript that cannot be read any more."""

    entry: TranscriptEntry
    problem: str


@dataclass(slots=True, kw_only=True)
class VersionCount:
    """What became of the verdicts of one contract that one version of its judge gave."""

    now: int  # the version that judges today
    verdicts: int = 0
    changed: int = 0
    new_fails: int = 0
    gone_fails: int = 0


@dataclass(slots=True, kw_only=True)
class Rejudging:
    """How to judge again, and what came of it so far; it holds counts alone, however much is kept."""

    store: TranscriptStore
    settings: Settings
    transcripts: int = 0
    counts: dict[tuple[ContractName, int], VersionCount] = field(default_factory=dict)  # by the version then
    _judges: tuple[Contract, ...] = field(init=False)

    def __post_init__(self) -> None:
        self._judges = contracts_with(self.settings)

    def run(self, models: Iterable[ModelId], since: datetime | None) -> Iterator[Changed | Unread]:
        """Judge what is kept of some models, newest first.

        Args:
            since: Of rounds at or after this time; None for all.
        Raises:
            StoreError: The store cannot be read.
        """
        for model in models:
            for entry in self.store.find(model, since=since):
                try:
                    stored = self.store.get(entry.id)
                except StoreError as error:
                    yield Unread(entry=entry, problem=str(error))
                    continue
                if stored is not None:  # None: pruned since it was listed
                    yield from self._again(stored)

    def _again(self, stored: StoredTranscript) -> Iterator[Changed]:
        self.transcripts += 1
        told = self._judged(stored)
        for name, was in sorted(stored.entry.verdicts.items()):
            now = told.get(name)
            if now is None:
                continue
            count = self.counts.setdefault((name, was.version), VersionCount(now=now.version))
            count.verdicts += 1
            if (was.kind, was.code) != (now.kind, now.code):
                count.changed += 1
                count.new_fails += now.kind is VerdictKind.FAIL and was.kind is not VerdictKind.FAIL
                count.gone_fails += was.kind is VerdictKind.FAIL and now.kind is not VerdictKind.FAIL
                yield Changed(entry=stored.entry, was=was, now=now)

    def _judged(self, stored: StoredTranscript) -> Mapping[ContractName, Verdict]:
        asked, transcript = frozenset(stored.entry.verdicts), stored.transcript
        try:
            return judge_answer(read_answer(transcript), self.settings, self._judges, only=asked)
        except Exception as error:  # as in a round: our own bug, and no reason to leave out the others
            return unjudged(error, transcript.kind, asked)
