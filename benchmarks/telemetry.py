"""How much telemetry can be taken in? `python benchmarks/telemetry.py [FOLDER]`, on the disk of FOLDER.

The store alone, then the whole way: `routecanary serve` as a process of its own, bodies of 100 generations
over real sockets, read, located in a snapshot of 60 routes, and kept durably; then the gateway's broadcast.
Beside the whole way another process appends events to the same file as the daemon does, and tells the longest
that it waited. Exit code 1 below 2,000 generations a second on the whole way.
"""

from __future__ import annotations

import http.client
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from routecanary.adapters.snapshot import write_snapshot
from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.domain.log import StoredDraft
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.round import Mode
from routecanary.routing.snapshot import ListedRoute, ModelRouting, snapshot_of
from routecanary.telemetry.candidates import nothing_known
from routecanary.telemetry.records import read_generations

BATCH = 100
BODIES = 300
CONNECTIONS = 4
LEAST = 2000  # generations a second
PAUSE = 0.02  # seconds between two appends of the writer
MODEL = ModelId("bench/chat-1")
NOW = datetime.now(UTC)
_TICKS = itertools.count()
CONFIG = f"""
[gateway]
base_url = "http://127.0.0.1:9/api/v1"
[store]
path = "events.sqlite3"
[snapshot]
path = "snapshot.json"
[listen]
applications = "127.0.0.1:0"
administrators = "127.0.0.1:0"
[models."{MODEL}"]
"""


def record(chance: random.Random) -> dict[str, Any]:
    """Make a generation as a hook tells of it: the gateway's id for a key, which begins with the time."""
    host = chance.randrange(30)
    started_at = NOW - timedelta(hours=1) + next(_TICKS) * timedelta(milliseconds=1)
    return {
        "id": f"gen-{int(started_at.timestamp())}-{chance.getrandbits(80):020x}",
        "model": MODEL,
        "started_at": started_at.isoformat(),
        "provider": f"Host {host}",
        "ignore": [f"host-{n}" for n in range(8)],
        "list_written_at": NOW.isoformat(),
        "ttft_ms": chance.randrange(100, 3000),
        "duration_ms": chance.randrange(3000, 30_000),
        "status": 200,
        "finish_reason": "stop",
        "empty": False,
        "prompt_tokens": chance.randrange(4000),
        "completion_tokens": chance.randrange(800),
        "conversation": f"{chance.getrandbits(128):032x}",
        "locale": "th",
    }


def body(chance: random.Random) -> bytes:
    return json.dumps({"generations": [record(chance) for _ in range(BATCH)]}).encode()


def trace_body(chance: random.Random) -> bytes:
    """Make the same number of generations as the gateway broadcasts them, with a prompt of 2 KB in each."""

    def span() -> dict[str, Any]:
        told = record(chance)
        start = int(datetime.fromisoformat(told["started_at"]).timestamp() * 1e9)
        said: dict[str, Any] = {
            "gen_ai.response.id": told["id"],
            "gen_ai.request.model": MODEL,
            "gen_ai.prompt": "words " * 350,
            "gen_ai.response.finish_reason": "stop",
            "session.id": told["conversation"],
            "trace.metadata.openrouter.provider_name": told["provider"],
            **{f"trace.metadata.other.{n}": "x" * 20 for n in range(40)},
        }
        attributes = [{"key": key, "value": {"stringValue": value}} for key, value in said.items()]
        return {
            "traceId": f"{chance.getrandbits(128):032x}",
            "spanId": f"{chance.getrandbits(64):016x}",
            "startTimeUnixNano": str(start),
            "endTimeUnixNano": str(start + 10**9),
            "attributes": attributes,
        }

    return json.dumps(
        {"resourceSpans": [{"scopeSpans": [{"spans": [span() for _ in range(BATCH)]}]}]}
    ).encode()


def prepare(folder: Path) -> str:
    """Write configuration, snapshot and store; return a token."""
    (folder / "routecanary.toml").write_text(CONFIG, encoding="utf-8")
    routes = tuple(
        ListedRoute(tag=RouteId(tag), providers=frozenset({f"Host {n}"}))
        for n in range(30)
        for tag in (f"host-{n}/fp4", f"host-{n}/fp8")
    )
    models = [ModelRouting(model=MODEL, mode=Mode.ENFORCE, routes=routes)]
    write_snapshot(folder / "snapshot.json", snapshot_of(models, builtin=(), runtime=(), written_at=NOW))
    made = subprocess.run(
        [*command("token", "create", "bench", "--role", "app"), "--config", folder / "routecanary.toml"],
        capture_output=True,
        text=True,
        check=True,
    )
    return made.stdout.strip()


