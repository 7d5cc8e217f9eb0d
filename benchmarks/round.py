"""What does asking cost, and how true are the times? `python benchmarks/round.py`.

A round over 500 routes: each is asked its three probes one after another, all routes side by side. Every
answer lasts 1.0 s and brings its first text after 50 ms, so an ideal client needs 3.0 s. The other end
(`benchmarks/server.py`) is a process of its own. The client is the product's: plan, pin, gateway client,
recorder, and then, with nothing open any more, judges and store.

Beside each figure stands the one that the acceptance asks for, and the floor: a bare protocol that counts
bytes and does nothing else, measured a moment before on the same machine. Where the floor itself is late, the
machine is busy.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from statistics import median

import uvloop

from routecanary.adapters.config.texts import shipped_texts
from routecanary.adapters.gateway.openrouter import OpenRouterGateway
from routecanary.adapters.gateway.transport import Reach
from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.cli.loop import calm_collector
from routecanary.clock import SystemClock
from routecanary.discover.parse import listing_from_json
from routecanary.domain.answer import read_answer
from routecanary.domain.names import CONTRACT_NAMES, LATENCY, Locale, ModelId
from routecanary.domain.probe import Probe
from routecanary.domain.secret import Secret
from routecanary.domain.settings import ProbeSettings
from routecanary.domain.transcript import EndingKind, Transcript
from routecanary.judge.examine import judge_transcript
from routecanary.probe.catalog import catalog_from_texts
from routecanary.probe.pin import Users
from routecanary.probe.plan import plan_round
from routecanary.probe.recorder import Recorder
from routecanary.rounds.capture import capture
from routecanary.rounds.ports import UNWATCHED

MODEL = ModelId("bench/chat-1")
PROBES_A_ROUTE = 3
IDEAL_S = 3.0
FIRST_TEXT_MS = 50.0

MOST_WALL = 1.25  # times the ideal
MOST_CPU_MS = 1.2  # a probe, capture and store
MOST_ADDED_MS = 50.0  # median of the first text


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """What a bare protocol needs for the same traffic."""

    wall_s: float
    cpu_ms: float  # a probe
    added_ms: float  # median of the first read of the body


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """One round's listening."""

    transcripts: tuple[Transcript, ...]
    wall_s: float
    cpu_s: float
    rss_mb: float


class Bare(asyncio.Protocol):
    """Asks one after another on one connection; notes when the second read, the first content, came."""

    def __init__(self, times: list[float]) -> None:
        self.done = asyncio.get_running_loop().create_future()
        self._times = times
        self._asked = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._ask()

    def _ask(self) -> None:
        self._asked += 1
        self._reads = 0
        self._transport.write(
            b"POST /chat/completions HTTP/1.1\r\nContent-Length: 2000\r\n\r\n" + b"x" * 2000
        )
        self._at = time.monotonic()

    def data_received(self, data: bytes) -> None:
        self._reads += 1
        if self._reads == 2:
            self._times.append((time.monotonic() - self._at) * 1000)
        if data.endswith(b"0\r\n\r\n"):
            if self._asked < PROBES_A_ROUTE:
                self._ask()
            else:
                self.done.set_result(None)


async def measure_floor(port: int, routes: int) -> Floor:
    loop = asyncio.get_running_loop()
    times: list[float] = []

    async def route() -> None:
        transport, protocol = await loop.create_connection(lambda: Bare(times), "127.0.0.1", port)
        await protocol.done
        transport.close()

    began, spent = time.perf_counter(), time.process_time()
    await asyncio.gather(*(route() for _ in range(routes)))
    wall_s, cpu_s = time.perf_counter() - began, time.process_time() - spent
    return Floor(
        wall_s=wall_s,
        cpu_ms=cpu_s * 1000 / (routes * PROBES_A_ROUTE),
        added_ms=median(times) - FIRST_TEXT_MS,
    )


async def plan(gateway: OpenRouterGateway, routes: int) -> tuple[Probe, ...]:
    listing = await gateway.listing(MODEL)
    tags = sorted(listing.tags())[:routes]
    probes = plan_round(
        listing,
        catalog_from_texts(shipped_texts()),
        number=0,
        locale_of=dict.fromkeys(tags, Locale("en")),
        contracts_enabled=CONTRACT_NAMES,
        settings=ProbeSettings(),
        asked=tags,
        users=Users.drawn(Random(1)),
        rng=Random(1),
    )
    assert len(probes) == len(tags) * PROBES_A_ROUTE
    return probes


