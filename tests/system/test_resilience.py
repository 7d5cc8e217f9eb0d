"""What goes wrong around an application, and what its requests do meanwhile: they flow.

Four ways to carry the list (the file, an address, a hook, the proxy), each under a daemon that is killed, a
store that is locked, a list that turns to rubbish, clocks that disagree, and the end of a suspension.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest

from routecanary.client import Canary
from routecanary.hooks.httpx2 import CanaryTransport
from routecanary.lab.gateway import LabGateway
from tests.commandline import MODEL, SPOILED, a_config, a_lab, command, environment
from tests.hooked import AUTHORIZATION, CHEAPEST_SPOILED, PROMPT, a_snapshot
from tests.serving import LISTEN, the_listeners
from tests.system.test_daemon import the_daemon, until

MEANS = ("file", "url", "hook", "proxy")
MORE = LISTEN + '\n[proxy]\nlisten = "127.0.0.1:0"\n'
BODY = {
    "model": MODEL,
    "messages": [{"role": "user", "content": PROMPT}],
    "provider": {"sort": "price"},  # which leads to the spoiled route, if nobody says otherwise
}


@dataclass
class Ways:
    """The four ways of one application, and who served it last."""

    lab: LabGateway
    by_file: Canary
    by_url: Canary
    proxy: str  # its base address
    plain: httpx2.Client
    hooked: httpx2.Client

    def ask(self, means: str) -> str:
        """Ask once, and say which route served."""
        url = f"{self.proxy if means == 'proxy' else self.lab.base_url}/chat/completions"
        match means:
            case "file":
                answer = self.plain.post(url, json=self.by_file.patch(BODY))
            case "url":
                answer = self.plain.post(url, json=self.by_url.patch(BODY))
            case "hook":
                answer = self.hooked.post(url, json=BODY)
            case _:
                answer = self.plain.post(url, json=BODY)
        assert answer.status_code == 200, answer.text
        assert answer.json()["choices"]
        served = self.lab.ledger.find(answer.json()["id"])
        assert served is not None
        return served.route

    def avoid(self, means: str) -> bool:
        return self.ask(means) != SPOILED


@contextmanager
def a_proxy(folder: Path) -> Iterator[str]:
    """Run the proxy as a process; yields its base address."""
    with (
        (folder / "proxy.log").open("w") as log,
        subprocess.Popen(
            command("proxy", "--json"),
            cwd=folder,
            env=environment(folder),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())["base_url"]
        finally:
            process.kill()


@contextmanager
def four_ways(folder: Path, lab: LabGateway, listener: str) -> Iterator[Ways]:
    with ExitStack() as stack:
        by_file = stack.enter_context(Canary(folder / "snapshot.json", interval=0.05))
        by_url = stack.enter_context(Canary(listener, interval=0.05))
        transport = CanaryTransport(httpx2.HTTPTransport(), by_url, gateway=lab.base_url)
        yield Ways(
            lab=lab,
            by_file=by_file,
            by_url=by_url,
            proxy=stack.enter_context(a_proxy(folder)),
            plain=stack.enter_context(httpx2.Client(headers=AUTHORIZATION, timeout=60)),
            hooked=stack.enter_context(httpx2.Client(transport=transport, headers=AUTHORIZATION, timeout=60)),
        )


@contextmanager
def without_a_daemon(folder: Path, listener: str | None = None) -> Iterator[Ways]:
    """Serve the snapshot that lies in the folder; `listener` may be somebody else's address."""
    with a_lab(CHEAPEST_SPOILED) as lab:
        a_config(folder, lab.base_url, more=MORE)
        with ExitStack() as stack:
            if listener is None:
                _, told = stack.enter_context(the_listeners(folder))
                listener = told["applications"]
            yield stack.enter_context(four_ways(folder, lab, listener))


def test_a_daemon_that_is_killed_and_a_store_that_is_locked_hold_nobody_up(tmp_path: Path) -> None:
    """All four go on with the last list: first the store is locked, then the daemon and the listeners die."""
    with (
        a_lab(CHEAPEST_SPOILED) as lab,
        the_daemon(tmp_path, lab.base_url, more=MORE) as daemon,
        the_listeners(tmp_path) as (serve, told),
        four_ways(tmp_path, lab, told["applications"]) as ways,
    ):
        until(lambda: all(ways.avoid(means) for means in MEANS))
        with closing(sqlite3.connect(tmp_path / "events.sqlite3", isolation_level=None, timeout=60)) as other:
            other.execute("BEGIN EXCLUSIVE")
            assert [ways.avoid(means) for means in MEANS * 3] == [True] * 12
            daemon.kill()
            daemon.wait()
            assert [ways.avoid(means) for means in MEANS * 3] == [True] * 12
            other.execute("ROLLBACK")
        serve.kill()
        serve.wait()
        assert [ways.avoid(means) for means in MEANS * 3] == [True] * 12


