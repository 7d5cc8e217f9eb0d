"""Do applications keep to the list, and what does it spare their users? `python benchmarks/production.py`.

    python benchmarks/production.py [--requests 5000] [--seconds S] [--seed N] [--json]

A lab gateway whose faulty hosts fall ill and recover, a real daemon on it, `routecanary serve` and
`routecanary proxy` as processes, and nine applications, each a process of its own, that stream their answers
through one hook or the proxy. Beside them the same nine without the list ask a twin of the lab: same seed,
same faults at the same times. The lab's ledger says who served whom and which fault struck; the daemon's
output says when a route was excluded.

Promises, exit code 1 if one is broken: no request fails that succeeds without the list; none reaches an
excluded route later than 5 s after the exclusion was in the log; while all ill hosts are excluded no answer
is struck by a planted fault; the audit finds no leak; every ill host was excluded at least once; the ledger
saw every request.

Columns: requests, those that failed, those of them that succeeded without the list; those that reached an
excluded route too late; the share of faulty answers while some host was ill: without the list, with it before
all ill hosts were excluded, and after; how many answers came after; records of telemetry that were taken.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import uvloop

from production_paths import PATHS, Order
from routecanary.lab.gateway import LabGateway
from routecanary.lab.ledger import Served
from routecanary.lab.scenario import Scenario, scenario_from_toml

ROOT = Path(__file__).resolve().parents[1]
LITELLM = ROOT / ".venv-litellm" / "bin" / "python"
KEY = "lab-key"
MODEL = "acme/chat-2"
SPEED = 60.0  # seconds of the wire in a real second
REFRESH = 5.0  # seconds within which an exclusion must have reached every request
START_UP = 20.0  # seconds from the lab's beginning until the first host may fall ill
ILL = {"inkspill/fp4": "spoiled_start", "looping/fp8": "repetition", "hollow": "empty_answer"}
SOUND = ("acme", "cindermoor", "north-host/fp8", "plover", "quillon")

LEAKS = ("leaks", "--since", "1h", "--json", "--config", "routecanary.toml")
TOKEN = ("token", "create", "bench", "--role", "app", "--config", "routecanary.toml")

HEAD = f"""
name = "production"
key = "{KEY}"
[noise]
natural_failure = 0.0
transport_errors = 0.0
[[models]]
id = "{MODEL}"
"""
ROUTE = """
[[models.routes]]
tag = "{tag}"
provider = "{provider}"
"""
FAULT = """
[[models.routes.faults]]
fault = "{fault}"
probability = 1.0
from = "{begin}s"
every = "{every}s"
lasting = "{lasting}s"
expect = "suspended"
"""
CONFIG = """
initial_mode = "enforce"
[gateway]
base_url = "{base_url}"
document_timeout = "5s"
[store]
path = "events.sqlite3"
[snapshot]
path = "snapshot.json"
[schedule]
period = "1s"
jitter = "0s"
[probes]
start_spread = "0s"
confirm_delay = ["0s", "0s"]
[contracts.latency]
lag_limit = "10s"
[policy]
min_round_gap = "0s"
[listen]
applications = "{listener}"
administrators = "{administrators}"
[proxy]
listen = "{proxy}"
[models."{model}"]
"""


Lines = Mapping[tuple[str, bool], list[dict[str, Any]]]
"""What each application said, by path and whether it carried the list."""


@dataclass(frozen=True)
class Spell:
    """A time in which a route was ill, or excluded; epoch seconds."""

    route: str
    begin: float
    end: float

    def holds(self, at: float) -> bool:
        return self.begin <= at < self.end


@dataclass(frozen=True)
class Asked:
    """One request of a user and who served it."""

    path: str
    number: int
    at: float  # when the gateway had it
    route: str
    struck: bool  # by a planted fault


@dataclass
class Row:
    """One path's figures."""

    path: str
    requests: int = 0
    failed: int = 0
    failed_by_us: int = 0
    late: int = 0  # reached an excluded route after the refresh interval
    without_faulty: float | None = None  # share, while some host was ill
    before_faulty: float | None = None
    after_faulty: float | None = None
    after: int = 0  # answers while all ill hosts were excluded
    told: int | None = None  # records that the listener took
    counters: dict[str, int] = field(default_factory=dict)