async def listen(port: int, routes: int) -> Capture:
    reach = Reach(
        base_url=f"http://127.0.0.1:{port}",
        api_key=Secret("sk-or-v1-bench"),
        clock=SystemClock(),
        record=Recorder,
        concurrency=routes,
    )
    gateway = OpenRouterGateway(reach, read_listing=listing_from_json)
    async with gateway:
        probes = await plan(gateway, routes)
        began, spent = time.perf_counter(), time.process_time()
        captured = await capture(
            probes,
            gateway,
            clock=SystemClock(),
            rng=Random(1),
            spread=timedelta(0),
            blames_account=lambda transcript: transcript.status != 200,
            progress=UNWATCHED,
        )
        wall_s, cpu_s = time.perf_counter() - began, time.process_time() - spent
    transcripts = tuple(answer.transcript for answers in captured.values() for answer in answers)
    assert len(transcripts) == len(probes)
    assert all(transcript.ending.kind is EndingKind.EOF for transcript in transcripts)
    return Capture(transcripts=transcripts, wall_s=wall_s, cpu_s=cpu_s, rss_mb=resident_mb())


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def line(name: str, value: str, target: str = "", *, holds: bool = True) -> bool:
    verdict = ("PASS" if holds else "FAIL") if target else "    "
    print(f"{verdict}  {name:<42} {value:<28} {target}")
    return holds


def report(floor: Floor, capture: Capture) -> bool:
    """Judge and store what was captured, and print the table; True when every target is met."""
    transcripts = capture.transcripts
    count = len(transcripts)
    judged: list[float] = []
    verdicts = []
    for transcript in transcripts:
        began = time.process_time_ns()
        verdicts.append(judge_transcript(transcript))
        judged.append((time.process_time_ns() - began) / 1e6)
    at = datetime(2026, 1, 5, tzinfo=UTC)
    with tempfile.TemporaryDirectory() as folder, SqliteStore(Path(folder) / "store.db") as store:
        began = time.process_time()
        packed = [
            store.pack(transcript, at=at, verdicts=said)
            for transcript, said in zip(transcripts, verdicts, strict=True)
        ]
        store.append((), store.head(), transcripts=packed)
        store_s = time.process_time() - began
    firsts = [read_answer(transcript).first_text_ms or 0.0 for transcript in transcripts]
    added = [first - FIRST_TEXT_MS for first in firsts]
    latencies = [said[LATENCY] for said in verdicts if LATENCY in said]
    voided = sum(verdict.code == "own_lag" for verdict in latencies)
    capture_ms, store_ms = capture.cpu_s * 1000 / count, store_s * 1000 / count
    wall = capture.wall_s / IDEAL_S
    total_ms = capture_ms + store_ms
    print(f"{count // PROBES_A_ROUTE} routes x {PROBES_A_ROUTE} probes of 1.0 s; floor: a bare protocol\n")
    held = [
        line(
            "wall to the last byte, of the ideal",
            f"{wall:.3f} (floor {floor.wall_s / IDEAL_S:.3f})",
            f"<= {MOST_WALL}",
            holds=wall <= MOST_WALL,
        ),
        line(
            "CPU a probe, capture + store",
            f"{total_ms:.3f} ms = {capture_ms:.3f} + {store_ms:.3f}",
            f"<= {MOST_CPU_MS} ms",
            holds=total_ms <= MOST_CPU_MS,
        ),
        line(
            "first text added, median",
            f"{median(added):.1f} ms (floor {floor.added_ms:.1f})",
            f"<= {MOST_ADDED_MS:.0f} ms, true {FIRST_TEXT_MS:.0f}",
            holds=median(added) <= MOST_ADDED_MS,
        ),
    ]
    line("capture, times the floor's CPU", f"{capture_ms / floor.cpu_ms:.2f} x {floor.cpu_ms:.3f} ms")
    line("first text added, p99", f"{percentile(added, 0.99):.1f} ms")
    line("own lag in the window, p99", f"{percentile([t.lag_ms for t in transcripts], 0.99):.1f} ms")
    line("latency verdicts voided by lag", f"{voided} of {len(latencies)}")
    line("judging, CPU a transcript", f"{sum(judged) / count:.3f} ms, p99 {percentile(judged, 0.99):.3f}")
    line("packed, a transcript", f"{sum(each.entry.size for each in packed) / count / 1024:.1f} KB")
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    line("memory", f"{capture.rss_mb:.0f} MB with all captured, peak {peak_mb:.0f}")
    return all(held)


@asynccontextmanager
async def serving() -> AsyncIterator[int]:
    """Run the other end; yields its port."""
    server = await asyncio.create_subprocess_exec(
        sys.executable,
        str(Path(__file__).with_name("server.py")),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdout is not None
    assert server.stdin is not None
    try:
        yield int(await server.stdout.readline())
    finally:
        server.stdin.close()
        await server.wait()


async def measure(routes: int) -> tuple[Floor, Capture]:
    async with serving() as port:
        floor = await measure_floor(port, routes)
        return floor, await listen(port, routes)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--routes", type=int, default=500, help="at most 500 (default)")
    parser.add_argument("--loop", choices=["uvloop", "asyncio"], default="uvloop")
    parser.add_argument("--check", action="store_true", help="exit 1 when a target is missed")
    args = parser.parse_args()
    loops: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
        "uvloop": uvloop.new_event_loop,
        "asyncio": asyncio.new_event_loop,
    }
    calm_collector()  # as the daemon does
    with asyncio.Runner(loop_factory=loops[args.loop]) as runner:
        floor, captured = runner.run(measure(args.routes))
    return 0 if report(floor, captured) or not args.check else 1


if __name__ == "__main__":
    sys.exit(main())
