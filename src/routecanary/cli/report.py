"""`routecanary report`: a user's complaint, and the routes that may have served it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from routecanary.cli.acting import actor_of
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.flush import acting_records
from routecanary.cli.output import complain, instant, say, say_json, say_table, span
from routecanary.clock import MachineZone, SystemClock, zone_named
from routecanary.complaint.value import Complaint, Sureness, Suspect
from routecanary.errors import InputError
from routecanary.rounds.complaint_document import answer_document, kept_document, surer_with
from routecanary.rounds.complaints import MOST_READ, KeptComplaint, Received, complaint_of, complaints_of
from routecanary.rounds.receive import received_of, take_complaint
from routecanary.rounds.stated import WITHIN, Stated, known_model, understand
from routecanary.rounds.suspects import answer_to
from routecanary.wiring import offline_records, settings_at


def add(
    *,
    model: str,
    at: str,
    within: str = WITHIN,
    locale: str | None = None,
    symptom: str | None = None,
    conversation: str | None = None,
    generation: str | None = None,
    note: str | None = None,
    ask: Annotated[bool | None, Parameter(negative="--no-ask")] = None,
    actor: str | None = None,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """Pass a user's complaint on: which routes may have served it, and how sure is that?

    It is kept, without any content, and linked to the incidents that may explain it. The same complaint
    passed on again is told as known.

    Parameters
    ----------
    model
        The model that answered, author/slug.
    at
        When: "2026-11-29 21:10+07:00", "2026-11-29 21:10 Asia/Bangkok", "21:10", "yesterday 21:10". Without a
        zone, this machine's is assumed, and said.
    within
        How far off that may be.
    locale
        The language in which the answer was wanted, such as th.
    symptom
        latency, filtering, structured, language, integrity, or other; left out, other.
    conversation
        The hash that the application drew for the conversation.
    generation
        The gateway's generation id.
    note
        A short remark; never the answer itself, nor what the user wrote.
    ask
        Let the daemon ask the suspects again in that language; --no-ask does not. Left out: where the answer
        is not unknown.
    actor
        Who; default: your login name.
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    stated = Stated(
        model=model,
        at=at,
        within=within,
        locale=locale,
        symptom=symptom,
        conversation=conversation,
        generation=generation,
        note=note,
    )
    who = actor_of(actor)
    with acting_records(settings, SystemClock()) as records:
        understood = understand(
            records, stated, actor=who, zone_named=zone_named, assumed=MachineZone(), prefix="--"
        )
        taken = take_complaint(records, understood, zone_named=zone_named, ask=ask)
    if json:
        say_json(taken.document())
        return ExitCode.OK
    if taken.known:
        say(f"known already as complaint {taken.kept.id}; this was the answer then:")
    for line in _lines(taken.kept):
        say(line)
    for warning in taken.warnings:
        say(f"note: {warning}")
    if taken.hint is not None:
        say(f"hint: {taken.hint}")
    return ExitCode.OK


def list_complaints(
    model: str | None = None,
    /,
    *,
    limit: int | None = None,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """List the complaints that were passed on, the newest last.

    Parameters
    ----------
    model
        Only of this model; left out, all.
    limit
        Only the newest so many.
    config
        The configuration file.
    json
        Print one JSON list.
    """
    settings = settings_at(config)
    if limit is not None and limit < 0:
        raise InputError("less than nothing", key="--limit", value=limit, allowed="0 or more")
    with offline_records(settings, SystemClock()) as records:
        name = None if model is None else known_model(records, model)
        found = complaints_of(records.store, name, limit=MOST_READ if limit is None else limit)
    if json:
        say_json([kept_document(kept) for kept in found])
        return ExitCode.OK
    if not found:
        say("no complaint yet")
        return ExitCode.OK
    say_table(
        ("id", "happened", "model", "symptom", "answer", "first suspects"),
        [
            (
                str(kept.id),
                _time(kept.received.complaint),
                kept.received.complaint.model,
                ", ".join(_facts(kept.received.complaint)),
                kept.received.sureness.value,
                _first(kept.received),
            )
            for kept in found
        ],
    )
    return ExitCode.OK


def show(complaint: int, /, *, config: Path | None = None, json: bool = False) -> int:
    """Answer a complaint anew with what is known now, beside what was answered then.

    Exit code 1 where there is no such complaint.

    Parameters
    ----------
    complaint
        Its id, as the list shows it.
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    with offline_records(settings, SystemClock()) as records:
        kept = complaint_of(records.store, complaint)
        if kept is None:
            complain(f"there is no complaint {complaint}: `routecanary report list` lists them")
            return ExitCode.FINDING
        answer = answer_to(records.store, kept.received.complaint)
    now = received_of(kept.received.complaint, answer)
    if json:
        say_json({**kept_document(kept), "now": answer_document(now), "warnings": list(answer.warnings)})
        return ExitCode.OK
    for line in _lines(kept):
        say(line)
    say("")
    say("with what is known now:")
    for line in _answer_lines(now):
        say(line)
    for warning in answer.warnings:
        say(f"note: {warning}")
    return ExitCode.OK


def complaint_line(kept: KeptComplaint) -> str:
    """Write a complaint on one line, without its answer."""
    complaint = kept.received.complaint
    return f"complaint {kept.id}: {complaint.model}, {_time(complaint)}, {', '.join(_facts(complaint))}"


def _lines(kept: KeptComplaint) -> Iterator[str]:
    complaint = kept.received.complaint
    yield complaint_line(kept)
    if complaint.note is not None:
        yield f"{complaint.actor} notes: {complaint.note}"
    yield from _answer_lines(kept.received)


def _answer_lines(received: Received) -> Iterator[str]:
    """Tell an answer to people, with what it rests on."""
    yield f"who served it: {_told(received)}"
    for suspect in received.suspects:
        yield f"  {_suspect_line(suspect, received)}"
    yield f"  {received.no_fault:6.1%}  no route's fault"
    if received.incidents:
        yield f"incidents that may explain it: {', '.join(map(str, received.incidents))}"
    if received.asked:
        yield f"the daemon is to ask again: {', '.join(received.asked)}"
    wanted = list(surer_with(received))
    if wanted:
        yield f"surer with: {', '.join(wanted)}"


def _told(received: Received) -> str:
    match received.sureness:
        case Sureness.EXACT:
            return f"exactly known: {_first(received)}"
        case Sureness.UNKNOWN:
            return "unknown; none of these stands out"
        case _:
            return f"{received.sureness.value}: {_first(received)}"


def _first(received: Received) -> str:
    """Name the first suspects; nobody where none is to be named."""
    if received.sureness is Sureness.UNKNOWN or not received.suspects:
        return ""
    return " or ".join(received.suspects[0].routes)


def _suspect_line(suspect: Suspect, received: Received) -> str:
    served = "" if received.guessed else f" ({suspect.generations} of {received.generations} answers)"
    guess = " (guessed)" if received.guessed else ""
    return (
        f"{suspect.posterior:6.1%}  {' or '.join(suspect.routes)}: {suspect.share:.1%} of the traffic"
        f"{served or guess}, {suspect.fails} of {suspect.attempts} attempts of probes nearby failed"
    )


def _facts(complaint: Complaint) -> list[str]:
    return [complaint.symptom.value, *([complaint.locale] if complaint.locale else [])]


def _time(complaint: Complaint) -> str:
    times = " or ".join(instant(reading) or "" for reading in complaint.readings)
    return f"{times} ±{span(timedelta(seconds=complaint.within_s))}"
