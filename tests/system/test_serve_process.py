"""`routecanary serve` and the Python client at it, as processes: what ends, and what goes on."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from routecanary.client import Canary
from tests.commandline import MODEL, SPOILED, a_config, a_lab, called, environment, ran
from tests.serving import LISTEN, ask, the_listeners
from tests.snapshots import NOW
from tests.system.test_cli_documented import SECTIONS
from tests.system.test_daemon import the_daemon
from tests.unit.client.test_url import GOOD, script

EXCLUSIONS = f"/v1/exclusions?model={MODEL}"


def until(true: Callable[[], bool]) -> None:
    """Wait for what another process does; the suite's timeout ends a vain wait."""
    while not true():
        time.sleep(0.02)


def ignored(address: str) -> list[str]:
    found: list[str] = ask(address, EXCLUSIONS).json["ignore"]
    return found


def test_the_lists_outlive_the_daemon(tmp_path: Path) -> None:
    """Killed in the middle: lists, clients and acts go on; a signal ends the listeners with 0."""
    with (
        a_lab() as lab,
        the_daemon(tmp_path, lab.base_url, more=LISTEN) as daemon,
        the_listeners(tmp_path) as (process, told),
    ):
        assert all(f"`{key}`" in SECTIONS["serve"] for key in told)
        address = told["applications"]
        with Canary(address) as canary:
            until(lambda: canary.provider_preferences(MODEL).get("ignore") == [SPOILED])
            daemon.kill()
            daemon.wait()
            assert ignored(address) == [SPOILED]
            config, environ = tmp_path / "routecanary.toml", environment(tmp_path)
            why = ["--reason", "r", "--force", "--config", config]
            assert called("exclude", "add", MODEL, "plover", *why, environ=environ).code == 0
            until(lambda: ignored(address) == sorted([SPOILED, "plover"]))
            until(lambda: canary.provider_preferences(MODEL)["ignore"] == sorted([SPOILED, "plover"]))
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
            assert canary.provider_preferences(MODEL)["ignore"] == sorted([SPOILED, "plover"])
    log = (tmp_path / "serve.log").read_text()
    assert f"listening applications={address}" in log


def test_a_client_finds_a_listener_that_came_back(tmp_path: Path) -> None:
    """At the same address; meanwhile the last list stays."""
    config = a_config(tmp_path, more=LISTEN)
    environ = environment(tmp_path)
    exclude = ["exclude", "add", MODEL, "--reason", "r", "--force", "--config", config]
    assert called(*exclude, "acme", environ=environ).code == 0
    with the_listeners(tmp_path) as (process, told):
        canary = Canary(told["applications"], interval=0.05)
        assert canary.provider_preferences(MODEL)["ignore"] == ["acme"]
        process.kill()
        process.wait()
    config.write_text(
        config.read_text().replace("127.0.0.1:0", told["applications"].removeprefix("http://"), 1)
    )
    assert called(*exclude, "plover", environ=environ).code == 0
    assert canary.provider_preferences(MODEL)["ignore"] == ["acme"]
    with the_listeners(tmp_path), canary:
        until(lambda: canary.provider_preferences(MODEL)["ignore"] == ["acme", "plover"])
        until(lambda: bool(canary.status()["ok"]))


def test_a_forked_worker_asks_by_itself(tmp_path: Path) -> None:
    """Its connection is its own; the parent's goes on."""
    config = a_config(tmp_path, more=LISTEN)
    exclude = ["exclude", "add", MODEL, "--reason", "r", "--force", "--config", config]
    assert called(*exclude, "acme", environ=environment(tmp_path)).code == 0
    worker = """
import os, signal, sys, time, warnings
from routecanary.client import Canary
warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads, which is what is tried
canary = Canary(sys.argv[1])
ignored = lambda: canary.provider_preferences(sys.argv[2])["ignore"]
assert ignored() == ["acme"]
child = os.fork()
signal.alarm(60)
if child:
    print("ready", flush=True)
while len(ignored()) < 2:
    time.sleep(0.02)
assert canary.status()["watching"]
if child:
    assert os.waitpid(child, 0)[1] == 0
    canary.close()
    print("done", flush=True)
else:
    os._exit(0)
"""
    with (
        the_listeners(tmp_path) as (_, told),
        subprocess.Popen(
            [sys.executable, "-c", worker, told["applications"], MODEL], stdout=subprocess.PIPE, text=True
        ) as process,
    ):
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert called(*exclude, "plover", environ=environment(tmp_path)).code == 0
        assert process.stdout.read().split()[-1] == "done"
        assert process.wait(20) == 0


def test_a_fork_in_the_middle_of_an_answer_harms_nothing(tmp_path: Path) -> None:
    """The child waits for no lock that its parent's thread held; it asks for itself."""
    worker = """
import os, signal, sys, warnings
from routecanary.client import Canary
warnings.simplefilter("ignore", DeprecationWarning)  # as above
canary = Canary(sys.argv[1], interval=0.01, clock=lambda: float(sys.argv[2]))
print("ready", flush=True)
sys.stdin.readline()
child = os.fork()
if child == 0:
    assert canary.provider_preferences("acme/chat")["ignore"] == ["alpha"]
    assert canary.status()["watching"]
    canary.close()
    os._exit(0)
signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
signal.alarm(30)  # so that a child that waits for ever is seen
assert os.waitpid(child, 0)[1] == 0
canary.close()
"""
    begun = threading.Event()

    def half(connection: socket.socket, _: bytes) -> None:
        connection.sendall(GOOD[:-50])
        begun.set()
        connection.recv(1)

    with (
        script(GOOD, half) as there,
        subprocess.Popen(
            [sys.executable, "-c", worker, there.url, str(NOW.timestamp())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert begun.wait(20)
        time.sleep(0.1)  # for the bytes to arrive; if they have not, there is less to go wrong
        process.communicate("go\n", timeout=60)
        assert process.returncode == 0


def test_what_serve_cannot_do_ends_it_with_2(tmp_path: Path) -> None:
    """Each on one line that names the option; nothing is served, and no store is made."""
    a_config(tmp_path, more='[listen]\napplications = "0.0.0.0:0"\n')
    strangers = ran("serve", folder=tmp_path)
    assert strangers.code == 2
    assert "listen.applications: beyond this machine only whoever shows a token" in strangers.err
    a_config(tmp_path, more='[listen]\napplications = "192.0.2.1:1"\nadministrators = "127.0.0.1:0"\n')
    assert (
        called(
            "token",
            "create",
            "x",
            "--role",
            "app",
            "--config",
            tmp_path / "routecanary.toml",
            environ=environment(tmp_path),
        ).code
        == 0
    )
    nowhere = ran("serve", folder=tmp_path)
    assert nowhere.code == 2
    assert "listen.applications: cannot be listened at" in nowhere.err


def test_the_daemon_cannot_write_to_an_address(tmp_path: Path) -> None:
    """The variable that points applications at a listener does not make the daemon write somewhere odd."""
    config = a_config(tmp_path)
    config.write_text(config.read_text().replace('path = "snapshot.json"', ""))
    refused = ran("status", folder=tmp_path, ROUTECANARY_SNAPSHOT="http://127.0.0.1:7450")
    assert refused.code == 2
    assert "environment variable ROUTECANARY_SNAPSHOT: an address" in refused.err
