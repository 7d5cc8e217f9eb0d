"""How is the gateway asked?

One shared session, a bounded number of probes at once, no retries, no redirects. A provider's failure ends a
transcript and is never raised; discovery and account calls raise `GatewayError`. What the answers mean is not
known here: the recorder that keeps a probe's answer and the reader of listings are handed in.

Source: openrouter-wire.md §0, §1, §5.3, §6.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from ssl import SSLContext
from types import TracebackType
from typing import Final, Protocol, Self
from urllib.parse import quote, urlsplit

import aiohttp
from aiohttp.abc import AbstractStreamWriter

from routecanary.adapters.gateway.documents import key_info_from_json, providers_from_json
from routecanary.adapters.gateway.failures import failure_from
from routecanary.adapters.gateway.lag import LagMeter
from routecanary.adapters.gateway.tap import receive
from routecanary.clock import Clock
from routecanary.domain.account import KeyInfo
from routecanary.domain.names import ModelId
from routecanary.domain.probe import Json, Probe
from routecanary.domain.route import Listing
from routecanary.domain.secret import Secret
from routecanary.domain.strict_json import JsonError, parse_json
from routecanary.domain.transcript import EndingKind, Transcript
from routecanary.errors import ConfigError, GatewayError, ListingError

MAX_DOCUMENT: Final = 8 * 1024 * 1024  # bytes of one JSON answer
MAX_HEADER: Final = 16 * 1024  # bytes of one header line
MAX_HEADERS: Final = 128
LOOK_EVERY: Final = 0.5  # clock seconds: a deadline that came nearer is met this much late at most

PROBE_HEADERS: Final = {
    "Content-Type": "application/json",
    "Accept": "text/event-stream",
    "X-OpenRouter-Cache": "false",
    "X-OpenRouter-Metadata": "enabled",
}


class Recording(Protocol):
    """The making of one transcript; every `at` is in seconds of the clock's monotonic time."""

    def written(self, at: float) -> None: ...
    def opened(self, at: float, status: int, headers: Iterable[tuple[str, str]]) -> None: ...
    def feed(self, at: float, data: bytes) -> bool: ...
    def ended(self, at: float, kind: EndingKind, detail: str = "") -> None: ...
    def due(self) -> float: ...
    def expire(self, at: float) -> bool: ...
    def waiting_window(self) -> tuple[float, float] | None: ...
    def transcript(self, *, lag_ms: float = 0.0) -> Transcript: ...


class StartRecording(Protocol):
    def __call__(self, probe: Probe, *, at: float, started_at: datetime) -> Recording: ...


