"""What does a handler get, and what may it give back?

Plain slotted classes, not dataclasses: one of each is made for every request.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from email.utils import formatdate
from http import HTTPStatus
from time import time
from typing import Final
from urllib.parse import parse_qsl

import msgspec

from routecanary.web.head import Head

JSON: Final = ("content-type", "application/json")
_MAX_PARAMETERS: Final = 100  # in a query
_REASONS: Final = {status.value: status.phrase for status in HTTPStatus}
_BODILESS: Final = (204, 304)


class Headers:
    """The headers of a request, found whatever their case."""

    __slots__ = ("_fields",)

    def __init__(self, fields: dict[bytes, bytes]) -> None:
        self._fields = fields

    def get(self, name: str, default: str | None = None) -> str | None:
        """Return a header's value; those of a name that came several times, joined with commas."""
        value = self._fields.get(name.lower().encode("latin-1"))
        return default if value is None else value.decode("latin-1")

    def __getitem__(self, name: str) -> str:
        return self._fields[name.lower().encode("latin-1")].decode("latin-1")

    def __contains__(self, name: str) -> bool:
        return name.lower().encode("latin-1") in self._fields

    def __iter__(self) -> Iterator[str]:
        return (name.decode("latin-1") for name in self._fields)


class Request:
    """One request. `body` is empty for a `Taker`, which gets it as it comes."""

    __slots__ = ("body", "head", "headers", "method", "path", "peer", "query")

    def __init__(self, head: Head, peer: str) -> None:
        self.method = head.method
        self.path = head.path
        self.query = head.query
        self.headers = Headers(head.fields)
        self.head = head
        self.peer = peer  # the address of whoever is at the other end
        self.body = b""

    def parameters(self) -> dict[str, list[str]]:
        """Decode the query: each name with its values, in order.

        Raises:
            ValueError: There are too many, or they are no UTF-8.
        """
        found: dict[str, list[str]] = {}
        for name, value in parse_qsl(
            self.query, keep_blank_values=True, errors="strict", max_num_fields=_MAX_PARAMETERS
        ):
            found.setdefault(name, []).append(value)
        return found


class Response:
    """What goes back: a body of known length, one that comes in pieces, or bytes that were made before.

    `raw` is a whole response, head and body, ready to be written; `status`, `headers` and `body` are then not
    looked at. The connection adds `content-length` or the chunks, `date`, and `connection: close`.
    """

    __slots__ = ("body", "headers", "raw", "status")

    def __init__(
        self,
        status: int = 200,
        body: bytes | AsyncIterator[bytes] = b"",
        headers: Iterable[tuple[str, str]] = (),
        *,
        raw: bytes | None = None,
    ) -> None:
        self.status = status
        self.body = body
        self.headers = headers
        self.raw = raw


Handler = Callable[[Request], Response | Awaitable[Response]]


def json_response(document: object, status: int = 200, headers: Iterable[tuple[str, str]] = ()) -> Response:
    """Make a response of a JSON document."""
    return Response(status, msgspec.json.encode(document), (JSON, *headers))


def error_response(status: int, message: str, headers: Iterable[tuple[str, str]] = ()) -> Response:
    """Make a response of an error, in the gateway's envelope."""
    return json_response({"error": {"code": status, "message": message}}, status, headers)


def written_head(response: Response, *, keep_alive: bool, minor: int) -> bytes:
    """Write the head of a response that is not `raw`.

    Raises:
        ValueError: A header holds what would end it.
    """
    status, body = response.status, response.body
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Unknown')}", f"date: {_date()}"]
    for name, value in response.headers:
        if "\r" in value or "\n" in value or "\0" in value:
            raise ValueError(f"header {name!r} holds a line break")
        lines.append(f"{name}: {value}")
    if isinstance(body, bytes):
        if status not in _BODILESS:
            lines.append(f"content-length: {len(body)}")
    elif minor and status not in _BODILESS:
        lines.append("transfer-encoding: chunked")
    if not keep_alive:
        lines.append("connection: close")
    lines.append("\r\n")
    return "\r\n".join(lines).encode("latin-1")


def is_bodiless(status: int) -> bool:
    """Say whether a response of this status has no body, whatever its headers say."""
    return status in _BODILESS


class _Date:
    """The value of `date`, made once a second."""

    __slots__ = ("second", "text")

    def __init__(self) -> None:
        self.second = -1
        self.text = ""


_last: Final = _Date()


def _date() -> str:
    second = int(time())
    if second != _last.second:
        _last.second, _last.text = second, formatdate(second, usegmt=True)
    return _last.text
