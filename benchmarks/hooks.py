"""What does a hook add to a request and to an answer? `python benchmarks/hooks.py [--check]`

Times what every hook does between the application and its client library, without a socket: looking at a
request of so many bytes and writing it with the list, and seeing one read of a healthy stream. Beside it, the
yardstick: parsing the same body with `json.loads`, which the gateway has to do as well. Calls are timed in
batches, interleaved with the yardstick; a figure is the median of the batches' means.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from routecanary.adapters.snapshot import write_snapshot
from routecanary.client import Canary
from routecanary.client.answer import AnswerReader
from routecanary.client.telemetry import Sender
from routecanary.domain.names import LATENCY, ModelId, RouteId
from routecanary.domain.round import Mode
from routecanary.hooks.exchange import GATEWAY, Hook
from routecanary.routing.snapshot import ListedRoute, ModelRouting, SuspendedRoute, snapshot_of

MODEL = "acme/chat"
SIZES = (1_000, 10_000, 100_000)  # bytes of a body
BATCHES, CALLS = 60, 50
MOST_RATIO = 8.0  # of a body of 10 KB without `provider`, to parsing it
MOST_READ_US = 5.0  # one read of a stream
FRAME = json.dumps(
    {
        "id": "gen-1",
        "provider": "Host 1",
        "model": MODEL,
        "object": "chat.completion.chunk",
        "created": 1,
        "choices": [{"index": 0, "delta": {"role": "assistant", "content": "hello"}, "finish_reason": None}],
    }
)


def a_canary(folder: Path) -> Canary:
    """Make a client that keeps eight of forty routes away."""
    now = datetime.now(UTC)
    tags = [RouteId(f"host-{number}/fp8") for number in range(40)]
    model = ModelRouting(
        model=ModelId(MODEL),
        mode=Mode.ENFORCE,
        routes=tuple(ListedRoute(tag=tag) for tag in tags),
        suspensions=tuple(
            SuspendedRoute(
                route=tag,
                since=now - timedelta(hours=1),
                until=now + timedelta(hours=1),
                contracts=frozenset({LATENCY}),
            )
            for tag in tags[:8]
        ),
    )
    path = folder / "snapshot.json"
    write_snapshot(path, snapshot_of((model,), builtin=(), runtime=(), written_at=now))
    return Canary(path, thread=False)


def timed(call: Callable[[], object], yardstick: Callable[[], object]) -> tuple[float, float]:
    """Return the microseconds of one call of each."""
    means: tuple[list[float], list[float]] = ([], [])
    gc.disable()
    for _ in range(BATCHES):
        for each, taken in zip((call, yardstick), means, strict=True):
            began = time.perf_counter()
            for _ in range(CALLS):
                each()
            taken.append((time.perf_counter() - began) / CALLS * 1e6)
    gc.enable()
    return statistics.median(means[0]), statistics.median(means[1])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="exit code 1 when a target is missed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        canary = a_canary(Path(folder))
        hook = Hook(canary, sender=Sender("http://127.0.0.1:9"))
        headers = {"content-type": "application/json"}
        print(f"{'what':<46} {'us':>9} {'json.loads us':>14} {'ratio':>7}")
        checked = 0.0
        for own in (False, True):
            for size in SIZES:
                request = {"model": MODEL, "messages": [{"role": "user", "content": "a word " * (size // 7)}]}
                body = json.dumps(request | ({"provider": {"sort": "price"}} if own else {})).encode()

                def edit(body: bytes = body) -> object:
                    return hook.begin("POST", f"{GATEWAY}/chat/completions", headers, lambda: body)

                def parse(body: bytes = body) -> object:
                    return json.loads(body)

                edited, parsed = timed(edit, parse)
                checked = edited / parsed if not own and size == SIZES[1] else checked
                what = f"a request of {size // 1000} KB{', with preferences of its own' if own else ''}"
                print(f"{what:<46} {edited:>9.1f} {parsed:>14.1f} {edited / parsed:>7.1f}")
        other, _ = timed(
            lambda: hook.begin("POST", "https://api.example/v1/chat/completions", headers, lambda: b""), int
        )
        print(f"{'a request to anybody else':<46} {other:>9.2f}")
        reader, frame = AnswerReader(), b"data: " + FRAME.encode() + b"\n\n"
        reader.feed(frame, 0.0)
        read, parsed = timed(lambda: reader.feed(frame, 1.0), lambda: json.loads(FRAME))
        print(f"{'one read of a stream':<46} {read:>9.2f} {parsed:>14.1f} {read / parsed:>7.1f}")
    missed = checked > MOST_RATIO or read > MOST_READ_US
    print(
        "missed" if missed else "met", f"targets: ratio {MOST_RATIO:g} at 10 KB, {MOST_READ_US:g} us a read"
    )
    sys.exit(1 if missed and options.check else 0)


if __name__ == "__main__":
    main()
