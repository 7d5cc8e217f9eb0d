"""What happens when a complaint is passed on? It is answered, kept, and may let the suspects be asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from routecanary.complaint.moment import ZoneNamed, reread
from routecanary.complaint.value import Complaint, Sureness, Suspect
from routecanary.domain.names import RouteId
from routecanary.domain.probe import Json
from routecanary.domain.times import format_instant
from routecanary.domain.wanted import Because
from routecanary.errors import InputError, StoreError
from routecanary.rounds.asking import ask_round
from routecanary.rounds.complaint_document import kept_document
from routecanary.rounds.complaints import KeptComplaint, Received, complaints_of, received_draft
from routecanary.rounds.incidents import Incident
from routecanary.rounds.ports import EventLog
from routecanary.rounds.records import Records
from routecanary.rounds.stated import Understood
from routecanary.rounds.suspects import Answer, answer_to, explains, suspected

KEPT: Final = 5
"""Suspects of an answer that are kept with it."""

MOST_ASKED: Final = 3
"""Routes that one complaint lets a targeted round ask."""

WORTH_ASKING: Final = 0.1
"""Who is less likely behind it is not asked."""

MOST_A_DAY: Final = 1_000
"""Complaints of one model that are kept in a day: the log is no place for a flood."""

_DAY: Final = timedelta(days=1)

_DIGITS: Final = 4  # of a probability that is kept


def complaints_about(complaints: Iterable[KeptComplaint], incident: Incident) -> tuple[KeptComplaint, ...]:
    """Choose those that an incident may explain, also where it began only after they were passed on."""
    return tuple(
        kept
        for kept in complaints
        if incident.id in kept.received.incidents
        or (
            incident.model == kept.received.complaint.model
            and incident.route in suspected(kept.received.suspects)
            and explains(incident, kept.received.complaint)
        )
    )


def known_complaint(log: EventLog, complaint: Complaint) -> KeptComplaint | None:
    """Find the same complaint, passed on before: same model, time, symptom, language and ids."""
    wanted = _identity(complaint)
    same = (
        kept for kept in complaints_of(log, complaint.model) if _identity(kept.received.complaint) == wanted
    )
    return next(same, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A complaint that was passed on, with what there is to say of it besides."""

    kept: KeptComplaint
    known: bool = False  # it was passed on before; nothing was kept or asked anew
    warnings: tuple[str, ...] = ()
    hint: str | None = None  # what would fit had another zone been meant

    def document(self) -> dict[str, Json]:
        """Write it as JSON."""
        told: dict[str, Json] = {"known": self.known, "warnings": list(self.warnings), "hint": self.hint}
        return {**kept_document(self.kept), **told}


def take_complaint(
    records: Records, understood: Understood, *, zone_named: ZoneNamed, ask: bool | None = None
) -> Taken:
    """Answer a complaint, and keep both; one that is known is only told.

    Args:
        ask: Whether a targeted round of the suspects is asked for; None = where the answer is not unknown.
    Raises:
        InputError: What it names is of another model, or a flood of complaints came before it.
        StoreError: The store cannot be read or written.
    """
    complaint = understood.complaint
    known = known_complaint(records.store, complaint)
    if known is not None:
        return Taken(kept=known, known=True, warnings=understood.warnings)
    if _lately(records, complaint) >= MOST_A_DAY:
        raise InputError(
            "so many complaints of this model were passed on in the last day that no more are kept",
            value=complaint.model,
            allowed=f"{MOST_A_DAY} a day",
        )
    answer = answer_to(records.store, complaint)
    asked, told = _ask(records, complaint, answer, ask=ask)
    records.ledger.note(received_draft(received_of(complaint, answer, asked)))
    kept = known_complaint(records.store, complaint)
    if kept is None:
        raise StoreError("event log: a complaint that was appended is not there")
    return Taken(
        kept=kept,
        warnings=understood.warnings + answer.warnings + told,
        hint=_hint(records, understood, zone_named) if answer.sureness is Sureness.UNKNOWN else None,
    )


