"""The lab's faults of the wire on real sockets: what a client's own reads, headers and connection show."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import NamedTuple

from routecanary.lab.gateway import LabGateway
from routecanary.lab.host import ParameterValue, PlantedFault
from tests.lab import SCENES, a_body, a_route, a_scenario

SPEED = 200.0  # scenario seconds in a real second
PATIENCE = 20.0  # real s, after which a test has failed


class Heard(NamedTuple):
    head: bytes  # status line and headers, as they came
    reads: list[bytes]  # of the body
    error: type[Exception] | None  # that ended the reading


@contextlib.asynccontextmanager
async def asked(
    fault: str, locale: str = "en", **parameters: ParameterValue
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter, LabGateway]]:
    """Ask a faulty route over a plain socket; what comes back is for the caller to read."""
    route = a_route("inkspill", PlantedFault(fault=fault, parameters=parameters))
    async with LabGateway(a_scenario(route), seed=1, time_scale=SPEED) as lab:
        host, _, rest = lab.base_url.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(rest.partition("/")[0]))
        body = json.dumps(a_body(SCENES[locale])).encode()
        # HTTP/1.0: the body comes without chunked framing, and ends with the connection
        head = f"POST /api/v1/chat/completions HTTP/1.0\r\nHost: {host}\r\nAuthorization: Bearer lab-key\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        try:
            yield reader, writer, lab
        finally:
            writer.close()


def heard(fault: str, locale: str = "en", **parameters: ParameterValue) -> Heard:
    """Read what comes until it ends or breaks."""

    async def run() -> Heard:
        async with asyncio.timeout(PATIENCE), asked(fault, locale, **parameters) as (reader, _, lab):
            head, reads, error = b"", [], None
            try:
                head = await reader.readuntil(b"\r\n\r\n")
                while data := await reader.read(65_536):
                    reads.append(data)
            except (ConnectionError, asyncio.IncompleteReadError) as problem:
                error = type(problem)
            assert sum(lab.ledger.by_route.values()) == 1
            return Heard(head, reads, error)

    return asyncio.run(run())


def test_a_reset_is_a_reset() -> None:
    """The connection breaks with an error, not with an end: before any header, or within the text."""
    early = heard("reset_connection", **{"with": "before_headers"})
    assert (early.head, early.error) == (b"", ConnectionResetError)
    late = heard("reset_connection", **{"with": "within_text"})
    assert late.error is ConnectionResetError
    assert b'"content":"' in b"".join(late.reads)
    assert heard("cut_stream").error is None, "a clean cut is an end"


def test_a_character_really_comes_in_two_reads() -> None:
    """Somewhere a read ends within a character of several bytes."""
    split = heard("split_utf8", "th")
    assert split.error is None
    assert sum(not is_text(data) for data in split.reads) >= 4
    assert is_text(b"".join(split.reads))


def is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_headers_come_when_they_are_due() -> None:
    """Nothing has come while the host is still silent, not even the status line."""

    async def run() -> None:
        async with asyncio.timeout(PATIENCE), asked("slow_headers", delay_seconds=600.0) as (reader, _, _):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.5):
                    raise AssertionError(await reader.read(1))

    asyncio.run(run())


def test_a_held_connection_lasts_until_the_client_leaves() -> None:
    """After the last byte the stream is open and silent; it ends at the lab once the client has gone."""

    async def run() -> None:
        async with asyncio.timeout(PATIENCE):
            async with asked("stall_mid_stream", after=0.0) as (reader, writer, lab):
                await reader.readuntil(b'"content":"*')
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(0.5):
                        while await reader.read(65_536):
                            pass
                        raise AssertionError("the lab has hung up")
                assert lab.ledger.open_streams == 1
                writer.close()
                while lab.ledger.open_streams:  # noqa: ASYNC110 - a counter, not an event
                    await asyncio.sleep(0.01)
                assert lab.ledger.abandoned == 1

    asyncio.run(run())


def test_headers_lie_on_the_wire() -> None:
    """What the fault says is what the client gets: gzip of plain bytes, a page, a document, a cache hit."""
    assert b"Content-Encoding: gzip\r\n" in heard("claimed_encoding").head
    packed = heard("lying_encoding", **{"with": "undeclared"})
    assert b"Content-Encoding" not in packed.head
    assert b"\x1f\x8b" in packed.reads[0]
    page = heard("html_edge_page", **{"with": "524"})
    assert page.head.startswith(b"HTTP/1.0 524 ")
    assert b"Content-Type: text/html" in page.head
    whole = heard("document_for_stream")
    assert b"Content-Type: application/json\r\n" in whole.head
    assert b"Content-Length: " in whole.head
    assert b"X-OpenRouter-Cache-Status: HIT\r\n" in heard("cached_answer", **{"with": "header"}).head


def test_an_error_body_is_json_under_200() -> None:
    """The status says well, the body does not."""
    answer = heard("error_body", **{"with": "503"})
    assert answer.head.startswith(b"HTTP/1.0 200 OK\r\n")
    assert json.loads(b"".join(answer.reads))["error"]["code"] == 503
