"""The command line called as its users call it, with a lab or a script for a gateway."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest import mock

from routecanary.cli.main import call
from routecanary.lab.gateway import LabGateway
from routecanary.lab.scenario import Scenario, scenario_from_toml

MODEL = "acme/chat-2"
SPOILED = "inkspill/fp4"
KEY = "sk-or-v1-never-to-be-shown"
"""The key of the lab, planted wherever a key is read; no output and no file may ever hold it."""

SCENARIO = f"""
name = "trial"
key = "{KEY}"
[noise]
natural_failure = 0.0
transport_errors = 0.0
[[models]]
id = "{MODEL}"
[[models.routes]]
tag = "acme"
provider = "Acme"
[[models.routes]]
tag = "cindermoor"
provider = "Cindermoor"
[[models.routes]]
tag = "north-host/fp8"
provider = "North Host"
[[models.routes]]
tag = "plover"
provider = "Plover"
[[models.routes]]
tag = "{SPOILED}"
provider = "Inkspill"
[[models.routes.faults]]
fault = "spoiled_start"
probability = 1.0
expect = "suspended"
"""

CONFIG = """
[gateway]
base_url = "{base_url}"
document_timeout = "5s"
[store]
path = "events.sqlite3"
[snapshot]
path = "snapshot.json"
[schedule]
period = "{period}"
jitter = "0s"
[probes]
start_spread = "0s"
confirm_delay = ["0s", "0s"]
[contracts.latency]
lag_limit = "10s"  # a busy machine shall void nothing here
[policy]
min_round_gap = "0s"
[models."{model}"]
"""
"""As shipped, but for what keeps a trial apart and short."""

SPEED = 60.0  # scenario seconds in a real second


def a_scenario() -> Scenario:
    """One route that spoils every answer, beside four that never do."""
    return scenario_from_toml(SCENARIO, "trial")


def a_config(
    folder: Path, base_url: str = "http://127.0.0.1:9/api/v1", *, more: str = "", period: str = "1s"
) -> Path:
    """Write a configuration whose store and snapshot lie beside it; nobody listens at the default address."""
    path = folder / "routecanary.toml"
    path.write_text(CONFIG.format(base_url=base_url, model=MODEL, period=period) + more, encoding="utf-8")
    return path


@dataclass(frozen=True, kw_only=True)
class Ran:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """The JSON lines on standard output."""
        return [json.loads(line) for line in self.out.splitlines()]


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Make an environment whose every default path lies in a folder, and that holds the key."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "VIRTUAL_ENV") if name in os.environ}
    return {**kept, "HOME": str(folder), "OPENROUTER_API_KEY": KEY, "COLUMNS": "80", **more}


def command(*tokens: str | Path) -> list[str]:
    return [sys.executable, "-m", "routecanary", *map(str, tokens)]


def ran(*tokens: str | Path, folder: Path, given: str | None = None, **variables: str) -> Ran:
    """Run a command as a process of its own, in a folder."""
    done = subprocess.run(
        command(*tokens),
        cwd=folder,
        env=environment(folder, **variables),
        input=given,
        stdin=None if given is not None else subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        timeout=60,
        check=False,
    )
    return Ran(code=done.returncode, out=done.stdout, err=done.stderr)


def called(*tokens: str | Path, environ: Mapping[str, str]) -> Ran:
    """Run a command inside this process, which saves the start of an interpreter."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.dict(os.environ, environ, clear=True),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = call([str(token) for token in tokens])
    return Ran(code=code, out=out.getvalue(), err=err.getvalue())


def fingerprint(path: Path) -> str:
    """Hash a file; a missing one has a fingerprint of its own."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "missing"


@contextlib.contextmanager
def a_lab(
    scenario: Scenario | None = None, *, speed: float = SPEED, wire: str = "openrouter"
) -> Iterator[LabGateway]:
    """Serve a scenario, the trial's if none is given, from a thread of this process."""
    started = threading.Event()
    ends: list[Callable[[], object]] = []
    lab = LabGateway(scenario or a_scenario(), seed=1, time_scale=speed, wire=wire)

    async def serve() -> None:
        loop, end = asyncio.get_running_loop(), asyncio.Event()
        async with lab:
            ends.append(lambda: loop.call_soon_threadsafe(end.set))
            started.set()
            await end.wait()

    # `asyncio.run` cancels what a client that was killed has left half done
    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert started.wait(20)
        yield lab
    finally:
        ends[0]()
        thread.join(20)


@contextlib.contextmanager
def a_gateway_that_says(status: int, body: bytes, **headers: str) -> Iterator[str]:
    """Answer every listing with one status and body; `/key` is as it should be. Yields the base URL.

    Whoever asks more is refused with a quotation of all that was sent, the key included.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            well = self.path.endswith("/key")
            self.send_response(200 if well else status)
            content = b'{"data": {"limit_remaining": 5.0}}' if well else body
            for name, value in {} if well else headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            content = json.dumps({"error": {"code": 401, "message": str(self.headers)}}).encode()
            self.send_response(401)
            self.send_header("X-Quoted", self.headers["Authorization"])
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/api/v1"
    finally:
        server.shutdown()
        thread.join(20)
        server.server_close()