def _lately(records: Records, complaint: Complaint) -> int:
    """Count the complaints of the model in the day before."""
    newest = complaints_of(records.store, complaint.model, limit=MOST_A_DAY)
    return sum(kept.received.complaint.at > complaint.at - _DAY for kept in newest)


def _ask(
    records: Records, complaint: Complaint, answer: Answer, *, ask: bool | None
) -> tuple[frozenset[RouteId], tuple[str, ...]]:
    """Ask for a targeted round of the suspects; return whom it will ask, and what there is to say of it.

    Who is suspended is probed as it is, to recover: asked out of turn only if somebody says so.
    """
    if ask is False or (ask is None and answer.sureness is Sureness.UNKNOWN):
        return frozenset(), ()
    if all(settings.model != complaint.model for settings in records.settings.models):
        return frozenset(), ("nobody is asked: the model is not configured any more",)
    listing = records.ledger.listing(complaint.model)
    usual = frozenset[RouteId]() if listing is None else listing.tags()
    if ask is None:
        usual -= records.ledger.state(complaint.model).suspensions().keys()
    likely = [suspect for suspect in answer.ranking.suspects if suspect.posterior >= WORTH_ASKING]
    wanted = [route for suspect in likely for route in suspect.routes if route in usual][:MOST_ASKED]
    if not wanted:
        return frozenset(), ("nobody is asked: no suspect is listed, or it is suspended",) if ask else ()
    known = complaint.locale if complaint.locale in records.settings.probes.locales else None
    became = ask_round(
        records,
        complaint.model,
        wanted,
        why=Because.COMPLAINT,
        locale=known,
        detail=f"{complaint.symptom.value}, {answer.sureness.value}",
    )
    told: list[str] = []
    if complaint.locale is not None and known is None:
        told.append(f"{complaint.locale} is no locale of the rotation: the suspects are asked in another")
    if became.waiting:
        told.append(f"to be asked already: {', '.join(sorted(became.waiting))}")
    if became.too_soon:
        told.append(f"asked too lately to be asked again: {', '.join(sorted(became.too_soon))}")
    return became.asked, tuple(told)


def _hint(records: Records, understood: Understood, zone_named: ZoneNamed) -> str | None:
    """Say what would fit in the zone that may have been meant; None where nothing would."""
    zone = None if understood.doubtful is None else zone_named(understood.doubtful.name)
    if understood.doubtful is None or zone is None:
        return None
    moment = reread(understood.moment, zone)
    other = answer_to(records.store, replace(understood.complaint, readings=moment.readings))
    if other.sureness is Sureness.UNKNOWN:
        return None
    routes = " or ".join(other.ranking.suspects[0].routes)
    return (
        f"at {moment.wall:%H:%M} in {understood.doubtful.name} ({format_instant(moment.readings[0])}) it "
        f"would be {other.sureness.value}: {routes}"
    )


def received_of(complaint: Complaint, answer: Answer, asked: Iterable[RouteId] = ()) -> Received:
    """Put a complaint and its answer together, as they are kept."""
    ranking = answer.ranking
    return Received(
        complaint=complaint,
        sureness=answer.sureness,
        no_fault=round(ranking.no_fault, _DIGITS),
        suspects=tuple(_rounded(suspect) for suspect in ranking.suspects[:KEPT]),
        generations=ranking.generations,
        guessed=ranking.guessed,
        incidents=answer.incidents,
        asked=tuple(sorted(asked)),
    )


def _identity(complaint: Complaint) -> Complaint:
    return replace(complaint, at=complaint.readings[0], actor="", note=None, within_s=0)


def _rounded(suspect: Suspect) -> Suspect:
    return replace(suspect, posterior=round(suspect.posterior, _DIGITS), share=round(suspect.share, _DIGITS))
