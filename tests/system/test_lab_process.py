"""The lab as a process of its own."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from routecanary.errors import ScenarioError
from routecanary.lab.serve import scenario_at, serve


def test_the_process_prints_its_address_serves_and_ends_on_a_signal() -> None:
    """One line on standard output, a gateway behind it, and exit code 0 after SIGINT."""
    command = [sys.executable, "-m", "routecanary", "lab", "--scenario", "spoiled", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        base_url = json.loads(process.stdout.readline())["base_url"]
        with urllib.request.urlopen(f"{base_url}/models", timeout=20) as response:
            assert json.load(response)["data"][0]["id"] == "acme/chat-2"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0
        assert process.stderr.read() == ""


def test_serving_ends_when_it_is_told_to() -> None:
    """The address is told once, and the port is free again afterwards."""

    async def run() -> None:
        told: list[str] = []
        until = asyncio.Event()
        until.set()
        await serve(scenario_at("spoiled"), ready=told.append, until=until)
        assert len(told) == 1
        address = urllib.parse.urlsplit(told[0])
        with socket.socket() as free:
            free.bind((address.hostname, address.port))

    asyncio.run(run())


def test_a_port_that_is_taken_is_an_error_of_the_system() -> None:
    """Whoever serves decides what to say of it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(OSError, match="in use"):
            asyncio.run(serve(scenario_at("spoiled"), port=taken.getsockname()[1]))


def test_a_scenario_is_found_by_name_or_path(tmp_path: Path) -> None:
    """A shipped name, a file, and what is neither."""
    assert scenario_at("demo").name == "demo"
    file = tmp_path / "own.toml"
    file.write_text(
        'name = "own"\n[[models]]\nid = "a/b"\n[[models.routes]]\ntag = "h"\nprovider = "H"\n',
        encoding="utf-8",
    )
    assert scenario_at(str(file)).name == "own"
    file.write_bytes(b"\xff\xfe")
    for name in (str(file), str(tmp_path), str(tmp_path / "absent"), "a\x00b", "", "/dev/zero"):
        with pytest.raises(ScenarioError, match="allowed: a scenario file, or one of demo, spoiled"):
            scenario_at(name)
