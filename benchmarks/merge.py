"""What does one merge cost the application, and what does the import?

    python benchmarks/merge.py [--calls N] [--check]

Four questions, each with its target:

- memoised: the same `existing` of 8 ignored providers again and again, in ns a call;
- unmemoised: another dict and list with other providers at each call;
- both with 10,000 routes of the model known, as a ratio to the same with 40;
- the CPU time of `import routecanary.client` over that of a bare interpreter.

Without a target: unmemoised, with every text new as well, as a proxy has them that decodes each body; and an
allow-list of 40 routes, as a gateway without `ignore` gets it (`provider_options`), for the same options
again and again.

`dict(request)` of 7 keys is timed between the batches, for a yardstick: a shared machine changes its speed by
a factor of two within seconds. Calls are timed in batches of 200, interleaved, and a figure is the median of
the batches' means, so that a batch in which the process was suspended does not count. The best tenth of the
batches stands beside it: what a quieter machine would show. The garbage collector is off while a batch runs,
as in `timeit`.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations, count, islice
from pathlib import Path
from typing import Any

from routecanary.adapters.snapshot import write_snapshot
from routecanary.client import Canary
from routecanary.domain.exclusion import BuiltinEntry, RuntimeEntry
from routecanary.domain.gateway import GatewayKind
from routecanary.domain.names import LATENCY, ModelId, RouteId
from routecanary.domain.round import Mode
from routecanary.routing.snapshot import ListedRoute, ModelRouting, SuspendedRoute, snapshot_of

Body = dict[str, Any]

BATCH = 200  # calls
MODEL = ModelId("acme/chat")
REQUEST = {
    "model": MODEL,
    "messages": [{"role": "user", "content": "…"}],
    "stream": True,
    "max_tokens": 900,
    "temperature": 0.8,
    "user": "6f1c0d",
    "provider": {},
}


@dataclass(frozen=True)
class Figure:
    name: str
    measured: float
    target: float | None  # None = for information
    unit: str
    best_tenth: float | None = None  # only so many of the batches were faster

    @property
    def met(self) -> bool:
        return self.target is None or self.measured <= self.target


def snapshot_file(directory: Path, routes: int, gateway: GatewayKind = GatewayKind.OPENROUTER) -> Path:
    """Write a snapshot of one model: a built-in, a runtime and six canary exclusions."""
    now = datetime.now(UTC)
    providers = max(routes // 10, 20)
    listed = tuple(
        ListedRoute(
            tag=RouteId(f"provider-{number % providers}/variant-{number // providers}"),
            providers=frozenset({f"Provider {number % providers}"}),
        )
        for number in range(routes)
    )
    facts = ModelRouting(
        model=MODEL,
        mode=Mode.ENFORCE,
        names=frozenset({"acme/chat-20260101"}),
        routes=listed,
        suspensions=tuple(
            SuspendedRoute(
                route=route.tag, since=now, until=now + timedelta(days=1), contracts=frozenset({LATENCY})
            )
            for route in listed[:6]
        ),
    )
    builtin = BuiltinEntry(
        target="filter-host", models=None, reason="r", evidence="e", reviewer="r", date="2026-01-05"
    )
    runtime = RuntimeEntry(target="slow-host", models=None, reason="r", actor="ops", created=now)
    path = directory / f"{gateway}-{routes}.json"
    document = snapshot_of([facts], builtin=[builtin], runtime=[runtime], written_at=now, gateway=gateway)
    write_snapshot(path, document)
    return path


def other_lists() -> Iterator[list[Body]]:
    """Yield batches of `provider` objects, each with another 8 of 64 providers that the process knows."""
    eights = combinations([f"host-{number}/fp8" for number in range(64)], 8)  # 4.4 billion
    while True:
        yield [{"ignore": list(eight)} for eight in islice(eights, BATCH)]


def other_bodies() -> Iterator[list[Body]]:
    """Yield batches of `provider` objects fresh from JSON, with names that were never seen before."""
    for number in count():
        names = [f"host-{BATCH * number + place}/fp8" for place in range(BATCH + 8)]
        yield json.loads(json.dumps([{"ignore": names[place : place + 8]} for place in range(BATCH)]))


def per_call(ask: Callable[[str, Body], object], batch: list[Body]) -> float:
    """Time one batch; nanoseconds a call."""
    gc.disable()
    began = time.perf_counter_ns()
    for existing in batch:
        ask(MODEL, existing)
    took = time.perf_counter_ns() - began
    gc.enable()
    return took / len(batch)


def copies_ns() -> float:
    began = time.perf_counter_ns()
    for _ in range(BATCH):
        dict(REQUEST)
    return (time.perf_counter_ns() - began) / BATCH


def merge_figures(calls: int) -> tuple[list[Figure], float]:
    """Time the merge; return the figures and the yardstick in ns."""
    with tempfile.TemporaryDirectory() as directory:
        few = Canary(snapshot_file(Path(directory), 40), thread=False)
        many = Canary(snapshot_file(Path(directory), 10_000), thread=False)
        other = Canary(snapshot_file(Path(directory), 40, GatewayKind.VERCEL), thread=False)
    same = [{"ignore": [f"Host {number}" for number in range(8)]}] * BATCH
    assert len(few.provider_preferences(MODEL, same[0])["ignore"]) == 16, "8 of the caller, 8 of the layers"
    options = [{"gateway": {"sort": "ttft"}}] * BATCH
    assert len(other.provider_options(MODEL, options[0])["gateway"]["only"]) == 34, (
        "all but the suspended six"
    )
    times: dict[str, list[float]] = defaultdict(list)
    lists, bodies = other_lists(), other_bodies()
    for _ in range(max(1, calls // BATCH)):
        times["copy"].append(copies_ns())
        times["memo"].append(per_call(few.provider_preferences, same))
        times["memo many"].append(per_call(many.provider_preferences, same))
        times["other"].append(per_call(few.provider_preferences, next(lists)))
        times["other many"].append(per_call(many.provider_preferences, next(lists)))
        times["body"].append(per_call(few.provider_preferences, next(bodies)))
        times["allow"].append(per_call(other.provider_options, options))
    counted = sum(sum(canary.status()["counters"].values()) for canary in (few, many, other))
    assert counted == 0, "a call took a way that is not the one to be timed"
    median = {name: statistics.median(batches) for name, batches in times.items()}
    best = {name: sorted(batches)[len(batches) // 10] for name, batches in times.items()}
    return [
        Figure("memoised, 40 routes", median["memo"], 1_500, "ns", best["memo"]),
        Figure("unmemoised, 40 routes", median["other"], 3_000, "ns", best["other"]),
        Figure("memoised, 10,000 routes / 40", median["memo many"] / median["memo"], 1.2, "x"),
        Figure("unmemoised, 10,000 routes / 40", median["other many"] / median["other"], 1.2, "x"),
        Figure("unmemoised, fresh texts, 40 routes", median["body"], None, "ns", best["body"]),
        Figure("allow-list, memoised, 40 routes", median["allow"], None, "ns", best["allow"]),
    ], median["copy"]


def import_figures(runs: int) -> list[Figure]:
    """Compare two interpreters, interleaved: CPU time, which has the target, and wall time."""
    cpu: dict[str, list[float]] = defaultdict(list)
    wall: dict[str, list[float]] = defaultdict(list)
    for _ in range(runs):
        for code in ("pass", "import routecanary.client"):
            began = time.perf_counter()
            child = os.posix_spawn(sys.executable, [sys.executable, "-I", "-c", code], os.environ)
            _, status, usage = os.wait4(child, 0)
            assert status == 0, code
            wall[code].append((time.perf_counter() - began) * 1e3)
            cpu[code].append((usage.ru_utime + usage.ru_stime) * 1e3)
    bare, whole = (statistics.median(times) for times in cpu.values())
    bare_wall, whole_wall = (statistics.median(times) for times in wall.values())
    return [
        Figure("import, CPU over a bare interpreter", whole - bare, 25, "ms"),
        Figure("import, wall over a bare interpreter", whole_wall - bare_wall, None, "ms"),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=1_000_000, help="calls of each kind (default 1,000,000)")
    parser.add_argument("--check", action="store_true", help="exit 1 when a target is missed")
    options = parser.parse_args()
    figures = import_figures(21)
    merges, copy_ns = merge_figures(options.calls)
    figures = [*merges, *figures]
    version = sys.version.split()[0]
    print(f"Python {version}, {options.calls:,} calls of each kind; dict(request): {copy_ns:.0f} ns")
    for figure in figures:
        verdict = "PASS" if figure.met else "FAIL"
        target = "" if figure.target is None else f"target {figure.target:7,.1f}  {verdict}"
        ratio = ""
        if figure.best_tenth is not None:
            ratio = (
                f"{figure.measured / copy_ns:5.1f} x dict(request); best tenth {figure.best_tenth:,.0f} ns"
            )
        print(f"{figure.name:36} {figure.measured:9,.2f} {figure.unit:2}  {target:21} {ratio}".rstrip())
    return 0 if not options.check or all(figure.met for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
