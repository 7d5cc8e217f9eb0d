"""How is a complaint with its answer written as JSON, for the command line and the API?"""

from __future__ import annotations

from collections.abc import Iterator

from routecanary.complaint.value import Sureness, Suspect, Symptom
from routecanary.domain.probe import Json
from routecanary.domain.times import format_instant
from routecanary.rounds.complaints import KeptComplaint, Received


def kept_document(kept: KeptComplaint) -> dict[str, Json]:
    """Write a complaint as it was passed on, and what was answered."""
    complaint = kept.received.complaint
    return {
        "id": kept.id,
        "at": format_instant(complaint.at),
        "actor": complaint.actor,
        "model": complaint.model,
        "readings": [format_instant(reading) for reading in complaint.readings],
        "within_s": complaint.within_s,
        "symptom": complaint.symptom.value,
        "locale": complaint.locale,
        "conversation": complaint.conversation,
        "generation": complaint.generation,
        "note": complaint.note,
        "answer": answer_document(kept.received),
    }


def answer_document(received: Received) -> dict[str, Json]:
    """Write an answer."""
    return {
        "sureness": received.sureness.value,
        "no_fault": received.no_fault,
        "suspects": [_suspect_document(suspect) for suspect in received.suspects],
        "generations": received.generations,
        "guessed": received.guessed,
        "incidents": list(received.incidents),
        "asked": list(received.asked),
        "surer_with": list(surer_with(received)),
        "method": received.method,
    }


def surer_with(received: Received) -> Iterator[str]:
    """Say what would make an answer surer."""
    complaint = received.complaint
    if received.sureness is Sureness.EXACT:
        return
    if received.guessed:
        yield "telemetry from a hook or the proxy"
    yield "the conversation's hash or the generation's id"
    if complaint.symptom is Symptom.OTHER:
        yield "the symptom"
    if complaint.locale is None:
        yield "the language"


def _suspect_document(suspect: Suspect) -> dict[str, Json]:
    return {
        "routes": list(suspect.routes),
        "posterior": suspect.posterior,
        "share": suspect.share,
        "generations": suspect.generations,
        "attempts": suspect.attempts,
        "fails": suspect.fails,
    }
