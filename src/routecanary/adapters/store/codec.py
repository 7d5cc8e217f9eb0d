"""How does a transcript become bytes, and again a transcript?

Format 1: the transcript's fields by name as MessagePack, deflated. Sets are sorted, so equal content gives
equal bytes; everything else keeps its order, the request's keys too. What MessagePack has no word for
travels as an extension: text with lone surrogates, and integers over 64 bits.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

import msgspec

from routecanary.adapters.store.chain import at_text, canonical, name_text
from routecanary.domain.archive import PackedTranscript, StoredTranscript, TranscriptEntry
from routecanary.domain.names import ContractName
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.errors import StoreError

FORMAT: Final = 1
MAX_TRANSCRIPT: Final = 64 * 1024 * 1024  # bytes before deflating
_LEVEL: Final = 1  # a third of the cost of level 6 for a fifth more bytes; measured in docs/store.md
_HASH_DIGITS: Final = 32  # 128 bits
_TEXT: Final = 1  # extension: UTF-8 that may hold surrogates
_INTEGER: Final = 2  # extension: a signed integer, big-endian
_MAPPING: Final = 3  # extension: pairs in MessagePack, for keys that hold surrogates
_FIELDS: Final = tuple(field.name for field in fields(Transcript))
_LISTED: Final = ("model", "route", "kind", "locale", "attempt")  # what an entry repeats


def pack(
    transcript: Transcript, *, at: datetime, verdicts: Mapping[ContractName, Verdict]
) -> PackedTranscript:
    """Make a transcript ready for keeping.

    Args:
        transcript: It names its model.
        at: The round's time, aware.
        verdicts: What each contract said of this attempt.

    Raises:
        StoreError: It names no model, has more than 64 MiB, or holds what no JSON can.
    """
    if transcript.model is None:
        raise StoreError("a transcript that names no model cannot be kept")
    for name in (transcript.model, transcript.route, transcript.locale):
        if name is not None:
            name_text(name, "a transcript's model, route or locale")
    plain = _encode(transcript)
    if len(plain) > MAX_TRANSCRIPT:
        raise StoreError(f"a transcript has {len(plain)} bytes; allowed: {MAX_TRANSCRIPT}")
    data = zlib.compress(plain, _LEVEL)
    said = verdicts_to_text(verdicts)
    entry = TranscriptEntry(
        id=content_id(at, plain, said),
        at=at.astimezone(UTC),
        model=transcript.model,
        route=transcript.route,
        kind=transcript.kind,
        locale=transcript.locale,
        attempt=transcript.attempt,
        verdicts=dict(verdicts),
        size=len(data),
    )
    return PackedTranscript(entry=entry, verdicts=said, data=data)


def unpack(packed: PackedTranscript) -> StoredTranscript:
    """Read a kept transcript back.

    Raises:
        StoreError: The bytes, the verdicts or the line about them are not those that were kept.
    """
    entry = packed.entry
    try:
        inflater = zlib.decompressobj()
        plain = inflater.decompress(packed.data, MAX_TRANSCRIPT)
        if content_id(entry.at, plain, packed.verdicts) != entry.id:
            raise StoreError(f"transcript {entry.id} was altered: its content does not have its id")
        transcript = msgspec.convert(msgspec.msgpack.decode(plain, ext_hook=_from_extension), Transcript)
    except (zlib.error, msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
        raise StoreError(f"transcript {entry.id} cannot be read: {error}") from error
    if any(getattr(entry, name) != getattr(transcript, name) for name in _LISTED):
        raise StoreError(f"transcript {entry.id} was altered: its entry does not describe it")
    return StoredTranscript(entry=entry, transcript=transcript)


def content_id(at: datetime, plain: bytes, verdicts: str) -> str:
    """Name a transcript by its round's time, to the second, and by its content and verdicts.

    The time in front lets ids sort, and lets the index of ids grow at its end: a bare hash would touch a
    page of the index for each transcript.
    """
    digest = sha256(plain)
    digest.update(verdicts.encode("utf-8", "surrogatepass"))
    second = at_text(at)[:19].replace("-", "").replace(":", "")
    return f"{second}Z-{digest.hexdigest()[:_HASH_DIGITS]}"


def verdicts_to_text(verdicts: Mapping[ContractName, Verdict]) -> str:
    """Write verdicts as a canonical JSON list, sorted by contract.

    Raises:
        StoreError: One stands under another contract's name.
    """
    if any(name != verdict.contract for name, verdict in verdicts.items()):
        raise StoreError("a verdict cannot be kept under another contract's name")
    return canonical(
        [
            {
                "contract": verdict.contract,
                "kind": verdict.kind,
                "code": verdict.code,
                "detail": verdict.detail,
                "version": verdict.version,
            }
            for _, verdict in sorted(verdicts.items())
        ]
    )


def verdicts_from_text(text: str) -> dict[ContractName, Verdict]:
    """Read verdicts back.

    Raises:
        StoreError: The text is not what `verdicts_to_text` writes.
    """
    try:
        # the standard reader keeps the lone surrogates of a quoted passage, msgspec's refuses them
        verdicts = [Verdict(**item | {"kind": VerdictKind(item["kind"])}) for item in json.loads(text)]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise StoreError(f"a transcript's verdicts cannot be read: {error!r}") from error
    return {verdict.contract: verdict for verdict in verdicts}


def _encode(transcript: Transcript) -> bytes:
    values: dict[str, Any] = {}
    for name in _FIELDS:
        value = getattr(transcript, name)
        values[name] = sorted(value) if isinstance(value, frozenset) else value
    try:
        try:
            return msgspec.msgpack.encode(values, enc_hook=_plain_mapping)
        except (UnicodeEncodeError, OverflowError):
            plain = msgspec.to_builtins(values, builtin_types=(bytes, datetime), enc_hook=_plain_mapping)
            return msgspec.msgpack.encode(_extended(plain))
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise StoreError(f"a transcript cannot be kept: {error}") from error


def _plain_mapping(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON")


def _extended(value: object) -> object:
    """Copy a value, with what MessagePack cannot say made extensions."""
    match value:
        case str() if not _encodable(value):
            return msgspec.msgpack.Ext(_TEXT, value.encode("utf-8", "surrogatepass"))
        case int() if not -(2**63) <= value < 2**64:
            return msgspec.msgpack.Ext(
                _INTEGER, value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True)
            )
        case list() | tuple():
            return [_extended(item) for item in value]
        case dict() if all(_encodable(key) for key in value):
            return {key: _extended(item) for key, item in value.items()}
        case dict():
            pairs = [_extended(pair) for pair in value.items()]
            return msgspec.msgpack.Ext(_MAPPING, msgspec.msgpack.encode(pairs))
        case _:
            return value


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _from_extension(code: int, data: memoryview) -> str | int | dict[str, Any]:
    if code == _TEXT:
        return str(data, "utf-8", "surrogatepass")
    if code == _INTEGER:
        return int.from_bytes(data, "big", signed=True)
    if code == _MAPPING:
        return dict(msgspec.msgpack.decode(data, ext_hook=_from_extension))
    raise ValueError(f"unknown extension {code}")
