"""The gateway client against a real socket that does what gateways and their providers do."""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
import uvloop

from routecanary.adapters.gateway.openrouter import OpenRouterGateway
from routecanary.adapters.gateway.transport import Reach, Transport
from routecanary.clock import Clock, ScaledClock, SystemClock
from routecanary.discover.parse import listing_from_json
from routecanary.domain.answer import read_answer
from routecanary.domain.names import Locale, ModelId, RouteId
from routecanary.domain.probe import Probe, ProbeKind, Scene
from routecanary.domain.secret import Secret
from routecanary.domain.transcript import EndingKind, Transcript
from routecanary.errors import ConfigError, GatewayError, ListingError
from routecanary.probe.recorder import Bounds, Deadlines, Recorder
from tests.system.wire import CHUNKED, HEAD, UNTIL_CLOSED, Line, Script, Wire, chunk, closed_port, serving

T = TypeVar("T")
KEY = "sk-very-secret"
MODEL = ModelId("acme/chat-2")
TLS = Path(__file__).parent / "tls"
PROBE = Probe(
    model=MODEL,
    route=RouteId("north-host"),
    kind=ProbeKind.CHAT,
    locale=Locale("en"),
    scene=Scene(id="inn", prompt="{place}"),
    spec_version=1,
    attempt=0,
    body={"model": MODEL, "stream": True, "messages": [{"role": "user", "content": "Olá, สวัสดี"}]},
    provider_names=frozenset({"North Host"}),
    accepted_models=frozenset({MODEL}),
)
PATIENT = Deadlines()  # longer than any test
LOOPS = pytest.mark.parametrize(
    "loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"]
)


def event(content: str) -> bytes:
    frame = {"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": None}]}
    return f"data: {json.dumps(frame, ensure_ascii=False)}\n\n".encode()


STOP = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
KEEP_ALIVE = b": OPENROUTER PROCESSING\n\n"


def a_gateway(
    port: int,
    *,
    deadlines: Deadlines = PATIENT,
    bounds: Bounds = Bounds(),  # noqa: B008 - frozen
    clock: Clock | None = None,
    scheme: str = "http",
    **options: Any,
) -> OpenRouterGateway:
    def record(probe: Probe, *, at: float, started_at: datetime) -> Recorder:
        return Recorder(probe, at=at, started_at=started_at, deadlines=deadlines, bounds=bounds)

    reach = Reach(
        base_url=f"{scheme}://127.0.0.1:{port}/api/v1",
        api_key=Secret(KEY),
        clock=clock or SystemClock(),
        record=options.pop("record", record),
        **options,
    )
    return OpenRouterGateway(reach, read_listing=listing_from_json)


def run(awaitable: Awaitable[T], loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop) -> T:
    async def main() -> T:
        return await awaitable

    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(main())


async def answer(script: Script, **options: Any) -> Transcript:
    """Ask one probe of a server that follows the script."""
    async with serving(script) as wire, a_gateway(wire.port, **options) as gateway:
        return await gateway.ask(PROBE)


async def whole(line: Line) -> None:
    await line.say(CHUNKED, chunk(event("Rain.")), chunk(STOP), chunk(b""))


