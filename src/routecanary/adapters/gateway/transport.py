"""How does anything travel to a gateway and back?

One shared session, a bounded number of probes at once, no retries, no redirects. A provider's failure ends a
transcript and is never raised; calls that are no probe raise `GatewayError`. What is asked, and what the
answers mean, is not known here: a gateway's own file says the former, and the recorder that keeps a probe's
answer is handed in.

Source: openrouter-wire.md §0, §6.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from ssl import SSLContext
from typing import Final, Protocol

import aiohttp

from routecanary.adapters.gateway.blacken import blackened
from routecanary.adapters.gateway.exchange import Listener, exchange
from routecanary.adapters.gateway.failures import failure_from
from routecanary.adapters.gateway.lag import LagMeter
from routecanary.adapters.gateway.line import Line, checked_url, proxy_of_environment
from routecanary.adapters.gateway.watch import Waiting, Watch
from routecanary.clock import Clock
from routecanary.domain.probe import Json, Probe
from routecanary.domain.secret import Secret
from routecanary.domain.strict_json import JsonError, parse_json
from routecanary.domain.transcript import Transcript
from routecanary.errors import AccountError, ConfigError, GatewayError, ListingError

MAX_DOCUMENT: Final = 8 * 1024 * 1024  # bytes of one JSON answer

PROBE_HEADERS: Final = {"Content-Type": "application/json", "Accept": "text/event-stream"}


class Recording(Listener, Waiting, Protocol):
    """The making of one transcript; every time is in seconds of the clock."""

    def waiting_window(self) -> tuple[float, float] | None: ...
    def transcript(self, *, lag_ms: float = 0.0) -> Transcript: ...


class StartRecording(Protocol):
    def __call__(self, probe: Probe, *, at: float, started_at: datetime) -> Recording: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Where a gateway is, and how it is waited for."""

    base_url: str
    api_key: Secret
    clock: Clock
    record: StartRecording
    concurrency: int = 64  # probes at once; too many falsify the latency: see docs/gateway.md
    document_timeout: timedelta = timedelta(seconds=30)  # of one call that is no probe, in clock time
    ssl_context: SSLContext | None = None  # for a private certificate authority; None = the system's
    trust_env: bool = False  # take the proxy from the environment, for an https address


