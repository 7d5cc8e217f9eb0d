"""How is the gateway asked?

One shared session, a bounded number of probes at once, no retries, no redirects. A provider's failure ends a
transcript and is never raised; discovery and account calls raise `GatewayError`. What the answers mean is not
known here: the recorder that keeps a probe's answer and the reader of listings are handed in.

Source: openrouter-wire.md §0, §1, §5.3, §6.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from ssl import SSLContext
from types import TracebackType
from typing import Final, Protocol, Self
from urllib.parse import quote

import aiohttp

from routecanary.adapters.gateway.blacken import blackened
from routecanary.adapters.gateway.documents import key_info_from_json, providers_from_json
from routecanary.adapters.gateway.exchange import Listener, exchange
from routecanary.adapters.gateway.failures import failure_from
from routecanary.adapters.gateway.lag import LagMeter
from routecanary.adapters.gateway.line import Line, checked_url, proxy_of_environment
from routecanary.adapters.gateway.watch import Waiting, Watch
from routecanary.clock import Clock
from routecanary.domain.account import KeyInfo
from routecanary.domain.names import ModelId
from routecanary.domain.probe import Json, Probe
from routecanary.domain.route import Listing
from routecanary.domain.secret import Secret
from routecanary.domain.strict_json import JsonError, parse_json
from routecanary.domain.transcript import Transcript
from routecanary.errors import AccountError, ConfigError, GatewayError, ListingError

MAX_DOCUMENT: Final = 8 * 1024 * 1024  # bytes of one JSON answer
NAMES_KEPT: Final = timedelta(days=1)  # of clock time

PROBE_HEADERS: Final = {
    "Content-Type": "application/json",
    "Accept": "text/event-stream",
    "X-OpenRouter-Cache": "false",
    "X-OpenRouter-Metadata": "enabled",
}


class Recording(Listener, Waiting, Protocol):
    """The making of one transcript; every time is in seconds of the clock."""

    def waiting_window(self) -> tuple[float, float] | None: ...
    def transcript(self, *, lag_ms: float = 0.0) -> Transcript: ...


class StartRecording(Protocol):
    def __call__(self, probe: Probe, *, at: float, started_at: datetime) -> Recording: ...


class ReadListing(Protocol):
    def __call__(
        self,
        document: Json,
        *,
        model: ModelId,
        at: datetime,
        place: str,
        facts: Json,
        providers: Mapping[str, str],
    ) -> Listing: ...


class OpenRouterGateway:
    """The gateway, as discovery and probing need it. Enter it before use; leaving closes the connections."""

    def __init__(
        self,
        *,
        base_url: str,
        api_key: Secret,
        clock: Clock,
        record: StartRecording,
        read_listing: ReadListing,
        concurrency: int = 64,
        document_timeout: timedelta = timedelta(seconds=30),
        ssl_context: SSLContext | None = None,
        trust_env: bool = False,
    ) -> None:
        """Hold what is needed; nothing is opened yet.

        Args:
            concurrency: Probes at once. Too many falsify the latency: see docs/gateway.md.
            document_timeout: Of one call that is no probe, in clock time.
            ssl_context: For a private certificate authority; None = the system's.
            trust_env: Take the proxy from the environment, for an https address.
        Raises:
            ConfigError: The address or the key cannot be used.
        """
        self._base_url = checked_url(base_url)
        self._api_key = _checked_key(api_key)
        self._clock = clock
        self._record = record
        self._read_listing = read_listing
        self._slots = asyncio.Semaphore(concurrency)
        self._document_timeout = document_timeout
        self._ssl = ssl_context
        self._proxy = proxy_of_environment(self._base_url) if trust_env else None
        self._lag = LagMeter(clock)
        self._naming = asyncio.Lock()
        self._names: Mapping[str, str] = {}  # display name → base slug
        self._named_at: float | None = None
        self._session: aiohttp.ClientSession | None = None
        self._line: Line | None = None

    async def __aenter__(self) -> Self:
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
            headers=authorization | PROBE_HEADERS,
            ssl_context=self._ssl,
            proxy=self._proxy,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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

    async def listing(self, model: ModelId) -> Listing:
        """Discover the routes of a model.

        Raises:
            GatewayError: The gateway could not be asked, or does not know the model.
            ListingError: It answered something that is not a listing.
        """
        path = f"/models/{quote(model, safe='/:')}/endpoints"
        place = f"GET {path}"
        status, data = await self._get(path)
        if status != 200:
            raise _refusal(place, status)
        try:
            document = parse_json(data)
        except JsonError as error:
            raise ListingError(error.problem, place=place) from None
        facts = await self._facts(model)
        names = await self._provider_names()
        return self._read_listing(
            document, model=model, at=self._clock.now(), place=place, facts=facts, providers=names
        )

    async def _facts(self, model: ModelId) -> Json:
        """Ask for what the gateway says of the model itself; None where that cannot be had."""
        try:
            return await self._document(f"/model/{quote(model, safe='/:')}")
        except GatewayError:
            return None

    async def _provider_names(self) -> Mapping[str, str]:
        """Look up the providers at most once a day; without an answer, what was known stands."""
        async with self._naming:
            now = self._clock.elapsed()
            if self._named_at is None or now - self._named_at >= NAMES_KEPT.total_seconds():
                try:
                    self._names = await self.providers()
                except GatewayError:
                    pass  # the listing names most of them by itself
                self._named_at = now
            return self._names

    async def providers(self) -> Mapping[str, str]:
        """Look up the providers: display name → base slug.

        Raises:
            GatewayError: The gateway could not be asked, or answered no list of providers.
        """
        return providers_from_json(await self._document("/providers"), "GET /providers")

    async def key(self) -> KeyInfo:
        """Ask what our key may still spend.

        Raises:
            GatewayError: The gateway could not be asked, or refused the key.
        """
        return key_info_from_json(await self._document("/key"), "GET /key")

    async def _document(self, path: str) -> Json:
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
