"""The lab as a process of its own."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from routecanary.errors import ScenarioError
from routecanary.lab.serve import main, scenario_at

COMMAND = [sys.executable, "-m", "routecanary.lab.serve"]


def test_the_process_prints_its_address_serves_and_ends_on_a_signal() -> None:
    """One line on standard output, a gateway behind it, and exit code 0 after SIGINT."""
    with subprocess.Popen(
        [*COMMAND, "spoiled", "--seed", "7"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        base_url = process.stdout.readline().strip()
        with urllib.request.urlopen(f"{base_url}/models", timeout=20) as response:
            assert json.load(response)["data"][0]["id"] == "acme/chat-2"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0
        assert process.stderr.read() == ""


def test_a_bad_scenario_ends_with_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message stands on standard error and names file and key."""
    file = tmp_path / "bad.toml"
    file.write_text('name = "x"\nmodels = 3\n')
    assert main([str(file)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.strip() == f"{file}: models: a whole number where a list of tables belongs"


@pytest.mark.parametrize("options", [("--port", "70000"), ("--time-scale", "0"), ("--time-scale", "nan")])
def test_a_bad_option_ends_with_code_2(options: tuple[str, str]) -> None:
    """Ranges of options are checked before anything is served."""
    with pytest.raises(SystemExit) as ended:
        main(["spoiled", *options])
    assert ended.value.code == 2


def test_a_port_that_is_taken_ends_with_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    """No traceback, one line."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert main(["spoiled", "--port", str(taken.getsockname()[1])]) == 1
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


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
    for name in (str(file), str(tmp_path), str(tmp_path / "absent"), "a\x00b", ""):
        with pytest.raises(ScenarioError, match="no such scenario"):
            scenario_at(name)
