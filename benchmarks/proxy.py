"""What does the proxy cost, beside nginx, LiteLLM's proxy and Portkey's gateway before the same upstream?

One run. Upstream and load are one C program (`proxy.c`), pinned to one core; each proxy in turn has another
core to itself. Ours merges a list into every body, LiteLLM's lays its own `provider` object into each; the
upstream counts bodies that hold one. nginx and Portkey pass bodies on.

    python benchmarks/proxy.py --install DIR    puts the peers there, some 800 MB; nginx comes with the system
    python benchmarks/proxy.py --peers DIR      measures all that is there, and says what is missing

Exit code 1 unless ours makes at least 100 times LiteLLM's and 8 times Portkey's requests a second at 32
connections, and adds at most 0.5 ms to the first token at one connection.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from routecanary.adapters.snapshot import write_snapshot
from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.domain.names import LATENCY, ModelId, RouteId
from routecanary.domain.round import Mode
from routecanary.routing.snapshot import ListedRoute, ModelRouting, SuspendedRoute, snapshot_of

MODEL: Final = "acme/chat"
TAGS: Final = tuple(f"host-{number}/fp8" for number in range(12))
EXCLUDED: Final = TAGS[:3]
KEY: Final = "sk-bench"
PROMPT: Final = (
    "The harbour lies still before the rain, and nobody has come up the road since noon. " * 11
)  # 1 KB

LITELLM: Final = "litellm[proxy]==1.108.7"
PORTKEY: Final = {
    "private": True,
    "dependencies": {"@portkey-ai/gateway": "1.15.2"},
    "overrides": {"@hono/node-server": "1.3.3"},  # with later ones it answers streams with 500
}

LEAST_OVER_LITELLM: Final = 100.0
LEAST_OVER_PORTKEY: Final = 8.0
MOST_FIRST_TOKEN_MS: Final = 0.5

START_SECONDS: Final = 180.0
OURS: Final = "routecanary proxy"


@dataclass(frozen=True)
class Load:
    """One kind of load; its `max_tokens` tells the upstream how many events to send, and how far apart."""

    name: str
    connections: int
    seconds: float
    stream: bool = False
    max_tokens: int = 300

    def body(self) -> bytes:
        document: dict[str, Any] = {
            "model": MODEL,
            "messages": [{"role": "user", "content": PROMPT}],
            "temperature": 0.8,
            "max_tokens": self.max_tokens,
        }
        if self.stream:
            document["stream"] = True
        return json.dumps(document, separators=(",", ":")).encode()


def loads(scale: float) -> tuple[Load, ...]:
    return (
        Load("one", 1, 3 * scale),
        Load("many", 32, 3 * scale),
        Load("first", 1, 2 * scale, stream=True, max_tokens=20_000),
        Load("paced", 50, 5 * scale, stream=True, max_tokens=50_020),
        Load("burst", 16, 2 * scale, stream=True, max_tokens=50_000),
    )


@dataclass
class Subject:
    """A proxy under test, or the upstream itself."""

    name: str
    port: int = 0
    path: str = "/v1/chat/completions"
    headers: tuple[str, ...] = (f"Authorization: Bearer {KEY}",)
    process: subprocess.Popen[bytes] | None = None
    rss_mb: float = 0.0
    results: dict[str, dict[str, float]] = field(default_factory=dict)

    def best(self, load: str, key: str) -> float | None:
        found = self.results.get(load)
        return None if found is None or found.get(key, -1) < 0 else found[key]


class MissingError(Exception):
    """A peer that is not installed, or does not start."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def pinned(core: int, command: list[str], **more: Any) -> subprocess.Popen[bytes]:
    """Start a program on one core, at raised priority where that is allowed, as leader of a group."""

    def prepare() -> None:
        os.sched_setaffinity(0, {core})
        with contextlib.suppress(PermissionError):
            os.nice(-15)

    return subprocess.Popen(
        command,
        preexec_fn=prepare,  # noqa: PLW1509 - no threads here
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **more},
    )


