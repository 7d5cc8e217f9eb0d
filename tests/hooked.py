"""An application's surroundings: a lab, a snapshot with a route to avoid, and whoever takes telemetry."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema_rs

from routecanary.adapters.snapshot import write_snapshot
from routecanary.client import Canary
from routecanary.client.telemetry import Sender
from routecanary.domain.names import INTEGRITY, LANGUAGE, ContractName, Locale, RouteId
from routecanary.lab.gateway import LabGateway
from routecanary.lab.ledger import Served
from routecanary.lab.scenario import scenario_from_toml
from routecanary.routing.snapshot import SuspendedRoute, snapshot_of
from tests.commandline import KEY, MODEL, SCENARIO, SPOILED, a_lab
from tests.snapshots import facts, listed

PROMPT = "How do I boil an egg, Wilhelmina?"
"""No word of it may be told."""

SCHEMA = jsonschema_rs.validator_for(
    json.loads(files("routecanary.web").joinpath("schemas", "telemetry.json").read_text("utf-8"))
)
"""What a hook sends, the receiver takes."""

TOKEN = "rc_a-token-for-tests"
AUTHORIZATION = {"Authorization": f"Bearer {KEY}"}
OTHERS = ("acme", "cindermoor", "north-host/fp8", "plover")

CHEAPEST_SPOILED = scenario_from_toml(
    SCENARIO.replace(
        'provider = "Inkspill"',
        'provider = "Inkspill"\nprice_prompt = "0.00000001"\nprice_completion = "0.00000001"',
    ),
    "trial",
)
"""Whoever sorts by price is served by the route that spoils every answer, if it is not told otherwise."""


def a_snapshot(
    folder: Path,
    *routes: str,
    contracts: Iterable[ContractName] = (INTEGRITY,),
    locales: Iterable[str] = (),
    age: timedelta = timedelta(0),
    until: timedelta = timedelta(days=1),
) -> Path:
    """Write a snapshot of the trial's model in which these routes are suspended."""
    now = datetime.now(UTC)
    suspensions = tuple(
        SuspendedRoute(
            route=RouteId(route),
            since=now - timedelta(days=1),
            until=now + until,
            contracts=frozenset(contracts),
            locales=frozenset(map(Locale, locales)),
        )
        for route in routes
    )
    model = facts(MODEL, routes=listed(*OTHERS, SPOILED), suspensions=suspensions)
    path = folder / "snapshot.json"
    write_snapshot(path, snapshot_of((model,), builtin=(), runtime=(), written_at=now - age))
    return path


@dataclass
class Receiver:
    """Who takes telemetry, and what it took."""

    url: str = ""
    status: int = 202
    headers: dict[str, str] = field(default_factory=dict)
    bodies: list[bytes] = field(default_factory=list)
    asked_with: list[dict[str, str]] = field(default_factory=list)

    @property
    def records(self) -> list[dict[str, Any]]:
        documents = [json.loads(body) for body in self.bodies]
        for document in documents:
            SCHEMA.validate(document)
        return [record for document in documents for record in document["generations"]]


@contextlib.contextmanager
def a_receiver() -> Iterator[Receiver]:
    """Listen as the applications' listener does, and keep what comes."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.asked_with.append({"path": self.path, **dict(self.headers)})
            if receiver.status < 300:
                receiver.bodies.append(body)
            self.send_response(receiver.status)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass
class Application:
    """What an application has: the gateway, the list, and somebody to tell."""

    lab: LabGateway
    canary: Canary
    sender: Sender
    receiver: Receiver

    @property
    def base_url(self) -> str:
        return self.lab.base_url

    @property
    def chat_url(self) -> str:
        return f"{self.lab.base_url}/chat/completions"

    @property
    def served(self) -> list[Served]:
        return list(self.lab.ledger)

    def told(self, count: int = 1) -> list[dict[str, Any]]:
        """Wait until so many records have come, and show all that have."""
        deadline = time.monotonic() + 20
        while len(self.receiver.records) < count and time.monotonic() < deadline:
            self.sender.flush(5)
            time.sleep(0.01)
        return self.receiver.records

    def body(self, **more: Any) -> dict[str, Any]:
        """Make a chat request that prefers the cheapest route: the spoiled one."""
        message = {"role": "user", "content": PROMPT}
        return {"model": MODEL, "messages": [message], "provider": {"sort": "price"}, **more}


@contextlib.contextmanager
def an_application(folder: Path, *suspended: str, **of_snapshot: Any) -> Iterator[Application]:
    """Run a lab whose cheapest route spoils its answers, and a snapshot in which it is suspended."""
    path = a_snapshot(folder, *(suspended or (SPOILED,)), **of_snapshot)
    with (
        a_lab(CHEAPEST_SPOILED) as lab,
        a_receiver() as receiver,
        Canary(path) as canary,
    ):
        sender = Sender(receiver.url, TOKEN, interval=0.05)
        try:
            yield Application(lab, canary, sender, receiver)
        finally:
            sender.close()


def holds(record: dict[str, Any], served: Served, **more: Any) -> None:
    """Check that a record tells what the lab's ledger has of the same answer."""
    expected = {
        "id": served.id,
        "model": MODEL,
        "provider": served.provider,
        "status": served.status,
        "finish_reason": served.finish,
        "prompt_tokens": served.usage["prompt_tokens"],
        "completion_tokens": served.usage["completion_tokens"],
        "empty": False,
        "ignore": [SPOILED],
        **more,
    }
    assert {name: record.get(name) for name in expected} == expected
    started = datetime.fromisoformat(record["started_at"])
    assert abs(datetime.now(UTC) - started) < timedelta(minutes=5)
    assert record["duration_ms"] >= record.get("ttft_ms", 0) >= 0


__all__ = ["INTEGRITY", "KEY", "LANGUAGE", "MODEL", "SPOILED"]
