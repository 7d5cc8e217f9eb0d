"""What did somebody state of a complaint, and what is doubtful about it?

Words from a command line or a request body become a complaint here, once; every fault names its key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta, tzinfo
from typing import Final, TypeVar

from routecanary.complaint.moment import Moment, ZoneNamed, offset_text, read_moment
from routecanary.complaint.value import Complaint, Symptom
from routecanary.complaint.zones import UsualZone, doubtful_zone
from routecanary.domain.names import ModelId, parse_locale, parse_model
from routecanary.domain.redaction import without_identities, without_tokens
from routecanary.domain.times import DURATION_FORM, parse_duration
from routecanary.errors import InputError
from routecanary.rounds.records import Records

WITHIN: Final = "20m"
LONGEST_WITHIN: Final = timedelta(hours=24)
MAX_NOTE: Final = 500  # characters
MAX_ID: Final = 128  # characters of a conversation's hash or a generation's id

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What was said, word for word."""

    model: str
    at: str
    within: str = WITHIN
    locale: str | None = None
    symptom: str | None = None
    conversation: str | None = None
    generation: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """A complaint, how its time was read, and in which zone it may have been meant instead."""

    complaint: Complaint
    moment: Moment
    doubtful: UsualZone | None  # None = nothing is doubtful about its zone
    warnings: tuple[str, ...]


def understand(
    records: Records,
    stated: Stated,
    *,
    actor: str,
    zone_named: ZoneNamed,
    assumed: tzinfo | None,
    prefix: str = "",
) -> Understood:
    """Read what was stated.

    Args:
        assumed: The zone of a time without one; None = it must have one.
        prefix: Stands before a key in an error: `--` on a command line.
    Raises:
        InputError: Something is malformed, or the model is neither configured nor known from before.
    """
    now = records.clock.now()
    try:
        model = known_model(records, stated.model)
        moment = read_moment(stated.at, now=now, zone_named=zone_named, assumed=assumed)
        complaint = Complaint(
            at=now,
            actor=actor,
            model=model,
            readings=moment.readings,
            within_s=round(_within(stated.within).total_seconds()),
            symptom=_symptom(stated.symptom),
            locale=None if stated.locale is None else _keyed("locale", parse_locale, stated.locale),
            conversation=_text("conversation", stated.conversation, MAX_ID),
            generation=_text("generation", stated.generation, MAX_ID),
            note=_note(stated.note),
        )
    except InputError as error:
        key = None if error.key is None else f"{prefix}{error.key}"
        raise InputError(
            error.problem, place=error.place, key=key, value=error.value, allowed=error.allowed
        ) from None
    doubtful = doubtful_zone(complaint.locale, moment.offset / timedelta(hours=1))
    warnings = moment.warnings
    if doubtful is not None:
        said = offset_text(moment.offset)
        warnings += (f"few speak {complaint.locale} at {said}: was the time in {doubtful.name} meant?",)
    return Understood(complaint=complaint, moment=moment, doubtful=doubtful, warnings=warnings)


def known_model(records: Records, text: str) -> ModelId:
    """Read a model that is configured, or that the store knows from before.

    Raises:
        InputError: It is neither.
    """
    name = _keyed("model", parse_model, text)
    return name if name in records.store.models() else records.model(name).model


def _within(text: str) -> timedelta:
    length = _keyed("within", parse_duration, text)
    if not timedelta(minutes=1) <= length <= LONGEST_WITHIN:
        raise InputError("out of range", key="within", value=text, allowed=f"{DURATION_FORM}, 1m to 24h")
    return length


def _symptom(text: str | None) -> Symptom:
    if text is None:
        return Symptom.OTHER
    if text not in set(Symptom):
        raise InputError("no such symptom", key="symptom", value=text, allowed=", ".join(Symptom))
    return Symptom(text)


def _text(key: str, text: str | None, most: int) -> str | None:
    """Take a short text of one line; what is empty was not said."""
    said = (text or "").strip()
    if len(said) > most or not said.isprintable():
        shown = said if len(said) <= most else f"{len(said)} characters"
        raise InputError(
            "not a short line", key=key, value=shown, allowed=f"up to {most} printable characters"
        )
    return said or None


def _note(text: str | None) -> str | None:
    """Take a remark, without what looks like somebody's key, account or address of mail."""
    note = _text("note", text, MAX_NOTE)
    return None if note is None else without_identities(without_tokens(note))


def _keyed(key: str, read: Callable[[str], _Value], text: str) -> _Value:
    try:
        return read(text)
    except InputError as error:
        raise InputError(error.problem, key=key, value=error.value, allowed=error.allowed) from None