def test_a_list_that_turns_to_rubbish_leaves_the_last_good_one(tmp_path: Path) -> None:
    """Empty, cut or foreign, in the file and from the listener: it is noticed, and the list stays."""
    path = a_snapshot(tmp_path, SPOILED)
    good = path.read_bytes()
    rubbish = [b"", good[: len(good) // 2], b"<html>502</html>", b"[1]", b'{"version": 99}', b"\xff" * 99]
    with a_listener_that_says(good) as says, without_a_daemon(tmp_path, says.url) as ways:
        assert all(ways.avoid(means) for means in MEANS)
        for content in rubbish:
            path.write_bytes(content)
            says.content, looks = content, says.asked
            until(lambda: ways.by_file.status()["fault"] is not None)
            until(lambda looks=looks: says.asked > looks + 1)  # type: ignore[misc]
            assert [ways.avoid(means) for means in MEANS] == [True] * 4
        path.write_bytes(good)
        until(lambda: bool(ways.by_file.status()["ok"]))
        assert all(ways.avoid(means) for means in MEANS)


@pytest.mark.parametrize(
    ("age", "reason"),
    [(timedelta(hours=7), "stale"), (timedelta(hours=-1), "from_future")],
)
def test_clocks_that_disagree_let_requests_flow_without_the_list(
    age: timedelta, reason: str, tmp_path: Path
) -> None:
    """Ours leapt ahead or stepped back against the daemon's: the canary layer is dropped, and counted."""
    a_snapshot(tmp_path, SPOILED, age=age)
    with without_a_daemon(tmp_path) as ways:
        assert [ways.avoid(means) for means in MEANS] == [False] * 4
        assert ways.by_file.status()["counters"][reason] == 1
        assert ways.by_url.status()["counters"][reason] == 2  # the hook's call is one of them


def test_a_clock_that_is_set_while_the_application_runs(tmp_path: Path) -> None:
    """Set ahead, suspensions end early; set back, nothing comes back by itself and nothing fails."""
    path = a_snapshot(tmp_path, SPOILED, until=timedelta(hours=2))
    offset = 0.0
    with (
        a_lab(CHEAPEST_SPOILED) as lab,
        Canary(path, clock=lambda: time.time() + offset, thread=False) as canary,
        httpx2.Client(
            transport=CanaryTransport(httpx2.HTTPTransport(), canary, gateway=lab.base_url),
            headers=AUTHORIZATION,
        ) as client,
    ):

        def avoided_at(seconds: float) -> bool:
            nonlocal offset
            offset = seconds
            answer = client.post(f"{lab.base_url}/chat/completions", json=BODY)
            assert answer.status_code == 200
            served = lab.ledger.find(answer.json()["id"])
            return served is not None and served.route != SPOILED

        found = [avoided_at(seconds) for seconds in (0.0, -600.0, 3 * 3600.0, 0.0, 10 * 3600.0)]
        assert found == [True, False, False, False, False]
        counters = canary.status()["counters"]
        assert counters["from_future"] == 1
        assert counters["stale"] == 1


def test_a_suspension_ends_on_time_with_nobody_left(tmp_path: Path) -> None:
    """No daemon, and a listener that died: each of the four lets the route go by its own clock."""
    began = time.monotonic()
    a_snapshot(tmp_path, SPOILED, until=timedelta(seconds=45))
    with a_lab(CHEAPEST_SPOILED) as lab:
        a_config(tmp_path, lab.base_url, more=MORE)
        with (
            the_listeners(tmp_path) as (serve, told),
            four_ways(tmp_path, lab, told["applications"]) as ways,
        ):
            serve.kill()
            serve.wait()
            before = [ways.avoid(means) for means in MEANS]
            if time.monotonic() - began < 45:
                assert before == [True] * 4
            until(lambda: time.monotonic() - began > 46)
            assert [ways.avoid(means) for means in MEANS] == [False] * 4


@dataclass
class Says:
    """What a listener answers to everybody."""

    content: bytes
    url: str = ""
    asked: int = 0


@contextmanager
def a_listener_that_says(content: bytes) -> Iterator[Says]:
    says = Says(content)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            says.asked += 1
            self.send_response(200)
            self.send_header("Content-Length", str(len(says.content)))
            self.end_headers()
            self.wfile.write(says.content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    says.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield says
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