def family(leader: int) -> list[int]:
    """List the processes of a group."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ProcessLookupError):
                if os.getpgid(int(entry.name)) == leader:
                    found.append(int(entry.name))
    return found


def cpu_seconds(leader: int) -> float:
    total = 0
    for process in family(leader):
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def rss_mb(leader: int) -> float:
    total = 0
    for process in family(leader):
        with contextlib.suppress(OSError):
            total += int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return total * os.sysconf("SC_PAGE_SIZE") / 1e6


def stop(process: subprocess.Popen[bytes] | None) -> None:
    if process is None:
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class Bench:
    """The program, the upstream, and where files go."""

    def __init__(self, folder: Path, peers: Path | None, cores: tuple[int, int]) -> None:
        self.folder = folder
        self.peers = peers
        self.ends, self.middle = cores
        self.program = folder / "proxy"
        compiler = shutil.which("gcc") or shutil.which("cc")
        if compiler is None:
            raise SystemExit("needs a C compiler for benchmarks/proxy.c")
        subprocess.run(
            [compiler, "-O2", "-o", str(self.program), str(Path(__file__).with_name("proxy.c"))], check=True
        )
        self.upstream_port = free_port()
        self.upstream = pinned(
            self.ends, [str(self.program), "serve", str(self.upstream_port)], stdout=subprocess.PIPE
        )
        assert self.upstream.stdout is not None
        self.upstream.stdout.readline()

    def counts(self) -> dict[str, int]:
        """Ask the upstream what it got."""
        with socket.create_connection(("127.0.0.1", self.upstream_port), timeout=10) as asking:
            asking.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            told: dict[str, int] = json.loads(asking.recv(4096).partition(b"\r\n\r\n")[2])
            return told

    def measure(self, subject: Subject, load: Load) -> None:
        """Put one load on a subject, and keep the better run of several by what was delivered."""
        body = self.folder / f"{load.name}.json"
        body.write_bytes(load.body())
        before = cpu_seconds(subject.process.pid) if subject.process is not None else 0.0
        counted = self.counts()
        words = [
            str(self.program),
            "load",
            str(subject.port),
            subject.path,
            str(load.connections),
            str(load.seconds),
        ]
        loading = pinned(self.ends, [*words, str(body), *subject.headers], stdout=subprocess.PIPE)
        told, _ = loading.communicate(timeout=load.seconds + 60)
        found: dict[str, float] = json.loads(told)
        after = self.counts()
        found["edited"] = float(after["edited"] - counted["edited"])
        found["asked"] = float(after["requests"] - counted["requests"])
        found["rate"] = found["requests"] / found["seconds"]
        found["event_rate"] = found["events"] / found["seconds"]
        if subject.process is not None:
            spent = (cpu_seconds(subject.process.pid) - before) * 1e6
            found["cpu_us"] = spent / max(1.0, found["requests"])
            found["cpu_event_us"] = spent / max(1.0, found["events"])
            subject.rss_mb = max(subject.rss_mb, rss_mb(subject.process.pid))
        known = subject.results.get(load.name)
        merit = "event_rate" if load.stream else "rate"
        if known is None or found[merit] > known[merit]:
            subject.results[load.name] = found

    def wait_for(self, subject: Subject) -> None:
        """Wait until a subject answers a chat request."""
        body = Load("ready", 1, 0).body()
        head = "\r\n".join(
            [f"POST {subject.path} HTTP/1.1", "Host: h", *subject.headers, "Content-Type: application/json"]
        )
        request = f"{head}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body
        said = b""
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            if subject.process is not None and subject.process.poll() is not None:
                raise MissingError(f"ended with {subject.process.returncode}")
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", subject.port), 5) as asking,
            ):
                asking.settimeout(30)
                asking.sendall(request)
                said = asking.recv(65_536)
                if b" 200 " in said.split(b"\r\n", 1)[0]:
                    return
            time.sleep(0.2)
        raise MissingError(f"did not answer: {said[:200]!r}")


def direct(bench: Bench) -> Subject:
    return Subject("direct", port=bench.upstream_port)


def nginx(bench: Bench) -> Subject:
    """A floor in C: it relays, and edits nothing."""
    program = shutil.which("nginx")
    if program is None:
        raise MissingError("not installed: nginx is not on the path")
    subject = Subject("nginx, buffering off", port=free_port())
    config = bench.folder / "nginx.conf"
    config.write_text(f"""