class Transport:
    """The connections to one gateway; they are there between `open` and `close`."""

    def __init__(self, reach: Reach, *, headers: Mapping[str, str]) -> None:
        """Hold what is needed; nothing is opened yet.

        Args:
            headers: That a probe's request carries besides the usual ones.
        Raises:
            ConfigError: The address or the key cannot be used.
        """
        self._base_url = checked_url(reach.base_url)
        self._api_key = _checked_key(reach.api_key)
        self._clock = reach.clock
        self._record = reach.record
        self._headers = {**PROBE_HEADERS, **headers}
        self._slots = asyncio.Semaphore(reach.concurrency)
        self._document_timeout = reach.document_timeout
        self._ssl = reach.ssl_context
        self._proxy = proxy_of_environment(self._base_url) if reach.trust_env else None
        self._lag = LagMeter(reach.clock)
        self._session: aiohttp.ClientSession | None = None
        self._line: Line | None = None

    async def open(self) -> None:
        authorization = {"Authorization": f"Bearer {self._api_key.reveal()}", "Accept-Encoding": "identity"}
        self._session = aiohttp.ClientSession(
            # The slots are the bound; a second one in the connector would hide waiting in `connect_ms`.
            connector=aiohttp.TCPConnector(limit=0, ssl=self._ssl or True),
            headers=authorization,
            timeout=aiohttp.ClientTimeout(total=None, connect=None, sock_connect=None, sock_read=None),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,  # no encoding was asked for, and none is inflated
            trust_env=False,
        )
        self._line = Line(
            self._session,
            f"{self._base_url}/chat/completions",
            headers=authorization | self._headers,
            ssl_context=self._ssl,
            proxy=self._proxy,
        )

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def ask(self, probe: Probe) -> Transcript:
        """Ask one probe and keep whatever comes.

        Waits for a free slot first; the transcript's times start after that. Cancelling it closes the
        connection and keeps nothing.
        """
        body = json.dumps(probe.body).encode()
        async with self._slots:
            with self._lag:
                recording = self._record(probe, at=self._clock.monotonic(), started_at=self._clock.now())
                await self._listen(body, recording)
                window = recording.waiting_window()
                lag = 0.0 if window is None else self._lag.worst(*window)
                return blackened(recording.transcript(lag_ms=lag * 1000), self._api_key)

    async def _listen(self, body: bytes, recording: Recording) -> None:
        if self._line is None:
            raise RuntimeError("the gateway is entered before use")
        try:
            async with asyncio.timeout(None) as limit:
                with Watch(recording, self._clock, limit):
                    connection = await self._line.connect()
                    await exchange(connection, self._line.request(body), recording, self._clock)
        except (aiohttp.ClientError, OSError) as error:  # our own deadline is a TimeoutError, so an OSError
            if isinstance(error, TimeoutError) and limit.expired():
                return
            failure = failure_from(error)
            if failure is None:
                raise
            recording.ended(self._clock.monotonic(), failure.kind, failure.detail)

    async def listing(self, path: str) -> Json:
        """Fetch the document of a listing.

        Raises:
            GatewayError: The gateway could not be asked, or does not know the model.
            ListingError: It answered something that is not JSON.
        """
        status, data = await self._get(path)
        if status != 200:
            raise _refusal(f"GET {path}", status)
        try:
            return parse_json(data)
        except JsonError as error:
            raise ListingError(error.problem, place=f"GET {path}") from None

    async def document(self, path: str) -> Json:
        """Fetch one JSON document.

        Raises:
            GatewayError: The gateway could not be asked, refused, or answered no JSON.
        """
        status, data = await self._get(path)
        if status != 200:
            raise _refusal(f"GET {path}", status)
        try:
            return parse_json(data)
        except JsonError as error:
            raise GatewayError(f"GET {path}: {error.problem}") from None

    async def _get(self, path: str) -> tuple[int, bytes]:
        try:
            async with asyncio.timeout(self._document_timeout.total_seconds() / self._clock.rate):
                return await self._read(path)
        except TimeoutError:
            seconds = self._document_timeout.total_seconds()
            raise GatewayError(f"GET {path}: no whole answer within {seconds:g} s") from None
        except (aiohttp.ClientError, OSError) as error:
            failure = failure_from(error)
            if failure is None:
                raise
            raise GatewayError(f"GET {path}: {failure.kind}: {failure.detail}") from None

    async def _read(self, path: str) -> tuple[int, bytes]:
        if self._session is None:
            raise RuntimeError("the gateway is entered before use")
        response = await self._session.get(self._base_url + path, allow_redirects=False, proxy=self._proxy)
        try:
            data = bytearray()
            while chunk := await response.content.readany():
                data += chunk
                if len(data) > MAX_DOCUMENT:
                    raise GatewayError(f"GET {path}: more than {MAX_DOCUMENT} bytes")
            return response.status, bytes(data)
        finally:
            response.close()


# HTTP status: what it means, and the reason code where our account is at fault
_REFUSALS: Final[Mapping[int, tuple[str, str | None]]] = {
    401: ("the key was refused", "auth"),
    402: ("the account has no credit", "credits"),
    403: ("the key may not do this", "auth"),
    404: ("the gateway does not know it", "config"),
    429: ("the gateway limits our calls", None),
}


def _refusal(place: str, status: int) -> GatewayError:
    meaning, code = _REFUSALS.get(status, ("the gateway answered", None))
    message = f"{place}: {meaning} (HTTP {status})"
    return GatewayError(message) if code is None else AccountError(message, code=code)


def _checked_key(api_key: Secret) -> Secret:
    value = api_key.reveal()
    if not value or not value.isascii() or not value.isprintable() or " " in value:
        raise ConfigError(
            "empty, or holds what no HTTP header can carry", key="api key", allowed="printable ASCII"
        )
    return api_key