@LOOPS
def test_a_whole_answer_is_kept_read_by_read(loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """Raw reads with rising arrival times, headers, and a clean end."""

    async def script(line: Line) -> None:
        await line.say(CHUNKED, chunk(KEEP_ALIVE), chunk(event("It ")), chunk(event("rains.")), pause=0.02)
        await line.say(chunk(STOP), chunk(b""))

    transcript = run(answer(script), loop)
    assert (transcript.status, transcript.ending.kind) == (200, EndingKind.EOF)
    assert transcript.header("content-type") == "text/event-stream"
    assert (
        b"".join(data for _, data in transcript.chunks) == KEEP_ALIVE + event("It ") + event("rains.") + STOP
    )
    times = [at for at, _ in transcript.chunks]
    assert times == sorted(times)
    assert len(times) >= 3
    assert transcript.connect_ms is not None
    assert 0 <= transcript.headers_ms <= times[0] <= transcript.ending.at_ms
    assert read_answer(transcript).text == "It rains."


def test_the_request_is_the_probe_with_the_headers_of_a_probe() -> None:
    """The body goes out as it is; caches off, metadata on, no encoding asked for."""

    async def go() -> Wire:
        async with serving(whole) as wire, a_gateway(wire.port) as gateway:
            await gateway.ask(PROBE)
            return wire

    (request,) = run(go()).requests
    assert request.line == "POST /api/v1/chat/completions HTTP/1.1"
    assert json.loads(request.body) == PROBE.body
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["x-openrouter-cache"] == "false"
    assert request.headers["x-openrouter-metadata"] == "enabled"
    assert request.headers["accept-encoding"] == "identity"
    assert request.headers["content-type"] == "application/json"


async def split_characters(line: Line) -> None:
    body = event("ฝนตก 🌧 ção") + STOP
    await line.say(CHUNKED, *(chunk(body[at : at + 7]) for at in range(0, len(body), 7)), chunk(b""))


async def carriage_returns(line: Line) -> None:
    body = (event("ฝนตก 🌧 ção") + STOP).replace(b"\n", b"\r\n")
    await line.say(UNTIL_CLOSED, *(body[at : at + 11] for at in range(0, len(body), 11)))
    line.close()


async def many_at_once(line: Line) -> None:
    await line.say(CHUNKED + chunk(event("ฝนตก 🌧 ção") + STOP) + chunk(b""))


async def early_hints(line: Line) -> None:
    await line.say(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
    await many_at_once(line)


async def no_final_newline(line: Line) -> None:
    await line.say(UNTIL_CLOSED, event("ฝนตก 🌧 ção"), STOP.rstrip())
    line.close()


@LOOPS
@pytest.mark.parametrize(
    "script", [split_characters, carriage_returns, many_at_once, early_hints, no_final_newline]
)
def test_the_shape_of_the_transfer_changes_nothing(
    script: Script, loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    """Split characters, line ends, packing and a missing last newline: the same answer, whole."""
    transcript = run(answer(script), loop)
    assert transcript.ending.kind is EndingKind.EOF
    assert read_answer(transcript).text == "ฝนตก 🌧 ção"


async def reset_in_the_middle(line: Line) -> None:
    await line.say(CHUNKED, chunk(event("Rain.")), pause=0.05)
    line.reset()


async def cut_chunks(line: Line) -> None:
    await line.say(CHUNKED, chunk(event("Rain.")), pause=0.05)
    line.close()


async def short_of_its_length(line: Line) -> None:
    await line.say(HEAD + b"Content-Length: 9999\r\n\r\n", event("Rain."), pause=0.05)
    line.close()


async def bad_chunk_size(line: Line) -> None:
    await line.say(CHUNKED, chunk(event("Rain.")), b"zz\r\n", pause=0.05)
    line.close()


async def closed_without_a_word(line: Line) -> None:
    line.close()


async def reset_without_a_word(line: Line) -> None:
    line.reset()


async def no_http(line: Line) -> None:
    await line.say(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")
    line.close()


async def endless_header(line: Line) -> None:
    await line.say(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 1_000_000 + b"\r\n\r\n")
    line.close()


async def countless_headers(line: Line) -> None:
    await line.say(b"HTTP/1.1 200 OK\r\n" + b"X-A: 1\r\n" * 10_000 + b"\r\n")
    line.close()


@LOOPS
@pytest.mark.parametrize(
    ("script", "status", "detail"),
    [
        (reset_in_the_middle, 200, ""),
        (cut_chunks, 200, "cut before the body was complete"),
        (short_of_its_length, 200, "cut before the body was complete"),
        (bad_chunk_size, 200, ""),
        (closed_without_a_word, None, "closed before an answer"),
        (reset_without_a_word, None, ""),
        (no_http, None, "not HTTP"),
        (endless_header, None, "not HTTP"),
        (countless_headers, None, "not HTTP"),
    ],
)
def test_a_broken_connection_is_data(
    script: Script, status: int | None, detail: str, loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    """Whatever breaks, what had come is kept, and nothing is raised."""
    transcript = run(answer(script), loop)
    assert transcript.ending.kind is EndingKind.RESET
    assert detail in transcript.ending.detail
    assert transcript.status == status
    assert [data for _, data in transcript.chunks] == ([event("Rain.")] if status else [])


async def silent(line: Line) -> None:
    await line.hang()


async def headers_only(line: Line) -> None:
    await line.say(CHUNKED)
    await line.hang()


async def half_a_header(line: Line) -> None:
    await line.say(HEAD)
    await line.hang()


async def pings(line: Line) -> None:
    await line.say(CHUNKED)
    while True:
        await line.say(chunk(KEEP_ALIVE), pause=0.01)


async def stalls(line: Line) -> None:
    await line.say(CHUNKED, chunk(event("Rain.")))
    await line.hang()


async def drips(line: Line) -> None:
    await line.say(CHUNKED)
    while True:
        await line.say(chunk(event("Rain.")), pause=0.01)


def fast() -> ScaledClock:
    return ScaledClock(start=datetime(2026, 1, 5, tzinfo=UTC), rate=20.0)


def short(**seconds: float) -> Deadlines:
    """All deadlines long, save those named, in seconds."""
    return Deadlines(**{name: timedelta(seconds=value) for name, value in seconds.items()})


@LOOPS
@pytest.mark.parametrize(
    ("script", "deadlines", "name"),
    [
        (silent, short(headers=3), "headers"),
        (half_a_header, short(headers=3), "headers"),
        (headers_only, short(first_text=3), "first_text"),
        (pings, short(first_text=3, gap=2), "first_text"),
        (headers_only, short(gap=3), "gap"),
        (stalls, short(gap=3, first_text=1), "gap"),
        (drips, short(total=3, first_text=2, gap=2), "total"),
    ],
)
def test_a_deadline_ends_the_waiting(
    script: Script, deadlines: Deadlines, name: str, loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    """The ending names the deadline, and lies at it or later; time runs twenty times as fast here."""
    transcript = run(answer(script, deadlines=deadlines, clock=fast()), loop)
    assert (transcript.ending.kind, transcript.ending.detail) == (EndingKind.CLIENT_TIMEOUT, name)
    assert transcript.ending.at_ms >= 3_000


def test_a_host_that_lingers_after_done_ends_well() -> None:
    """The answer is whole; its connection is not waited for, nor used again."""

    async def script(line: Line) -> None:
        await line.say(CHUNKED, chunk(event("Rain.") + STOP))
        await line.hang()

    async def go() -> tuple[Wire, Transcript]:
        async with serving(script) as wire, a_gateway(wire.port, clock=fast()) as gateway:
            await gateway.ask(PROBE)
            return wire, await gateway.ask(PROBE)

    wire, transcript = run(go())
    assert transcript.ending.kind is EndingKind.EOF
    assert wire.connections == 2


@pytest.mark.parametrize(
    ("bounds", "detail"),
    [
        (Bounds(bytes=1_000), "more than 1000 bytes"),
        (Bounds(chunks=5), "more than 5 reads"),
        (Bounds(line=2_000), "a line of more than 2000 bytes"),
    ],
)
def test_a_bound_ends_the_listening(bounds: Bounds, detail: str) -> None:
    """An endless line fills neither memory nor time."""

    async def script(line: Line) -> None:
        await line.say(CHUNKED)
        while True:
            await line.say(chunk(b"data: " + b"x" * 500), pause=0.001)

    transcript = run(answer(script, bounds=bounds))
    assert (transcript.ending.kind, transcript.ending.detail) == (EndingKind.BOUND_EXCEEDED, detail)
    assert sum(len(data) for _, data in transcript.chunks) < 100_000


@pytest.mark.parametrize(
    ("status_line", "status"),
    [
        (b"HTTP/1.1 429 Too Many Requests", 429),
        (b"HTTP/1.1 502 Bad Gateway", 502),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/", 302),
        (b"HTTP/1.0 200 OK", 200),
    ],
)
def test_any_status_is_an_answer_and_no_redirect_is_followed(status_line: bytes, status: int) -> None:
    """What it means is judged elsewhere."""
    page = b"<html>" + b"x" * 3_000 + b"</html>"

    async def script(line: Line) -> None:
        await line.say(status_line + b"\r\nContent-Type: text/html\r\n\r\n", page, pause=0.02)
        line.close()

    transcript = run(answer(script))
    assert transcript.status == status
    assert b"".join(data for _, data in transcript.chunks) == page


def test_an_answer_without_a_body_is_whole() -> None:
    """Nothing came, and it came in full."""

    async def script(line: Line) -> None:
        await line.say(b"HTTP/1.1 204 No Content\r\n\r\n")

    transcript = run(answer(script))
    assert (transcript.status, transcript.chunks, transcript.ending.kind) == (204, (), EndingKind.EOF)


def test_an_encoding_that_nobody_asked_for_is_kept_as_it_came() -> None:
    """Inflating here would lose the evidence, or the memory."""
    packed = gzip.compress(event("Rain.") * 1_000)

    async def script(line: Line) -> None:
        head = HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
        await line.say(head + packed[:20], packed[20:], pause=0.02)

    transcript = run(answer(script))
    assert b"".join(data for _, data in transcript.chunks) == packed
    assert transcript.header("content-encoding") == "gzip"


def test_connections_are_used_again_and_broken_ones_are_not() -> None:
    """Whole answers share a connection; after a cut there is a new one."""

    async def go(script: Script) -> Wire:
        async with serving(script) as wire, a_gateway(wire.port) as gateway:
            for _ in range(3):
                await gateway.ask(PROBE)
            return wire

    assert run(go(whole)).connections == 1
    assert run(go(cut_chunks)).connections == 3


def test_cookies_are_neither_kept_nor_sent_back() -> None:
    """A probe carries nothing from the one before it."""

    async def script(line: Line) -> None:
        await line.say(b"HTTP/1.1 200 OK\r\nSet-Cookie: id=1; Path=/\r\nContent-Length: 0\r\n\r\n")

    async def go() -> tuple[Wire, Transcript]:
        async with serving(script) as wire, a_gateway(wire.port) as gateway:
            await gateway.ask(PROBE)
            return wire, await gateway.ask(PROBE)

    wire, transcript = run(go())
    assert not any("cookie" in request.headers for request in wire.requests)
    assert transcript.header("set-cookie") is None


def test_a_refused_connection_is_data() -> None:
    """There was no answer, and the connection's failure is named."""

    async def go() -> Transcript:
        async with a_gateway(closed_port()) as gateway:
            return await gateway.ask(PROBE)

    transcript = run(go())
    assert transcript.ending.kind is EndingKind.CONNECT_FAILED
    assert transcript.ending.detail == "not connected (ECONNREFUSED)"
    assert (transcript.status, transcript.connect_ms) == (None, None)


def a_certificate() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "localhost.crt", TLS / "localhost.key")
    return context


@LOOPS
def test_tls_is_read_like_plain(loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """With a certificate authority of one's own; connections are used again here too."""

    async def go() -> tuple[Wire, Transcript]:
        trusted = ssl.create_default_context(cafile=str(TLS / "localhost.crt"))
        async with (
            serving(split_characters, tls=a_certificate()) as wire,
            a_gateway(wire.port, scheme="https", ssl_context=trusted) as gateway,
        ):
            await gateway.ask(PROBE)
            return wire, await gateway.ask(PROBE)

    wire, transcript = run(go(), loop)
    assert read_answer(transcript).text == "ฝนตก 🌧 ção"
    assert wire.connections == 1


def test_tls_trouble_is_data() -> None:
    """A certificate that nobody vouches for."""

    async def go(tls: ssl.SSLContext | None) -> Transcript:
        async with serving(no_http, tls=tls) as wire, a_gateway(wire.port, scheme="https") as gateway:
            return await gateway.ask(PROBE)

    untrusted = run(go(a_certificate()))
    assert (untrusted.ending.kind, untrusted.ending.detail) == (EndingKind.TLS_FAILED, "certificate refused")


def test_a_handshake_that_never_ends_meets_the_connect_deadline() -> None:
    """The request was never written, so no other clock runs."""

    async def go() -> Transcript:
        async with serving(silent) as wire:
            gateway = a_gateway(wire.port, scheme="https", deadlines=short(connect=0.2))
            async with gateway:
                return await gateway.ask(PROBE)

    transcript = run(go())
    assert (transcript.ending.kind, transcript.ending.detail) == (EndingKind.CLIENT_TIMEOUT, "connect")
    assert transcript.connect_ms is None


def test_probes_at_once_are_bounded() -> None:
    """Too many would falsify the latency."""

    async def script(line: Line) -> None:
        await asyncio.sleep(0.02)
        await whole(line)

    async def go() -> Wire:
        async with serving(script) as wire, a_gateway(wire.port, concurrency=3) as gateway:
            await asyncio.gather(*(gateway.ask(PROBE) for _ in range(10)))
            return wire

    wire = run(go())
    assert len(wire.requests) == 10
    assert wire.open_most == 3


def test_waiting_for_a_slot_is_not_part_of_the_answer() -> None:
    """The second probe's times start when it is let in."""

    async def script(line: Line) -> None:
        await asyncio.sleep(0.2)
        await whole(line)

    async def go() -> list[Transcript]:
        deadlines = short(connect=0.15, headers=60)
        async with (
            serving(script) as wire,
            a_gateway(wire.port, concurrency=1, deadlines=deadlines) as gateway,
        ):
            return await asyncio.gather(*(gateway.ask(PROBE) for _ in range(3)))

    assert [transcript.ending.kind for transcript in run(go())] == [EndingKind.EOF] * 3


def test_a_cancelled_probe_closes_its_connection() -> None:
    """No task outlives its round, and a cancellation is no verdict."""

    async def go() -> bool:
        asked, gone = asyncio.Event(), asyncio.Event()

        async def script(line: Line) -> None:
            asked.set()
            await line.say(CHUNKED, chunk(event("Rain.")))
            await line.hang()
            gone.set()

        async with serving(script) as wire, a_gateway(wire.port) as gateway:
            task = asyncio.create_task(gateway.ask(PROBE))
            await asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(gone.wait(), 10)
            return gone.is_set()

    assert run(go())


def test_our_own_mistake_is_raised_and_not_taken_for_a_broken_connection() -> None:
    """A recorder that fails says nothing of the provider."""

    class Broken(Recorder):
        __slots__ = ()

        def feed(self, at: float, data: bytes) -> bool:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(answer(pings, record=Broken))


def test_compressed_time_scales_waiting_and_measuring_alike() -> None:
    """At twenty times the speed, a tenth of a second is two, and a deadline of two is met by it."""

    async def script(line: Line) -> None:
        await line.say(CHUNKED)
        await asyncio.sleep(0.1)
        await line.say(chunk(event("Rain.") + STOP), chunk(b""))

    clock = fast()
    patient = run(answer(script, clock=clock))
    assert patient.ending.kind is EndingKind.EOF
    assert patient.chunks[-1].at_ms >= 1_900
    assert patient.started_at == clock.now()
    hasty = run(answer(script, clock=clock, deadlines=short(first_text=1.0)))
    assert (hasty.ending.kind, hasty.ending.detail) == (EndingKind.CLIENT_TIMEOUT, "first_text")


def test_our_own_lateness_is_kept_with_the_answer() -> None:
    """A loop that was blocked while the first text was waited for must not become the provider's delay."""

    async def script(line: Line) -> None:
        await line.say(CHUNKED)
        time.sleep(0.4)  # noqa: ASYNC251 - this is the fault
        await line.say(chunk(event("Rain.") + STOP), chunk(b""))

    assert run(answer(script)).lag_ms >= 300


def tunnel(port: int) -> Script:
    """A proxy's answer to CONNECT, then a pipe to the given port."""

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
        writer.close()

    async def script(line: Line) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        await line.say(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(pump(line.reader, writer), pump(reader, line.writer), return_exceptions=True)

    return script


@pytest.mark.parametrize("asked_for", [True, False])
def test_a_proxy_of_the_environment_is_used_only_when_asked_for(
    monkeypatch: pytest.MonkeyPatch, asked_for: bool
) -> None:
    """Probes and documents alike go through it, without showing it what is inside."""

    async def go() -> tuple[Wire, Transcript]:
        trusted = ssl.create_default_context(cafile=str(TLS / "localhost.crt"))
        async with serving(whole, tls=a_certificate()) as wire, serving(tunnel(wire.port)) as proxy:
            monkeypatch.setenv("https_proxy", f"http://user:pass@127.0.0.1:{proxy.port}")
            gateway = a_gateway(wire.port, scheme="https", ssl_context=trusted, trust_env=asked_for)
            async with gateway:
                with pytest.raises(GatewayError):  # the script has no document for anybody
                    await gateway.key()
                return proxy, await gateway.ask(PROBE)

    proxy, transcript = run(go())
    assert read_answer(transcript).text == "Rain."
    assert [request.line.split()[0] for request in proxy.requests] == ["CONNECT"] * len(proxy.requests)
    assert bool(proxy.requests) is asked_for
    assert all("proxy-authorization" in request.headers for request in proxy.requests)
    assert not any("authorization" in request.headers for request in proxy.requests)


def test_a_proxy_that_is_not_there_is_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """The network is ours, the provider was never asked."""
    monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{closed_port()}")

    async def go() -> Transcript:
        async with a_gateway(closed_port(), scheme="https", trust_env=True) as gateway:
            return await gateway.ask(PROBE)

    transcript = run(go())
    assert transcript.ending.kind is EndingKind.CONNECT_FAILED
    assert transcript.ending.detail == "proxy not reached (ECONNREFUSED)"


def test_what_comes_over_an_idle_connection_is_never_taken_for_an_answer() -> None:
    """A second response that nobody asked for would be the next probe's answer."""
    stray = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"

    async def late(line: Line) -> None:
        await whole(line)
        await asyncio.sleep(0.02)
        await line.say(stray)

    async def at_once(line: Line) -> None:
        await line.say(CHUNKED + chunk(event("Rain.") + STOP) + chunk(b"") + stray)

    async def go(script: Script) -> tuple[Wire, list[Transcript]]:
        async with serving(script) as wire, a_gateway(wire.port) as gateway:
            answers = []
            for _ in range(2):
                answers.append(await gateway.ask(PROBE))
                await asyncio.sleep(0.1)
            return wire, answers

    for script in (late, at_once):
        wire, answers = run(go(script))
        assert [read_answer(transcript).text for transcript in answers] == ["Rain."] * 2
        assert wire.connections == 2


def test_the_key_is_nowhere_but_on_the_wire() -> None:
    """Not in a transcript, nor in what the client shows of itself."""

    async def go() -> tuple[OpenRouterGateway, Transcript]:
        async with serving(whole) as wire, a_gateway(wire.port) as gateway:
            return gateway, await gateway.ask(PROBE)

    gateway, transcript = run(go())
    assert KEY not in f"{gateway!r} {vars(gateway)} {transcript!r}"


def document(body: object, status: str = "200 OK") -> Script:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()

    async def script(line: Line) -> None:
        await line.say(f"HTTP/1.1 {status}\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data)

    return script


LISTING = {"data": {"id": MODEL, "endpoints": [{"tag": "north-host", "provider_name": "North Host"}]}}


async def call(script: Script, name: str, *args: Any, **options: Any) -> tuple[Wire, Any]:
    async with serving(script) as wire, a_gateway(wire.port, **options) as gateway:
        return wire, await getattr(gateway, name)(*args)


def test_a_listing_is_asked_for_by_model() -> None:
    """The slug's slash and variant stay as they are."""
    wire, listing = run(call(document(LISTING), "listing", ModelId("acme/chat-2:free")))
    assert wire.requests[0].line == "GET /api/v1/models/acme/chat-2:free/endpoints HTTP/1.1"
    assert [route.tag for route in listing.routes] == ["north-host"]
    assert listing.model == "acme/chat-2:free"


def test_a_listing_says_whether_the_model_can_go_without_reasoning() -> None:
    """It stands in the model's own description; where that cannot be had, the listing still comes."""

    async def go(description: Script) -> Any:
        async def script(line: Line) -> None:
            is_listing = wire.requests[-1].line.split()[1].endswith("/endpoints")
            await (document(LISTING) if is_listing else description)(line)

        async with serving(script) as wire, a_gateway(wire.port) as gateway:
            listing = await gateway.listing(MODEL)
            return [request.line.split()[1] for request in wire.requests], listing

    asked, listing = run(go(document({"data": {"reasoning": {"mandatory": True}}})))
    assert asked[:2] == ["/api/v1/models/acme/chat-2/endpoints", "/api/v1/model/acme/chat-2"]
    assert listing.reasoning_mandatory
    for description in (document({}, "404 Not Found"), document(b"<html>"), closed_without_a_word):
        _, listing = run(go(description))
        assert not listing.reasoning_mandatory
        assert len(listing.routes) == 1


@pytest.mark.parametrize(
    ("providers", "names"),
    [
        (
            document({"data": [{"name": "Northern Lights", "slug": "north-host"}]}),
            {"North Host", "Northern Lights"},
        ),
        (document({}, "503 Busy"), {"North Host"}),
        (document(b"<html>"), {"North Host"}),
        (document({"data": None}), {"North Host"}),
    ],
)
def test_a_listing_completes_the_names_of_providers_once_a_day(providers: Script, names: set[str]) -> None:
    """All models share one call; where it brings nothing, the listing's own names do until the next day."""

    async def script(line: Line) -> None:
        is_providers = wire.requests[-1].line.split()[1].endswith("/providers")
        await (providers if is_providers else document(LISTING))(line)

    async def go() -> tuple[list[Any], list[int]]:
        nonlocal wire
        clock, asked = ScaledClock(start=datetime(2026, 1, 5, tzinfo=UTC), rate=1.0), []
        async with serving(script) as wire, a_gateway(wire.port, clock=clock) as gateway:
            listings = []
            for wait in (timedelta(), timedelta(hours=23), timedelta(hours=1)):
                clock.advance(wait)
                listings += await asyncio.gather(*(gateway.listing(MODEL) for _ in range(3)))
                asked.append(sum("/providers" in request.line for request in wire.requests))
            return listings, asked

    wire = Wire()
    listings, asked = run(go())
    assert asked == [1, 1, 2]
    assert [listing.routes[0].provider_names for listing in listings] == [names] * 9


def test_a_model_id_cannot_leave_its_place_in_the_path() -> None:
    """Whatever it holds."""
    wire, _ = run(call(document(LISTING), "listing", ModelId("a/b?x#y\r\nz")))
    assert wire.requests[0].line == "GET /api/v1/models/a/b%3Fx%23y%0D%0Az/endpoints HTTP/1.1"


def test_providers_are_a_map_of_names_to_slugs() -> None:
    """Rows without either are left out."""
    rows = [{"name": "Google", "slug": "Google-Vertex"}, {"name": None, "slug": "x"}, {"name": "Y"}, 7]
    _, providers = run(call(document({"data": rows}), "providers"))
    assert providers == {"Google": "google-vertex"}


def test_the_key_tells_what_is_left() -> None:
    """Amounts are exact; what is missing is not stated."""
    data = {"limit": 20, "limit_remaining": 12.35, "usage": "7.65", "is_free_tier": False, "label": "sk-or"}
    _, info = run(call(document({"data": data}), "key"))
    assert (str(info.limit), str(info.limit_remaining), str(info.usage)) == ("20", "12.35", "7.65")
    assert (info.usage_daily, info.is_free_tier, info.is_management_key) == (None, False, None)


@pytest.mark.parametrize("name", ["listing", "providers", "key"])
@pytest.mark.parametrize(
    ("script", "said"),
    [
        (document({"error": {"message": "No auth"}}, "401 Unauthorized"), "the key was refused (HTTP 401)"),
        (document({}, "404 Not Found"), "the gateway does not know it (HTTP 404)"),
        (document(b"<html>", "503 Busy"), "the gateway answered (HTTP 503)"),
        (document({}, "302 Found"), "(HTTP 302)"),
        (document(b"<html>"), "not JSON"),
        (document(b"\xff"), "not UTF-8"),
        (document(b"[" * 100_000), "nested too deeply"),
        (document(b'{"data": NaN}'), "not a JSON number"),
        (document(b" " * (8 * 1024 * 1024 + 1)), "more than 8388608 bytes"),
        (document([]), ""),
        (document({"data": 7}), ""),
        (closed_without_a_word, "closed before an answer"),
    ],
)
def test_a_document_that_cannot_be_had_is_an_error_that_names_the_call(
    name: str, script: Script, said: str
) -> None:
    """Never a traceback of something else, and nothing of the answer or the key in the message."""
    args = (MODEL,) if name == "listing" else ()
    with pytest.raises((GatewayError, ListingError)) as error:
        run(call(script, name, *args))
    message = str(error.value)
    assert message.startswith("GET /")
    assert said in message
    assert KEY not in message
    assert "No auth" not in message
    assert error.value.__cause__ is None


def test_a_document_that_does_not_come_is_not_waited_for() -> None:
    """The message says how long was waited."""
    with pytest.raises(GatewayError, match=r"^GET /key: no whole answer within 0\.1 s$"):
        run(call(silent, "key", document_timeout=timedelta(seconds=0.1)))


def test_a_gateway_that_is_not_there_cannot_be_asked() -> None:
    """The message says how, and shows no address."""

    async def go() -> None:
        async with a_gateway(closed_port()) as gateway:
            await gateway.key()

    with pytest.raises(GatewayError) as error:
        run(go())
    assert str(error.value) == "GET /key: connect_failed: not connected (ECONNREFUSED)"


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "gateway",
        "ftp://host",
        "http://",
        "https://user:pass@host",
        "https://host?x",
        "http://[::1",
        "http://h:99999",
    ],
)
def test_an_address_that_cannot_be_used_is_refused_unshown(base_url: str) -> None:
    """It may hold credentials."""
    with pytest.raises(ConfigError) as error:
        Transport(
            Reach(base_url=base_url, api_key=Secret(KEY), clock=SystemClock(), record=Recorder), headers={}
        )
    assert "pass" not in str(error.value)


@pytest.mark.parametrize("key", ["", "two words", "line\nbreak", "schlüssel", "tab\t"])
def test_a_key_that_no_header_can_carry_is_refused_unshown(key: str) -> None:
    """Better at the start than as an exception of the library."""
    with pytest.raises(ConfigError) as error:
        Transport(
            Reach(base_url="https://host/api", api_key=Secret(key), clock=SystemClock(), record=Recorder),
            headers={},
        )
    assert not key or key not in str(error.value)
