"""Does looking at telemetry keep pace with it, and disturb no probe? `python benchmarks/traffic.py [FOLDER]`.

A store on the disk of FOLDER: a model of 30 routes with two days of rounds and some suspensions, and an hour
of generations. Printed are generations a second: kept, audited for leaks, and added up by the passive watch,
each beside the first; then how late the daemon's event loop wakes while both work in their thread without a
break, beside how late it wakes while another thread counts, and while nobody works. In the daemon they work
for a fraction of a second in five. Exit code 1 where the audit is slower than the 2,000 a second that a
listener has to take.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.clock import SystemClock
from routecanary.domain.generation import Generation, Source
from routecanary.domain.names import STRUCTURED, ModelId, RouteId
from routecanary.domain.probe import Json
from routecanary.domain.round import Round, RouteReport
from routecanary.domain.settings import ModelSettings, Settings
from routecanary.domain.verdict import VerdictKind
from routecanary.rounds.leaks import STEP, STEPS, LeakAudit
from routecanary.rounds.passive_watch import BEFORE, PassiveWatch
from routecanary.rounds.record import Ledger
from routecanary.rounds.records import Records

MODEL = ModelId("bench/chat-1")
ROUTES = tuple(RouteId(f"host-{number}") for number in range(30))
GENERATIONS = 40_000  # of one hour
LEAST = 2_000  # a second, audited
TICK = 0.005  # seconds
TICKS = 400


class NoSnapshot:
    """Where nobody reads."""

    @contextmanager
    def held(self) -> Iterator[None]:
        yield

    def write(self, snapshot: Mapping[str, Json]) -> None: ...


def records_over(store: SqliteStore) -> Records:
    settings = Settings(store_path="", snapshot_path="", models=(ModelSettings(model=MODEL),))
    return Records(
        settings=settings,
        ledger=Ledger(store, settings.policy),
        store=store,
        transcripts=store,
        snapshot_file=NoSnapshot(),
        builtin=(),
        clock=SystemClock(),
    )


def make_rounds(records: Records, now: datetime) -> None:
    """Two days, half an hour apart; a tenth of the routes fails for a while."""
    for number in range(96):
        failing = {ROUTES[number // 16 % 10], ROUTES[10 + number // 24]}
        reports = {
            route: RouteReport(
                verdicts={STRUCTURED: VerdictKind.FAIL if route in failing else VerdictKind.PASS}
            )
            for route in ROUTES
        }
        line = Round(at=now - timedelta(minutes=30) * (97 - number), model=MODEL, routes=reports)
        records.ledger.decide(MODEL, lambda _at, _acted, line=line: line, now=records.clock.now)


def make_generations(now: datetime) -> list[Generation]:
    """An hour of them, told by hooks, of conversations of some five answers."""
    chance = random.Random(1)
    begin = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=2)
    return [
        Generation(
            key=f"gen-{number}-{chance.getrandbits(64):016x}",
            source=Source.HOOK,
            model=MODEL,
            started_at=begin + timedelta(hours=1) * (number / GENERATIONS),
            candidates=frozenset({chance.choice(ROUTES)}),
            list_written_at=begin,
            ttft_ms=chance.randrange(100, 12_000),
            status=200,
            finish_reason="stop",
            empty=chance.random() < 0.01,
            conversation=f"c{number // 5}",
        )
        for number in range(GENERATIONS)
    ]


def seconds(do: Callable[[], object]) -> float:
    began = time.perf_counter()
    do()
    return time.perf_counter() - began


async def lateness(work: Callable[[], object] | None) -> list[float]:
    """Measure how late the loop wakes, in ms, while a thread works (again and again) or nobody does."""
    done = False

    def again() -> None:
        while work is not None and not done:
            work()

    thread = asyncio.create_task(asyncio.to_thread(again))
    late = []
    for _ in range(TICKS):
        due = time.perf_counter() + TICK
        await asyncio.sleep(TICK)
        late.append(max(0.0, (time.perf_counter() - due) * 1000))
    done = True
    await thread
    return sorted(late)


def told(name: str, late: list[float]) -> None:
    p50, p99 = late[len(late) // 2], late[len(late) * 99 // 100]
    print(f"  {name:<28} p50 {p50:6.1f}   p99 {p99:6.1f}   max {late[-1]:6.1f}")


def main() -> int:
    with (
        tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as folder,
        SqliteStore(Path(folder) / "events.sqlite3") as store,
    ):
        now = datetime.now(UTC)
        records = records_over(store)
        make_rounds(records, now)
        generations = make_generations(now)
        keeping = seconds(
            lambda: [
                store.keep_generations(generations[at : at + 1_000], at=now - timedelta(hours=1))
                for at in range(0, GENERATIONS, 1_000)
            ]
        )
        audit = LeakAudit(records)
        audit.look()  # opens its ledger, and looks at the first piece
        auditing = seconds(audit.look)
        audited = STEP * STEPS
        watch = PassiveWatch(records)
        watching = seconds(lambda: [watch.look() for _ in range(3)])  # whichever of the last ones holds them
        rates = {
            "kept": GENERATIONS / keeping,
            "audited": audited / auditing,
            "added up": GENERATIONS / watching,
        }
        print(f"generations a second ({GENERATIONS}, {len(ROUTES)} routes, {BEFORE} windows of past)")
        for name, rate in rates.items():
            print(f"  {name:<28} {rate:9,.0f}   {rate / rates['kept']:5.1f} × kept")

        def look() -> None:
            audit.look()
            PassiveWatch(records).look()

        print("how late the event loop wakes, ms")
        told("nobody works", asyncio.run(lateness(None)))
        told("a thread counts", asyncio.run(lateness(lambda: sum(range(100_000)))))
        told("audit and watch", asyncio.run(lateness(look)))
    return 0 if rates["audited"] >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