class ReadListing(Protocol):
    def __call__(self, document: Json, *, model: ModelId, at: datetime, place: str) -> Listing: ...


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
            trust_env: Take the proxy from the environment.
        Raises:
            ConfigError: The address or the key cannot be used.
        """
        self._base_url = _checked_url(base_url)
        self._api_key = _checked_key(api_key)
        self._clock = clock
        self._record = record
        self._read_listing = read_listing
        self._slots = asyncio.Semaphore(concurrency)
        self._document_timeout = document_timeout
        self._ssl = ssl_context
        self._trust_env = trust_env
        self._lag = LagMeter(clock)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            # The slots are the bound; a second one in the connector would hide waiting in `connect_ms`.
            connector=aiohttp.TCPConnector(limit=0, ssl=self._ssl or True),
            headers={"Authorization": f"Bearer {self._api_key.reveal()}", "Accept-Encoding": "identity"},
            timeout=aiohttp.ClientTimeout(total=None, connect=None, sock_connect=None, sock_read=None),
            cookie_jar=aiohttp.DummyCookieJar(),
            # An encoding that nobody asked for is evidence: the bytes stay as they came.
            auto_decompress=False,
            trust_env=self._trust_env,
            max_line_size=MAX_HEADER,
            max_field_size=MAX_HEADER,
            max_headers=MAX_HEADERS,
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
                await self._exchange(body, recording)
                window = recording.waiting_window()
                lag = 0.0 if window is None else self._lag.worst(*window)
                return recording.transcript(lag_ms=lag * 1000)

    async def _exchange(self, body: bytes, recording: Recording) -> None:
        clock = self._clock
        try:
            async with asyncio.timeout(None) as limit:
                watch = _Watch(recording, clock, limit)
                try:
                    await self._stream(body, recording)
                finally:
                    watch.stop()
        except TimeoutError:
            if not limit.expired():
                raise
        except (aiohttp.ClientError, OSError) as error:
            failure = failure_from(error)
            if failure is None:
                raise
            recording.ended(clock.monotonic(), failure.kind, failure.detail)

    async def _stream(self, body: bytes, recording: Recording) -> None:
        clock = self._clock
        response = await self._open().post(
            f"{self._base_url}/chat/completions",
            data=_StampedBody(body, recording, clock),
            headers=PROBE_HEADERS,
            allow_redirects=False,
        )
        try:
            recording.opened(clock.monotonic(), response.status, _headers(response))
            await receive(response, recording, clock)
            recording.ended(clock.monotonic(), EndingKind.EOF)
        finally:
            response.close()

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
        return self._read_listing(document, model=model, at=self._clock.now(), place=place)

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
        response = await self._open().get(self._base_url + path, allow_redirects=False)
        try:
            data = bytearray()
            while chunk := await response.content.readany():
                data += chunk
                if len(data) > MAX_DOCUMENT:
                    raise GatewayError(f"GET {path}: more than {MAX_DOCUMENT} bytes")
            return response.status, bytes(data)
        finally:
            response.close()

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("the gateway is entered before use")
        return self._session


_REFUSALS: Final = {
    401: "the key was refused",
    402: "the account has no credit",
    403: "the key may not do this",
    404: "the gateway does not know it",
    429: "the gateway limits our calls",
}


def _refusal(place: str, status: int) -> GatewayError:
    return GatewayError(f"{place}: {_REFUSALS.get(status, 'the gateway answered')} (HTTP {status})")


class _StampedBody(aiohttp.BytesPayload):
    """A request body that says when its last byte was handed to the socket.

    The library sends the buffered headers together with the first write of the body, so this is the moment
    at which the whole request is out. (The trace hook for a sent chunk fires before the write, and each
    request would pay for all the other hooks.)
    """

    def __init__(self, value: bytes, recording: Recording, clock: Clock) -> None:
        super().__init__(value)
        self._recording = recording
        self._clock = clock

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        await super().write_with_length(writer, content_length)
        self._recording.written(self._clock.monotonic())


class _Watch:
    """One timer for all deadlines of a recording.

    What arrives moves the next deadline, mostly away. The timer is not touched for it: it rings now and then,
    or when the deadline was due as it was last known, and looks again.
    """

    def __init__(self, recording: Recording, clock: Clock, limit: asyncio.Timeout) -> None:
        self._recording = recording
        self._clock = clock
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._handle = self._wait()

    def now(self) -> float:
        return self._clock.monotonic()

    def stop(self) -> None:
        self._handle.cancel()

    def _wait(self) -> asyncio.TimerHandle:
        seconds = min(self._recording.due() - self.now(), LOOK_EVERY)
        return self._loop.call_later(max(0.0, seconds) / self._clock.rate, self._ring)

    def _ring(self) -> None:
        if self._recording.expire(self.now()):
            self._limit.reschedule(self._loop.time())
        else:
            self._handle = self._wait()


def _headers(response: aiohttp.ClientResponse) -> Iterable[tuple[str, str]]:
    return [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in response.raw_headers]


def _checked_url(base_url: str) -> str:
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.query or parts.fragment or parts.username or parts.password:
        # Not shown: an address with credentials in it would be printed.
        raise ConfigError(
            "not a usable address",
            key="gateway.base_url",
            allowed="http(s)://host[:port][/path] without credentials",
        )
    return base_url.rstrip("/")


def _checked_key(api_key: Secret) -> Secret:
    value = api_key.reveal()
    if not value or not value.isascii() or not value.isprintable() or " " in value:
        raise ConfigError(
            "empty, or holds what no HTTP header can carry", key="api key", allowed="printable ASCII"
        )
    return api_key
