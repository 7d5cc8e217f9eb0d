"""Where in the bytes of a request does the list go, so that every other byte stays as it was?

The document is read with its values unread: only the few members that decide about routing are decoded, and
what changes is laid into the bytes at the place of the old. Whatever could be read in two ways (a key that
stands twice, one written with escapes, bytes that are no UTF-8) is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import msgspec

_MEMBERS: Final = ("model", "models", "preset", "provider", "providerOptions")
_OPENING: Final = re.compile(rb"[ \t\n\r]*\{")
_KEY: Final = re.compile(rb'[ \t\n\r]*"([^"\\]*)"[ \t\n\r]*:[ \t\n\r]*')
_NEXT: Final = re.compile(rb"[ \t\n\r]*([,}])")

Members = dict[str, msgspec.Raw]

_split: Final = msgspec.json.Decoder(Members).decode
_decode: Final = msgspec.json.Decoder().decode
_encode: Final = msgspec.json.Encoder().encode


class BadBodyError(Exception):
    """The body is not what could be edited safely."""


class Peeked:
    """A request body of which only what decides about routing was decoded: `request` holds just that."""

    __slots__ = ("_body", "_members", "request")

    def __init__(self, body: bytes) -> None:
        """Look into a body.

        Raises:
            BadBodyError: It is no JSON object, or no UTF-8.
        """
        try:
            if not body.isascii():
                body.decode()  # what is skipped below is not looked at
            members = _split(body)
            self.request: dict[str, object] = {
                name: _decode(members[name]) for name in _MEMBERS if name in members
            }
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise BadBodyError from error
        self._body = body
        self._members = members

    def changed(self, changes: Mapping[str, object]) -> bytes:
        """Return the body with other values of some top-level members; the same object where none is other.

        Args:
            changes: Each member's whole new value. Of an object only what differs is laid in, however deep.
        Raises:
            BadBodyError: A key of an object that changes stands twice, or is written with escapes.
        """
        return _laid(self._body, self._members, self.request, changes)


def _laid(body: bytes, members: Members, old: Mapping[str, object], new: Mapping[str, object]) -> bytes:
    """Lay what differs into the bytes of an object, from the back to the front."""
    present: list[str] = []
    added = b""
    for name, value in new.items():
        if name not in members:
            comma = b"," if members or added else b""
            added += b"%b%b:%b" % (comma, _encode(name), _encode(value))
        elif old[name] != value:
            present.append(name)
    if not present:
        if not added:
            return body
        if len(body) == _shortest(members):  # mostly: it ends with the brace before which the list belongs
            return b"%b%b}" % (body[:-1], added)
    places, last = _places(body, members)
    laid, rest = [body[last:], added], last
    for name in sorted(present, key=places.__getitem__, reverse=True):
        start, end = places[name]
        before, value = old[name], new[name]
        if isinstance(before, dict) and isinstance(value, dict):
            inner = body[start:end]
            written = _laid(inner, _split(inner), before, value)
        else:
            written = _encode(value)
        laid += (body[end:rest], written)
        rest = start
    laid.append(body[:rest])
    laid.reverse()
    return b"".join(laid)


def _places(body: bytes, members: Members) -> tuple[dict[str, tuple[int, int]], int]:
    """Find where each member's value starts and ends, and where the last member ends.

    Raises:
        BadBodyError: The members do not stand as they were read: one came twice, or under escapes.
    """
    opening = _OPENING.match(body)
    if opening is None:
        raise BadBodyError
    places: dict[str, tuple[int, int]] = {}
    at = last = opening.end()
    for name, value in members.items():
        key = _KEY.match(body, at)
        if key is None or key[1].decode() != name:
            raise BadBodyError
        start = key.end()
        last = start + len(memoryview(value))
        places[name] = start, last
        following = _NEXT.match(body, last)
        if following is None or (following[1] == b"}") is not (len(places) == len(members)):
            raise BadBodyError
        at = following.end()
    return places, last


def _shortest(members: Members) -> int:
    """Say how long an object is at least: only one that is as it was read has that length."""
    length = 1 + (4 * len(members) or 1)
    for name, value in members.items():
        length += (len(name) if name.isascii() else len(name.encode())) + len(memoryview(value))
    return length
