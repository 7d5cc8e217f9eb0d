"""The example clients, run as they are against lab and listener: they avoid what they must, and fail open."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from routecanary.lab.gateway import LabGateway
from tests.commandline import KEY, MODEL, SPOILED, a_config, a_lab, called, environment
from tests.serving import LISTEN, the_listeners

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMANDS = {"curl.sh": ["sh"], "node.mjs": ["node"]}
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def lab() -> Iterator[LabGateway]:
    with a_lab() as found:
        yield found


def asked(example: str, folder: Path, lab: LabGateway, address: str, **more: str) -> Any:
    """Run an example and return the `provider` object that the gateway got."""
    program = COMMANDS[example]
    assert shutil.which(program[0]), f"{program[0]} is needed to try {example}"
    done = subprocess.run(
        [*program, str(EXAMPLES / example), 'Say "hello" once.'],
        env={
            **environment(folder),
            "MODEL": MODEL,
            "OPENROUTER_API_KEY": KEY,
            "ROUTECANARY_URL": address,
            "GATEWAY_URL": lab.base_url,
            **more,
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["choices"]
    served = list(lab.ledger)[-1]
    assert served.body["messages"] == [{"role": "user", "content": 'Say "hello" once.'}]
    return served.body["provider"]


@pytest.mark.parametrize("example", COMMANDS)
def test_an_example_avoids_what_the_listener_says(example: str, tmp_path: Path, lab: LabGateway) -> None:
    """The list it was told, the list it still has when nothing changed, and the list after an act."""
    config = a_config(tmp_path, lab.base_url, more=LISTEN)

    def exclude(*targets: str) -> None:
        for target in targets:
            why = ["--reason", "r", "--force", "--config", config]
            assert called("exclude", "add", MODEL, target, *why, environ=environment(tmp_path)).code == 0

    exclude(SPOILED)
    with the_listeners(tmp_path) as (process, told):
        for _ in range(2):
            assert asked(example, tmp_path, lab, told["applications"]) == {"ignore": [SPOILED]}
        exclude("acme", "cindermoor")
        everything = {"ignore": ["acme", "cindermoor", SPOILED]}
        while asked(example, tmp_path, lab, told["applications"]) != everything:
            pass  # the listener looks at the file five times a second
        process.kill()
    assert asked(example, tmp_path, lab, NOWHERE) == {"ignore": []}


@pytest.mark.parametrize("example", COMMANDS)
def test_an_example_shows_its_token_and_goes_on_without(
    example: str, tmp_path: Path, lab: LabGateway
) -> None:
    """With the right one it gets the list, with a wrong one its request goes out all the same."""
    config = a_config(tmp_path, lab.base_url, more=LISTEN.replace("127.0.0.1:0", "0.0.0.0:0"))
    environ = environment(tmp_path)
    why = ["--reason", "r", "--force", "--config", config]
    assert called("exclude", "add", MODEL, SPOILED, *why, environ=environ).code == 0
    token = called("token", "create", "x", "--role", "app", "--config", config, environ=environ).out.strip()
    with the_listeners(tmp_path) as (_, told):
        address = told["applications"].replace("0.0.0.0", "127.0.0.1")
        shown = asked(example, tmp_path, lab, address, ROUTECANARY_TOKEN=token)
        assert shown == {"ignore": [SPOILED]}
        assert asked(example, tmp_path, lab, address, ROUTECANARY_TOKEN="rc_wrong") == {"ignore": []}


def test_each_example_is_short() -> None:
    """Under thirty lines without comments and imports: whoever reads one can write it anew."""
    for path in (EXAMPLES / name for name in (*COMMANDS, "main.go")):
        text = re.sub(
            r"^import \(.*?^\)", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
        )
        lines = [line for line in text.splitlines() if line.strip() and not re.match(r"\s*(//|#)", line)]
        assert len(lines) < 30, path.name


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.iterdir()))
def test_an_example_stays_short(name: str) -> None:
    """Under thirty lines, empty ones not counted: what one reads before copying it."""
    assert sum(bool(line.strip()) for line in (EXAMPLES / name).read_text("utf-8").splitlines()) < 30
