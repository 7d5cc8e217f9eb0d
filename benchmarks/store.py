"""What does keeping cost? `python benchmarks/store.py [FOLDER]`, on the disk of FOLDER.

A round of 1,500 probes: each transcript (20 chunks of some 340 bytes and a request of 2 KB) is packed as its
probe ends, then all are appended with the round's event in one transaction. Then events alone. CPU time is
the least of several rounds, since other work on the machine can only add to it.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.domain.log import StoredDraft
from routecanary.domain.names import CONTRACT_NAMES, ModelId, RouteId
from routecanary.domain.probe import ProbeKind, Scene
from routecanary.domain.transcript import Chunk, Ending, EndingKind, Transcript
from routecanary.domain.verdict import Verdict, VerdictKind

PROBES = 1500
ROUNDS = 6
EVENTS = 2000
START = datetime(2026, 11, 29, tzinfo=UTC)
MODEL = ModelId("bench/chat-1")
WORDS = ["the", "a", "river", "stone", "lantern", "old", "bridge", "quiet", "voice", "said", "market", "rain"]
VERDICTS = {name: Verdict(contract=name, kind=VerdictKind.PASS) for name in CONTRACT_NAMES[:3]}


def prose(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(WORDS, k=words))


def transcript(chance: random.Random, n: int) -> Transcript:
    def frame(text: str) -> bytes:
        choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
        body = {
            "id": f"gen-1790000000-{n:020}",
            "provider": "Bench Host",
            "model": MODEL,
            "object": "chat.completion.chunk",
            "created": 1_790_000_000,
            "choices": [choice],
        }
        return b"data: " + json.dumps(body).encode() + b"\n\n"

    prompt = prose(chance, 300)
    return Transcript(
        model=MODEL,
        route=RouteId(f"host{n % 500}"),
        kind=ProbeKind.CHAT,
        locale=None,
        request={"model": MODEL, "messages": [{"role": "user", "content": prompt}], "stream": True},
        status=200,
        headers=(("content-type", "text/event-stream"), ("x-generation-id", f"gen-{n}")),
        chunks=tuple(Chunk(50.0 * i + chance.random(), frame(prose(chance, 12))) for i in range(20)),
        ending=Ending(kind=EndingKind.EOF, at_ms=1000.0 + chance.random()),
        scene=Scene(id="bench", prompt=prompt),
        started_at=START,
    )


def least_cpu(times: int, act: Callable[[int], Any]) -> float:
    """Least CPU seconds of `act` over several times."""
    spent = []
    for n in range(times):
        before = time.process_time()
        act(n)
        spent.append(time.process_time() - before)
    return min(spent)


def keep_rounds(store: SqliteStore) -> None:
    chance = random.Random(1)
    packing, keeping, walls, sizes = [], [], [], []
    for n in range(ROUNDS):
        at = START + n * timedelta(minutes=30)
        transcripts = [transcript(chance, n * PROBES + i) for i in range(PROBES)]
        began = time.process_time()
        packed = [store.pack(each, at=at, verdicts=VERDICTS) for each in transcripts]
        packing.append(time.process_time() - began)
        closed = StoredDraft(
            kind="round_closed", at=at, model=MODEL, body={"ids": [p.entry.id for p in packed]}
        )
        began, wall = time.process_time(), time.perf_counter()
        store.append([closed], store.head(), transcripts=packed)
        keeping.append(time.process_time() - began)
        walls.append(time.perf_counter() - wall)
        sizes += [each.entry.size for each in packed]
    each = 1e6 / PROBES
    print(f"transcript: pack {min(packing) * each:.0f} us CPU, keep {min(keeping) * each:.0f} us CPU a probe")
    print(f"round of {PROBES}: one transaction, {median(walls) * 1e3:.0f} ms wall (median)")
    print(
        f"packed: {sum(sizes) / len(sizes):.0f} bytes,"
        f" of {sum(len(c.data) for c in transcripts[0].chunks)} received"
    )
    entries = list(store.find(MODEL))
    spent = least_cpu(3, lambda _: [store.get(entry.id) for entry in entries[:500]])
    print(f"get: {spent * 1e6 / 500:.0f} us CPU a transcript")


def keep_events(store: SqliteStore) -> None:
    body = {
        "route": "alpha/fp8",
        "contracts": ["integrity", "language"],
        "until": "2026-11-30T00:00:00Z",
        "n": 0,
    }

    def drafts(n: int) -> list[StoredDraft]:
        return [
            StoredDraft(kind="suspended", at=START, model=MODEL, body=body | {"n": n * EVENTS + i})
            for i in range(EVENTS)
        ]

    spent = least_cpu(ROUNDS, lambda n: store.append(drafts(n), store.head()))
    print(f"event: append {spent * 1e6 / EVENTS:.1f} us CPU each, {EVENTS} in one transaction")
    number = store.count()
    print(f"event: read {least_cpu(3, lambda _: list(store.read())) * 1e6 / number:.1f} us CPU each")
    print(f"event: verify {least_cpu(3, lambda _: store.verify()) * 1e6 / number:.1f} us CPU each")
    walls = []
    [act] = drafts(0)[:1]
    for _ in range(200):
        wall = time.perf_counter()
        store.append([act], store.head())
        walls.append(time.perf_counter() - wall)
    print(f"one act: {median(walls) * 1e3:.2f} ms wall (median), durable")


def main() -> None:
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as folder:
        path = Path(folder) / "store.db"
        with SqliteStore(path) as store:
            keep_rounds(store)
        print(f"file: {path.stat().st_size / (PROBES * ROUNDS):.0f} bytes a transcript")
        with SqliteStore(path.with_name("events.db")) as store:
            keep_events(store)


if __name__ == "__main__":
    main()
