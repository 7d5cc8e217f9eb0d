"""How does one event hold on to the one before?

An event's hash is the SHA-256 of this canonical JSON, in ASCII, keys sorted, without white space:

    {"at":"2026-11-29T10:00:00.000000Z","body":{…},"kind":"…","model":"…","previous":"<64 hex>","seq":1}

The body is stored as exactly that canonical text, so the hash can be recomputed from a row without parsing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from typing import Final, NamedTuple

from routecanary.domain.log import (
    EMPTY_LOG,
    PRUNED,
    ChainBreak,
    Head,
    StoredDraft,
    StoredEvent,
    pruned_through,
)
from routecanary.domain.names import ModelId
from routecanary.domain.probe import Json
from routecanary.errors import StoreError

MAX_BODY: Final = 8 * 1024 * 1024  # bytes of canonical JSON
MAX_NAME: Final = 500  # characters of a kind or a model
_SHOWN: Final = 120  # characters of a refused name
_JSON: Final = json.JSONEncoder(ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":"))


class Row(NamedTuple):
    """An event as stores keep it: texts and one number."""

    seq: int
    at: str
    model: str | None
    kind: str
    body: str
    previous: str
    hash: str


def canonical(value: Json) -> str:
    """Write JSON in its one canonical form; lone surrogates leave as escapes.

    Raises:
        ValueError, TypeError, RecursionError: The value is not JSON, or nested too deeply.
    """
    return _JSON.encode(value)


@lru_cache(maxsize=64)  # a round's events and transcripts share a few instants
def at_text(at: datetime) -> str:
    """Write an instant in UTC with microseconds, so that texts sort as the instants do.

    Raises:
        StoreError: It has no zone, or lies outside of the calendar in UTC.
    """
    if at.utcoffset() is None:
        raise StoreError(f"a time without a zone cannot be stored: {at.isoformat()}")
    try:
        utc = at.astimezone(UTC)
    except OverflowError as error:
        raise StoreError(f"a time outside of the calendar cannot be stored: {at.isoformat()}") from error
    return utc.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def name_text(name: str, what: str) -> str:
    """Check a name that becomes a column: 1 to 500 characters, all of them encodable.

    Raises:
        StoreError: It is not that.
    """
    if 0 < len(name) <= MAX_NAME:
        try:
            name.encode()
        except UnicodeEncodeError:
            pass  # a lone surrogate: refused below
        else:
            return name
    raise StoreError(
        f"{what} cannot be stored: {name[:_SHOWN]!a}; allowed: 1 to {MAX_NAME} characters of Unicode"
    )


def body_text(draft: StoredDraft) -> str:
    """Write a draft's body in canonical form, sure to be read back as it was given.

    Lone surrogates come back as they are. The two halves of a pair, side by side, are one character in
    JSON and come back as that character.

    Raises:
        StoreError: It is not a JSON object, changes on its way through JSON (a tuple, a key that is no
            string), or is longer than `MAX_BODY`.
    """
    try:
        text = canonical(draft.body)
        read_back = json.loads(text)
        same = read_back == draft.body or read_back == _joined(draft.body)
    except (ValueError, TypeError, RecursionError) as error:
        raise StoreError(f"the body of a {draft.kind!r} event is not storable JSON: {error}") from error
    if not same or not text.startswith("{"):
        raise StoreError(
            f"the body of a {draft.kind!r} event is not a plain JSON object: it would be read back changed"
        )
    if len(text) > MAX_BODY:
        raise StoreError(f"the body of a {draft.kind!r} event has {len(text)} bytes; allowed: {MAX_BODY}")
    return text


def _joined(value: Json) -> Json:
    """Copy a value, with each surrogate pair in its strings made the character that it stands for."""
    match value:
        case str():
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        case list():
            return [_joined(item) for item in value]
        case Mapping():
            joined = {_joined(key): _joined(item) for key, item in value.items()}
            if len(joined) != len(value):
                raise ValueError("two keys are one in JSON")
            return joined
        case _:
            return value


def link(drafts: Sequence[StoredDraft], head: Head) -> list[Row]:
    """Make the rows that follow `head`, each holding the hash of the one before.

    Raises:
        StoreError: A draft is not storable.
    """
    rows = []
    seq, previous = head.seq, head.hash
    for draft in drafts:
        seq += 1
        at = at_text(draft.at)
        kind = name_text(draft.kind, "an event's kind")
        model = None if draft.model is None else name_text(draft.model, "an event's model")
        body = body_text(draft)
        unsealed = Row(seq, at, model, kind, body, previous, "")
        previous = row_hash(unsealed)
        rows.append(unsealed._replace(hash=previous))
    return rows


def row_hash(row: Row) -> str:
    """Hash what a row says, the hash of the row before included; its own `hash` is not looked at."""
    text = _JSON.encode
    try:
        whole = (
            f'{{"at":{text(row.at)},"body":{row.body},"kind":{text(row.kind)},'
            f'"model":{text(row.model)},"previous":{text(row.previous)},"seq":{row.seq}}}'
        )
    except TypeError:
        return ""  # an altered row may hold bytes for text: no hash is its own
    # nor need it hold Unicode; it must fail by its hash, not by its encoding
    return sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()


def event_from_row(row: Row) -> StoredEvent:
    """Read an event back.

    Raises:
        StoreError: The row does not have its own hash: it was altered.
    """
    if row_hash(row) != row.hash:
        raise StoreError(f"event {row.seq} of the log was altered: its content does not have its hash")
    try:
        body = json.loads(row.body)
        at = datetime.fromisoformat(row.at)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"event {row.seq} of the log cannot be read: {error}") from error
    return StoredEvent(
        seq=row.seq,
        at=at,
        kind=row.kind,
        body=body,
        model=None if row.model is None else ModelId(row.model),
        previous=row.previous,
        hash=row.hash,
    )


def first_break(rows: Iterable[Row], anchor: Head = EMPTY_LOG) -> ChainBreak | None:
    """Walk the log in order, from its beginning or from where it was pruned, and find what does not fit.

    An end that was cut off leaves no trace in the chain: compare the head with one noted elsewhere.

    Args:
        rows: All that are there.
        anchor: The last event that was pruned; one of the rows must say so.
    """
    seq, previous = anchor.seq, anchor.hash
    announced = anchor == EMPTY_LOG
    for row in rows:
        seq += 1
        if row.seq != seq:
            return ChainBreak(seq=seq, problem=f"missing; the next event has number {row.seq}")
        if row.previous != previous:
            return ChainBreak(seq=seq, problem="does not carry the hash of the event before it")
        if row_hash(row) != row.hash:
            return ChainBreak(seq=seq, problem="altered: its content does not have its hash")
        previous = row.hash
        announced = announced or _announces(row, anchor)
    if not announced:
        return ChainBreak(seq=anchor.seq, problem="gone with all before it, and no event says so")
    return None


def _announces(row: Row, anchor: Head) -> bool:
    """Say whether an event is the one that says what was pruned."""
    if row.kind != PRUNED:
        return False
    try:
        return pruned_through(json.loads(row.body)) == anchor
    except (ValueError, RecursionError):  # a log rewritten by hand may hold anything
        return False
