"""Who answers a request, and is its asker let through?

One table of rows for each listener: method, path, who may, handler. Everything is refused that is not in it.
The answers to bad input, to strangers and to a store in trouble are the same for all rows.

Source: docs/serving.md, "The listeners".
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from routecanary.domain.address import Address
from routecanary.domain.redaction import without_tokens
from routecanary.domain.token import Role
from routecanary.errors import InputError, RoutecanaryError, SnapshotError, StoreError
from routecanary.web.guard import Admitted, Denied, Guard
from routecanary.web.http import Request, Response, error_response

LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_PORT: Final = re.compile(r":[0-9]{1,5}\Z")


class Call:
    """One request that was let through: what its path names, and who asks."""

    __slots__ = ("asker", "names", "request")

    def __init__(self, request: Request, names: Mapping[str, str], asker: Admitted) -> None:
        self.request = request
        self.names = names
        self.asker = asker


Answer = Response | Awaitable[Response]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One row: `path` may hold `{name}` for one part of it; a GET answers HEAD as well."""

    method: str
    path: str
    roles: frozenset[Role]
    answer: Callable[[Call], Answer]
    anonymous: bool = False  # needs no token on a listener that only this machine can reach


class Router:
    """The handler of one listener."""

    def __init__(self, routes: Iterable[Route], guard: Guard, address: Address) -> None:
        """Serve rows.

        Args:
            address: Where the listener listens: decides who needs a token, and which `Host` is ours.
        """
        self._guard = guard
        self._loopback = address.is_loopback
        self._hosts = LOOPBACK_NAMES | {str(address).rpartition(":")[0].lower()}
        self._plain: dict[str, dict[str, Route]] = {}
        self._patterns: list[tuple[re.Pattern[str], dict[str, Route]]] = []
        for route in routes:
            self._methods_of(route.path)[route.method] = route

    def __call__(self, request: Request) -> Answer:
        if self._loopback and not self._is_ours(request.headers.get("host")):
            return error_response(421, "this Host is not served here; allowed: localhost, 127.0.0.1, [::1]")
        names: Mapping[str, str] = {}
        methods = self._plain.get(request.path)
        if methods is None:
            methods, names = self._matched(request.path)
        route = methods.get("GET" if request.method == "HEAD" else request.method)
        if route is None:
            return _no_such(request, methods)
        asker = self._guard.admit(request.headers, route.roles, anonymous=route.anonymous and self._loopback)
        if isinstance(asker, Denied):
            return error_response(asker.status, asker.message, asker.headers.items())
        if route.method == "POST" and not _is_json(request.headers.get("content-type")):
            return error_response(415, "Content-Type: not JSON; allowed: application/json")
        try:
            answer = route.answer(Call(request, names, asker))
        except RoutecanaryError as error:
            return _refusal(error)
        return answer if isinstance(answer, Response) else _awaited(answer)

    def _methods_of(self, path: str) -> dict[str, Route]:
        if "{" not in path:
            return self._plain.setdefault(path, {})
        pattern = re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(path)))
        for known, methods in self._patterns:
            if known.pattern == pattern.pattern:
                return methods
        self._patterns.append((pattern, {}))
        return self._patterns[-1][1]

    def _matched(self, path: str) -> tuple[dict[str, Route], Mapping[str, str]]:
        for pattern, methods in self._patterns:
            found = pattern.fullmatch(path)
            if found is not None:
                return methods, {name: unquote(value) for name, value in found.groupdict().items()}
        return {}, {}

    def _is_ours(self, host: str | None) -> bool:
        """Say whether a request means us: a page of a stranger may have its name point at this machine."""
        return host is None or _PORT.sub("", host).lower() in self._hosts


async def _awaited(answer: Awaitable[Response]) -> Response:
    try:
        return await answer
    except RoutecanaryError as error:
        return _refusal(error)


def _refusal(error: RoutecanaryError) -> Response:
    """Answer for what cannot be done: the asker's mistake, or a store that is not to be had."""
    match error:
        case InputError():
            return error_response(400, without_tokens(str(error)))
        case StoreError() | SnapshotError():
            return error_response(503, without_tokens(str(error)), [("retry-after", "1")])
        case _:
            raise error


def _no_such(request: Request, methods: Mapping[str, Route]) -> Response:
    if not methods:
        return error_response(404, f"nothing is served at {request.path[:200]!r}")
    allowed = ", ".join(sorted({*methods, *(["HEAD"] if "GET" in methods else [])}))
    return error_response(405, f"{request.method}: not served here; allowed: {allowed}", [("allow", allowed)])


def _is_json(content_type: str | None) -> bool:
    return content_type is not None and content_type.partition(";")[0].strip().lower() == "application/json"