def command(*tokens: str) -> list[str]:
    return [sys.executable, "-m", "routecanary", *tokens]


def keep_alone(folder: Path) -> None:
    """Measure the store by itself."""
    chance = random.Random(1)
    batches = [
        read_generations(body(chance), nothing_known, now=NOW, keep=timedelta(days=1)) for _ in range(BODIES)
    ]
    path = folder / "alone.db"
    with SqliteStore(path) as store:
        wall, cpu = time.perf_counter(), time.process_time()
        longest = 0.0
        for batch in batches:
            began = time.perf_counter()
            store.keep_generations(batch, at=NOW)
            longest = max(longest, time.perf_counter() - began)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    count = BODIES * BATCH
    print(
        f"store alone: {count / wall:,.0f} generations a second, durable, {BATCH} in one transaction;"
        f" {cpu * 1e6 / count:.0f} us CPU each; the longest call {longest * 1e3:.0f} ms"
    )
    size = path.stat().st_size / count
    print(f"file: {size:.0f} bytes a generation, {size / 1e3:.2f} GB a million")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server that listens."""

    store: Path
    port: int
    token: str
    process: int


def send(served: Served, path: str, bodies: Sequence[bytes]) -> None:
    headers = {"Authorization": f"Bearer {served.token}", "Content-Type": "application/json"}
    with closing(http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)) as connection:
        for each in bodies:
            connection.request("POST", path, each, headers)
            response = connection.getresponse()
            said = response.read()
            if response.status not in {200, 202}:
                raise RuntimeError(f"{response.status}: {said!r}")


def cpu_seconds(process: int) -> float:
    """Read what a process has used of the processor."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def whole_way(served: Served, path: str, bodies: Sequence[bytes]) -> float:
    """Send bodies over several connections beside a writer of events; return generations a second."""
    with subprocess.Popen(
        [sys.executable, __file__, "--append", served.store], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()  # it appends
        wall, cpu = time.perf_counter(), cpu_seconds(served.process)
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            jobs = [pool.submit(send, served, path, bodies[n::CONNECTIONS]) for n in range(CONNECTIONS)]
            for job in jobs:
                job.result()
        wall, cpu = time.perf_counter() - wall, cpu_seconds(served.process) - cpu
        writer.terminate()
        waited = json.loads(writer.stdout.read())
    count = len(bodies) * BATCH
    print(
        f"{path}: {count / wall:,.0f} generations a second over {CONNECTIONS} connections,"
        f" {BATCH} in a body of {len(bodies[0]) / 1024:.0f} KiB; {cpu * 1e6 / count:.0f} us CPU each"
    )
    print(
        f"  beside it {waited['appends']} appends of an event: {waited['median_ms']:.1f} ms (median),"
        f" the longest {waited['longest_ms']:.0f} ms"
    )
    return count / wall


def append_events(path: Path) -> None:
    """Append one event after the other until SIGTERM, as a daemon would that has much to tell."""
    stop: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stop.append(number))
    walls = []
    with SqliteStore(path) as store:
        print("appending", flush=True)
        while not stop:
            began = time.perf_counter()
            store.append(
                [StoredDraft(kind="bench", at=NOW, model=MODEL, body={"n": len(walls)})], store.head()
            )
            walls.append(time.perf_counter() - began)
            time.sleep(PAUSE)
    walls.sort()
    print(
        json.dumps(
            {
                "appends": len(walls),
                "median_ms": walls[len(walls) // 2] * 1e3,
                "longest_ms": walls[-1] * 1e3,
            }
        )
    )


def main() -> int:
    if sys.argv[1:2] == ["--append"]:
        append_events(Path(sys.argv[2]))
        return 0
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as name:
        folder = Path(name)
        keep_alone(folder)
        token = prepare(folder)
        serve = [*command("serve", "--json", "--config"), str(folder / "routecanary.toml")]
        with subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            assert process.stdout is not None
            try:
                port = int(json.loads(process.stdout.readline())["applications"].rpartition(":")[2])
                served = Served(store=folder / "events.sqlite3", port=port, token=token, process=process.pid)
                chance = random.Random(2)
                rate = whole_way(served, "/v1/telemetry", [body(chance) for _ in range(BODIES)])
                whole_way(served, "/v1/traces", [trace_body(chance) for _ in range(BODIES // 10)])
            finally:
                process.terminate()
    if rate < LEAST:
        print(f"too slow: fewer than {LEAST:,} generations a second")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