def scenario(seconds: float) -> tuple[Scenario, list[tuple[str, float, float, float]]]:
    """Write the world: each ill host falls ill twice in the run, one after another."""
    every, lasting = seconds / 2, seconds * 0.3
    text, plan = HEAD, []
    for tag in SOUND:
        text += ROUTE.format(tag=tag, provider=tag.partition("/")[0].title())
    for number, (tag, fault) in enumerate(ILL.items()):
        begin = START_UP + seconds * (0.04 + 0.05 * number)
        text += ROUTE.format(tag=tag, provider=tag.partition("/")[0].title())
        text += FAULT.format(fault=fault, begin=round(begin), every=round(every), lasting=round(lasting))
        plan.append((tag, float(round(begin)), float(round(every)), float(round(lasting))))
    return scenario_from_toml(text, "production"), plan


class Labs:
    """Two labs of one seed in a thread, and everything that they served to users."""

    def __init__(self, world: Scenario, seed: int) -> None:
        self._labs = [LabGateway(world, seed=seed, time_scale=SPEED) for _ in range(2)]
        self._served: list[dict[str, Served]] = [{}, {}]
        self._ready, self._end = threading.Event(), threading.Event()
        self.began = 0.0
        self._thread = threading.Thread(target=uvloop.run, args=(self._serve(),))

    @property
    def urls(self) -> tuple[str, str]:
        return self._labs[0].base_url, self._labs[1].base_url

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(30)
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join(30)

    async def _serve(self) -> None:
        async with self._labs[0], self._labs[1]:
            self.began = time.time()
            self._ready.set()
            while not self._end.is_set():
                await asyncio.sleep(0.5)
                self._keep()
        self._keep()

    def _keep(self) -> None:
        """Take what was served out of the ledgers before these forget it."""
        for lab, kept in zip(self._labs, self._served, strict=True):
            for served in lab.ledger:
                if served.id not in kept and "/" in str(served.body.get("user", "")):
                    kept[served.id] = served

    def asked(self, lab: int) -> list[Asked]:
        users = []
        for served in self._served[lab].values():
            path, _, number = str(served.body["user"]).rpartition("/")
            if path in PATHS:
                struck = served.planted
                users.append(Asked(path, int(number), served.at.timestamp(), served.route, struck))
        return users


class Daemon:
    """`routecanary run`, and when it excluded whom."""

    def __init__(self, folder: Path) -> None:
        self._process = start(folder, "run", "--json")
        self._begun: dict[str, float] = {}
        self.excluded: list[Spell] = []
        self.rounds = 0
        self._first = threading.Event()
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            event, now = json.loads(line), time.time()
            match event.get("event"):
                case "exclusions":
                    self.rounds += 1
                    self._first.set()
                case "suspended":
                    self._begun.setdefault(event["route"], now)
                case "reinstated" | "expired" | "lifted":
                    begun = self._begun.pop(event["route"], None)
                    if begun is not None:
                        # it may have left the list a moment before we heard of it
                        self.excluded.append(Spell(event["route"], begun, now - 2.0))
        now = time.time()
        self.excluded.extend(Spell(route, begun, now) for route, begun in self._begun.items())

    def wait_for_round(self) -> None:
        if not self._first.wait(120):
            raise SystemExit("the daemon made no round")

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        self._process.wait(60)
        self._thread.join(60)


def start(folder: Path, *tokens: str) -> subprocess.Popen[str]:
    """Start a command of ours in a folder; its log goes to a file there."""
    with (folder / f"{tokens[0]}.log").open("w") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "routecanary", *tokens, "--config", "routecanary.toml"],
            cwd=folder,
            env=environment(folder),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )


def environment(folder: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {
        **kept,
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT / "src"),
        "OPENROUTER_API_KEY": KEY,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "DO_NOT_TRACK": "1",
    }


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


@contextmanager
def process(folder: Path, *tokens: str) -> Iterator[None]:
    """Run a server of ours until the block ends."""
    running = start(folder, *tokens, "--json")
    assert running.stdout is not None
    running.stdout.readline()  # it listens
    try:
        yield
    finally:
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=60)


def token_of(folder: Path) -> str:
    made = subprocess.run(
        [sys.executable, "-m", "routecanary", *TOKEN],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=True,
    )
    return made.stdout.strip()


class Application:
    """One process of `benchmarks/production_paths.py`."""

    def __init__(self, path: str, folder: Path, *, carries: bool) -> None:
        self.path, self.carries = path, carries
        self._log = folder / f"{path}-{'with' if carries else 'without'}.log"
        python = str(LITELLM) if path == "litellm" else sys.executable
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [python, str(ROOT / "benchmarks" / "production_paths.py"), path],
                env=environment(folder),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def wait_until_ready(self) -> None:
        assert self._process.stdout is not None
        if self._process.stdout.readline() != "ready\n":
            self._fail()

    def begin(self, order: Order) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asdict(order)))
        self._process.stdin.close()
        self._process.stdin = None

    def lines(self, timeout: float) -> list[dict[str, Any]]:
        """Wait for its end, and show what it said."""
        said, _ = self._process.communicate(timeout=timeout)
        if self._process.returncode:
            self._fail()
        return [json.loads(line) for line in said.splitlines()]

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def _fail(self) -> None:
        raise SystemExit(f"{self.path} ended with {self._process.wait()}:\n{self._log.read_text()[-3000:]}")


