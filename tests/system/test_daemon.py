"""The daemon as a process against the lab, until it is told to stop."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.domain.names import ModelId
from routecanary.domain.policy import Policy
from routecanary.rounds.record import Ledger
from tests.commandline import KEY, MODEL, SPOILED, a_config, a_lab, command, environment

NAME = ModelId(MODEL)


@contextmanager
def the_daemon(
    folder: Path, base_url: str, *tokens: str, more: str = "", **variables: str
) -> Iterator[subprocess.Popen[str]]:
    """Run the daemon in enforce mode; `more` stands in its configuration, `variables` in its environment."""
    config = a_config(folder, base_url, more=more)
    config.write_text('initial_mode = "enforce"\n' + config.read_text(encoding="utf-8"), encoding="utf-8")
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(
            command("run", *tokens),
            cwd=folder,
            env=environment(folder, **variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def until(true: Callable[[], bool]) -> None:
    """Wait for something that another process does; the suite's timeout ends a vain wait."""
    while not true():
        time.sleep(0.02)


def test_the_process_makes_rounds_until_a_signal_ends_it(tmp_path: Path) -> None:
    """It suspends the spoiling route, ends with 0, and leaves a whole chain and no key anywhere."""
    with a_lab() as lab, the_daemon(tmp_path, lab.base_url, "--json") as process:
        assert process.stdout is not None
        events = []
        while not events or events[-1].get("ignore") != [SPOILED]:
            events.append(json.loads(process.stdout.readline()))
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0
        events += [json.loads(line) for line in process.stdout]
    assert {each["event"] for each in events} >= {"suspended", "exclusions"}
    with SqliteStore(tmp_path / "events.sqlite3") as store:
        assert store.verify() is None
        state = Ledger(store, Policy()).state(NAME)
        assert state.rounds == sum(each["event"] == "exclusions" for each in events)
        assert list(state.suspensions()) == [SPOILED]
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert "INFO routecanary.run started version=" in log
    assert f"gateway={lab.base_url}" in log
    assert f"INFO routecanary.daemon watching model={MODEL} mode=enforce period=1s rounds=0" in log
    assert f"INFO routecanary.run suspended route={SPOILED} contracts=" in log
    assert "INFO routecanary.daemon stopping signal=SIGTERM" in log
    assert log.splitlines()[-1].endswith("INFO routecanary.run stopped")
    for path in tmp_path.iterdir():
        assert KEY.encode() not in path.read_bytes(), path


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_round_that_is_cut_short_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    """Stopped while its answers are coming: exit code 0, and nothing of the round is in the store."""
    with a_lab(speed=0.05) as lab, the_daemon(tmp_path, lab.base_url) as process:
        until(lambda: lab.ledger.open_streams > 0)
        process.send_signal(number)
        assert process.wait(timeout=20) == 0
    with SqliteStore(tmp_path / "events.sqlite3") as store:
        assert store.count(kinds={"routes_named", "round_closed", "listing_changed", "exclusions"}) == 0
        assert not list(store.find(NAME))
        assert store.verify() is None
