"""How many questions for the exclusions does one core answer, and what does a program cost that waits?

    python benchmarks/sidecar.py [--seconds 3] [--check]

Server processes on one core, one after the other: `routecanary serve`'s applications' listener, and a bare
`asyncio.Protocol` on the same event loop that writes the same bytes for whatever comes. The load comes from
a second process on another core. CPU time is the server's, user and system; requests a second "in CPU terms"
are what a core would answer that had nothing else to do, so a busy machine cannot hide or fake it.

`--check`: exit code 1 where fewer than 10,000 requests a second in CPU terms are answered.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

import uvloop

from routecanary.adapters.snapshot import write_snapshot
from routecanary.domain.names import ContractName, ModelId, RouteId
from routecanary.domain.round import Mode
from routecanary.routing.snapshot import ListedRoute, ModelRouting, SuspendedRoute, snapshot_of

LEAST: Final = 10_000  # requests a second
MODEL: Final = "acme/chat"
WAITING: Final = 1_000
TICK: Final = os.sysconf("SC_CLK_TCK")
PATH: Final = f"/v1/exclusions?model={MODEL}&locale=th"

CONFIG = """
[store]
path = "{folder}/events.sqlite3"
[snapshot]
path = "{folder}/snapshot.json"
[listen]
applications = "127.0.0.1:0"
administrators = "127.0.0.1:0"
"""

BARE = """
import asyncio, sys, uvloop
answer = bytes.fromhex(sys.argv[1])
class Bare(asyncio.Protocol):
    def connection_made(self, transport):
        self.write = transport.write
    def data_received(self, data):
        self.write(answer * data.count(b"\\r\\n\\r\\n"))
