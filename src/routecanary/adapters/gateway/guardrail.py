"""How are an account's guardrails read and written?

With a management key, few calls, one after the other, no retries and no redirects. The canary's own key is
used for one call alone, in which the gateway says who it is.

How does one learn the hash of one's own key, by which assignments name it? The gateway does not tell a key
its hash, and no page says how it is made. A key whose hash is the SHA-256 of ours is ours; where there is
none, every key of the same workspace with the same label is taken to be it.

Source: openrouter-wire.md §2.4; the official SDK's schemas 1.3.84.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from hashlib import sha256
from ssl import SSLContext
from typing import Final
from urllib.parse import quote

import aiohttp

from routecanary.adapters.gateway.failures import failure_from
from routecanary.adapters.gateway.line import checked_url, proxy_of_environment
from routecanary.adapters.gateway.management_documents import (
    Fields,
    data_of,
    guardrail_from_json,
    own_key_from_json,
    rows_of,
    text_of,
    total_of,
)
from routecanary.clock import Clock
from routecanary.domain.guardrail import CanaryKey, Coverage, Guardrail
from routecanary.domain.probe import Json
from routecanary.domain.secret import Secret
from routecanary.domain.strict_json import JsonError, parse_json
from routecanary.errors import AccountError, GatewayError, WriteRefusedError

MAX_DOCUMENT: Final = 2 * 1024 * 1024  # bytes of one JSON answer
A_PAGE: Final = 100  # rows
MOST_PAGES: Final = 50  # of one list


class _TooLongError(Exception):
    """An answer is longer than any that is read."""


class ManagementApi:
    """The account's guardrails. Nothing stays open between two calls."""

    def __init__(
        self,
        *,
        base_url: str,
        management_key: Secret,
        canary_key: Secret,
        clock: Clock,
        timeout: timedelta = timedelta(seconds=30),
        ssl_context: SSLContext | None = None,
        trust_env: bool = False,
    ) -> None:
        """Hold what is needed.

        Args:
            timeout: Of one call, in clock time.
            trust_env: Take the proxy from the environment, for an https address.
        Raises:
            ConfigError: The address cannot be used.
        """
        self._base_url = checked_url(base_url)
        self._management_key = management_key
        self._canary_key = canary_key
        self._seconds = timeout.total_seconds()
        self._clock = clock
        self._ssl = ssl_context
        self._proxy = proxy_of_environment(self._base_url) if trust_env else None

    async def guardrail(self, guardrail: str) -> Guardrail:
        """Read a guardrail as it stands now.

        Raises:
            GatewayError: It could not be read, or is not told clearly.
        """
        path = f"/guardrails/{quote(guardrail, safe='')}"
        return guardrail_from_json(await self._get(path), f"GET {path}", asked=guardrail)

    async def replace_ignored(self, guardrail: str, ignored: Sequence[str]) -> None:
        """Replace the whole list of ignored providers; an empty one is written as such.

        Raises:
            WriteRefusedError: Nothing was changed.
            GatewayError: Whether it was changed is not known.
        """
        path = f"/guardrails/{quote(guardrail, safe='')}"
        status, _ = await self._ask("PATCH", path, body={"ignored_providers": list(ignored)})
        if 400 <= status < 500:
            raise WriteRefusedError(_refused("PATCH", path, status))
        if status != 200:
            raise GatewayError(_refused("PATCH", path, status))

    async def canary(self) -> CanaryKey:
        """Find out who the canary's own key is.

        Raises:
            GatewayError: The gateway does not say, or the account that is managed has no such key.
        """
        own = own_key_from_json(await self._get("/key", key=self._canary_key), "GET /key")
        digest = sha256(self._canary_key.reveal().encode()).hexdigest()
        status, document = await self._ask("GET", f"/keys/{digest}", shown="/keys/…")
        if status == 200:
            hashes = {text_of(data_of(document, "GET /keys/…"), "hash", "GET /keys/…")} & {digest}
        elif status == 404:
            hashes = await self._hashes_labelled(own.label, own.workspace)
        else:
            raise _problem("GET", "/keys/…", status)
        if not hashes:
            raise GatewayError("the canary's key is not among those of the account that is managed")
        return CanaryKey(hashes=frozenset(hashes), creator=own.creator, workspace=own.workspace)

    async def _hashes_labelled(self, label: str, workspace: str) -> set[str]:
        """Look up every key of a workspace that has a label."""
        found: set[str] = set()
        for page in range(MOST_PAGES):
            path = f"/keys?workspace_id={quote(workspace, safe='')}&offset={page * A_PAGE}"
            rows = rows_of(await self._get(path), "GET /keys")
            found |= {text_of(row, "hash", "GET /keys") for row in rows if row.get("label") == label}
            if not rows:
                return found
        raise GatewayError(f"GET /keys: more than {MOST_PAGES} pages")

    async def coverage(self, guardrail: Guardrail, canary: CanaryKey) -> Coverage:
        """Find out whom a guardrail covers; of workspaces, the guardrail's and the canary's are looked at.

        Raises:
            GatewayError: It could not be found out as a whole.
        """
        path = f"/guardrails/{quote(guardrail.id, safe='')}/assignments"
        keys = await self._assigned(f"{path}/keys", guardrail.id, "key_hash")
        members = await self._assigned(f"{path}/members", guardrail.id, "user_id")
        workspaces: set[str] = set()
        for workspace in sorted({canary.workspace, guardrail.workspace or canary.workspace}):
            place = f"/workspaces/{quote(workspace, safe='')}"
            data = data_of(await self._get(place), f"GET {place}")
            if text_of(data, "id", f"GET {place}") != workspace:
                raise GatewayError(f"GET {place}: tells of another workspace")
            if text_of(data, "default_guardrail_id", f"GET {place}") == guardrail.id:
                workspaces.add(workspace)
        return Coverage(keys=keys, members=members, workspaces=frozenset(workspaces))

    async def _assigned(self, path: str, guardrail: str, name: str) -> frozenset[str]:
        place = f"GET {path}"
        rows: list[Fields] = []
        for page in range(MOST_PAGES):
            document = await self._get(f"{path}?offset={page * A_PAGE}&limit={A_PAGE}")
            more, total = rows_of(document, place), total_of(document, place)
            rows += more
            if not more or len(rows) >= total:
                break
        found = frozenset(text_of(row, name, place) for row in rows)
        if any(row.get("guardrail_id") != guardrail for row in rows) or len(found) != total:
            raise GatewayError(f"{place}: the list does not hold what it says")
        return found

    # --- one call -----------------------------------------------------------------------------------

    async def _get(self, path: str, *, key: Secret | None = None) -> Json:
        status, document = await self._ask("GET", path, key=key)
        if status != 200:
            raise _problem("GET", path.partition("?")[0], status)
        return document

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        key: Secret | None = None,
        body: Mapping[str, Json] | None = None,
        shown: str | None = None,
    ) -> tuple[int, Json]:
        """Make one call; what an error says is not read.

        Args:
            key: None = the management key.
            shown: How errors name the path, where it holds what nobody need read.
        """
        place = f"{method} {shown or path.partition('?')[0]}"
        try:
            async with asyncio.timeout(self._seconds / self._clock.rate):
                status, data = await self._exchange(method, path, key or self._management_key, body)
        except _TooLongError:
            raise GatewayError(f"{place}: more than {MAX_DOCUMENT} bytes") from None
        except TimeoutError:
            raise GatewayError(f"{place}: no whole answer within {self._seconds:g} s") from None
        except (aiohttp.ClientError, OSError) as error:
            failure = failure_from(error)
            if failure is None:
                raise
            raise GatewayError(f"{place}: {failure.kind}: {failure.detail}") from None
        if status != 200:
            return status, None
        try:
            return status, parse_json(data)
        except JsonError as error:
            raise GatewayError(f"{place}: {error.problem}") from None

    async def _exchange(
        self, method: str, path: str, key: Secret, body: Mapping[str, Json] | None
    ) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {key.reveal()}", "Accept-Encoding": "identity"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        async with (
            aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(ssl=self._ssl or True),
                timeout=aiohttp.ClientTimeout(total=None),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
            ) as session,
            session.request(
                method,
                self._base_url + path,
                headers=headers,
                data=None if body is None else json.dumps(body).encode(),
                allow_redirects=False,
                proxy=self._proxy,
            ) as response,
        ):
            data = bytearray()
            while chunk := await response.content.readany():
                data += chunk
                if len(data) > MAX_DOCUMENT:
                    raise _TooLongError
            return response.status, bytes(data)


_MEANINGS: Final[Mapping[int, str]] = {
    400: "the gateway does not take it",
    401: "the management key was refused",
    403: "the key may not do this: it must be a management key",
    404: "the gateway does not know it",
    429: "the gateway limits our calls",
}


def _refused(method: str, path: str, status: int) -> str:
    return f"{method} {path}: {_MEANINGS.get(status, 'the gateway answered')} (HTTP {status})"


def _problem(method: str, path: str, status: int) -> GatewayError:
    if path == "/key":
        return GatewayError(f"{method} {path}: the canary's own key was refused (HTTP {status})")
    message = _refused(method, path, status)
    return AccountError(message, code="auth") if status in (401, 403) else GatewayError(message)
