"""How do the bytes themselves come oddly: split, framed otherwise, packed, in another code page, whole?

Source: openrouter-wire.md §3.1, §9.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from routecanary.domain.names import INTEGRITY, LANGUAGE
from routecanary.lab.fault import TRIAGE, UNSEEN, Blow, Choice, Fault
from routecanary.lab.plan import PlannedAnswer
from routecanary.lab.wire import EVENT_STREAM, Piece, Wire

_MOST_SPLITS: Final = 24  # characters that come in two reads
_FRAMINGS: Final = ("crlf", "cr", "bom", "no_space", "last_newline")
_ZIPPED: Final = {"Content-Encoding": "gzip"}
_GZIP: Final = 31  # window bits of zlib that write a gzip header


def split_characters(wire: Wire, blow: Blow) -> Wire:
    """Let the bytes of one character come in two reads, here and there."""
    if not _is_stream(wire):
        return wire
    where = [place for place, piece in enumerate(wire.pieces) if not piece.data.isascii()]
    chosen = set(blow.rng.sample(where, min(len(where), _MOST_SPLITS)))
    if not chosen:
        return wire
    pieces: list[Piece] = []
    for place, piece in enumerate(wire.pieces):
        pieces += _halves(piece) if place in chosen else (piece,)
    return replace(wire, pieces=tuple(pieces), apart=True)


def _halves(piece: Piece) -> tuple[Piece, Piece]:
    """Split a piece within its first character of several bytes."""
    place = next(place for place, byte in enumerate(piece.data) if byte >= 0xC0) + 1
    return Piece(piece.at, piece.data[:place]), Piece(piece.at, piece.data[place:])


def frame_oddly(wire: Wire, blow: Blow) -> Wire:
    """Frame events as the standard allows and few hosts do."""
    if not _is_stream(wire):
        return wire
    way = blow.way(*_FRAMINGS)
    pieces = tuple(Piece(piece.at, _framed(piece.data, way)) for piece in wire.pieces)
    match way:
        case "bom":
            pieces = (Piece(pieces[0].at, b"\xef\xbb\xbf" + pieces[0].data), *pieces[1:])
        case "last_newline":
            pieces = (*pieces[:-1], Piece(pieces[-1].at, pieces[-1].data.rstrip(b"\n")))
    return replace(wire, pieces=pieces)


def _framed(data: bytes, way: str) -> bytes:
    match way:
        case "crlf":
            return data.replace(b"\n", b"\r\n")
        case "cr":
            return data.replace(b"\n", b"\r")
        case "no_space" if data.startswith(b"data: "):
            return b"data:" + data[len(b"data: ") :]
        case _:
            return data


def lie_about_encoding(wire: Wire, blow: Blow) -> Wire:
    """Send half a packed body, or a whole one without saying so."""
    packed = tuple(_packed(wire))
    if blow.way("cut", "undeclared") == "undeclared":
        return replace(wire, pieces=packed)
    half = packed[: max(1, len(packed) // 2)]
    return replace(wire, pieces=half, headers={**wire.headers, **_ZIPPED})


def claim_encoding(wire: Wire, _: Blow) -> Wire:
    return replace(wire, headers={**wire.headers, **_ZIPPED})


def _packed(wire: Wire) -> Iterator[Piece]:
    packer = zlib.compressobj(wbits=_GZIP)
    for number, piece in enumerate(wire.pieces, 1):
        end = zlib.Z_FINISH if number == len(wire.pieces) else zlib.Z_SYNC_FLUSH
        yield Piece(piece.at, packer.compress(piece.data) + packer.flush(end))


def write_in_code_page(wire: Wire, _: Blow) -> Wire:
    """Send what a code page of the West holds in that, and the rest in UTF-8."""
    pieces = tuple(Piece(piece.at, _in_code_page(piece.data)) for piece in wire.pieces)
    return wire if pieces == wire.pieces else replace(wire, pieces=pieces)


def _in_code_page(data: bytes) -> bytes:
    if data.isascii():
        return data
    return b"".join(_byte_of(letter) for letter in data.decode("utf-8", "replace"))


def _byte_of(letter: str) -> bytes:
    try:
        return letter.encode("cp1252")
    except UnicodeEncodeError:
        return letter.encode("utf-8", "replace")


def send_document(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    return replace(planned, whole=True) if blow.request.stream and planned.whole is None else planned


def send_stream(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    return planned if blow.request.stream or planned.whole is not None else replace(planned, whole=False)


def _is_stream(wire: Wire) -> bool:
    return wire.headers.get("Content-Type") == EVENT_STREAM and bool(wire.pieces)


OCTETS: Final = (
    Fault(
        name="split_utf8",
        version=1,
        seen_by=(UNSEEN,),
        gives=("pass",),
        does="Lets the bytes of one character come in two reads.",
        on_wire=split_characters,
    ),
    Fault(
        name="odd_framing",
        version=1,
        seen_by=(UNSEEN,),
        gives=("pass",),
        does="Frames its events as the standard allows and few hosts do.",
        on_wire=frame_oddly,
        parameters={"with": Choice(default="", options=("", *_FRAMINGS))},
    ),
    Fault(
        name="lying_encoding",
        version=1,
        seen_by=(TRIAGE,),
        gives=("transport:content_encoding",),
        does="Sends half a body packed with gzip, or a whole one without saying so.",
        on_wire=lie_about_encoding,
        parameters={"with": Choice(default="", options=("", "cut", "undeclared"))},
    ),
    Fault(
        name="claimed_encoding",
        version=1,
        seen_by=(UNSEEN,),
        gives=("pass",),
        does="Says gzip of bytes that are not packed, as after a proxy that has unpacked them.",
        on_wire=claim_encoding,
    ),
    Fault(
        name="latin1_bytes",
        version=1,
        seen_by=(LANGUAGE, INTEGRITY),
        gives=("fail:encoding", "fail:replacement_char"),
        does="Sends bytes of a code page where UTF-8 belongs; strikes where the text has letters of one.",
        on_wire=write_in_code_page,
    ),
    Fault(
        name="document_for_stream",
        version=1,
        seen_by=(UNSEEN,),
        gives=("pass",),
        does="Sends one JSON document although a stream was asked for.",
        on_answer=send_document,
    ),
    Fault(
        name="stream_for_document",
        version=1,
        seen_by=(UNSEEN,),
        gives=("pass",),
        does="Sends a stream although one JSON document was asked for; no probe asks for one.",
        on_answer=send_stream,
    ),
)