daemon off; worker_processes 1; pid {bench.folder}/nginx.pid; error_log stderr crit;
events {{ worker_connections 1024; }}
http {{
  access_log off; client_body_temp_path {bench.folder}; proxy_temp_path {bench.folder};
  fastcgi_temp_path {bench.folder}; uwsgi_temp_path {bench.folder}; scgi_temp_path {bench.folder};
  keepalive_requests 100000000;
  upstream gateway {{ server 127.0.0.1:{bench.upstream_port}; keepalive 128; keepalive_requests 100000000; }}
  server {{ listen 127.0.0.1:{subject.port};
    location / {{ proxy_pass http://gateway; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffering off; }} }}
}}""")
    subject.process = pinned(bench.middle, [program, "-e", "stderr", "-c", str(config)])
    return subject


def snapshot(folder: Path) -> Path:
    now = datetime.now(UTC)
    suspensions = tuple(
        SuspendedRoute(
            route=RouteId(tag), since=now, until=now + timedelta(days=1), contracts=frozenset({LATENCY})
        )
        for tag in EXCLUDED
    )
    routing = ModelRouting(
        model=ModelId(MODEL),
        mode=Mode.ENFORCE,
        routes=tuple(ListedRoute(tag=RouteId(tag), providers=frozenset({"Bench Host"})) for tag in TAGS),
        suspensions=suspensions,
    )
    path = folder / "snapshot.json"
    write_snapshot(path, snapshot_of([routing], builtin=(), runtime=(), written_at=now))
    return path


def ours(bench: Bench) -> Subject:
    return _routecanary(bench, Subject(OURS, port=free_port()), [])


def ours_recording(bench: Bench) -> Subject:
    """With a configuration: who served is read from each answer and kept."""
    store = bench.folder / "events.sqlite3"
    SqliteStore(store).close()
    config = bench.folder / "routecanary.toml"
    config.write_text(f'[store]\npath = "{store}"\n[models."{MODEL}"]\n', encoding="utf-8")
    subject = Subject(f"{OURS}, keeping records", port=free_port())
    return _routecanary(bench, subject, ["--config", str(config)])


def _routecanary(bench: Bench, subject: Subject, more: list[str]) -> Subject:
    words = [sys.executable, "-m", "routecanary", "proxy", *more]
    words += ["--upstream", f"http://127.0.0.1:{bench.upstream_port}/api/v1"]
    words += ["--snapshot", str(snapshot(bench.folder)), "--listen", f"127.0.0.1:{subject.port}"]
    environ = {**os.environ, "HOME": str(bench.folder)}
    subject.process = pinned(bench.middle, words, env=environ, cwd=bench.folder)
    return subject


def litellm(bench: Bench) -> Subject:
    """It lays a `provider` object of its own into each request, as its configuration says."""
    program = bench.peers / "litellm" / "bin" / "litellm" if bench.peers is not None else None
    if program is None or not program.exists():
        raise MissingError("not installed: see --install")
    config = bench.folder / "litellm.yaml"
    config.write_text(f"""
model_list:
  - model_name: {MODEL}
    litellm_params:
      model: openai/{MODEL}
      api_base: http://127.0.0.1:{bench.upstream_port}/v1
      api_key: {KEY}
      extra_body: {{provider: {{ignore: {json.dumps(EXCLUDED)}}}}}
litellm_settings: {{telemetry: false, drop_params: true}}
general_settings: {{master_key: {KEY}}}
""")
    subject = Subject("LiteLLM proxy 1.108.7", port=free_port())
    environ = {
        **os.environ,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_MODE": "PRODUCTION",
        "LITELLM_LOG": "ERROR",
        "HOME": str(bench.folder),
    }
    words = [str(program), "--config", str(config), "--host", "127.0.0.1", "--port", str(subject.port)]
    log = (bench.folder / "litellm.log").open("wb")
    subject.process = pinned(
        bench.middle, [*words, "--num_workers", "1"], env=environ, cwd=bench.folder, stdout=log, stderr=log
    )
    return subject


def portkey(bench: Bench) -> Subject:
    """It passes the body on through its own reading of it."""
    node = shutil.which("node")
    home = (
        None if bench.peers is None else bench.peers / "portkey" / "node_modules" / "@portkey-ai" / "gateway"
    )
    if node is None or home is None or not home.exists():
        raise MissingError("not installed: see --install")
    subject = Subject("Portkey gateway 1.15.2", port=free_port())
    subject.headers += (
        "x-portkey-provider: openai",
        f"x-portkey-custom-host: http://127.0.0.1:{bench.upstream_port}/v1",
    )
    log = (bench.folder / "portkey.log").open("wb")
    subject.process = pinned(
        bench.middle,
        [node, str(home / "build" / "start-server.js"), f"--port={subject.port}", "--headless"],
        cwd=home,
        env={**os.environ, "NODE_ENV": "production", "TRUSTED_CUSTOM_HOSTS": "127.0.0.1,localhost"},
        stdout=log,
        stderr=log,
    )
    return subject


SUBJECTS: Final = (direct, nginx, ours, ours_recording, portkey, litellm)
NAMES: Final = {nginx: "nginx", portkey: "Portkey gateway", litellm: "LiteLLM proxy"}


def measured(bench: Bench, scale: float, rounds: int, wanted: set[str]) -> Iterator[Subject | str]:
    """Measure one subject after the other; what is missing is said."""
    for make in SUBJECTS:
        if wanted and make.__name__ not in wanted:
            continue
        try:
            subject = make(bench)
        except MissingError as missing:
            yield f"{NAMES[make]}: {missing}"
            continue
        try:
            bench.wait_for(subject)
            time.sleep(1.0)
            for _ in range(rounds):
                for load in loads(scale):
                    bench.measure(subject, load)
            yield subject
        except MissingError as missing:
            yield f"{subject.name}: {missing}"
        finally:
            stop(subject.process)


def install(where: Path) -> None:
    """Put the peers into a folder."""
    where.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-m", "venv", str(where / "litellm")], check=True)
    subprocess.run([str(where / "litellm" / "bin" / "pip"), "install", "--quiet", LITELLM], check=True)
    folder = where / "portkey"
    folder.mkdir(exist_ok=True)
    (folder / "package.json").write_text(json.dumps(PORTKEY))
    subprocess.run(["npm", "install", "--no-audit", "--no-fund"], cwd=folder, check=True)
    print("nginx comes with the system: apt-get install nginx-light")


def shown(value: float | None, form: str = ",.0f", unit: float = 1.0) -> str:
    return "–" if value is None else format(value / unit, form)


def _head(*columns: str) -> list[str]:
    return [f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]


def table(subjects: list[Subject], base: Subject) -> str:
    """Write both tables."""
    lines = _head(
        "added p50 µs, 1 conn.",
        "added p99 µs, 1 conn.",
        "added p50 / p99 µs, 32 conn.",
        "requests/s, 32 conn.",
        "CPU µs/request",
        "RSS MB",
        "bodies edited",
    )

    def added(subject: Subject, load: str, key: str) -> float | None:
        mine, floor = subject.best(load, key), base.best(load, key)
        return None if mine is None or floor is None else mine - floor

    for each in subjects:
        many = each.results["many"]
        edited = "all" if many["edited"] >= many["asked"] > 0 else f"{many['edited']:,.0f}"
        if each is base:
            said = [
                f"({shown(each.best('one', 'p50_us'), ',.1f')})",
                f"({shown(each.best('one', 'p99_us'), ',.1f')})",
                f"({shown(each.best('many', 'p50_us'))} / {shown(each.best('many', 'p99_us'))})",
                shown(each.best("many", "rate")),
                "–",
                "–",
                "–",
            ]
        else:
            said = [
                shown(added(each, "one", "p50_us")),
                shown(added(each, "one", "p99_us")),
                f"{shown(added(each, 'many', 'p50_us'))} / {shown(added(each, 'many', 'p99_us'))}",
                shown(each.best("many", "rate")),
                shown(each.best("many", "cpu_us"), ",.1f"),
                shown(each.rss_mb),
                edited if many["edited"] else "none",
            ]
        lines.append(f"| {each.name} | {' | '.join(said)} |")
    lines += [
        "",
        *_head(
            "first token p50 ms, 1 conn.",
            "added",
            "paced: events/s of 2,500",
            "paced: delay per event p50 ms",
            "paced: CPU µs/event",
            "burst: events/s",
            "burst: CPU µs/event",
        ),
    ]
    for each in subjects:
        said = [
            shown(each.best("first", "first_p50_us"), ",.3f", 1000),
            "–" if each is base else shown(added(each, "first", "first_p50_us"), ",.3f", 1000),
            shown(each.best("paced", "event_rate")),
            shown(each.best("paced", "delay_p50_us"), ",.2f", 1000),
            shown(each.best("paced", "cpu_event_us"), ",.1f"),
            shown(each.best("burst", "event_rate")),
            shown(each.best("burst", "cpu_event_us"), ",.1f"),
        ]
        lines.append(f"| {each.name} | {' | '.join(said)} |")
    return "\n".join(lines)


def verdict(subjects: list[Subject], base: Subject) -> bool:
    """Say what was asked for, and whether it is so."""
    ours_ = next(each for each in subjects if each.name == OURS)
    rate, first, floor = (
        ours_.best("many", "rate"),
        ours_.best("first", "first_p50_us"),
        base.best("first", "first_p50_us"),
    )
    assert rate is not None
    assert first is not None
    assert floor is not None
    fine = True
    for name, least in (("LiteLLM", LEAST_OVER_LITELLM), ("Portkey", LEAST_OVER_PORTKEY)):
        peer = next((each.best("many", "rate") for each in subjects if each.name.startswith(name)), None)
        if peer is None:
            print(f"requests/s against {name}: not measured")
            continue
        fine &= rate >= least * peer
        print(f"requests/s against {name}: {rate / peer:,.0f} times; at least {least:.0f}")
    added_ms = (first - floor) / 1000
    print(f"added to the first token at one connection: {added_ms:.3f} ms; at most {MOST_FIRST_TOKEN_MS}")
    bad = {each.name: sum(found["bad"] for found in each.results.values()) for each in subjects}
    print("answers other than 200:", ", ".join(f"{name} {count:.0f}" for name, count in bad.items()))
    many = ours_.results["many"]
    edited = many["edited"] >= many["asked"] > 0
    if not edited:
        print(f"bodies that ours edited: {many['edited']:.0f} of {many['asked']:.0f}")
    return fine and edited and added_ms <= MOST_FIRST_TOKEN_MS and not bad[OURS]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--install", type=Path, metavar="DIR")
    parser.add_argument("--peers", type=Path, metavar="DIR")
    parser.add_argument("--scale", type=float, default=1.0, help="of all durations")
    parser.add_argument("--rounds", type=int, default=2, help="runs of each load; the better one counts")
    parser.add_argument("--only", nargs="*", default=[], help="names of functions: direct, nginx, ours …")
    options = parser.parse_args()
    if options.install is not None:
        install(options.install)
        return 0
    cores = sorted(os.sched_getaffinity(0))
    ends, middle = (cores[0], cores[-1])
    peers = None if options.peers is None else options.peers.absolute()
    print(f"cores: upstream and load {ends}, proxy {middle}; load average {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name), peers, (ends, middle))
        try:
            found = list(
                measured(
                    bench,
                    options.scale,
                    options.rounds,
                    {"direct", "ours", *options.only} if options.only else set(),
                )
            )
        finally:
            stop(bench.upstream)
    subjects = [each for each in found if isinstance(each, Subject)]
    base = next(each for each in subjects if each.name == "direct")
    print(table(subjects, base))
    for each in found:
        if isinstance(each, str):
            print(f"missing: {each}")
    print(f"load average {os.getloadavg()[0]:.1f}")
    return 0 if verdict(subjects, base) else 1


if __name__ == "__main__":
    sys.exit(main())