def shares(asked: Iterable[Asked], phases: Phases) -> dict[str, tuple[int, int]]:
    """Count answers and struck answers by what was known of the ill hosts when they were asked for."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for each in asked:
        phase = phases.at(each.at)
        counts[phase][0] += 1
        counts[phase][1] += each.struck
    return {phase: (total, struck) for phase, (total, struck) in counts.items()}


class Phases:
    """Was some host ill at this time, and were all ill ones excluded by then?"""

    def __init__(self, ill: list[Spell], excluded: list[Spell]) -> None:
        self._ill, self._excluded = ill, excluded

    def at(self, at: float) -> str:
        ill = [
            spell.route for spell in self._ill if spell.holds(at) or spell.holds(at + 1.0)
        ]  # clocks differ
        if not ill:
            return "sound"
        return "after" if all(self.is_excluded(route, at) for route in ill) else "before"

    def is_excluded(self, route: str, at: float) -> bool:
        """Say whether by this time every request must avoid a route."""
        return any(
            spell.route == route and spell.begin + REFRESH <= at < spell.end for spell in self._excluded
        )


def ill_spells(plan: list[tuple[str, float, float, float]], began: float, until: float) -> list[Spell]:
    spells = []
    for route, begin, every, lasting in plan:
        at = began + begin
        while at < until:
            spells.append(Spell(route, at, at + lasting))
            at += every
    return spells


def play(requests: int, seconds: float, seed: int) -> dict[str, Any]:
    """Run everything once, and say what came of it."""
    world, plan = scenario(seconds)
    count = -(-requests // len(PATHS))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="routecanary-production-")))
        applications = [
            Application(path, folder, carries=carries) for path in PATHS for carries in (True, False)
        ]
        for each in applications:
            stack.callback(each.kill)
        for each in applications:
            each.wait_until_ready()
        labs = stack.enter_context(Labs(world, seed))
        listener, administrators, proxy = (f"127.0.0.1:{port}" for port in free_ports(3))
        config = CONFIG.format(
            base_url=labs.urls[0], model=MODEL, listener=listener, administrators=administrators, proxy=proxy
        )
        (folder / "routecanary.toml").write_text(config, "utf-8")
        token = token_of(folder)
        daemon = Daemon(folder)
        stack.callback(daemon.stop)
        stack.enter_context(process(folder, "serve"))
        stack.enter_context(process(folder, "proxy"))
        daemon.wait_for_round()
        common = {
            "key": KEY,
            "model": MODEL,
            "begin": time.time(),
            "spacing": seconds / count,
            "count": count,
        }
        for each in applications:
            hooked = each.carries and each.path != "proxy"
            address = labs.urls[0] if each.carries else labs.urls[1]
            each.begin(
                Order(
                    path=each.path,
                    base_url=f"http://{proxy}/v1" if each.carries and not hooked else address,
                    snapshot=str(folder / "snapshot.json") if hooked else "",
                    listener=f"http://{listener}" if hooked else "",
                    token=token if hooked else "",
                    **common,
                )
            )
        lines = {(each.path, each.carries): each.lines(seconds * 20 + 300) for each in applications}
        ill = ill_spells(plan, labs.began, time.time())
        time.sleep(2.0)  # until what was told last is kept
        daemon.stop()
        audit = leaks_of(folder)
    return report(labs, Phases(ill, daemon.excluded), lines, daemon=daemon, audit=audit, ill=ill)


def leaks_of(folder: Path) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "routecanary", *LEAKS],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def report(
    labs: Labs,
    phases: Phases,
    lines: Lines,
    *,
    daemon: Daemon,
    audit: list[dict[str, Any]],
    ill: list[Spell],
) -> dict[str, Any]:
    with_list, without = labs.asked(0), labs.asked(1)
    rows = [row_of(path, with_list, without, phases, lines) for path in PATHS]
    excluded = {spell.route for spell in daemon.excluded}
    whole = {name: total(rows, name) for name in ("requests", "failed", "failed_by_us", "late", "after")}
    every = shares(with_list, phases)
    bare = shares(without, phases)
    return {
        "rows": [asdict(row) for row in rows],
        "whole": {
            **whole,
            "without_faulty": ratio(plus(bare.get("before"), bare.get("after"))),
            "before_faulty": ratio(every.get("before")),
            "after_faulty": ratio(every.get("after")),
        },
        "rounds": daemon.rounds,
        "ill_spells": len(ill),
        "exclusions": len(daemon.excluded),
        "excluded_hosts": sorted(excluded),
        "sound_excluded": sorted(excluded - ILL.keys()),
        "audit": audit,
        "promises": {
            "failures caused by us are 0": whole["failed_by_us"] == 0,
            f"0 requests reach an excluded route after {REFRESH:g} s": whole["late"] == 0,
            "0 faulty answers while all ill hosts are excluded": not (every.get("after") or (0, 0))[1],
            "the audit finds no leak": not any(leaked_in(each) for each in audit),
            "every ill host was excluded": excluded >= ILL.keys(),
            "the ledger saw every request": seen(with_list) == seen(without) == whole["requests"],
        },
    }


def seen(asked: Iterable[Asked]) -> int:
    """Count requests; a library may ask twice for one."""
    return len({(each.path, each.number) for each in asked})


def leaked_in(document: Mapping[str, Any]) -> int:
    return sum(leak["count"] for leak in document["leaks"] if leak["certain"])


def row_of(
    path: str,
    with_list: list[Asked],
    without: list[Asked],
    phases: Phases,
    lines: Lines,
) -> Row:
    given, bare = lines[path, True], lines[path, False]
    answers = [line for line in given if "number" in line]
    succeeded = {line["number"] for line in bare if "number" in line and line["error"] is None}
    failed = [line for line in answers if line["error"] is not None]
    mine = [each for each in with_list if each.path == path]
    by_phase = shares(mine, phases)
    plain = shares((each for each in without if each.path == path), phases)
    last = next((line for line in given if "canary" in line), {"canary": {}, "sender": {}})
    return Row(
        path=path,
        requests=len(answers),
        failed=len(failed),
        failed_by_us=sum(line["number"] in succeeded for line in failed),
        late=sum(phases.is_excluded(each.route, each.at) for each in mine),
        without_faulty=ratio(plus(plain.get("before"), plain.get("after"))),
        before_faulty=ratio(by_phase.get("before")),
        after_faulty=ratio(by_phase.get("after")),
        after=(by_phase.get("after") or (0, 0))[0],
        told=last["sender"].get("sent"),
        counters={name: count for name, count in last["canary"].items() if count},
    )


def total(rows: list[Row], name: str) -> int:
    return sum(getattr(row, name) for row in rows)


def plus(*pairs: tuple[int, int] | None) -> tuple[int, int]:
    known = [pair for pair in pairs if pair is not None]
    return sum(pair[0] for pair in known), sum(pair[1] for pair in known)


def ratio(pair: tuple[int, int] | None) -> float | None:
    return None if not pair or not pair[0] else pair[1] / pair[0]


def show(result: Mapping[str, Any]) -> None:
    print(
        f"{'path':<12} {'requests':>8} {'failed':>7} {'by us':>6} {'late':>5} "
        f"{'faulty without':>15} {'before':>8} {'after':>7} {'of':>5} {'told':>5}"
    )
    for row in [*result["rows"], {"path": "all", "told": None, "counters": {}, **result["whole"]}]:
        told = "" if row["told"] is None else row["told"]
        print(
            f"{row['path']:<12} {row['requests']:>8} {row['failed']:>7} {row['failed_by_us']:>6} "
            f"{row['late']:>5} "
            f"{percent(row['without_faulty']):>15} {percent(row['before_faulty']):>8} "
            f"{percent(row['after_faulty']):>7} {row['after']:>5} {told:>5}"
        )
        if row["counters"]:
            print(f"{'':<12} counted: {row['counters']}")
    print(
        f"{result['rounds']} rounds, {result['ill_spells']} times a host fell ill, "
        f"{result['exclusions']} exclusions ({', '.join(result['excluded_hosts'])})"
    )
    for each in result["audit"]:
        several = sum(leak["count"] for leak in each["leaks"])
        print(f"audit: {each['generations']} generations told of, {leaked_in(each)} leaked, {several} in all")
    for promise, kept in result["promises"].items():
        print(f"{'kept  ' if kept else 'BROKEN'} {promise}")


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument(
        "--seconds", type=float, help="of the run; left out: 25 requests a second, 60 at least"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    seconds = options.seconds or max(60.0, options.requests / 25)
    result = play(options.requests, seconds, options.seed)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)
    sys.exit(0 if all(result["promises"].values()) else 1)


if __name__ == "__main__":
    main()
