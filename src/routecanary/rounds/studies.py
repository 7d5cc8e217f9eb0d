"""How is a study kept? As events that no decision reads: one when it begins, one an answer.

The transcript of an answer is kept before its event, and belongs to no round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from routecanary.domain.codec import from_json, to_json
from routecanary.domain.log import StoredDraft
from routecanary.errors import InputError
from routecanary.rounds.ports import EventLog
from routecanary.study.values import Study, StudyAnswer

BEGUN: Final = "study_begun"
ANSWERED: Final = "study_answered"
STUDY_KINDS: Final = frozenset({BEGUN, ANSWERED})

NAMED: Final = 8  # studies that an error names, the newest


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptStudy:
    """A study as the log has it."""

    study: Study
    answers: tuple[StudyAnswer, ...]  # in the order in which they were kept


def study_draft(study: Study) -> StoredDraft:
    """Make the event that begins a study."""
    return StoredDraft(kind=BEGUN, at=study.at, body=to_json(study), model=study.model)


def answer_draft(answer: StudyAnswer) -> StoredDraft:
    """Make the event of an answer."""
    return StoredDraft(kind=ANSWERED, at=answer.at, body=to_json(answer), model=answer.model)


def kept_study(log: EventLog, study_id: str) -> KeptStudy:
    """Read a study back.

    Raises:
        InputError: There is none of this id; the newest ones are named.
        StoreError: The log cannot be read.
    """
    known: list[str] = []
    for stored in log.read(kinds={BEGUN}):
        known.append(str(stored.body.get("id")))
        if known[-1] == study_id:
            study = from_json(Study, stored.body)
            return KeptStudy(study=study, answers=tuple(_answers(log, study, after=stored.seq)))
    named = ", ".join(known[-NAMED:]) or "none was begun, or all are older than what is kept"
    raise InputError("no such study", value=study_id, allowed=named)


def _answers(log: EventLog, study: Study, *, after: int) -> Iterator[StudyAnswer]:
    for stored in log.read(after, study.model, kinds={ANSWERED}):
        if stored.body.get("study") == study.id:
            yield from_json(StudyAnswer, stored.body)