async def main():
    server = await asyncio.get_running_loop().create_server(Bare, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()
uvloop.run(main())
"""


class Measured(NamedTuple):
    """One kind of answer at one number of connections."""

    per_second: float
    cpu_us: float
    p50_us: float

    @property
    def in_cpu_terms(self) -> float:
        return 1e6 / self.cpu_us


class Client(asyncio.Protocol):
    """Asks again as soon as it is answered; answers are told by their length, which is always the same."""

    def __init__(self, request: bytes, times: list[float], until: float) -> None:
        self._request = request
        self._times = times
        self._until = until
        self._length = 0
        self._seen = 0
        self._asked = 0.0
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._ask()

    def _ask(self) -> None:
        self._asked = time.perf_counter()
        self._transport.write(self._request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        self._seen += len(data)
        if not self._length:  # the first answer comes in one piece: it is smaller than any buffer
            self._length = self._seen
        if self._seen < self._length:
            return
        now = time.perf_counter()
        self._seen = 0
        self._times.append(now - self._asked)
        if now < self._until:
            self._ask()
        elif not self.done.done():
            self._transport.close()
            self.done.set_result(None)


async def load(port: int, request: bytes, connections: int, seconds: float) -> list[float]:
    """Ask for some seconds; return how long each answer took."""
    times: list[float] = []
    until = time.perf_counter() + seconds
    loop = asyncio.get_running_loop()
    clients = [
        (await loop.create_connection(lambda: Client(request, times, until), "127.0.0.1", port))[1]
        for _ in range(connections)
    ]
    await asyncio.gather(*(client.done for client in clients))
    return times


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def resident_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def measured(pid: int, port: int, request: bytes, connections: int, seconds: float) -> Measured:
    uvloop.run(load(port, request, connections, 0.2))
    before, began = cpu_seconds(pid), time.perf_counter()
    times = uvloop.run(load(port, request, connections, seconds))
    took = time.perf_counter() - began
    return Measured(
        per_second=len(times) / took,
        cpu_us=(cpu_seconds(pid) - before) / len(times) * 1e6,
        p50_us=statistics.median(times) * 1e6,
    )


@contextlib.contextmanager
def process(*command: str, core: int) -> Iterator[tuple[int, str]]:
    """Run a server on a core; yields its process and the first line that it prints."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        try:
            os.sched_setaffinity(running.pid, {core})
            assert running.stdout is not None
            yield running.pid, running.stdout.readline()
        finally:
            running.kill()


def publish(folder: Path) -> None:
    """Write a snapshot of some size: 20 models of 30 routes, a list of six names."""
    now = datetime.now(UTC)
    tags = [RouteId(f"host-{number}") for number in range(30)]
    suspended = tuple(
        SuspendedRoute(
            route=tag,
            since=now - timedelta(hours=1),
            until=now + timedelta(hours=5),
            contracts=frozenset({ContractName("latency")}),
        )
        for tag in tags[:6]
    )
    models = [
        ModelRouting(
            model=ModelId(MODEL if not number else f"{MODEL}-{number}"),
            mode=Mode.ENFORCE,
            routes=tuple(ListedRoute(tag=tag) for tag in tags),
            suspensions=suspended,
        )
        for number in range(20)
    ]
    write_snapshot(folder / "snapshot.json", snapshot_of(models, builtin=(), runtime=(), written_at=now))


def asked(*headers: str) -> bytes:
    lines = [f"GET {PATH} HTTP/1.1", "Host: 127.0.0.1", "Accept: */*", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


async def answer_to(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = await reader.read(65_536)
    writer.close()
    return answer


async def waiting_kib(pid: int, port: int, etag: str) -> float:
    """Let a thousand wait, and see what the server grows by."""
    request = asked(f"If-None-Match: {etag}").replace(b" HTTP/1.1", b"&wait=60 HTTP/1.1", 1)
    before = resident_kib(pid)
    writers = []
    for _ in range(WAITING):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        writers.append(writer)
    await asyncio.sleep(1)
    grown = resident_kib(pid) - before
    idle = cpu_seconds(pid)
    await asyncio.sleep(3)
    print(
        f"\n{WAITING} waiting: {grown:,} KiB more resident memory,"
        f" {(cpu_seconds(pid) - idle) / 3:.1%} of a core while nothing changes"
    )
    for writer in writers:
        writer.close()
    return grown


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement")
    parser.add_argument("--check", action="store_true", help="exit code 1 below the least that is asked")
    given = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[-1]})
    found: dict[tuple[str, int, int], Measured] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        publish(folder)
        (folder / "routecanary.toml").write_text(CONFIG.format(folder=folder))
        ours = (sys.executable, "-m", "routecanary", "serve", "--json")
        with process(*ours, "--config", str(folder / "routecanary.toml"), core=cores[0]) as (pid, line):
            port = int(json.loads(line)["applications"].rpartition(":")[2])
            whole = asyncio.run(answer_to(port, asked()))
            assert whole.startswith(b"HTTP/1.1 200 "), whole
            etag = whole.partition(b"etag: ")[2].partition(b"\r\n")[0].decode()
            unchanged = asyncio.run(answer_to(port, asked(f"If-None-Match: {etag}")))
            assert unchanged.startswith(b"HTTP/1.1 304 "), unchanged
            requests = {200: asked(), 304: asked(f"If-None-Match: {etag}")}
            for status, request in requests.items():
                for connections in (1, 32):
                    found["serve", status, connections] = measured(
                        pid, port, request, connections, given.seconds
                    )
            asyncio.run(waiting_kib(pid, port, etag))
        for status, answer in ((200, whole), (304, unchanged)):
            with process(sys.executable, "-c", BARE, answer.hex(), core=cores[0]) as (pid, line):
                for connections in (1, 32):
                    found["bare", status, connections] = measured(
                        pid, int(line), requests[status], connections, given.seconds
                    )
    return told(found, len(whole), check=given.check)


def told(found: dict[tuple[str, int, int], Measured], size: int, *, check: bool) -> int:
    """Print the table; say whether the least that is asked was reached."""
    print(f"\nanswers of {size} bytes, one core for the server, load from another\n")
    print("| answer | connections | requests/s | CPU us | in CPU terms/s | p50 us | bare: CPU us | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for (kind, status, connections), one in found.items():
        if kind == "serve":
            bare = found["bare", status, connections]
            print(
                f"| {status} | {connections} | {one.per_second:,.0f} | {one.cpu_us:.1f}"
                f" | {one.in_cpu_terms:,.0f} | {one.p50_us:.0f} | {bare.cpu_us:.1f}"
                f" | {one.cpu_us / bare.cpu_us:.2f} |"
            )
    least = min(one.in_cpu_terms for (kind, _, _), one in found.items() if kind == "serve")
    print(f"\nleast: {least:,.0f} requests/s in CPU terms; asked: {LEAST:,}")
    return 1 if check and least < LEAST else 0


if __name__ == "__main__":
    sys.exit(main())
